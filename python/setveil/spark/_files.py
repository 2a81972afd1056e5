"""From clusters to the files of a release.

Clusters are sorted by their keys across all machines and cut by a rule that
knows nothing of partitions: a cluster goes into file `b // file_size`, where b
is the number of bytes of all keys before its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from .. import _setveil
from ._session import Kept, explained, manner

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FILES = "file long, entry string, text string"


def name_of(number: int) -> str:
    """The name of a file of clusters."""
    return f"clusters-{number:05}.jsonl"


def files_of(
    keys: DataFrame, labels: list[str], parameters: str, file_size: int, kept: Kept
) -> tuple[DataFrame, dict[int, dict[str, Any]]]:
    """The files, each a row with its text but for the last line feed; and their entries in the
    manifest, by the number in column ``file``."""
    ordered = kept.keep(keys.repartitionByRange("key").sortWithinPartitions("key"))
    starts = _starts(ordered)
    cut = ordered.mapInArrow(_cutting(starts, file_size), "file long, key binary")
    files = cut.groupBy("file").applyInArrow(_filing(labels, parameters), FILES)
    files = kept.keep(files, disk=True)
    with explained():
        found = files.select("file", "entry").toArrow().to_pydict()
    kept.drop(ordered)
    entries = dict(sorted(zip(found["file"], map(json.loads, found["entry"]), strict=True)))
    # A key that is longer than a file leaves numbers out.
    for number, entry in enumerate(entries.values()):
        entry["name"] = name_of(number)
    return files, entries


def _starts(ordered: DataFrame) -> dict[int, int]:
    """How many bytes of keys stand before each partition."""
    from pyspark.sql import functions as F

    measured = ordered.mapInArrow(_measuring, "partition long, bytes long")
    measured = measured.groupBy("partition").agg(F.sum("bytes").alias("bytes"))
    with explained():
        found = measured.toArrow().to_pydict()
    starts, before = {}, 0
    for partition, length in sorted(zip(found["partition"], found["bytes"], strict=True)):
        starts[partition] = before
        before += length
    return starts


def _partition() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None, "this runs in a task"
    return context.partitionId()


def _measuring(batches: Iterator[Any]) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.compute as pc

    for batch in batches:
        length = pc.sum(pc.binary_length(batch.column(0)).cast(pa.int64())).as_py() or 0
        columns = [pa.array([_partition()], pa.int64()), pa.array([length], pa.int64())]
        yield pa.RecordBatch.from_arrays(columns, ["partition", "bytes"])


def _cutting(starts: dict[int, int], file_size: int) -> Callable:
    def cut(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        import pyarrow.compute as pc

        before = starts.get(_partition(), 0)
        for batch in batches:
            lengths = pc.binary_length(batch.column(0)).cast(pa.int64())
            ends = pc.add(pc.cumulative_sum(lengths), before)
            files = pc.divide(pc.subtract(ends, lengths), file_size)
            before = ends[-1].as_py() if len(ends) else before
            yield pa.RecordBatch.from_arrays([files, batch.column(0)], ["file", "key"])

    return cut


def _filing(labels: list[str], parameters: str) -> Callable:
    def file(table: Any) -> Any:
        import pyarrow as pa

        keys = table.select(["key"]).sort_by("key")
        content, entry = _setveil.cluster_file(keys, labels, 0, parameters, manner())
        columns = {
            "file": table["file"].slice(0, 1),
            "entry": pa.array([entry], pa.string()),
            "text": pa.array([content[:-1]], pa.string()),
        }
        return pa.table(columns)

    return file
