"""Disassociation of data that lies on a cluster of machines: PySpark 4.1 or later.

    from setveil import spark as svs

    release = svs.anonymize(df, items="codes", k=5, m=2)
    assert release.verify().holds
    release.write("hdfs:///releases/visits")

Guide: docs/spark.md. To the driver come the items with their counts, and the first
bytes of some clusters. The workers need this package and pyarrow.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .. import _setveil
from .._errors import ParameterError, SetveilWarning
from .._manner import size
from .._results import Evaluation, Made, Profile, Support, Supports, Verdict
from ._files import files_of as _files_of
from ._parts import disassociated as _disassociated
from ._records import Counts, counted, lists_of, look_for_identifiers, numbered
from ._release import LARGEST_FILE, SparkRelease, _evaluated, _supports, _verified, files_of
from ._session import Kept, session_of, small_batches

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from .._recipient import Terms

__all__ = ["SparkRelease", "anonymize", "evaluate", "profile", "support", "supports", "verify"]


def anonymize(
    df: DataFrame,
    *,
    items: str | None = None,
    person: str | None = None,
    item: str | None = None,
    method: str = "disassociation",
    k: int = 5,
    m: int = 2,
    max_cluster_size: int | None = None,
    refine: bool = True,
    drop_nulls: bool = False,
    as_baskets: bool = False,
    part_size: int = 1_000_000,
    file_size: int | str = "16M",
    **parameters: Any,
) -> SparkRelease:
    """Makes a release of the records in ``df``, on the machines that have them.

    ``items`` is the column with lists; or ``person`` says whose row it is and
    ``item`` has one item a row. Parts have about ``part_size`` records: other sizes
    give other releases with the same promise, and one part gives that of one machine.
    Files have about ``file_size`` bytes of clusters before labels are written out.

    The result depends on the records and on these arguments: not on partitions,
    workers, the order of rows, or tasks that failed and were run again.
    """
    wanted = _parameters(method, {"k": k, "m": m, "max_cluster_size": max_cluster_size, "refine": refine, **parameters})
    _setveil.Planner.of_records(part_size, json.loads(wanted)["max_cluster_size"])
    bytes_a_file = size("file_size", file_size) or 1
    if bytes_a_file > LARGEST_FILE:
        raise ParameterError(f"file_size = {file_size!r}: at most {LARGEST_FILE >> 20}M, which is what Spark reads as one row")
    began, session = time.monotonic(), session_of(df)
    kept = Kept(session)
    try:
        lists = lists_of(df, items, person, item, drop_nulls, kept)
        counts = counted(lists, kept)
        if not as_baskets:
            look_for_identifiers(lists, counts, kept)
        if counts.records < k:
            # The library says why this cannot be done.
            _setveil.split_part(_no_lists(), [([0], counts.records)], wanted, _setveil.Manner())
        for remark in counts.remarks():
            warnings.warn(remark, SetveilWarning, stacklevel=2)
        records = kept.keep(numbered(lists, counts.labels))
        with small_batches(session):
            keys, sizes = _disassociated(records, counts, wanted, part_size, kept)
            files = _files_of(keys, counts.labels, wanted, bytes_a_file, counts.records, kept)
        texts = [json.dumps(entry) for entry in files.entries.values()]
        small = _setveil.end_of_parts(wanted, counts.records, len(counts.labels), texts)
    except BaseException:
        kept.end()
        raise
    made = {
        "method": method,
        "records": counts.records,
        "items": len(counts.labels),
        "parameters": json.loads(small["manifest.json"])["parameters"],
        "parts": len(sizes),
        "left_out": _left_out(counts),
        "seconds": time.monotonic() - began,
    }
    return SparkRelease(files, small, counts, Made(made))


def _no_lists() -> Any:
    import pyarrow as pa

    return pa.schema([("items", pa.list_(pa.int32()))]).empty_table()


def _parameters(method: str, given: dict[str, Any]) -> str:
    """The parameters as the library takes them; what cannot be done in parts is refused."""
    if method not in _setveil.methods():
        raise ParameterError(f"there is no method {method!r}; there are {', '.join(_setveil.methods())}")
    if method != "disassociation":
        why = "its promise is about all records at once"
        if method == "diffpart":
            why = "parts that are chosen by looking at the data would spend privacy that nobody counts"
        raise ParameterError(
            f"method = {method!r} is not made on Spark: {why}; run it on one machine, by setveil.anonymize(data, {method!r}) "
            f"or `setveil anonymize {method}`, or use method='disassociation' here"
        )
    if given.pop("keep", None):
        raise ParameterError("keep = sets of items: records of all parts come together; run it on one machine, setveil.disassociate(..., keep=)")
    options = {name: value for name, value in given.items() if value is not None}
    options.setdefault("max_cluster_size", 50)
    options.setdefault("refine", True)
    wanted = json.dumps(options)
    try:
        _setveil.check_parts(wanted)
    except ParameterError as error:
        raise ParameterError(f"{error}; on one machine: setveil.disassociate(...)") from None
    return wanted


def _left_out(counts: Counts) -> dict[str, int]:
    names = ("duplicates", "blank_items", "empty_records", "skipped_lines")
    return dict(zip(names, counts.left_out, strict=True))


def verify(release: str | SparkRelease, *, spark: Any = None) -> Verdict:
    """Decides the guarantee of a release directory: the verdict of ``setveil verify``.

    Every file is checked where it is read; the driver puts together what was found.
    """
    return _verified(files_of(release, spark))


def support(
    release: str | SparkRelease, itemset: Iterable[str], *, terms: Terms = "once", spark: Any = None
) -> Support:
    """In how many records these items stand together: lower bound, expected, upper bound."""
    if isinstance(itemset, str):
        raise ParameterError("itemset is one text: give a list of items")
    return supports(release, [itemset], terms=terms, spark=spark)[0]


def supports(
    release: str | SparkRelease,
    itemsets: Iterable[Iterable[str]],
    *,
    terms: Terms = "once",
    spark: Any = None,
) -> Supports:
    """The supports of several itemsets in one pass over the release, a row each."""
    return _supports(files_of(release, spark), itemsets, terms)


def evaluate(
    release: str | SparkRelease,
    original: DataFrame,
    *,
    items: str | None = None,
    person: str | None = None,
    item: str | None = None,
    drop_nulls: bool = False,
) -> Evaluation:
    """``tlost`` and ``pairs_kept`` of a release, compared with its original."""
    kept = Kept(session_of(original))
    try:
        counts = counted(lists_of(original, items, person, item, drop_nulls, kept), kept)
    finally:
        kept.end()
    return _evaluated(files_of(release, original.sparkSession), counts)


def profile(
    df: DataFrame,
    *,
    items: str | None = None,
    person: str | None = None,
    item: str | None = None,
    drop_nulls: bool = False,
) -> Profile:
    """How large the data is and what its reading leaves out.

    How surely a few known items find a person is not counted here: take a sample to
    ``setveil.Dataset(...).profile()``, which finds people more surely than all data would.
    """
    kept = Kept(session_of(df))
    try:
        counts = counted(lists_of(df, items, person, item, drop_nulls, kept), kept)
    finally:
        kept.end()
    values = {
        "records": counts.records,
        "items": len(counts.labels),
        "occurrences": counts.occurrences,
        "max_length": counts.longest,
        "mean_length": counts.occurrences / counts.records if counts.records else 0.0,
        "items_once": sum(1 for support in counts.supports if support == 1),
        "reidentification": [],
        "left_out": _left_out(counts),
    }
    return Profile(values)
