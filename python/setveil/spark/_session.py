"""The Spark session: what kind it is, what runs on it, and what its errors mean."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
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


class Kept:
    """DataFrames that are kept until they are not needed any more."""

    def __init__(self) -> None:
        self._frames: list[DataFrame] = []

    def keep(self, frame: DataFrame, *, disk: bool = False) -> DataFrame:
        """Keeps a DataFrame that is used several times."""
        from pyspark import StorageLevel

        frame = frame.persist(StorageLevel.DISK_ONLY if disk else StorageLevel.MEMORY_AND_DISK)
        self._frames.append(frame)
        return frame

    def drop(self, *frames: DataFrame) -> None:
        """Lets some of them go, or all."""
        for frame in frames or tuple(self._frames):
            frame.unpersist()
            self._frames.remove(frame)


def tallied(frame: DataFrame) -> dict[str, dict[str, tuple[int, int]]]:
    """The sum and the maximum of all numbers, by kind and text."""
    from pyspark.sql import functions as F

    rows = frame.groupBy("kind", "text").agg(F.sum("number").alias("sum"), F.max("number").alias("max"))
    found: dict[str, dict[str, tuple[int, int]]] = {}
    with explained():
        table = rows.toArrow().to_pydict()
    for kind, text, total, most in zip(table["kind"], table["text"], table["sum"], table["max"], strict=True):
        found.setdefault(kind, {})[text] = (total, most)
    return found


def tally(rows: list[tuple[str, str, int]]) -> Any:
    """Rows for :func:`tallied`."""
    import pyarrow as pa

    kinds, texts, numbers = zip(*rows, strict=True) if rows else ((), (), ())
    columns = [pa.array(kinds, pa.string()), pa.array(texts, pa.string()), pa.array(numbers, pa.int64())]
    return pa.RecordBatch.from_arrays(columns, ["kind", "text", "number"])
