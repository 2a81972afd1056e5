"""From clusters to the files of a release.

Clusters are sorted by their keys across all machines and cut by a rule that
knows nothing of partitions: a cluster goes into file `b // file_size`, where b
is the number of bytes of all keys before its own. To find out where partitions
shall end Spark asks for a sample of what is sorted by, on the driver: the first
bytes of keys are enough.

Keys stay keys until somebody wants text: once for the entries of the manifest, a
small row for each file, and again for every use of the bytes, which are the same
each time. Text goes from Python to the JVM in pieces, and never the other way.

None of this is kept by Spark's cache. Whatever the cache writes to a disk or reads
from it stays in the heap until a hundred batches were written or read
(`spark.serializer.objectStreamReset`), a batch has 4 MB or one row that is longer,
and it keeps two more copies of a text for its statistics. So the keys lie in
shuffle files, and are sorted where they are read, which spills.
"""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from .. import _setveil
from .._errors import DataError
from ._records import CHANGED
from ._session import Kept, manner

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ENTRIES = "file long, entry string, records long"
TEXTS = "file long, piece int, text string"
SAMPLED = 64
"""How many bytes of a key say which partition it goes to. Equal ones stay together, so the order is that of whole keys."""
PIECE = 1 << 20
"""About how many bytes of text a row has: whole lines."""
RUN = 1 << 25
"""About how many bytes of keys become text at once: files of the usual size are one run."""
# How every line begins: with the number of records of the cluster, those of the clusters in it included.
_SIZE = re.compile(rb'^\{"size":(\d+),', re.MULTILINE)


def name_of(number: int) -> str:
    """The name of a file of clusters."""
    return f"clusters-{number:05}.jsonl"


@dataclass
class ClusterFiles:
    """The files of clusters of a release, not written yet."""

    keys: DataFrame
    """The sorted keys, each with the number of its file; those of a file in one partition."""
    texts: DataFrame
    """The same as text, in pieces of whole lines but for the last line feed of each, in their order."""
    entries: dict[int, dict[str, Any]]
    """Those of the manifest, by the number in column ``file``."""
    making: Making
    kept: Kept


@dataclass
class Making:
    """How keys become the text of files; goes to the workers."""

    labels: list[str]
    parameters: str
    run: int
    """About how many bytes of keys become text at once."""

    def texts(self, keys: Iterable[Any]) -> Iterator[tuple[bytes, dict[str, Any]]]:
        """Runs of lines for runs of keys of one file, each with its entry as if it were the file."""
        last = None
        for run in keys:
            # What would come out otherwise is no release, and nobody would say so before it is verified.
            first, before, last = run["key"][0].as_py(), last, run["key"][-1].as_py()
            if before is not None and first < before:
                raise DataError(f"clusters that are not in their order: {CHANGED}")
            content, entry = _setveil.cluster_file(run, self.labels, 0, self.parameters, manner())
            yield content, json.loads(entry)


def files_of(
    keys: DataFrame, labels: list[str], parameters: str, file_size: int, records: int, kept: Kept
) -> ClusterFiles:
    """The files. It is an error if they do not have `records` records together.

    Nothing that is cached is needed afterwards: what is lost then is made again from the data."""
    from pyspark.sql import functions as F

    ordered = kept.leaf(keys.repartitionByRange(F.substring("key", 1, SAMPLED)).sortWithinPartitions("key"))
    cut = ordered.mapInArrow(_cutting(_starts(ordered, kept), file_size), "file long, key binary")
    filed = kept.leaf(cut.repartition("file").sortWithinPartitions("file", "key"))
    making = Making(labels, parameters, RUN)
    found = kept.table(filed.mapInArrow(_describing(making), ENTRIES)).to_pydict()
    kept.drop()
    written = sum(found["records"])
    if written != records:
        raise DataError(f"there were {records:,} records, and the clusters that came out have {written:,}: {CHANGED}")
    entries = dict(sorted(zip(found["file"], map(json.loads, found["entry"]), strict=True)))
    # A key that is longer than a file leaves numbers out.
    for number, entry in enumerate(entries.values()):
        entry["name"] = name_of(number)
    sums = {file: entry["sha256"] for file, entry in entries.items()}
    return ClusterFiles(filed, filed.mapInArrow(_texting(making, sums, PIECE), TEXTS), entries, making, kept)


def _starts(ordered: DataFrame, kept: Kept) -> dict[int, int]:
    """How many bytes of keys stand before each partition."""
    from pyspark.sql import functions as F

    measured = ordered.mapInArrow(_measuring, "partition long, bytes long")
    measured = measured.groupBy("partition").agg(F.sum("bytes").alias("bytes"))
    found = kept.table(measured).to_pydict()
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


