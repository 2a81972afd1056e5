"""Disassociation in parts: the steps of the library, each on the machines of the cluster.

What the steps are, and in which order, says `disassociation::parts` of the
library. To the driver come counts of beginnings, which become a plan. Every
step depends on the records as a bag, so a task that is run again gives the
same, and neither partitions nor workers show in the result.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from .. import _setveil
from .._errors import DataError
from ._records import CHANGED, Counts
from ._session import Kept, explained, manner

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Clusters on the way: their bytes, and the terms that they may still share with how many records have each.
STATE = "cluster binary, terms array<int>, supports array<int>"


def disassociated(
    records: DataFrame, counts: Counts, parameters: str, part_size: int, kept: Kept
) -> tuple[DataFrame, list[int]]:
    """What is published of all clusters, as keys that sort canonically, and the sizes of the parts."""
    options = json.loads(parameters)
    ranks = _setveil.Ranks.most_frequent_first(counts.supports)
    planner = _setveil.Planner.of_records(part_size, options["max_cluster_size"])
    plan = _planned(records, planner, ranks)
    if sum(plan.sizes()) != counts.records:
        raise DataError(CHANGED)
    state = kept.keep(_split(records, plan, ranks, parameters))
    sizes = plan.sizes()
    if len(sizes) > 1 and options["refine"]:
        for fewer in _setveil.join_rounds():
            after = _joined(state, len(sizes), fewer, len(counts.labels), parameters, kept)
            kept.drop(state)
            state = after
    return state.select("cluster").mapInArrow(_closing(len(counts.labels)), "key binary"), sizes


def _planned(frame: DataFrame, planner: _setveil.Planner, ranks: _setveil.Ranks) -> _setveil.Plan:
    """Counts beginnings, level by level."""
    from pyspark.sql import functions as F

    ranked = ranks.to_bytes()
    while planner.counts():
        counted = frame.mapInArrow(_counting(planner.to_bytes(), ranked), "split long, code long, weight long")
        counted = counted.groupBy("split", "code").agg(F.sum("weight").alias("weight"))
        with explained():
            planner.take(counted.toArrow())
    return planner.finish()


def _counting(planner: bytes, ranks: bytes) -> Callable:
    def count(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        plan, ranked = _setveil.Planner.from_bytes(planner), _setveil.Ranks.from_bytes(ranks)
        for batch in batches:
            table = pa.table(plan.count(pa.Table.from_batches([batch]), ranked, manner()))
            names = table.column_names
            yield from table.cast(pa.schema([(name, pa.int64()) for name in names])).to_batches()

    return count


def _placing(plan: bytes, ranks: bytes, only_ranked: bool) -> Callable:
    """The part of every row, by its first column; -1 for none. Rows of the other columns go with it."""

    def place(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        planned, ranked = _setveil.Plan.from_bytes(plan), _setveil.Ranks.from_bytes(ranks)
        for batch in batches:
            lists = pa.Table.from_batches([batch.select([0])])
            parts = pa.table(planned.part(lists, ranked, only_ranked, manner())).column(0).combine_chunks()
            columns = [parts.fill_null(-1), batch.column(batch.num_columns - 1)]
            yield pa.RecordBatch.from_arrays(columns, ["part", batch.schema.names[-1]])

    return place


def _split(records: DataFrame, plan: _setveil.Plan, ranks: _setveil.Ranks, parameters: str) -> DataFrame:
    """Every part through the three steps alone."""
    from pyspark.sql import functions as F

    placed = records.mapInArrow(_placing(plan.to_bytes(), ranks.to_bytes(), False), "part int, items array<int>")
    placed = placed.filter("part >= 0").withColumn("copies", F.lit(1).cast("long"))
    equal = [(part, items, count) for items, count, part in plan.equal(ranks)]
    if equal:
        copies = records.sparkSession.createDataFrame(equal, "part int, items array<int>, copies long")
        placed = placed.unionByName(copies)
    return placed.groupBy("part").applyInArrow(_splitting(parameters), STATE)


def _splitting(parameters: str) -> Callable:
    def split(table: Any) -> Any:
        import pyarrow.compute as pc

        several = table.filter(pc.greater(table["copies"], 1))
        equal = list(zip(several["items"].to_pylist(), several["copies"].to_pylist(), strict=True))
        single = table.filter(pc.equal(table["copies"], 1)).select(["items"])
        return _state(_setveil.split_part(single, equal, parameters, manner()))

    return split


def _state(clusters: Any) -> Any:
    """Open clusters with their terms."""
    import pyarrow as pa

    table = pa.table(clusters)
    terms = pa.table(_setveil.open_terms(table))
    numbers = pa.list_(pa.int32())
    columns = {
        "cluster": table.column(0).cast(pa.binary()),
        "terms": terms.column(0).cast(numbers),
        "supports": terms.column(1).cast(numbers),
    }
    # In pieces, so that no message to the JVM is as large as a part.
    return pa.Table.from_batches(pa.table(columns).to_batches(max_chunksize=2000))


def _joined(state: DataFrame, parts: int, fewer: int, items: int, parameters: str, kept: Kept) -> DataFrame:
    """One round of joins."""
    from pyspark.sql import functions as F

    k = json.loads(parameters)["k"]
    ranks = _rare_first(state, items, k)
    rows = state.select("terms", F.length("cluster").cast("long").alias("weight"))
    weighed = rows.mapInArrow(_weighing(ranks.to_bytes()), "weight long").agg(F.sum("weight"))
    with explained():
        total = weighed.collect()[0][0] or 0
    plan = _planned(rows, _setveil.Planner.of_clusters(total, parts, fewer), ranks)
    placing = _placing(plan.to_bytes(), ranks.to_bytes(), True)
    placed = state.select("terms", "cluster").mapInArrow(placing, "part int, cluster binary")
    joined = placed.filter("part >= 0").groupBy("part").applyInArrow(_joining(ranks.to_bytes(), parameters), STATE)
    # Who has no part now shares nothing more.
    nothing = F.array().cast("array<int>")
    ended = placed.filter("part < 0").select("cluster", nothing.alias("terms"), nothing.alias("supports"))
    after = kept.keep(joined.unionByName(ended))
    # Now, while the state before is still kept.
    with explained():
        after.count()
    return after


def _rare_first(state: DataFrame, items: int, k: int) -> _setveil.Ranks:
    """Ranks of the terms that several clusters have not shared, the rarest first."""
    from pyspark.sql import functions as F

    terms = state.select(F.explode(F.arrays_zip("terms", "supports")).alias("term"))
    counted = terms.groupBy(F.col("term.terms").alias("item"))
    summed = counted.agg(F.count("*").alias("clusters"), F.sum("term.supports").alias("records"))
    with explained():
        found = summed.toArrow().to_pydict()
    clusters, records = [0] * items, [0] * items
    for item, of_clusters, of_records in zip(found["item"], found["clusters"], found["records"], strict=True):
        clusters[item], records[item] = of_clusters, of_records
    return _setveil.Ranks.rare_first(clusters, records, k)


def _weighing(ranks: bytes) -> Callable:
    """The bytes of clusters that have a term with a rank."""

    def weigh(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        import pyarrow.compute as pc

        ranked = _setveil.Ranks.from_bytes(ranks)
        for batch in batches:
            some = pa.table(ranked.ranked(pa.Table.from_batches([batch]))).column(0).combine_chunks()
            total = pc.sum(batch.column(1).filter(some)).as_py() or 0
            yield pa.RecordBatch.from_arrays([pa.array([total], pa.int64())], ["weight"])

    return weigh


def _joining(ranks: bytes, parameters: str) -> Callable:
    def join(table: Any) -> Any:
        ranked = _setveil.Ranks.from_bytes(ranks)
        return _state(_setveil.join_part(table.select(["cluster"]), ranked, parameters, manner()))

    return join


def _closing(items: int) -> Callable:
    def close(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            keys = pa.table(_setveil.close_clusters(pa.Table.from_batches([batch]), items))
            yield from keys.cast(pa.schema([("key", pa.binary())])).to_batches()

    return close
