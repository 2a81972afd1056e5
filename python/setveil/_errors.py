"""What can go wrong. A broken guarantee is none of these: it is a value."""


class SetveilError(Exception):
    """Something could not be done; nothing was published."""


class DataError(SetveilError, ValueError):
    """The data, a file or a release is not what is needed."""


class IdentifierError(DataError):
    """The data looks like a table or like identifiers instead of sets of items.

    If it is meant as it is, give ``as_baskets=True``.
    """


class ParameterError(SetveilError, ValueError):
    """A parameter is out of its range, unknown or missing."""


class TooLarge(SetveilError, MemoryError):
    """More than can be counted, held, or decided in a bounded time."""


class FileError(SetveilError, OSError):
    """A file could not be read or written."""


class FileMissing(FileError, FileNotFoundError):
    """There is no such file."""


class FileExists(FileError, FileExistsError):
    """Something stands where the result should go."""


class SetveilWarning(UserWarning):
    """Something to look at before a release is handed out."""
