"""From data to a release, by the name of a method."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable
from typing import Any

from . import _setveil
from ._dataset import Dataset, columns, given
from ._errors import SetveilWarning
from ._hierarchy import Hierarchy
from ._manner import Progress, manner, size
from ._release import Keep, Release, kept_sets
from ._results import Made


def anonymize(
    data: Dataset,
    method: str = "disassociation",
    *,
    hierarchy: Hierarchy | None = None,
    universe_from_data: bool = False,
    keep: Keep | None = None,
    as_baskets: bool = False,
    threads: int | None = None,
    max_memory: int | str | None = None,
    progress: Progress = False,
    **parameters: Any,
) -> Release:
    """Makes a release by a method's name, with its parameters as they stand in a manifest.

    >>> import setveil as sv
    >>> sv.anonymize(sv.demo_data(), "suppress-rare", k=3).method
    'suppress-rare'
    """
    if not isinstance(data, Dataset):
        raise TypeError(f"data is {type(data).__name__}: expected setveil.Dataset(...)")
    tree = hierarchy._inner if hierarchy is not None else None
    with manner(threads, max_memory, progress) as how:
        inner, about = _setveil.anonymize(
            data._inner, method, _json(parameters), tree, universe_from_data, kept_sets(keep), as_baskets, how
        )
    made = json.loads(about)
    _remark(made.pop("remarks"))
    return Release._of(inner, Made(made))


def anonymize_file(
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    method: str = "disassociation",
    *,
    format: str | None = None,
    person: str | None = None,
    items: str | list[str] | None = None,
    delimiter: str | None = None,
    split: str | None = None,
    encoding: str | None = None,
    nouns: str | os.PathLike[str] | None = None,
    fold_case: bool = False,
    normalize: bool = False,
    skip_bad_lines: bool = False,
    hierarchy: Hierarchy | None = None,
    universe_from_data: bool = False,
    keep: Keep | None = None,
    as_baskets: bool = False,
    force: bool = False,
    receipt: str | os.PathLike[str] | None = None,
    again: bool = False,
    file_size: int | str | None = None,
    threads: int | None = None,
    max_memory: int | str | None = None,
    progress: Progress = False,
    **parameters: Any,
) -> Made:
    """From a file to a release directory, as ``setveil anonymize`` does it.

    ``receipt`` is a private file that says where the release came from. Data of
    which it tells an earlier release is refused unless ``again`` is given.

    >>> import pathlib, tempfile, setveil as sv
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "data.dat").write_text("bread milk\\n" * 9)
    >>> sv.anonymize_file(folder / "data.dat", folder / "release", k=3, m=2).records
    9
    """
    layout = file_layout(
        format, person, items, delimiter, split, encoding, nouns, fold_case, normalize, skip_bad_lines
    )
    tree = hierarchy._inner if hierarchy is not None else None
    receipt = os.fspath(receipt) if receipt is not None else None
    with manner(threads, max_memory, progress) as how:
        about = _setveil.anonymize_file(
            os.fspath(source),
            layout,
            method,
            _json(parameters),
            tree,
            universe_from_data,
            kept_sets(keep),
            os.fspath(output),
            force,
            receipt,
            again,
            size("file_size", file_size),
            as_baskets,
            how,
        )
    made = json.loads(about)
    _remark(made.pop("remarks"))
    return Made(made)


def file_layout(
    format, person, items, delimiter, split, encoding, nouns, fold_case, normalize, skip_bad_lines
) -> str:
    """How a file is read."""
    layout = given(
        format=format, person=person, delimiter=delimiter, split=split, encoding=encoding
    )
    layout |= columns(items) | given(nouns=os.fspath(nouns) if nouns is not None else None)
    layout |= {"fold_case": fold_case, "normalize": normalize, "skip_bad_lines": skip_bad_lines}
    return json.dumps(layout)


def _json(parameters: dict[str, Any]) -> str:
    """Sets and tuples of labels become lists, numbers of numpy become numbers."""

    def plain(value: Any) -> Any:
        if isinstance(value, Iterable):
            return [str(item) for item in value]
        return value.item() if hasattr(value, "item") else str(value)

    return json.dumps(given(**parameters), default=plain)


def _remark(remarks: list[str]) -> None:
    for remark in remarks:
        warnings.warn(remark, SetveilWarning, stacklevel=4)
