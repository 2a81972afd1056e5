"""The Spark session: what kind it is, what runs on it, and what its errors mean."""

from __future__ import annotations

import contextlib
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from .. import _errors, _setveil
from .._errors import DataError, SetveilError
from ._plans import shuffles_of

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
    asks Java. At Ctrl-C another thread calls `stop` until this one has ended;
    pressing it again changes nothing.
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

    def stopping() -> None:
        # Again and again: a job may begin after it was told.
        while not done.is_set():
            with contextlib.suppress(Exception):
                stop()
            done.wait(0.2)

    thread = InheritableThread(target=run)
    thread.start()
    pressed: BaseException | None = None
    while not done.is_set() and thread.is_alive():
        try:
            done.wait(1)
        except BaseException as error:
            if pressed is None:
                pressed = error
                InheritableThread(target=stopping).start()
    # What says where something is must not be hidden; that a job was cancelled is no news.
    if pressed is not None and not (failed and isinstance(failed[0], SetveilError)):
        raise pressed
    if failed:
        raise failed[0]
    if not done.is_set():
        raise SetveilError("the Spark session has ended")


def ended(context: Any, tag: str, seconds: float = 60) -> None:
    """Waits until no task runs of the jobs with a tag: Spark says that a job has ended while some still do."""
    tracker = context._jsc.sc().statusTracker()
    context._jsc.sc().cancelJobsWithTag(tag)
    end, quiet = time.monotonic() + seconds, 0
    # Whether any task runs is known at once. Whose it is comes a little later.
    while any(executor.numRunningTasks() for executor in tracker.getExecutorInfos()):
        with contextlib.suppress(Exception):
            context._jsc.sc().listenerBus().waitUntilEmpty(5000)
        quiet = 0 if _tasks(tracker, tag) else quiet + 1
        if quiet > 3 or time.monotonic() > end:
            return
        time.sleep(0.2)


def _tasks(tracker: Any, tag: str) -> int:
    """How many tasks run of the jobs with a tag, as Spark lists them."""
    running = 0
    for job in tracker.getJobIdsForTag(tag):
        about = tracker.getJobInfo(job)
        for number in about.get().stageIds() if about.isDefined() else ():
            stage = tracker.getStageInfo(number)
            running += stage.get().numActiveTasks() if stage.isDefined() else 0
    return running


class Kept:
    """What the machines keep for one piece of work: cached frames, and the shuffle files that asking left on their disks."""

    def __init__(self, session: SparkSession) -> None:
        self._context: Any = session.sparkContext
        # What was made before is somebody else's, also where it became a part of this.
        self._first: int = self._context._jsc.sc().newRddId()
        self._frames: list[DataFrame] = []
        self._leaves: dict[int, DataFrame] = {}
        self._tag = f"setveil-{uuid.uuid4().hex[:12]}"
        self._first_shuffle: int = self._context._jsc.sc().newShuffleId()
        # Plans of what is cached here, and of what failed.
        self._cached: list[Any] = []
        self._failed: list[Any] = []

    def keep(self, frame: DataFrame) -> DataFrame:
        """Keeps a DataFrame that is used several times. None with long texts: see `_files.py`."""
        from pyspark import StorageLevel

        frame = frame.persist(StorageLevel.MEMORY_AND_DISK)
        self._frames.append(frame)
        session: Any = frame.sparkSession
        # These are Spark's own classes: without them less is cleaned after a failure, and a release is made nevertheless.
        with contextlib.suppress(Exception):
            found = session._jsparkSession.sharedState().cacheManager().lookupCachedData(frame._jdf)
            self._cached.append(found.get().cachedRepresentation().cacheBuilder().cachedPlan())
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
        rows = self._watched(plan, plan.toRdd)
        made = Classic(session._jsparkSession.internalCreateDataFrame(rows, plan.analyzed().schema(), False), session)
        self._leaves[rows.id()] = made
        return made

    def table(self, frame: DataFrame) -> Any:
        """All rows, on the driver. What was written to disks to find them is removed, but for what leaves are made of."""
        found = self._watched(frame._jdf.queryExecution(), frame.toArrow)  # type: ignore[operator]
        self.forget(frame)
        return found

    def _watched(self, plan: Any, ask: Callable[[], Any]) -> Any:
        """What runs jobs. If it fails or is interrupted, its shuffle files will be looked for in the plan."""
        answer: list[Any] = []

        def act() -> None:
            # In a thread of its own, which has the tag alone.
            self._context.addJobTag(self._tag)
            with explained():
                answer.append(ask())

        try:
            undisturbed(act, lambda: self._context.cancelJobsWithTag(self._tag))
        except BaseException:
            self._failed.append(plan)
            raise
        return answer[0]

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

    def _forget_failed(self) -> None:
        """Removes what was written for rows that never came. There are no rows to ask whence they came, and asking for
        them would run again what failed; but plans say which shuffles they have begun."""
        if not self._failed:
            return
        # A task that still runs would write its file after it was removed.
        ended(self._context, self._tag)
        cleaner = self._context._jsc.sc().cleaner()
        if cleaner.isEmpty():
            return
        for plan in (*self._cached, *(failed.executedPlan() for failed in self._failed)):
            for shuffle in shuffles_of(plan):
                if shuffle > self._first_shuffle:
                    cleaner.get().doCleanupShuffle(shuffle, False)

    def end(self) -> None:
        """Lets everything go. What does not go hides no failure: Spark removes it at the end of the session."""
        with contextlib.suppress(Exception):
            undisturbed(self._let_go)

    def _let_go(self) -> None:
        for act in (self._forget_failed, self.drop, lambda: self.forget(*self._leaves.values(), leaves=True)):
            with contextlib.suppress(Exception):
                act()
        self._cached, self._failed = [], []


@contextlib.contextmanager
def small_batches(session: SparkSession) -> Iterator[None]:
    """Caches few rows at a time: Spark has a hundred batches in the heap while it writes a cached frame to a disk.

    (Until then its serializer remembers what it wrote: `spark.serializer.objectStreamReset`. A cluster has some kilobytes.)
    """
    name, few = "spark.sql.inMemoryColumnarStorage.batchSize", 500
    key = session._jsparkSession.sessionUUID()
    with _LOCK:
        # The last of several calls that overlap gives back what the first has found.
        before, calls = _BATCHES.get(key) or (session.conf.get(name), 0)
        _BATCHES[key] = (before, calls + 1)
        session.conf.set(name, str(min(few, int(before or few))))
    try:
        yield
    finally:
        with _LOCK:
            before, calls = _BATCHES.pop(key)
            if calls > 1:
                _BATCHES[key] = (before, calls - 1)
            else:
                session.conf.set(name, before)


_LOCK = threading.Lock()
_BATCHES: dict[str, tuple[Any, int]] = {}
"""What the setting was in each session before it was changed, and how many calls want it changed."""


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
