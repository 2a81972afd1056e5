"""Tables of other libraries, imported only when they are asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


def wanted(name: str, what: str) -> Any:
    """The module ``name``, or an error that says how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ImportError(f"{what} needs {package}: pip install {package}") from error


class ArrowTable:
    """What has ``__arrow_c_stream__``, as tables of other libraries."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        raise NotImplementedError

    def to_arrow(self) -> pyarrow.Table:
        """A ``pyarrow.Table``."""
        return wanted("pyarrow", "to_arrow()").table(self)

    def to_polars(self) -> polars.DataFrame:
        """A ``polars.DataFrame``; items are texts."""
        polars = wanted("polars", "to_polars()")
        frame = polars.DataFrame(self)
        return frame.with_columns(polars.col("items").cast(polars.List(polars.String)))

    def to_pandas(self) -> pandas.DataFrame:
        """A ``pandas.DataFrame``; each cell of ``items`` is a list of texts."""
        wanted("pandas", "to_pandas()")
        table = self.to_arrow()
        frame = table.drop_columns("items").to_pandas()
        frame["items"] = table.column("items").to_pylist()
        return frame[table.column_names]


def frame_pandas(rows: Sequence[Mapping[str, Any]]) -> pandas.DataFrame:
    return wanted("pandas", "to_pandas()").DataFrame(list(rows))


def frame_polars(rows: Sequence[Mapping[str, Any]]) -> polars.DataFrame:
    return wanted("polars", "to_polars()").DataFrame(list(rows), infer_schema_length=None)


def html_table(rows: Sequence[Mapping[str, Any]], most: int = 100) -> str:
    """A table for notebooks; everything is escaped."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    head = "".join(f"<th>{escape(str(column))}</th>" for column in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(text(row.get(column)))}</td>" for column in columns) + "</tr>"
        for row in rows[:most]
    )
    more = f"<p>{len(rows) - most:,} more rows</p>" if len(rows) > most else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def text(value: Any) -> str:
    """A value for people."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, bool) or not isinstance(value, int):
        return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return f"{value:,}"
