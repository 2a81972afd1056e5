"""Results: what the library found, as values with names.

Every result is made from the JSON that the command line prints with ``--json``,
so both have the same keys, and a key that is new in the library is there at once.
"""

from __future__ import annotations

import copy
import os
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from . import _tables
from ._errors import FileExists

if TYPE_CHECKING:
    import pandas
    import polars


class Result:
    """A result with named values.

    Values are attributes; ``to_dict()`` gives all of them, ``to_pandas()`` and
    ``to_polars()`` the table among them.
    """

    _rows_of: ClassVar[str | None] = None
    """The value that is a table; none if the values themselves are the only row."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__["_values"] = values

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_values"][name]
        except KeyError:
            known = ", ".join(self.__dict__.get("_values", {}))
            kind = type(self).__name__
            raise AttributeError(f"{kind} has no value {name!r}; there are {known}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a result cannot be changed; to_dict() gives a copy that can")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._values == other._values  # type: ignore[attr-defined]

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple:
        return type(self), (self._values,)

    def to_dict(self) -> dict[str, Any]:
        """All values, as the command line gives them with ``--json``."""
        return copy.deepcopy(self._values)

    def rows(self) -> list[dict[str, Any]]:
        """The table as a list of rows."""
        if self._rows_of is None:
            return [self.to_dict()]
        return copy.deepcopy(self._values[self._rows_of] or [])

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a ``pandas.DataFrame``."""
        return _tables.frame_pandas(self.rows())

    def to_polars(self) -> polars.DataFrame:
        """The table as a ``polars.DataFrame``."""
        return _tables.frame_polars(self.rows())

    def _single(self) -> dict[str, Any]:
        """The values that are no tables."""
        single = self._values.items()
        return {k: v for k, v in single if v is not None and not isinstance(v, (list, dict))}

    def __repr__(self) -> str:
        shown = ", ".join(f"{k}={v!r}" for k, v in self._single().items())
        rows = "" if self._rows_of is None else f"; {len(self.rows())} rows"
        return f"<{type(self).__name__} {shown}{rows}>"

    def _repr_html_(self) -> str:
        single = ", ".join(f"{escape(k)}: {escape(_tables.text(v))}" for k, v in self._single().items())
        name = escape(type(self).__name__)
        table = "" if self._rows_of is None else _tables.html_table(self.rows())
        return f"<p><b>{name}</b> {single}</p>{table}"


class Profile(Result):
    """Size, shape and risk of raw data; the table has a row for 1, 2, ... known items."""

    _rows_of = "reidentification"
    records: int
    items: int
    occurrences: int
    max_length: int
    mean_length: float
    reidentification: list[dict[str, Any]]
    problematic: list[dict[str, Any]]
    left_out: dict[str, int]
    findings: dict[str, Any]


class Made(Result):
    """What a method did: how much is published, what was lost, how long it took."""

    method: str
    records: int
    items: int
    parameters: dict[str, Any]
    seconds: float
    left_out: dict[str, int]


class Verdict(Result):
    """Whether a guarantee holds, with witnesses against it. It is true if it holds."""

    _rows_of = "violations"
    holds: bool
    model: str
    k: int | None
    m: int | None
    epsilon: float | None
    note: str | None
    violations: list[dict[str, Any]]
    violation_count: int

    def __bool__(self) -> bool:
        return self.holds

    def _repr_html_(self) -> str:
        word = "holds" if self.holds else f"does NOT hold: {self.violation_count:,} violations"
        colour = "#1a7f37" if self.holds else "#b3261e"
        note = f"<p>{escape(self.note)}</p>" if self.note else ""
        table = _tables.html_table(self.rows()) if self.violations else ""
        return (
            f'<p><b>{escape(self.model)}</b> <b style="color:{colour}">{word}</b></p>{note}{table}'
        )


