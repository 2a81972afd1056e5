"""What a recipient asks of a release."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from typing import Literal

from . import _setveil
from ._dataset import Dataset, given
from ._errors import ParameterError
from ._manner import Progress, manner
from ._results import Items, Itemsets, Support, Supports

Terms = Literal["once", "below-k", "any"]
"""How often a term of a term chunk is expected in its cluster."""
Prior = Literal["measured", "worlds"]
"""How likely the data sets are that fit: as measured on other data, or all equally."""


class Recipient:
    """The questions that need nothing but the release."""

    _inner: _setveil.Release

    def support(
        self,
        itemset: Iterable[str],
        *,
        terms: Terms = "once",
        prior: Prior = "measured",
        threads: int | None = None,
        max_memory: int | str | None = None,
        progress: Progress = False,
    ) -> Support:
        """In how many records these items stand together: lower bound, expected, upper bound.

        >>> import setveil as sv
        >>> release = sv.disassociate(sv.demo_data(), k=3, m=2)
        >>> lower, expected, upper = release.support([release.labels[0]])
        >>> lower <= upper
        True
        """
        if isinstance(itemset, str):
            raise ParameterError("itemset is one text: give a list of items")
        several = self.supports(
            [itemset],
            terms=terms,
            prior=prior,
            threads=threads,
            max_memory=max_memory,
            progress=progress,
        )
        return several[0]

    def supports(
        self,
        itemsets: Iterable[Iterable[str]],
        *,
        terms: Terms = "once",
        prior: Prior = "measured",
        threads: int | None = None,
        max_memory: int | str | None = None,
        progress: Progress = False,
    ) -> Supports:
        """The supports of several itemsets at once, a row each.

        >>> import setveil as sv
        >>> release = sv.disassociate(sv.demo_data(), k=3, m=2)
        >>> len(release.supports([[label] for label in release.labels[:3]]))
        3
        """
        sets = [[str(item) for item in itemset] for itemset in itemsets]
        with manner(threads, max_memory, progress) as how:
            answers = self._inner.query(sets, json.dumps({"terms": terms, "prior": prior}), how)
        return Supports({"answers": json.loads(answers)})

    def items(
        self,
        *,
        terms: Terms = "once",
        prior: Prior = "measured",
        threads: int | None = None,
        max_memory: int | str | None = None,
        progress: Progress = False,
    ) -> Items:
        """Every item with the number of records that have it, the most frequent first.

        >>> import setveil as sv
        >>> release = sv.disassociate(sv.demo_data(), k=3, m=2)
        >>> len(release.items()) == len(release.labels)
        True
        """
        with manner(threads, max_memory, progress) as how:
            answers = self._inner.items(json.dumps({"terms": terms, "prior": prior}), how)
        return Items({"items": json.loads(answers)})

    def itemsets(
        self,
        n: int = 1000,
        *,
        at_least: int = 1,
        rules: float | None = None,
        terms: Terms = "once",
        prior: Prior = "measured",
        seed: int = 0,
        threads: int | None = None,
        max_memory: int | str | None = None,
        progress: Progress = False,
    ) -> Itemsets:
        """The ``n`` most frequent itemsets with bounds.

        Itemsets with fewer than ``at_least`` items are left out. With ``rules``,
        the smallest expected confidence, ``rules`` of the result has rules between items.

        >>> import setveil as sv
        >>> release = sv.disassociate(sv.demo_data(), k=3, m=2)
        >>> len(release.itemsets(10))
        10
        """
        options = given(
            n=n, at_least=at_least, confidence=rules, terms=terms, prior=prior, seed=seed
        )
        with manner(threads, max_memory, progress) as how:
            found = json.loads(self._inner.itemsets(json.dumps(options), how))
        return Itemsets({"rules": [], **found})

    def export(
        self,
        path: str | os.PathLike[str],
        *,
        format: Literal["csv", "parquet"] = "csv",
        force: bool = False,
        threads: int | None = None,
        max_memory: int | str | None = None,
        progress: Progress = False,
    ) -> list[str]:
        """Writes the release as flat tables, and gives the names of the files.

        >>> import pathlib, tempfile, setveil as sv
        >>> folder = pathlib.Path(tempfile.mkdtemp()) / "tables"
        >>> files = sv.disassociate(sv.demo_data(), k=3, m=2).export(folder, format="parquet")
        >>> len(files)
        1
        """
        if format not in ("csv", "parquet"):
            raise ParameterError(f"format = {format!r}: expected 'csv' or 'parquet'")
        with manner(threads, max_memory, progress) as how:
            made = self._inner.export(os.fspath(path), format == "parquet", force, how)
        return json.loads(made)["files"]

    def reconstruct(
        self,
        n: int = 1,
        *,
        seed: int = 0,
        terms: Terms = "once",
        threads: int | None = None,
        max_memory: int | str | None = None,
        progress: Progress = False,
    ) -> Iterator[Dataset]:
        """Draws ``n`` data sets that the release could have come from, one after the other.

        Compute what you want on each and average.

        >>> import setveil as sv
        >>> release = sv.disassociate(sv.demo_data(), k=3, m=2)
        >>> [len(world) == len(release) for world in release.reconstruct(n=2)]
        [True, True]
        """
        if n < 1:
            raise ParameterError(f"n = {n}: expected at least 1")
        options = json.dumps(given(seed=seed, terms=terms))

        def draw(number: int) -> Dataset:
            with manner(threads, max_memory, progress) as how:
                return Dataset._of(self._inner.reconstruct(number, options, how))

        return map(draw, range(n))
