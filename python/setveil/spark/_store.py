"""A directory on any file system that Hadoop knows: releases are written to it and read from it.

The driver alone makes, renames and removes. Clusters are written by the workers
to a directory beside the release, which has a name that no release has.
"""

from __future__ import annotations

import contextlib
import re
import warnings
from typing import TYPE_CHECKING, Any

from .._errors import FileExists, FileMissing, SetveilWarning
from ._folders import Folders, Listing
from ._replacement import MANIFEST, Replacement, refuse_others
from ._session import ended, undisturbed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Store:
    """A directory."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self.path, self._context = str(path), spark.sparkContext
        self._folders = Folders(spark, self.path)

    def url(self) -> str:
        """The directory with its file system, as Spark reads it: to Spark some characters are patterns."""
        return re.sub(r"([\\{}\[\]*?^,])", r"\\\1", self._folders.root.toString())

    def sizes(self) -> Listing:
        """The names of all files, with their lengths."""
        found = self._folders.listed(self._folders.root)
        if found is None:
            raise FileMissing(f"{self.path}: there is no such directory")
        return found

    def read(self, name: str) -> bytes:
        """The bytes of a small file."""
        return self._folders.read(self._folders.inside(self._folders.root, name))

    def check(self, overwrite: bool) -> None:
        """Refuses a directory that has something in it, but for a release that may be replaced."""
        if self._folders.is_file(self._folders.root):
            raise FileExists(f"{self.path}: it is a file")
        names = self._folders.listed(self._folders.root)
        if not names:
            return
        if MANIFEST not in names:
            raise FileExists(f"{self.path}: it is no release and not empty; choose another name")
        if not overwrite:
            raise FileExists(f"{self.path}: it exists; choose another name, or give `overwrite=True`")
        refuse_others(self._folders, self._folders.root, self.path)

    def write(self, files: DataFrame, names: dict[int, str], others: dict[str, bytes], overwrite: bool) -> None:
        """Writes the files of clusters, by their numbers in column ``file`` and in pieces, and the other files.

        If it fails, what was there is there again, or the error says where it is.
        """
        self.check(overwrite)
        work = Replacement(self._folders, self.path)
        try:
            undisturbed(lambda: self._tagged(files, work), lambda: self._context.cancelJobsWithTag(work.tag))
            undisturbed(lambda: work.publish(names, others, lambda: self.check(overwrite), overwrite), work.stop)
        except BaseException:
            # Spark says that a job has failed or was cancelled before the last of its tasks has ended, and that one
            # may make its directory again.
            with contextlib.suppress(Exception):
                undisturbed(lambda: ended(self._context, work.tag))
            raise
        finally:
            undisturbed(work.clear)
            if work.left:
                warnings.warn(work.left, SetveilWarning, stacklevel=4)

    def _tagged(self, files: DataFrame, work: Replacement) -> None:
        self._context.addJobTag(work.tag)
        self._texts(files, work.clusters)

    def _texts(self, files: DataFrame, folder: Any) -> None:
        """A directory for each file, with one file in it: what the machines do."""
        # Spark wants files one after the other and sorts for that, unless this order says so already.
        rows = files.sortWithinPartitions("file", "piece").select("file", "text").write.partitionBy("file")
        rows = rows.option("compression", "none").option("lineSep", "\n")
        # A session may have a limit, which would cut files.
        rows.option("maxRecordsPerFile", 0).text(folder.toString())
