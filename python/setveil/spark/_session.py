"""The Spark session: what kind it is, what runs on it, and what its errors mean."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from .. import _errors, _setveil
from .._errors import DataError, SetveilError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TALLY = "kind string, text string, number long"
"""What tasks count: numbers by kind, and by text where a kind has several."""


def session_of(df: Any) -> SparkSession:
    """The session of a DataFrame."""
    if type(df).__module__.startswith("pyspark.sql.connect"):
        raise _connect()
    if not hasattr(df, "mapInArrow"):
        raise DataError(f"{type(df).__name__} is no DataFrame of Spark; other tables: setveil.Dataset(...)")
    return df.sparkSession


def active_session(spark: Any) -> SparkSession:
    """The session that was given, or the one that is active."""
    if spark is None:
        from pyspark.sql import SparkSession

        spark = SparkSession.getActiveSession()
    if spark is None:
        raise SetveilError("there is no active Spark session: give `spark=`")
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        raise _connect()
    return spark


def _connect() -> SetveilError:
    return SetveilError(
        "this is a session of Spark Connect, and setveil.spark needs a classic one: releases are written through the "
        "driver's own Hadoop file system; start the program with spark-submit, or with "
        "SparkSession.builder.master(...) in place of .remote(...)"
    )


def manner() -> _setveil.Manner:
    """How a task works: with as many threads as it has cores (``spark.task.cpus``)."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return _setveil.Manner(context.cpus() if context is not None else 1)


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Says what to do where a worker lacks the package; an error of the library on a worker is one here."""
    try:
        yield
    except Exception as error:
        text = str(error)
        if "No module named 'setveil'" in text or "No module named 'pyarrow'" in text:
            raise SetveilError(
                "the Python of the workers lacks setveil or pyarrow: ship an environment with `spark.archives` "
                "and say where its Python is by PYSPARK_PYTHON, see docs/spark.md"
            ) from error
        said = re.search(r"setveil\._errors\.(\w+): (.*)", text)
        if said is not None and not isinstance(error, SetveilError):
            raise getattr(_errors, said[1], SetveilError)(said[2]) from error
        raise


def undisturbed(act: Callable[[], None], stop: Callable[[], None] = lambda: None) -> None:
    """Does something to its end, in a thread of its own.

    Ctrl-C is raised in the main thread, wherever that is. If it waits for Java,
    Java goes on with the rename or the job that nobody waits for any more, and
    whatever is done next meets its effects. So it waits for this thread, which
    asks Java. At Ctrl-C `stop` is called until the thread has ended.
    """
    from pyspark import InheritableThread

    failed: list[BaseException] = []
    # A thread whose `join` was interrupted says that it has ended, in some versions of Python.
    done = threading.Event()

    def run() -> None:
        try:
            act()
        except BaseException as error:
            failed.append(error)
        finally:
            done.set()

    thread = InheritableThread(target=run)
    thread.start()
    try:
        while not done.wait(1) and thread.is_alive():
            pass
    except BaseException:
        # Again and again: a job may begin after it was told.
        while not done.is_set():
            stop()
            done.wait(0.2)
        # What says where something is must not be hidden; that a job was cancelled is no news.
        if not failed or not isinstance(failed[0], SetveilError):
            raise
    if failed:
        raise failed[0]
    if not done.is_set():
        raise SetveilError("the Spark session has ended")


class Kept:
    """What the machines keep for one piece of work: cached frames, and the shuffle files that asking left on their disks."""

    def __init__(self, session: SparkSession) -> None:
        self._context: Any = session.sparkContext
        # What was made before is somebody else's, also where it became a part of this.
        self._first: int = self._context._jsc.sc().newRddId()
        self._frames: list[DataFrame] = []
        self._leaves: dict[int, DataFrame] = {}

    def keep(self, frame: DataFrame) -> DataFrame:
        """Keeps a DataFrame that is used several times. None with long texts: see `_files.py`."""
        from pyspark import StorageLevel

        frame = frame.persist(StorageLevel.MEMORY_AND_DISK)
        self._frames.append(frame)
        return frame

    def drop(self, *, but: DataFrame | None = None) -> None:
        """Lets cached frames go, but for one."""
        for frame in tuple(self._frames):
            if frame is not but:
                frame.unpersist()
                self._frames.remove(frame)

    def leaf(self, frame: DataFrame) -> DataFrame:
        """The same rows, and no plan behind them; what is lost is made again nevertheless.

        Spark looks at the whole plan for every job, that of kept frames included. A plan which has another one twice is
        more than twice as long, so a few rounds of that are more work than the data. Its own checkpoints cut plans too,
        but need a directory, or do not survive a machine.
        """
        from pyspark.sql.classic.dataframe import DataFrame as Classic

        session: Any = frame.sparkSession
        plan: Any = frame._jdf.queryExecution()  # type: ignore[operator]
        # This may run jobs.
        with explained():
            rows = plan.toRdd()
        made = Classic(session._jsparkSession.internalCreateDataFrame(rows, plan.analyzed().schema(), False), session)
        self._leaves[rows.id()] = made
        return made

    def table(self, frame: DataFrame) -> Any:
        """All rows, on the driver. What was written to disks to find them is removed, but for what leaves are made of."""
        with explained():
            found = frame.toArrow()
        self.forget(frame)
        return found

    def forget(self, *frames: DataFrame, leaves: bool = False) -> None:
        """Removes the shuffle files that frames have left, up to what is cached, and to leaves unless they go as well.

        Spark can do this too, but does not stop at what others have made."""
        cleaner = self._context._jsc.sc().cleaner()
        if cleaner.isEmpty():
            return
        waiting: list[Any] = [frame._jdf.queryExecution().toRdd() for frame in frames]  # type: ignore[operator]
        seen = {rows.id() for rows in waiting}
        while waiting:
            parents = waiting.pop().dependencies()
            for at in range(parents.size()):
                parent = parents.apply(at)
                rows = parent.rdd()
                if rows.id() < self._first or rows.id() in self._leaves and not leaves:
                    continue
                if parent.getClass().getSimpleName() == "ShuffleDependency":
                    cleaner.get().doCleanupShuffle(parent.shuffleId(), False)
                if rows.id() not in seen and not rows.getStorageLevel().isValid():
                    seen.add(rows.id())
                    waiting.append(rows)

    def end(self) -> None:
        """Lets everything go. What does not go hides no failure: Spark removes it at the end of the session."""
        with contextlib.suppress(Exception):
            self.drop()
            self.forget(*self._leaves.values(), leaves=True)


@contextlib.contextmanager
def small_batches(session: SparkSession) -> Iterator[None]:
    """Caches few rows at a time: Spark has a hundred batches in the heap while it writes a cached frame to a disk.

    (Until then its serializer remembers what it wrote: `spark.serializer.objectStreamReset`. A cluster has some kilobytes.)
    """
    name, few = "spark.sql.inMemoryColumnarStorage.batchSize", 500
    before = session.conf.get(name)
    session.conf.set(name, str(min(few, int(before or few))))
    try:
        yield
    finally:
        session.conf.set(name, before)


def tallied(frame: DataFrame, kept: Kept) -> dict[str, dict[str, tuple[int, int]]]:
    """The sum and the maximum of all numbers, by kind and text."""
    from pyspark.sql import functions as F

    rows = frame.groupBy("kind", "text").agg(F.sum("number").alias("sum"), F.max("number").alias("max"))
    found: dict[str, dict[str, tuple[int, int]]] = {}
    table = kept.table(rows).to_pydict()
    for kind, text, total, most in zip(table["kind"], table["text"], table["sum"], table["max"], strict=True):
        found.setdefault(kind, {})[text] = (total, most)
    return found


def tally(rows: list[tuple[str, str, int]]) -> Any:
    """Rows for :func:`tallied`."""
    import pyarrow as pa

    kinds, texts, numbers = zip(*rows, strict=True) if rows else ((), (), ())
    columns = [pa.array(kinds, pa.string()), pa.array(texts, pa.string()), pa.array(numbers, pa.int64())]
    return pa.RecordBatch.from_arrays(columns, ["kind", "text", "number"])
