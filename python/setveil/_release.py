"""What is published, and what its maker and its recipient do with it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any, Literal

from . import _setveil
from ._dataset import Dataset, given
from ._errors import ParameterError
from ._hierarchy import Hierarchy
from ._manner import Progress, manner, size
from ._recipient import Recipient, Terms
from ._results import Attack, Evaluation, Made, Report, Verdict
from ._tables import ArrowTable, html_table

Keep = Iterable[Iterable[str] | Mapping[str, Any]]
"""Sets of items that shall stay together: lists, or ``{"items": [...], "weight": 5}``."""


def kept_sets(keep: Keep | None) -> list[tuple[list[str], int]]:
    """Every set with its weight."""
    if isinstance(keep, str):
        raise ParameterError("keep is one text: give a list of sets of items")
    sets = []
    for one in keep or ():
        if isinstance(one, str):
            raise ParameterError(f"keep has the text {one!r}: give sets of items")
        items, weight = (one["items"], one.get("weight", 1)) if isinstance(one, Mapping) else (one, 1)
        sets.append(([str(item) for item in items], weight))
    return sets


class Release(Recipient, ArrowTable):
    """A release: what is published, and nothing else.

    Methods such as :func:`setveil.disassociate` make one, :meth:`read` reads one.

    >>> import setveil as sv
    >>> release = sv.disassociate(sv.demo_data(), k=3, m=2)
    >>> release.verify().holds
    True
    """

    _inner: _setveil.Release
    made: Made | None
    """What the method did; none for a release that was read."""

    def __init__(self) -> None:
        raise TypeError("a release is made by a method, or read with Release.read(path)")

    @classmethod
    def _of(cls, inner: _setveil.Release, made: Made | None = None) -> Release:
        self = cls.__new__(cls)
        self._inner, self.made = inner, made
        return self

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        *,
        threads: int | None = None,
        max_memory: int | str | None = None,
        progress: Progress = False,
    ) -> Release:
        """Reads a release directory; one whose files differ from its manifest is refused.

        >>> import pathlib, tempfile, setveil as sv
        >>> folder = pathlib.Path(tempfile.mkdtemp()) / "release"
        >>> sv.disassociate(sv.demo_data(), k=3, m=2).write(folder)
        >>> sv.Release.read(folder).method
        'disassociation'
        """
        with manner(threads, max_memory, progress) as how:
            return cls._of(_setveil.Release.read(os.fspath(path), how))

    @classmethod
    def from_files(cls, files: Mapping[str, bytes]) -> Release:
        """A release from names and bytes of its files, as :meth:`files` gives them.

        >>> import setveil as sv
        >>> release = sv.disassociate(sv.demo_data(), k=3, m=2)
        >>> sv.Release.from_files(release.files()) == release
        True
        """
        with manner() as how:
            return cls._of(_setveil.Release.from_files(dict(files), how))

    def files(self) -> dict[str, bytes]:
        """Names and bytes of the files, the same that :meth:`write` writes.

        >>> import setveil as sv
        >>> release = sv.disassociate(sv.demo_data(), k=3, m=2)
        >>> "manifest.json" in release.files()
        True
        """
        with manner() as how:
            return self._inner.files(how)

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        force: bool = False,
        file_size: int | str | None = None,
        threads: int | None = None,
        max_memory: int | str | None = None,
        progress: Progress = False,
    ) -> None:
        """Writes the directory that can be handed on; an earlier release is replaced with ``force``.

        Clusters go into several files of at most ``file_size`` (``"100M"``), if it is given.

        >>> import pathlib, tempfile, setveil as sv
        >>> folder = pathlib.Path(tempfile.mkdtemp()) / "release"
        >>> sv.disassociate(sv.demo_data(), k=3, m=2).write(folder)
        >>> sorted(path.name for path in folder.iterdir())
        ['README.md', 'clusters.jsonl', 'manifest.json', 'schema.json']
        """
        with manner(threads, max_memory, progress) as how:
            self._inner.write(os.fspath(path), force, size("file_size", file_size), how)

    @property
    def manifest(self) -> dict[str, Any]:
        """Method, parameters, guarantee and size, as in ``manifest.json``."""
        return json.loads(self._inner.manifest())

    @property
    def method(self) -> str:
        """The method's name."""
        return self.manifest["method"]

    @property
    def parameters(self) -> dict[str, Any]:
        """The method's parameters."""
        return self.manifest["parameters"]

    @property
    def guarantee(self) -> dict[str, Any]:
        """What is promised."""
        return self.manifest["guarantee"]

    @property
    def labels(self) -> list[str]:
        """The names of all items, ascending."""
        return self._inner.labels()

    def __len__(self) -> int:
        return self.manifest["records"]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Sub-records as rows; the columns are described in docs/release-format.md."""
        return self._inner.stream()

    def __reduce__(self) -> tuple:
        return _unpickle, (self.files(), self.made)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Release) and self.files() == other.files()

    __hash__ = None  # type: ignore[assignment]

    def verify(
        self,
        *,
        threads: int | None = None,
        max_memory: int | str | None = None,
        progress: Progress = False,
    ) -> Verdict:
        """Decides the guarantee from the release alone.

        >>> import setveil as sv
        >>> verdict = sv.disassociate(sv.demo_data(), k=3, m=2).verify()
        >>> assert verdict.holds, verdict.violations
        """
        with manner(threads, max_memory, progress) as how:
            return Verdict(json.loads(self._inner.verify(how)))

    def attack(
        self,
        original: Dataset | None = None,
        *,
        adversary: Literal["strong", "moderate", "weak"] = "strong",
        share: float = 0.1,
        seed: int = 0,
        known: int | None = None,
        targets: int = 400,
        worlds: int = 200,
        clusters: int = 50,
        replays: int = 8,
        keep: Keep | None = None,
        threads: int | None = None,
        max_memory: int | str | None = None,
        progress: Progress = False,
    ) -> Attack:
        """What an attacker learns who also knows how the release was made.

        With the ``original`` its records are attacked, and it is counted which
        guesses are right. ``keep`` is the list that the release was made with, if
        there was one: without it nobody finds out which records went where.

        >>> import setveil as sv
        >>> data = sv.demo_data()
        >>> attack = sv.disassociate(data, k=3, m=2).attack(data, targets=20, worlds=20)
        >>> attack.format["holds"]
        True
        """
        options = given(
            adversary=adversary,
            share=share,
            seed=seed,
            known=known,
            targets=targets,
            worlds=worlds,
            clusters=clusters,
            replays=replays,
        )
        inner = original._inner if original is not None else None
        with manner(threads, max_memory, progress) as how:
            found = self._inner.attack(inner, json.dumps(options), kept_sets(keep), how)
        return Attack(json.loads(found))

    def evaluate(
        self,
        original: Dataset,
        *,
        top: int = 1000,
        re_range: tuple[int, int] = (200, 220),
        reconstructions: int = 1,
        seed: int = 0,
        terms: Terms = "once",
        hierarchy: Hierarchy | None = None,
        keep: Keep | None = None,
        kl_queries: int = 100,
        kl_items: int = 4,
        kl_seed: int = 1,
        threads: int | None = None,
        max_memory: int | str | None = None,
        progress: Progress = False,
    ) -> Evaluation:
        """What the release is still good for, compared with the original.

        >>> import setveil as sv
        >>> data = sv.demo_data()
        >>> evaluation = sv.disassociate(data, k=3, m=2).evaluate(data)
        >>> [row["measure"] for row in evaluation.rows()][:2]
        ['tkd', 'tkd_a']
        """
        kl = {"count": kl_queries, "r": kl_items, "seed": kl_seed}
        options = measures(top, re_range, reconstructions, seed, terms, kl)
        tree = hierarchy._inner if hierarchy is not None else None
        with manner(threads, max_memory, progress) as how:
            kept = kept_sets(keep)
            found = self._inner.evaluate(original._inner, json.dumps(options), tree, kept, how)
        return Evaluation(json.loads(found))

    def report(
        self,
        original: Dataset | None = None,
        *,
        title: str | None = None,
        data_set: str | None = None,
        date: str | None = None,
        responsible: str | None = None,
        no_sensitive: bool = False,
        top: int = 1000,
        re_range: tuple[int, int] = (200, 220),
        reconstructions: int = 1,
        seed: int = 0,
        terms: Terms = "once",
        hierarchy: Hierarchy | None = None,
        keep: Keep | None = None,
        kl_queries: int = 100,
        kl_items: int = 4,
        kl_seed: int = 1,
        threads: int | None = None,
        max_memory: int | str | None = None,
        progress: Progress = False,
    ) -> Report:
        """One self-contained page for a data protection officer and an analyst.

        Without the ``original`` it holds nothing that is not in the release. At its
        head stand a title, what the data is called, a day and who answers for it.
        ``no_sensitive`` says that no item is sensitive: what everybody in a cluster
        has is then told, and does not make the verdict amber.

        >>> import setveil as sv
        >>> sv.disassociate(sv.demo_data(), k=3, m=2).report().holds
        True
        """
        kl = {"count": kl_queries, "r": kl_items, "seed": kl_seed}
        options = measures(top, re_range, reconstructions, seed, terms, kl)
        tree = hierarchy._inner if hierarchy is not None else None
        inner = original._inner if original is not None else None
        head = [title, data_set, date, responsible]
        with manner(threads, max_memory, progress) as how:
            about, page = self._inner.report(
                inner, head, no_sensitive, json.dumps(options), tree, kept_sets(keep), how
            )
        said = json.loads(about)
        return Report(page, said["holds"], said["colour"])

    def __repr__(self) -> str:
        about = self.manifest
        values = ", ".join(f"{k}={v}" for k, v in about["parameters"].items())
        return f"<Release {about['method']}({values}), {about['records']:,} records, {about['items']:,} items>"

    def _repr_html_(self) -> str:
        about = self.manifest
        row = {"records": about["records"], "items": about["items"], **about["parameters"]}
        return f"<p><b>Release</b> {escape(about['method'])}</p>{html_table([row])}"


def _unpickle(files: dict[str, bytes], made: Made | None) -> Release:
    with manner() as how:
        return Release._of(_setveil.Release.from_files(files, how), made)


def measures(
    top: int,
    re_range: tuple[int, int],
    reconstructions: int,
    seed: int,
    terms: Terms,
    kl: dict[str, int],
) -> dict[str, Any]:
    """The options of the measures."""
    return {
        "top": top,
        "re_range": {"start": re_range[0], "end": re_range[1]},
        "reconstructions": reconstructions,
        "seed": seed,
        "terms": terms,
        "kl": kl,
    }
