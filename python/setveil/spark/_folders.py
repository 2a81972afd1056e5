"""Files and directories on any file system that Hadoop knows: the few operations that a store needs.

Each of them does what it says or raises. Hadoop's own say `False` in many
cases, and a rename to a directory that exists goes into it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._errors import DataError, FileExists

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Listing = dict[str, int]
"""The names in a directory with the lengths of the files; a directory in it has the length -1."""


class Folders:
    """The file system of a path."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        from py4j.java_gateway import is_instance_of

        self._hadoop: Any = spark._jvm.org.apache.hadoop.fs  # type: ignore[union-attr]
        self._utils: Any = spark._jvm.org.apache.commons.io.IOUtils  # type: ignore[union-attr]
        settings = spark._jsparkSession.sessionState().newHadoopConf()
        root = self._hadoop.Path(path)
        self._files: Any = root.getFileSystem(settings)
        self.root: Any = self._files.makeQualified(root)
        """The path with its file system."""
        # Hadoop writes checksums beside local files, and a release has no such files. The class is asked for:
        # to Python every object of Java seems to have every method.
        if is_instance_of(spark.sparkContext._gateway, self._files, "org.apache.hadoop.fs.ChecksumFileSystem"):
            self._files = self._files.getRawFileSystem()

    def beside(self, name: str) -> Any:
        """A path in the directory that has the root."""
        return self._hadoop.Path(self.root.getParent(), name)

    def inside(self, folder: Any, name: str) -> Any:
        """A path in a directory."""
        return self._hadoop.Path(folder, name)

    def is_file(self, path: Any) -> bool:
        """Whether there is a file in place of a directory."""
        return self._files.exists(path) and not self._files.getFileStatus(path).isDirectory()

    def listed(self, folder: Any) -> Listing | None:
        """What is in a directory; none if there is no such directory."""
        if not self._files.exists(folder):
            return None
        found = self._files.listStatus(folder)
        return {one.getPath().getName(): one.getLen() if one.isFile() else -1 for one in found}

    def read(self, path: Any) -> bytes:
        """The bytes of a small file."""
        stream = self._files.open(path)
        try:
            return bytes(self._utils.toByteArray(stream))
        finally:
            stream.close()

    def write(self, path: Any, content: bytes) -> None:
        """Makes a small file."""
        stream = self._files.create(path, False)
        try:
            stream.write(bytearray(content))
        finally:
            stream.close()

    def make(self, folder: Any) -> None:
        """Makes a directory, and those above it."""
        if not self._files.mkdirs(folder):
            raise DataError(f"{folder.toString()} could not be made")

    def rename(self, old: Any, new: Any) -> None:
        """Gives a file or a directory another place, where nothing is yet."""
        if self._files.exists(new):
            raise FileExists(f"{new.toString()}: it exists")
        if not self._files.rename(old, new):
            raise DataError(f"{old.toString()} could not become {new.toString()}")

    def delete(self, folder: Any) -> None:
        """Removes a directory with all that is in it, if it is there."""
        if not self._files.delete(folder, True) and self._files.exists(folder):
            raise DataError(f"{folder.toString()} could not be removed")
