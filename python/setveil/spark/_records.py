"""From a DataFrame to records of numbers.

Every batch of rows is read by the library, so that blanks, nulls, duplicates
and empty records mean what they mean on one machine. To the driver come the
items with their counts, and nothing else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .. import _setveil
from .._errors import DataError, IdentifierError, ParameterError, SetveilError
from ._session import TALLY, Kept, manner, session_of, tallied, tally

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# What the library takes for white space around an item: Unicode's White_Space.
_BLANKS = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
_SAMPLE = 20_000
# What a sample cannot know: whether an item that occurs once in it occurs again.
_UNIQUE = ("ids", "unique_columns", "unique_position")


@dataclass
class Lists:
    """Records as lists of texts, and why there are none."""

    frame: DataFrame
    """One column of lists, and ``fault``."""
    layout: str
    """How the library reads the lists."""


@dataclass
class Counts:
    """What is known about all records."""

    labels: list[str]
    supports: list[int]
    records: int = 0
    occurrences: int = 0
    longest: int = 0
    pairs: int = 0
    left_out: list[int] = field(default_factory=lambda: [0] * 4)

    def remarks(self) -> list[str]:
        """What was left out, in words."""
        nothing = (0).to_bytes(8, "little")
        return _setveil.Dataset.from_parts([], nothing, b"", ([], []), self.left_out).remarks()


def lists_of(
    df: DataFrame, items: str | None, person: str | None, item: str | None, drop_nulls: bool, kept: Kept
) -> Lists:
    """The records of a column of lists, or of a long table."""
    from pyspark.sql import functions as F
    from pyspark.sql.pandas.types import to_arrow_schema

    if (items is None) == (person is None and item is None) or (person is None) != (item is None):
        raise ParameterError(
            "which columns? items='codes' for a column of lists, or person='patient', item='code' for one row an item"
        )
    if person is not None and person == item:
        raise ParameterError(f"person and item are the same column, {person!r}: who somebody is would be published")
    options = {"person": person, "item": item or items, "drop_nulls": drop_nulls}
    # Names and types of columns are the library's to judge, before any work.
    _setveil.Dataset.from_arrow(to_arrow_schema(df.schema).empty_table(), json.dumps(options), _setveil.Manner())
    if items is not None:
        frame = df.select(F.col(_quoted(items)).alias(items), F.lit(None).cast("string").alias("fault"))
        return Lists(frame, json.dumps({"item": items, "drop_nulls": drop_nulls}))
    rows = df.select(_quoted(person), _quoted(item))
    rows = rows.mapInArrow(_rows(json.dumps(options)), "person string, item string, fault string")
    grouped = rows.groupBy("person").agg(F.collect_list("item").alias(str(item)), F.min("fault").alias("fault"))
    # Used twice, and dear: it has gone over the network.
    return Lists(kept.leaf(kept.keep(grouped.select(_quoted(item), "fault"))), json.dumps({"item": item}))


def _quoted(name: Any) -> str:
    return "`" + str(name).replace("`", "``") + "`"


def _rows(layout: str) -> Callable:
    """Rows of a long table, whose persons are equal where the library says so."""

    def rows(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        import pyarrow.compute as pc

        for batch in batches:
            fault = None
            try:
                _setveil.Dataset.from_arrow(pa.Table.from_batches([batch]), layout, manner())
                texts = [pc.utf8_trim(column.cast(pa.string()), _BLANKS) for column in batch.columns]
                columns = [texts[0], texts[1].fill_null(""), pa.nulls(len(batch), pa.string())]
            except SetveilError as error:
                fault = _without_row(error)
                columns = [pa.array([""]), pa.array([""]), pa.array([fault])]
            yield pa.RecordBatch.from_arrays(columns, ["person", "item", "fault"])

    return rows


def _without_row(error: Exception) -> str:
    """Numbers of rows are numbers in a batch, and mean nothing to anybody."""
    return re.sub(r"^(the table, )?row \d+: ", "", str(error))


def counted(lists: Lists, kept: Kept) -> Counts:
    """Counts items and sizes in one pass."""
    found = tallied(lists.frame.mapInArrow(_counting(lists.layout), TALLY), kept)
    if "fault" in found:
        raise DataError(min(found["fault"]))
    items = sorted(found.get("item", {}).items())
    sizes = {text: values for text, values in found.get("size", {}).items()}
    names = ("duplicates", "blank_items", "empty_records", "skipped_lines")

    def total(name: str) -> int:
        return sizes.get(name, (0, 0))[0]

    return Counts(
        [label for label, _ in items],
        [values[0] for _, values in items],
        total("records"),
        total("occurrences"),
        sizes.get("longest", (0, 0))[1],
        total("pairs"),
        [total(name) for name in names],
    )


def _counting(layout: str) -> Callable:
    def count(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            faults = [("fault", fault, 1) for fault in batch.column(1).drop_null().unique().to_pylist()]
            try:
                data = _read(batch, layout)
            except SetveilError as error:
                yield tally([("fault", _without_row(error), 1)])
                continue
            records, _, occurrences = data.size()
            longest, pairs = data.lengths()
            sizes = {"records": records, "occurrences": occurrences, "longest": longest, "pairs": pairs}
            names = ("duplicates", "blank_items", "empty_records", "skipped_lines")
            sizes |= dict(zip(names, data.left_out(), strict=True))
            rows = [("size", name, number) for name, number in sizes.items()]
            yield tally(faults + rows + [("item", label, n) for label, n in zip(*data.supports(), strict=True)])

    return count


def _read(batch: Any, layout: str) -> _setveil.Dataset:
    import pyarrow as pa

    return _setveil.Dataset.from_arrow(pa.Table.from_batches([batch.select([0])]), layout, manner())


def numbered(lists: Lists, labels: list[str]) -> DataFrame:
    """The records as ascending numbers of items, in a column ``items``."""
    return lists.frame.mapInArrow(_numbering(lists.layout, labels), "items array<int>")


def _numbering(layout: str, labels: list[str]) -> Callable:
    def number(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        numbers = {label: at for at, label in enumerate(labels)}
        for batch in batches:
            names, starts, items = _read(batch, layout).parts()
            try:
                own = pa.array([numbers[name] for name in names], pa.int32())
            except KeyError:
                raise DataError(CHANGED) from None
            places = pa.Array.from_buffers(pa.uint32(), len(items) // 4, [None, pa.py_buffer(items)])
            offsets = pa.Array.from_buffers(pa.uint64(), len(starts) // 8, [None, pa.py_buffer(starts)])
            records = pa.ListArray.from_arrays(offsets.cast(pa.int32()), own.take(places))
            yield pa.RecordBatch.from_arrays([records], ["items"])

    return number


CHANGED = (
    "the data changed between two passes over it: a DataFrame that is computed anew each time (rand(), a sample, a "
    "table that somebody writes to) must be written to files or tables first"
)


def look_for_identifiers(lists: Lists, counts: Counts, kept: Kept) -> None:
    """Refuses what looks like identifiers, as one machine does, by a sample and by the counts."""
    sample = lists.frame.limit(_SAMPLE).coalesce(1).mapInArrow(_looking(lists.layout), "kinds string, why string")
    found = kept.table(sample).to_pylist()
    once = sum(1 for support in counts.supports if support == 1)
    for row in found:
        unique = all(kind in _UNIQUE for kind in json.loads(row["kinds"]))
        if unique and counts.records > _SAMPLE and once * 10 < counts.records * 8:
            continue
        raise IdentifierError(
            f"{row['why']}\n  this was seen in {min(_SAMPLE, counts.records):,} of {counts.records:,} records; to publish it as it "
            "was read, give `as_baskets=True`"
        )


def _looking(layout: str) -> Callable:
    def look(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        rows = list(batches)
        if not rows:
            return
        table = pa.Table.from_batches(rows).select([0])
        data = _setveil.Dataset.from_arrow(table, layout, manner())
        why = _setveil.misread(data, manner())
        if why is None:
            return
        options = json.dumps({"sampling": {"samples": 1, "seed": 1}})
        findings = json.loads(_setveil.profile(data, options, manner()))["findings"]["findings"]
        kinds = [_kind(one) for one in findings if one["severity"] == "refuse"]
        yield pa.RecordBatch.from_arrays([pa.array([json.dumps(kinds)]), pa.array([why])], ["kinds", "why"])

    return look


def _kind(finding: dict[str, Any]) -> str:
    """The kind of a finding: the key that no other finding has."""
    return next((key for key in finding if key not in ("severity", "count", "of", "examples")), "")
