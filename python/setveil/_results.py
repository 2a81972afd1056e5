"""Results: what the library found, as values with names.

Every result is made from the JSON that the command line prints with ``--json``,
so both have the same keys, and a key that is new in the library is there at once.
"""

from __future__ import annotations

import copy
import os
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

from . import _tables
from ._errors import FileExists

if TYPE_CHECKING:
    from pathlib import Path

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
    cautions: list[dict[str, str]]
    """What to know before it is handed out, although the guarantee holds."""

    def __bool__(self) -> bool:
        return self.holds

    def _repr_html_(self) -> str:
        word = "holds" if self.holds else f"does NOT hold: {self.violation_count:,} violations"
        colour = "#1a7f37" if self.holds else "#b3261e"
        note = f"<p>{escape(self.note)}</p>" if self.note else ""
        cautions = "".join(f"<p>{escape(c['severity'])}: {escape(c['what'])}</p>" for c in self.cautions)
        table = _tables.html_table(self.rows()) if self.violations else ""
        head = f'<p><b>{escape(self.model)}</b> <b style="color:{colour}">{word}</b></p>'
        return f"{head}{note}{cautions}{table}"


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
        lines += [f"  {row['known']} known: {_in_words(row)}" for row in self.rows()]
        return "\n".join(lines + [f"  note: {note}" for note in self.notes])

    def _repr_html_(self) -> str:
        head = escape(self.summary.splitlines()[0])
        return f"<p><b>Attack</b> {head}</p>{_tables.html_table(self.rows())}"


# What a row of an attack says, in the order in which people ask.
_WORDS = {
    "raw": "the person found in {} of the raw data",
    "linking": "in {} of the release",
    "disclosure": "a further item read off in {}",
    "inference": "guessed in {}",
    "posterior_mean": "most likely item {}",
    "posterior_algorithm_mean": "who knows the program {}",
}


def _in_words(row: dict[str, Any]) -> str:
    said = [text.format(f"{row[key]:.1%}") for key, text in _WORDS.items() if row.get(key) is not None]
    return ", ".join(said) or "nothing measured"


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

    _rows_of: ClassVar[str] = "answers"

    def __len__(self) -> int:
        return len(self._values[self._rows_of])

    def __getitem__(self, number: int) -> Support:
        return Support(self._values[self._rows_of][number])


class Items(Supports):
    """Every item with its support, a row each."""

    _rows_of = "items"


class Itemsets(Result):
    """The most frequent itemsets with bounds, a row each, and rules between items."""

    _rows_of = "itemsets"
    itemsets: list[dict[str, Any]]
    rules: list[dict[str, Any]]

    def __len__(self) -> int:
        return len(self.itemsets)


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """A setting as one flat row: its risk beside its utility, without curves and spreads."""
    row = copy.deepcopy(row)
    risk, spread = row.pop("risk") or {}, row.pop("spread", None) or {}
    for detail in ("curve", "seeds"):
        row.pop(detail, None)
    if isinstance(row["method"], dict):
        row["parameters"] = row["method"]["parameters"]
        row["method"] = row["method"]["method"]
    setting = {key: row.pop(key) for key in ("method", "k", "m", "max_cluster_size", "p", "epsilon", "holds")}
    names = ("known", "raw", "linking", "linking_p95", "disclosure", "inference")
    measured = {name: risk.get(name) for name in names}
    return {**setting, **measured, **row, "linking_spread": spread.get("linking")}


class Comparison(Result):
    """Methods and parameters side by side, a row for every setting.

    In the table, ``linking`` is the risk: how often somebody who knows ``known``
    items finds the person's place in the release, and ``raw`` the same for the
    raw data. ``to_dict()`` has everything, also for other numbers of known items.
    """

    _rows_of = "rows"
    recommendation: dict[str, Any] | None

    def __init__(self, values: dict[str, Any], csv: str = "", svg: str = "") -> None:
        super().__init__(values)
        self.__dict__.update(csv=csv, svg=svg)

    def __reduce__(self) -> tuple:
        return type(self), (self._values, self.csv, self.svg)

    def rows(self) -> list[dict[str, Any]]:
        """One flat row a setting."""
        return [_flat(row) for row in self._values["rows"]]

    def plot(self, *, x: str = "linking", y: str = "tkd") -> Any:
        """Draws ``y`` against ``x``, a point for every setting, with matplotlib or Altair."""
        from . import _plots

        return _plots.comparison(self.rows(), x, y)


class Recommendation(Result):
    """Settings that keep a given risk, the one that loses least first, and all that were tried."""

    _rows_of = "choices"
    known: int
    max_risk: float
    raw: float | None
    choices: list[dict[str, Any]]
    tried: list[dict[str, Any]]

    def rows(self) -> list[dict[str, Any]]:
        """One flat row a setting, with the command that makes the release."""
        return [_flat(row) for row in self._values["choices"]]


class Band(Result):
    """The matrix of records and items before and after it is made a band."""

    def plot(self) -> Any:
        """Draws both pictures with matplotlib."""
        from . import _plots

        return _plots.band(self)


class Report:
    """A page for the data protection officer and the analyst, as HTML."""

    html: str
    holds: bool
    """Whether the guarantee holds."""
    colour: str
    """``green``, ``amber`` or ``red``: the page's first word."""

    def __init__(self, html: str, holds: bool, colour: str) -> None:
        self.html, self.holds, self.colour = html, holds, colour

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Writes the page; an earlier one is replaced only with ``force=True``."""
        from pathlib import Path  # a third of the time to import the package

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
