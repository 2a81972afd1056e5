"""Generalization hierarchies."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from typing import Any

from . import _setveil
from ._dataset import Dataset
from ._results import Result


class HierarchyCheck(Result):
    """Size and shape of a hierarchy, and the items of the data that are no leaf."""

    nodes: int
    leaves: int
    min_depth: int
    max_depth: int
    missing: list[str] | None


class Hierarchy:
    """A tree of names, from leaves that are items up to one root.

    ``paths`` has one path for every leaf, from the leaf to the root.

    >>> import setveil as sv
    >>> tree = sv.Hierarchy([["beer", "drink", "*"], ["milk", "drink", "*"], ["ham", "food", "*"]])
    >>> tree.check().leaves
    3
    """

    _inner: _setveil.Hierarchy

    def __init__(self, paths: Iterable[Sequence[str]]) -> None:
        self._inner = _setveil.Hierarchy.from_paths([list(path) for path in paths])

    @classmethod
    def _of(cls, inner: _setveil.Hierarchy) -> Hierarchy:
        self = cls.__new__(cls)
        self._inner = inner
        return self

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Hierarchy:
        """Reads a file with one leaf a line: ``leaf;parent;...;*``.

        >>> import pathlib, tempfile, setveil as sv
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "tree.csv"
        >>> _ = file.write_text("beer;drink;*\\nham;food;*\\n")
        >>> sv.Hierarchy.read(file).check().leaves
        2
        """
        return cls._of(_setveil.Hierarchy.read(os.fspath(path)))

    @classmethod
    def balanced(cls, data: Dataset, *, fanout: int = 5) -> Hierarchy:
        """Groups neighbours in the natural order of the items (item9 before item10).

        >>> import setveil as sv
        >>> tree = sv.Hierarchy.balanced(sv.demo_data(), fanout=4)
        >>> tree.check(sv.demo_data()).missing
        []
        """
        return cls._of(_setveil.Hierarchy.balanced(data._inner, fanout, False))

    @classmethod
    def alphabetical(cls, data: Dataset, *, fanout: int = 5) -> Hierarchy:
        """Groups neighbours in the order of their text.

        >>> import setveil as sv
        >>> sv.Hierarchy.alphabetical(sv.demo_data(), fanout=4).check(sv.demo_data()).missing
        []
        """
        return cls._of(_setveil.Hierarchy.balanced(data._inner, fanout, True))

    @classmethod
    def wordnet(cls, directory: str | os.PathLike[str], data: Dataset | None = None) -> Hierarchy:
        """The nouns of WordNet, all of them or those that are items of ``data``."""
        inner = data._inner if data is not None else None
        return cls._of(_setveil.Hierarchy.wordnet(os.fspath(directory), inner))

    def write(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes the file that ``Hierarchy.read`` and the command line read.

        >>> import pathlib, tempfile, setveil as sv
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "tree.csv"
        >>> sv.Hierarchy([["beer", "drink", "*"]]).write(file)
        >>> file.read_text()
        'beer;drink;*\\n'
        """
        self._inner.write(os.fspath(path), force)

    def paths(self) -> list[list[str]]:
        """One path for every leaf, from the leaf to the root.

        >>> import setveil as sv
        >>> sv.Hierarchy([["beer", "drink", "*"]]).paths()
        [['beer', 'drink', '*']]
        """
        return self._inner.paths()

    def check(self, data: Dataset | None = None) -> HierarchyCheck:
        """Size and shape, and which items of ``data`` are no leaf.

        >>> import setveil as sv
        >>> sv.Hierarchy([["beer", "*"]]).check(sv.Dataset([["beer", "ham"]])).missing
        ['ham']
        """
        inner = data._inner if data is not None else None
        return HierarchyCheck(json.loads(self._inner.check(inner)))

    def __reduce__(self) -> tuple:
        return type(self), (self.paths(),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hierarchy) and self.paths() == other.paths()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        check: Any = self.check()
        return f"<Hierarchy {check.leaves:,} leaves, {check.nodes:,} nodes>"
