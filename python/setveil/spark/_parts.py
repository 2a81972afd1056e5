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
from ._session import Kept, manner

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Clusters on the way: their bytes, and the terms that they may still share with how many records have each.
STATE = "cluster binary, terms array<int>, supports array<int>"


def disassociated(
    records: DataFrame, counts: Counts, parameters: str, part_size: int, kept: Kept
) -> tuple[DataFrame, list[int]]:
    """What is published of all clusters, as keys that sort canonically, and the sizes of the parts."""
    options = json.loads(parameters)
    ranks = _setveil.Ranks.most_frequent_first(counts.supports, part_size)
    planner = _setveil.Planner.of_records(part_size, options["max_cluster_size"])
    plan = _planned(records, planner, ranks, kept)
    if sum(plan.sizes()) != counts.records:
        raise DataError(CHANGED)
    state = kept.keep(_split(records, plan, ranks, parameters))
    sizes = plan.sizes()
    if len(sizes) > 1 and options["refine"]:
        for fewer in _setveil.join_rounds():
            after = _joined(kept.leaf(state), len(sizes), fewer, len(counts.labels), parameters, kept)
            # What is lost from now on is made again from the data.
            kept.drop(but=after)
            state = after
    return kept.leaf(state).select("cluster").mapInArrow(_closing(len(counts.labels)), "key binary"), sizes


def _planned(
    frame: DataFrame, planner: _setveil.Planner, ranks: _setveil.Ranks, kept: Kept, few: int = 0
) -> _setveil.Plan:
    """Counts beginnings, level by level: a pass over all rows for each, until what counts weighs no more than `few`."""
    from pyspark.sql import functions as F

    ranked = ranks.to_bytes()
    while planner.counts():
        counted = frame.mapInArrow(_counting(planner.to_bytes(), ranked), "split long, code long, weight long")
        counted = counted.groupBy("split", "code").agg(F.sum("weight").alias("weight"))
        table = kept.table(counted)
        planner.take(table)
        _check(planner, table)
        if planner.counts() and sum(table["weight"].to_pylist()) <= few:
            # A cluster that weighs more than a part is followed to its last term, through up to 256 levels.
            rest = frame.mapInArrow(_still_counting(planner.to_bytes(), ranked), frame.schema).repartition(1)
            plan = kept.table(rest.mapInArrow(_finishing(planner.to_bytes(), ranked), "plan binary"))
            return _setveil.Plan.from_bytes(plan["plan"][0].as_py())
    return planner.finish()


def _check(planner: _setveil.Planner, counted: Any) -> None:
    """Whoever counts nothing where something was would do so for ever."""
    if planner.counts() and not len(counted):
        raise DataError(CHANGED)


def _still_counting(planner: bytes, ranks: bytes) -> Callable:
    """The rows that count in the next level."""

    def find(batches: Iterator[Any]) -> Iterator[Any]:
        plan, ranked = _setveil.Planner.from_bytes(planner), _setveil.Ranks.from_bytes(ranks)

        def counting(piece: Any) -> Iterator[Any]:
            import pyarrow as pa

            if not len(pa.table(plan.count(pa.Table.from_batches([piece]), ranked, manner()))):
                return
            if len(piece) == 1:
                yield piece
                return
            half = len(piece) // 2
            yield from counting(piece.slice(0, half))
            yield from counting(piece.slice(half))

        for batch in batches:
            yield from counting(batch)

    return find


def _finishing(planner: bytes, ranks: bytes) -> Callable:
    """All other levels, of rows that are in one place."""

    def finish(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        plan, ranked = _setveil.Planner.from_bytes(planner), _setveil.Ranks.from_bytes(ranks)
        rows = list(batches)
        while plan.counts():
            counted = pa.table(plan.count(pa.Table.from_batches(rows), ranked, manner())) if rows else []
            if rows:
                plan.take(counted)
            _check(plan, counted)
        yield pa.RecordBatch.from_arrays([pa.array([plan.finish().to_bytes()], pa.binary())], ["plan"])

    return finish


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
    """The part of every row, by its first column; -1 for none. Rows of the other columns go with it.

    With `only_ranked` a row has none because no item of it has a rank, and for no other reason."""

    def place(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        import pyarrow.compute as pc

        planned, ranked = _setveil.Plan.from_bytes(plan), _setveil.Ranks.from_bytes(ranks)
        for batch in batches:
            lists = pa.Table.from_batches([batch.select([0])])
            parts = pa.table(planned.part(lists, ranked, only_ranked, manner())).column(0).combine_chunks()
            if only_ranked:
                some = pa.table(ranked.ranked(lists)).column(0).combine_chunks()
                if pc.any(pc.and_(some, parts.is_null())).as_py():
                    raise DataError(f"a cluster without a part: {CHANGED}")
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
    """One round of joins.

    On one machine `--memory` may make its parts smaller (`at_most` of the library), because they share a memory
    whose size is known. Here a task has the memory that Spark was told to give it, which nobody can ask for, and
    the bytes of a release must not depend on it: `part_size` alone says how large parts are."""
    from pyspark.sql import functions as F

    k = json.loads(parameters)["k"]
    ranks = _rare_first(state, items, k, kept)
    rows = state.select("terms", F.length("cluster").cast("long").alias("weight"))
    weighed = rows.mapInArrow(_weighing(ranks.to_bytes()), "weight long").agg(F.sum("weight"))
    total = kept.table(weighed).column(0)[0].as_py() or 0
    # What a task or two of this round get in any case; here it is terms alone.
    few = 2 * total // -(-parts // fewer)
    plan = _planned(rows, _setveil.Planner.of_clusters(total, parts, fewer), ranks, kept, few)
    placing = _placing(plan.to_bytes(), ranks.to_bytes(), True)
    placed = state.select("terms", "cluster").mapInArrow(placing, "part int, cluster binary")
    joined = placed.filter("part >= 0").groupBy("part").applyInArrow(_joining(ranks.to_bytes(), parameters), STATE)
    # Who has no part now shares nothing more.
    nothing = F.array().cast("array<int>")
    ended = placed.filter("part < 0").select("cluster", nothing.alias("terms"), nothing.alias("supports"))
    after = kept.keep(joined.unionByName(ended))
    # Now, while the state before is still kept.
    kept.table(after.groupBy().count())
    return after


def _rare_first(state: DataFrame, items: int, k: int, kept: Kept) -> _setveil.Ranks:
    """Ranks of the terms that several clusters have not shared, the rarest first."""
    from pyspark.sql import functions as F

    terms = state.select(F.explode(F.arrays_zip("terms", "supports")).alias("term"))
    counted = terms.groupBy(F.col("term.terms").alias("item"))
    summed = counted.agg(F.count("*").alias("clusters"), F.sum("term.supports").alias("records"))
    found = kept.table(summed).to_pydict()
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
