"""A directory on any file system that Hadoop knows: releases are written to it and read from it.

The driver alone makes, renames and removes. Clusters are written by the workers
to a directory beside the release, which has a name that no release has. The
manifest comes last: without it nothing is a release.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from .._errors import DataError, FileExists, FileMissing

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MANIFEST = "manifest.json"


class Store:
    """A directory."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self._hadoop: Any = spark._jvm.org.apache.hadoop.fs  # type: ignore[union-attr]
        self._utils: Any = spark._jvm.org.apache.commons.io.IOUtils  # type: ignore[union-attr]
        settings = spark._jsparkSession.sessionState().newHadoopConf()
        self.path = str(path)
        self._root = self._hadoop.Path(self.path)
        self._files: Any = self._root.getFileSystem(settings)
        self._root = self._files.makeQualified(self._root)
        # Hadoop writes checksums beside local files, and a release has no such files.
        if hasattr(self._files, "getRawFileSystem"):
            self._files = self._files.getRawFileSystem()

    def _at(self, *names: str) -> Any:
        path = self._root
        for name in names:
            path = self._hadoop.Path(path, name)
        return path

    def url(self) -> str:
        """The directory with its file system."""
        return self._root.toString()

    def sizes(self) -> dict[str, int]:
        """The names of all files, with their lengths."""
        if not self._files.exists(self._root):
            raise FileMissing(f"{self.path}: there is no such directory")
        return {one.getPath().getName(): one.getLen() for one in self._files.listStatus(self._root)}

    def read(self, name: str) -> bytes:
        """The bytes of a small file."""
        stream = self._files.open(self._at(name))
        try:
            return bytes(self._utils.toByteArray(stream))
        finally:
            stream.close()

    def _write(self, path: Any, content: bytes) -> None:
        stream = self._files.create(path, False)
        try:
            stream.write(bytearray(content))
        finally:
            stream.close()

    def check(self, overwrite: bool) -> None:
        """Refuses a directory that has something in it, but for a release that may be replaced."""
        if not self._files.exists(self._root):
            return
        if not self._files.getFileStatus(self._root).isDirectory():
            raise FileExists(f"{self.path}: it is a file")
        names = self.sizes()
        if names and MANIFEST not in names:
            raise FileExists(f"{self.path}: it is no release and not empty; choose another name")
        if names and not overwrite:
            raise FileExists(f"{self.path}: it exists; choose another name, or give `overwrite=True`")

    def write(self, files: DataFrame, names: dict[int, str], others: dict[str, bytes], overwrite: bool) -> None:
        """Writes the files of clusters, by their numbers in column ``file``, and the other files."""
        self.check(overwrite)
        parent = self._root.getParent()
        staging = self._hadoop.Path(parent, f".{self._root.getName()}.setveil-{uuid.uuid4().hex[:12]}")
        made, before = self._hadoop.Path(staging, "release"), self._hadoop.Path(staging, "before")
        clusters = self._hadoop.Path(staging, "clusters")
        moved = False
        try:
            rows = files.select("file", "text").write.partitionBy("file")
            rows.option("compression", "none").option("lineSep", "\n").text(clusters.toString())
            self._files.mkdirs(made)
            for number, name in names.items():
                self._rename(self._only_file(clusters, number), self._hadoop.Path(made, name))
            for name, content in others.items():
                if name != MANIFEST:
                    self._write(self._hadoop.Path(made, name), content)
            self.check(overwrite)
            if self._files.exists(self._root):
                self._rename(self._root, before)
                moved = True
            self._rename(made, self._root)
            self._write(self._at(MANIFEST), others[MANIFEST])
        except BaseException:
            if moved or not self._files.exists(made):
                self._files.delete(self._root, True)
            if moved:
                self._files.rename(before, self._root)
            raise
        finally:
            self._files.delete(staging, True)

    def _only_file(self, clusters: Any, number: int) -> Any:
        found = self._files.listStatus(self._hadoop.Path(clusters, f"file={number}"))
        paths = [one.getPath() for one in found if one.getPath().getName().startswith("part-")]
        if len(paths) != 1:
            raise DataError(f"{self.path}: {len(paths)} files were written in place of one; write again")
        return paths[0]

    def _rename(self, old: Any, new: Any) -> None:
        if not self._files.rename(old, new):
            raise DataError(f"{self.path}: {old.getName()} could not become {new.toString()}")
