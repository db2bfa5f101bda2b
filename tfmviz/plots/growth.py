"""Costs that grow with a size: lines on two scales of powers, where a power law is a straight line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tfmviz.plots.charts import Chart
from tfmviz.plots.lines import Axes, line_chart, named_lines
from tfmviz.plots.theme import Theme
from tfmviz.record.trace import Array


def growth(
    costs: Mapping[str, tuple[Array, Array]],
    *,
    titles: tuple[str, str],
    said: Callable[[float], str],
    theme: Theme,
    marked: Sequence[tuple[float, str]] = (),
    height: int = 340,
) -> Chart:
    """Several costs against one size; what is not finite or not above 0 is left out.

    Args:
        costs: sizes and costs by name; at least one has a point.
        titles: of the size and of the cost.
        said: how a cost is written.
        marked: sizes that get an upright line with a word.
    """
    size_of = titles[0].split(",")[0]
    fine = {name: np.isfinite(y) & (y > 0) for name, (_, y) in costs.items()}
    drawn = {name: (x[fine[name]], y[fine[name]]) for name, (x, y) in costs.items()}
    lines = named_lines(
        drawn, lambda name, size, cost: f"{name}, {size_of} {size:,.0f}: {said(cost)}", theme=theme, dot=50
    )
    axes = Axes(x=titles[0], y=titles[1], height=height, log=True, doubling=True)
    return line_chart(lines, axes, theme=theme, marked=marked, words=_words(drawn))


def _words(drawn: Mapping[str, tuple[Array, Array]]) -> list[str]:
    """The name of each line; lines that lie on one another share the first one's place."""
    words = {name: [name] for name in drawn}
    for n, (name, points) in enumerate(drawn.items()):
        for other in list(drawn)[:n]:
            if words[other] and all(map(np.array_equal, points, drawn[other])):
                words[other].append(name)
                words[name] = []
                break
    return [" = ".join(names) for names in words.values()]
