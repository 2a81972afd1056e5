"""Pictures, with what is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._errors import ParameterError
from ._tables import wanted

if TYPE_CHECKING:
    from ._results import Band


def comparison(rows: list[dict[str, Any]], x: str, y: str) -> Any:
    """``y`` against ``x``; settings that no other beats are named."""
    known = {key for row in rows for key in row}
    for name in {x, y} - known:
        raise ParameterError(f"there is no column {name!r}; there are {', '.join(sorted(known))}")
    points = [row for row in rows if isinstance(row.get(x), (int, float)) and row.get(y) is not None]
    for row in points:
        row["setting"] = ", ".join(
            [row["method"]]
            + [f"{name} {row[name]}" for name in ("k", "m", "p", "epsilon") if row.get(name) is not None]
        )
    try:
        from matplotlib import pyplot
    except ImportError:
        return _altair(points, x, y)
    figure, axes = pyplot.subplots()
    for method in dict.fromkeys(row["method"] for row in points):
        of_method = [row for row in points if row["method"] == method]
        axes.scatter([r[x] for r in of_method], [r[y] for r in of_method], label=method)
    for row in points:
        if row.get("frontier"):
            axes.annotate(row["setting"], (row[x], row[y]), fontsize=8)
    axes.set(xlabel=x, ylabel=y)
    axes.legend()
    pyplot.close(figure)
    return figure


def _altair(points: list[dict[str, Any]], x: str, y: str) -> Any:
    altair = wanted("altair", "plot() without matplotlib")
    keep = ("method", "setting", "frontier", x, y)
    values = [{key: row.get(key) for key in keep} for row in points]
    chart = altair.Chart(altair.Data(values=values)).mark_point()
    return chart.encode(
        x=f"{x}:Q", y=f"{y}:Q", color="method:N", fill="frontier:N", tooltip="setting:N"
    )


def band(picture: Band) -> Any:
    """Both matrices, dark where there are many ones."""
    pyplot = wanted("matplotlib.pyplot", "plot()")
    figure, places = pyplot.subplots(1, 2, figsize=(9, 4.5))
    for axes, name in zip(places, ("before", "after"), strict=True):
        matrix = getattr(picture, name)
        axes.imshow(matrix["pixels"], cmap="Greys", aspect="auto", interpolation="nearest")
        axes.set(title=f"{name}: mean distance {matrix['mean_distance']:.3f}", xticks=[], yticks=[])
    pyplot.close(figure)
    return figure