class Attack(Result):
    """What an attacker learns; the table has a row for every number of known items."""

    method: str
    model: str
    adversary: str
    levels: list[dict[str, Any]]
    format: dict[str, Any]
    worst_targets: list[dict[str, Any]]
    notes: list[str]

    def rows(self) -> list[dict[str, Any]]:
        """One row for every number of known items: the risk with the original, the posterior without."""
        if self._values.get("risk"):
            return copy.deepcopy(self._values["risk"])
        rows = []
        for level in copy.deepcopy(self.levels):
            for name in ("posterior", "posterior_algorithm"):
                values = level.pop(name, None) or {}
                level.update({f"{name}_{key}": value for key, value in values.items()})
            rows.append(level)
        return rows

    @property
    def summary(self) -> str:
        """The findings in a few lines."""
        found = self.format
        state = "holds" if found["holds"] else f"does NOT hold ({found['violation_count']} violations)"
        lines = [f"{self.adversary} attacker on a release by {self.method}: {self.model} {state}"]
        for row in self.rows():
            known = row.get("known")
            values = (f"{k} {_tables.text(v)}" for k, v in row.items() if k != "known" and v is not None)
            lines.append(f"  {known} known: " + ", ".join(v for v in values if "{" not in v))
        return "\n".join(lines + [f"  {note}" for note in self.notes])

    def _repr_html_(self) -> str:
        head = escape(self.summary.splitlines()[0])
        return f"<p><b>Attack</b> {head}</p>{_tables.html_table(self.rows())}"


class Evaluation(Result):
    """What a release is still good for; the table has a row for every measure that applies."""

    def rows(self) -> list[dict[str, Any]]:
        """One row a measure: its value, which direction is better, what it says."""
        from ._setveil import measures

        return [
            {"measure": name, "value": self._values[name], "better": better, "meaning": meaning}
            for name, better, meaning in measures()
            if self._values.get(name) is not None
        ]

    def _repr_html_(self) -> str:
        return f"<p><b>Evaluation</b></p>{_tables.html_table(self.rows())}"


class Support(Result):
    """In how many records items stand together: bounds, and what is to be expected."""

    itemset: list[str]
    lower: int
    expected: float
    upper: int | None

    def __iter__(self):
        return iter((self.lower, self.expected, self.upper))


class Supports(Result):
    """The supports of several itemsets, a row each."""

    _rows_of = "answers"
    answers: list[dict[str, Any]]

    def __len__(self) -> int:
        return len(self.answers)

    def __getitem__(self, number: int) -> Support:
        return Support(self.answers[number])


class Itemsets(Result):
    """The most frequent itemsets with bounds, a row each, and rules between items."""

    _rows_of = "itemsets"
    itemsets: list[dict[str, Any]]
    rules: list[dict[str, Any]]

    def __len__(self) -> int:
        return len(self.itemsets)


class Comparison(Result):
    """Methods and parameters side by side, a row for every setting."""

    _rows_of = "rows"
    recommendation: dict[str, Any] | None

    def __init__(self, values: dict[str, Any], csv: str = "", svg: str = "") -> None:
        super().__init__(values)
        self.__dict__.update(csv=csv, svg=svg)

    def __reduce__(self) -> tuple:
        return type(self), (self._values, self.csv, self.svg)

    def plot(self, *, x: str = "risk", y: str = "tkd") -> Any:
        """Draws ``y`` against ``x``, a point for every setting, with matplotlib or Altair."""
        from . import _plots

        return _plots.comparison(self.rows(), x, y)


class Recommendation(Result):
    """Settings that keep a given risk, the one to take first, and all that were tried."""

    _rows_of = "choices"
    known: int
    max_risk: float
    raw: float | None
    choices: list[dict[str, Any]]
    tried: list[dict[str, Any]]


class Band(Result):
    """The matrix of records and items before and after it is made a band."""

    def plot(self) -> Any:
        """Draws both pictures with matplotlib."""
        from . import _plots

        return _plots.band(self)


class Report:
    """A page for the data protection officer and the analyst, as HTML."""

    def __init__(self, html: str, holds: bool) -> None:
        self.html, self.holds = html, holds

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Writes the page; an earlier one is replaced only with ``force=True``."""
        path = Path(path)
        try:
            with open(path, "w" if force else "x", encoding="utf-8", newline="\n") as file:
                file.write(self.html)
        except FileExistsError:
            raise FileExists(f"{path}: it exists; choose another name, or give `force=True`") from None
        return path

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self.html)}" width="100%" height="600"></iframe>'

    def __repr__(self) -> str:
        return f"<Report {len(self.html):,} characters; the guarantee {'holds' if self.holds else 'does NOT hold'}>"
