"""Set-valued data: one set of items per person."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from . import _setveil
from ._errors import DataError, ParameterError, SetveilWarning
from ._manner import Progress, manner
from ._results import Profile
from ._tables import ArrowTable, html_table, wanted

if TYPE_CHECKING:
    import scipy.sparse


WrittenFormat = Literal["fimi", "jsonl", "csv", "long-csv", "parquet"]
_FORMATS: dict[str, WrittenFormat] = {".dat": "fimi", ".jsonl": "jsonl", ".csv": "csv", ".parquet": "parquet"}


class Dataset(ArrowTable):
    """Records, each a set of items.

    ``data`` is one of these:

    * a table with Arrow's PyCapsule interface: a DataFrame of pandas or polars, a
      table or reader of pyarrow, a relation of DuckDB;
    * a column of lists: a Series, a pyarrow array;
    * an iterable of iterables of texts or whole numbers;
    * a sparse matrix of scipy, with the names of its columns in ``names``.

    Of a table, ``items`` names the column with the lists. With ``person``, the
    column that says whose row it is, ``items`` names the column with one item a
    row (long form), or the columns of a wide table, each with one item; by default
    all but ``person``.

    >>> import setveil as sv
    >>> data = sv.Dataset([["bread", "milk"], ["milk"], ["bread", "milk", "beer"]])
    >>> len(data), data.labels
    (3, ['beer', 'bread', 'milk'])
    """

    _inner: _setveil.Dataset

    def __init__(
        self,
        data: Any,
        *,
        items: str | Sequence[str] | None = None,
        person: str | None = None,
        names: Iterable[Any] | None = None,
        drop_nulls: bool = False,
        skip_bad_lines: bool = False,
        threads: int | None = None,
        max_memory: int | str | None = None,
        progress: Progress = False,
    ) -> None:
        layout = {
            **columns(items),
            "person": person,
            "drop_nulls": drop_nulls,
            "skip_bad_lines": skip_bad_lines,
        }
        named = items is not None or person is not None
        with manner(threads, max_memory, progress) as how:
            if _is_sparse(data):
                self._inner = _from_sparse(data, names, how)
            elif (objects := _sets_of_pandas(data, items, person)) is not None:
                self._inner = _setveil.Dataset.from_records(objects)
            elif hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
                self._inner = _setveil.Dataset.from_arrow(_arrow(data), json.dumps(layout), how)
            elif isinstance(data, (str, bytes, os.PathLike)):
                raise DataError("this is a path or a text; files are read with setveil.read(path)")
            elif named:
                raise ParameterError(
                    f"items= and person= name columns, and {type(data).__name__} has none"
                )
            elif isinstance(data, Mapping):
                raise DataError("a mapping is no list of records; give its values()")
            elif not isinstance(data, Iterable):
                raise DataError(
                    f"{type(data).__name__} is no data: expected a table with Arrow's interface, "
                    "a list of lists or a sparse matrix (a lazy table is collected first)"
                )
            else:
                self._inner = _setveil.Dataset.from_records(data)
        self._remark()

    @classmethod
    def _of(cls, inner: _setveil.Dataset) -> Dataset:
        self = cls.__new__(cls)
        self._inner = inner
        return self

    def _remark(self) -> None:
        for remark in self._inner.remarks():
            warnings.warn(remark, SetveilWarning, stacklevel=3)

    def __len__(self) -> int:
        return self._inner.size()[0]

    def __iter__(self) -> Iterator[list[str]]:
        return (self._inner.record(number) for number in range(len(self)))

    def __getitem__(self, number: int) -> list[str]:
        return self._inner.record(range(len(self))[number])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dataset) and self._inner.parts() == other._inner.parts()

    __hash__ = None  # type: ignore[assignment]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The records as one column ``items`` of lists."""
        return self._inner.stream()

    def __reduce__(self) -> tuple:
        inner = self._inner
        return _unpickle, (*inner.parts(), inner.preview(), inner.left_out())

    @property
    def labels(self) -> list[str]:
        """The names of all items, ascending."""
        return self._inner.supports()[0]

    @property
    def left_out(self) -> dict[str, int]:
        """What was left out when the data was read."""
        names = ("duplicates", "blank_items", "empty_records", "skipped_lines")
        return dict(zip(names, self._inner.left_out(), strict=True))

    def supports(self) -> dict[str, int]:
        """In how many records each item stands.

        >>> import setveil as sv
        >>> sv.Dataset([["a", "b"], ["b"]]).supports()
        {'a': 1, 'b': 2}
        """
        return dict(zip(*self._inner.supports(), strict=True))

    def to_lists(self) -> list[list[str]]:
        """All records as lists of texts.

        >>> import setveil as sv
        >>> sv.Dataset([{"b", "a"}]).to_lists()
        [['a', 'b']]
        """
        return list(self)

    def to_csr(self) -> tuple[scipy.sparse.csr_array, list[str]]:
        """A sparse matrix of ones with a row a record, and the names of its columns."""
        numpy, sparse = wanted("numpy", "to_csr()"), wanted("scipy.sparse", "to_csr()")
        labels, starts, items = self._inner.parts()
        starts, items = numpy.frombuffer(starts, "<u8"), numpy.frombuffer(items, "<u4")
        ones = numpy.ones(len(items), dtype=numpy.uint8)
        shape = (len(self), len(labels))
        indices = (items.astype("int64"), starts.astype("int64"))
        return sparse.csr_array((ones, *indices), shape=shape), labels

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        format: WrittenFormat | None = None,
        force: bool = False,
    ) -> None:
        """Writes the records to a file, such as a reconstruction for another tool.

        The format is that of the name (.dat, .jsonl, .csv, .parquet) unless it is given.

        >>> import pathlib, tempfile, setveil as sv
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "records.parquet"
        >>> sv.demo_data().write(file)
        >>> sv.read(file) == sv.demo_data()
        True
        """
        name = os.fspath(path)
        if format is None:
            format = _FORMATS.get(os.path.splitext(name)[1])
            if format is None:
                raise ParameterError(f"{name}: the name does not say which format; give `format=`")
        self._inner.write(name, format, force)

    def profile(
        self,
        *,
        known: int | None = None,
        samples: int = 20_000,
        seed: int = 1,
        threads: int | None = None,
        max_memory: int | str | None = None,
        progress: Progress = False,
    ) -> Profile:
        """How large the data is, and how surely a few known items find a person.

        The table has a row for 1, 2, ... up to ``known`` known items.

        >>> import setveil as sv
        >>> profile = sv.demo_data().profile(known=2)
        >>> [row["known"] for row in profile.rows()]
        [1, 2]
        """
        options = {"sampling": {"samples": samples, "seed": seed}}
        with manner(threads, max_memory, progress) as how:
            values = json.loads(_setveil.profile(self._inner, json.dumps(options), how))
        if known is not None:
            levels = values["reidentification"]
            if not 1 <= known <= len(levels):
                raise ParameterError(f"known = {known}: expected 1 to {len(levels)}")
            values["reidentification"] = levels[:known]
        return Profile(values)

    def __repr__(self) -> str:
        records, items, occurrences = self._inner.size()
        return f"<Dataset {records:,} records, {items:,} items, {occurrences:,} occurrences>"

    def _repr_html_(self) -> str:
        # Counts, and never a record: notebooks are shared.
        records, items, occurrences = self._inner.size()
        mean = occurrences / records if records else 0.0
        row = {"records": records, "items": items, "occurrences": occurrences, "mean length": mean}
        return f"<p><b>Dataset</b></p>{html_table([row])}"