def records_of(content: bytes, lines: int) -> int:
    """How many records the clusters of a file have: what is counted is what will be read."""
    sizes = [int(found[1]) for found in _SIZE.finditer(content)]
    if len(sizes) != lines:
        raise DataError(f"a file of {lines} clusters has {len(sizes)} that say how many records they have")
    return sum(sizes)


def pieces_of(text: bytes, length: int) -> Iterator[bytes]:
    """Runs of lines of at least so many bytes, without the line feeds between them."""
    start = 0
    while True:
        end = text.find(b"\n", start + length)
        yield text[start:] if end < 0 else text[start:end]
        if end < 0:
            return
        start = end + 1


def _runs(batches: Iterator[Any], length: int) -> Iterator[tuple[int, Any]]:
    """Cuts the keys into runs of about ``length`` bytes. A run belongs to one file, whose number comes with it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    file, size = -1, 0
    waiting: list[Any] = []

    def run() -> Iterator[tuple[int, Any]]:
        if waiting:
            yield file, pa.Table.from_batches(waiting)

    for batch in batches:
        ends = pc.cumulative_sum(pc.binary_length(batch.column(1)).cast(pa.int64())).to_pylist()
        start = 0
        while start < len(batch):
            number = batch.column(0)[start].as_py()
            if number != file:
                yield from run()
                file, waiting, size = number, [], 0
            before = ends[start - 1] if start else 0
            # Files ascend, so those of one stand together.
            end = start + pc.sum(pc.equal(batch.column(0).slice(start), number)).as_py()
            end = min(end, bisect_left(ends, before + length - size, start) + 1)
            waiting.append(batch.select(["key"]).slice(start, end - start))
            size += ends[end - 1] - before
            if size >= length:
                yield from run()
                waiting, size = [], 0
            start = end
    yield from run()


def _made(batches: Iterator[Any], making: Making) -> Iterator[tuple[int, Iterator[tuple[bytes, dict[str, Any]]]]]:
    """Every file in a partition: its number, and its text in runs of lines."""
    for file, runs in groupby(_runs(batches, making.run), key=lambda run: run[0]):
        yield file, making.texts(run for _, run in runs)


def _describing(making: Making) -> Callable:
    """The entry of every file, and how many records it has."""

    def describe(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for file, texts in _made(batches, making):
            entry: dict[str, Any] = {}
            digest, length, lines, records = hashlib.sha256(), 0, 0, 0
            for content, entry in texts:
                digest.update(content)
                length, lines = length + len(content), lines + entry["lines"]
                records += records_of(content, entry["lines"])
            entry |= {"bytes": length, "lines": lines, "sha256": digest.hexdigest()}
            columns = [pa.array([file], pa.int64()), pa.array([json.dumps(entry)]), pa.array([records], pa.int64())]
            yield pa.RecordBatch.from_arrays(columns, ["file", "entry", "records"])

    return describe


def _texting(making: Making, sums: dict[int, str], length: int) -> Callable:
    """The text of every file in pieces. It is that of its entry, or an error at its end."""

    def text(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for file, texts in _made(batches, making):
            digest, piece = hashlib.sha256(), 0
            for content, _ in texts:
                digest.update(content)
                for some in pieces_of(content[:-1], length):
                    columns = [pa.array([file], pa.int64()), pa.array([piece], pa.int32()), pa.array([some], pa.string())]
                    yield pa.RecordBatch.from_arrays(columns, ["file", "piece", "text"])
                    piece += 1
            _compare(file, digest.hexdigest(), sums)

    return text


def contents_of(files: ClusterFiles) -> Callable[[Iterator[Any]], Iterator[tuple[str, bytes]]]:
    """Makes names and whole files of the keys in a partition."""
    making, names = files.making, {file: entry["name"] for file, entry in files.entries.items()}
    sums = {file: entry["sha256"] for file, entry in files.entries.items()}

    def contents(batches: Iterator[Any]) -> Iterator[tuple[str, bytes]]:
        for file, texts in _made(batches, making):
            content = b"".join(content for content, _ in texts)
            _compare(file, hashlib.sha256(content).hexdigest(), sums)
            yield names[file], content

    return contents


def _compare(file: int, found: str, sums: dict[int, str]) -> None:
    """What was lost is made again from the data, which may not be what it was."""
    if found != sums.get(file):
        raise DataError(f"a file of clusters is not the one that was described: {CHANGED}")
