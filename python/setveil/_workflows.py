"""What begins with a file or with data, and is no method."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, MutableMapping
from typing import Any

from . import _setveil
from ._anonymize import file_layout
from ._dataset import Dataset
from ._errors import SetveilWarning
from ._hierarchy import Hierarchy
from ._manner import Progress, manner
from ._recipient import Terms
from ._release import measures
from ._results import Band, Comparison, Recommendation, Verdict


def read(
    path: str | os.PathLike[str],
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
    threads: int | None = None,
    max_memory: int | str | None = None,
    progress: Progress = False,
) -> Dataset:
    """Reads FIMI, SPMF, CSV, TSV, JSON Lines or Parquet, compressed or not: see docs/formats.md.

    In a table, ``items`` is the column with the item or the list, or a list of
    the columns of a wide table (``["age", "dx1..dx21"]``).

    >>> import pathlib, tempfile, setveil as sv
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "visits.csv"
    >>> _ = file.write_text("patient,code\\nann,J10\\nann,R05\\nbob,J10\\n")
    >>> len(sv.read(file, person="patient", items="code"))
    2
    """
    layout = file_layout(
        format, person, items, delimiter, split, encoding, nouns, fold_case, normalize, skip_bad_lines
    )
    with manner(threads, max_memory, progress) as how:
        data = Dataset._of(_setveil.Dataset.read(os.fspath(path), layout, how))
    data._remark()
    return data


def verify(
    path: str | os.PathLike[str],
    *,
    threads: int | None = None,
    max_memory: int | str | None = None,
    progress: Progress = False,
) -> Verdict:
    """Decides the guarantee of a release directory; whatever is wrong with its files counts too.

    >>> import pathlib, tempfile, setveil as sv
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "release"
    >>> sv.disassociate(sv.demo_data(), k=3, m=2).write(folder)
    >>> sv.verify(folder).holds
    True
    """
    with manner(threads, max_memory, progress) as how:
        return Verdict(json.loads(_setveil.verify(os.fspath(path), how)))


def compare(
    data: Dataset,
    *,
    methods: Iterable[str] = ("disassociation",),
    k: Iterable[int] = (2, 5, 10),
    m: Iterable[int] = (2,),
    max_cluster_size: Iterable[int] = (50,),
    p: Iterable[int] = (10,),
    epsilon: Iterable[float] = (1.0,),
    sensitive: Iterable[str] | None = None,
    random_sensitive: int = 10,
    known: int = 2,
    repeats: int = 3,
    max_risk: float | None = None,
    max_tkd: float | None = None,
    max_re: float | None = None,
    max_tlost: float | None = None,
    min_pairs_kept: float | None = None,
    top: int = 1000,
    re_range: tuple[int, int] = (200, 220),
    reconstructions: int = 1,
    seed: int = 0,
    terms: Terms = "once",
    hierarchy: Hierarchy | None = None,
    kl_queries: int = 100,
    kl_items: int = 4,
    kl_seed: int = 1,
    store: MutableMapping[str, bytes] | None = None,
    threads: int | None = None,
    max_memory: int | str | None = None,
    progress: Progress = False,
) -> Comparison:
    """Methods and parameters side by side: risk, utility and time in one table.

    Finished settings are kept in ``store``, any mapping of texts to bytes: a
    comparison that was stopped goes on where it stopped. They are measurements
    of the original and private.

    >>> import setveil as sv
    >>> table = sv.compare(sv.demo_data(), k=[3, 5], seed=1)
    >>> [row["k"] for row in table.rows()]
    [3, 5]
    """
    kl = {"count": kl_queries, "r": kl_items, "seed": kl_seed}
    limits = {
        "max_risk": max_risk,
        "max_tkd": max_tkd,
        "max_re": max_re,
        "max_tlost": max_tlost,
        "min_pairs_kept": min_pairs_kept,
    }
    options: dict[str, Any] = {
        "methods": _several(methods),
        "k": _several(k),
        "m": _several(m),
        "max_cluster_size": _several(max_cluster_size),
        "p": _several(p),
        "epsilon": _several(epsilon),
        "sensitive": list(sensitive) if sensitive is not None else None,
        "random_sensitive": random_sensitive,
        "known": known,
        "repeats": repeats,
        "limits": limits if any(value is not None for value in limits.values()) else None,
        "measure": measures(top, re_range, reconstructions, seed, terms, kl),
    }
    tree = hierarchy._inner if hierarchy is not None else None
    with manner(threads, max_memory, progress) as how:
        _warn_if_misread(data, how)
        found, csv, svg = _setveil.compare(data._inner, json.dumps(options), tree, store, how)
    return Comparison(json.loads(found), csv, svg)


def recommend(
    data: Dataset,
    *,
    max_risk: float = 0.1,
    known: int = 2,
    methods: Iterable[str] = ("disassociation", "local-suppression"),
    k: Iterable[int] | None = None,
    m: Iterable[int] = (2, 3),
    max_cluster_size: Iterable[int] = (50, 100, 200),
    max_tkd: float | None = None,
    max_re: float | None = None,
    max_tlost: float | None = None,
    min_pairs_kept: float | None = None,
    top: int = 1000,
    re_range: tuple[int, int] = (200, 220),
    reconstructions: int = 1,
    seed: int = 0,
    terms: Terms = "once",
    hierarchy: Hierarchy | None = None,
    kl_queries: int = 100,
    kl_items: int = 4,
    kl_seed: int = 1,
    threads: int | None = None,
    max_memory: int | str | None = None,
    progress: Progress = False,
) -> Recommendation:
    """Searches for the setting that keeps a given risk and loses least.

    The risk is how often somebody who knows ``known`` items of a person finds
    the person's place in the release. It is measured on this data, and no proof.

    >>> import setveil as sv
    >>> found = sv.recommend(sv.demo_data(), max_risk=0.5, k=[3, 10], m=[2], max_cluster_size=[50])
    >>> len(found.tried) > 0
    True
    """
    kl = {"count": kl_queries, "r": kl_items, "seed": kl_seed}
    limits = {
        "max_tkd": max_tkd,
        "max_re": max_re,
        "max_tlost": max_tlost,
        "min_pairs_kept": min_pairs_kept,
    }
    options = {
        "max_risk": max_risk,
        "known": known,
        "methods": _several(methods),
        "m": _several(m),
        "max_cluster_size": _several(max_cluster_size),
        "limits": limits,
        "measure": measures(top, re_range, reconstructions, seed, terms, kl),
    }
    if k is not None:
        options["k"] = sorted(_several(k))
    tree = hierarchy._inner if hierarchy is not None else None
    with manner(threads, max_memory, progress) as how:
        _warn_if_misread(data, how)
        found = _setveil.recommend(data._inner, json.dumps(options), tree, how)
    return Recommendation(json.loads(found))


def _warn_if_misread(data: Dataset, how: _setveil.Manner) -> None:
    """Figures about a table that was misread mean nothing."""
    why = _setveil.misread(data._inner, how)
    if why is not None:
        warnings.warn(why, SetveilWarning, stacklevel=3)


def _several(values: Any) -> list:
    """A list, also of a single value."""
    return [values] if isinstance(values, (str, int, float)) else list(values)


def demo_data() -> Dataset:
    """The made-up sample of ``setveil demo``: what people bought in a pharmacy.

    >>> import setveil as sv
    >>> sv.demo_data().profile().records == len(sv.demo_data())
    True
    """
    return Dataset._of(_setveil.pharmacy())


def generate_quest(
    *,
    records: int = 100_000,
    items: int = 1_000,
    mean_length: float = 10.0,
    patterns: int = 2_000,
    pattern_length: float = 4.0,
    correlation: float = 0.5,
    seed: int = 1,
    threads: int | None = None,
    max_memory: int | str | None = None,
    progress: Progress = False,
) -> Dataset:
    """Made-up baskets with patterns (IBM Quest).

    >>> import setveil as sv
    >>> len(sv.generate_quest(records=100, items=20, patterns=5))
    100
    """
    with manner(threads, max_memory, progress) as how:
        made = _setveil.quest(
            records, items, mean_length, patterns, pattern_length, correlation, seed, how
        )
    return Dataset._of(made)


def generate_query_log(
    *,
    users: int = 10_000,
    mean_queries: float = 24.7,
    distinct_queries: int = 150_000,
    skew: float = 0.8,
    seed: int = 1,
    threads: int | None = None,
    max_memory: int | str | None = None,
    progress: Progress = False,
) -> Dataset:
    """The queries of made-up users, one record a user.

    >>> import setveil as sv
    >>> len(sv.generate_query_log(users=10, distinct_queries=50))
    10
    """
    with manner(threads, max_memory, progress) as how:
        made = _setveil.query_log(users, mean_queries, distinct_queries, skew, seed, how)
    return Dataset._of(made)


def draw_sensitive(data: Dataset, n: int, *, p: int = 10, seed: int = 1) -> list[str]:
    """For experiments: draws ``n`` sensitive items among those rare enough for ``p``.

    >>> import setveil as sv
    >>> len(sv.draw_sensitive(sv.demo_data(), 2, p=4))
    2
    """
    return _setveil.draw_sensitive(data._inner, n, p, seed)


def band(
    data: Dataset,
    *,
    sensitive: Iterable[str] = (),
    side: int = 600,
    threads: int | None = None,
    max_memory: int | str | None = None,
    progress: Progress = False,
) -> Band:
    """The matrix of records and items, before and after similar records are brought together.

    It shows raw data: keep it with the original.

    >>> import setveil as sv
    >>> picture = sv.band(sv.demo_data(), side=16)
    >>> len(picture.before["pixels"]) <= 16
    True
    """
    with manner(threads, max_memory, progress) as how:
        found = _setveil.band(data._inner, list(sensitive), side, how)
    names = ("before", "after")
    return Band({name: _picture(*values) for name, values in zip(names, found, strict=True)})


def _picture(width: int, height: int, pixels: bytes, mean_distance: float) -> dict[str, Any]:
    counts = memoryview(pixels).cast("I").tolist()
    rows = [counts[row * width : (row + 1) * width] for row in range(height)]
    return {"pixels": rows, "mean_distance": mean_distance}