def _unpickle(names, starts, items, preview, left_out) -> Dataset:
    return Dataset._of(_setveil.Dataset.from_parts(names, starts, items, preview, left_out))


def given(**values: Any) -> dict[str, Any]:
    """The values that were given."""
    return {name: value for name, value in values.items() if value is not None}


def columns(items: str | Sequence[str] | None) -> dict[str, Any]:
    """One column, or several of a wide table."""
    if items is None or isinstance(items, str):
        return given(item=items)
    return {"items": list(items)}


def _is_sparse(data: Any) -> bool:
    return type(data).__module__.startswith("scipy.sparse")


def _is_pandas(data: Any) -> bool:
    return type(data).__module__.startswith("pandas.")


def _sets_of_pandas(data: Any, items: Any, person: str | None) -> Any:
    """A column of Python sets, which Arrow does not know: its cells are taken one by one."""
    if not _is_pandas(data) or person is not None:
        return None
    column = data
    if hasattr(data, "columns"):
        if not isinstance(items, str) or items not in data.columns:
            return None
        column = data[items]
    first = next((cell for cell in column if cell is not None), None)
    return column if isinstance(first, (set, frozenset)) else None


def _from_sparse(matrix: Any, names: Iterable[Any] | None, how: _setveil.Manner):
    if names is None:
        raise ParameterError("names= is missing: the names of the matrix's columns")
    matrix = matrix.tocsr(copy=True)
    matrix.eliminate_zeros()
    names = [str(name) for name in names]
    if len(names) != matrix.shape[1]:
        raise ParameterError(f"names= has {len(names)} names, the matrix {matrix.shape[1]} columns")
    starts, ones = matrix.indptr.astype("<u8").tobytes(), matrix.indices.astype("<u8").tobytes()
    return _setveil.Dataset.from_csr(starts, ones, names, how)


def _arrow(data: Any) -> Any:
    """The same data in a form that Arrow can take."""
    if not _is_pandas(data):
        return data
    # pandas asks pyarrow, which takes lists, but no mixed types.
    return _Pandas(data)


class _Pandas:
    """A pandas object, with an error that says what to do."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        try:
            return self._data.__arrow_c_stream__(requested_schema)
        except ImportError as error:
            raise ImportError("tables of pandas need pyarrow: pip install pyarrow") from error
        except Exception as error:
            if type(error).__module__.startswith("pyarrow"):
                raise DataError(f"pandas cannot hand this over: {error}") from error
            raise
