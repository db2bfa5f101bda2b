"""Figures of the page from windows to attention."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tfmviz.plots.charts import Chart
from tfmviz.plots.lines import Axes, line_chart, named_lines
from tfmviz.plots.theme import Theme
from tfmviz.record.trace import Array


def curves(
    values: Mapping[str, tuple[Array, Array]],
    *,
    x: str,
    y: str,
    said: Callable[[str, float, float], str],
    theme: Theme,
    y_range: tuple[float, float] | None = None,
    log: bool = False,
    doubling: bool = False,
    height: int = 330,
    words: Mapping[str, str] | None = None,
) -> Chart:
    """A line for each of a few models or layers, with its name at its end.

    Args:
        values: x and y of each line. Where y is 0 there is no point if the axis counts in powers of ten.
        x, y: titles of the axes.
        log, doubling: see `Axes`.
        words: what stands at the ends of some lines, in place of their names.
        said: what a point says, from the line's name, x and y.
    """
    drawn = {
        name: (places[seen], heights[seen])
        for name, (places, heights) in values.items()
        if (seen := (heights > 0) | (not log)).any()
    }
    lines = named_lines(drawn, said, theme=theme, dot=70)
    axes = Axes(x=x, y=y, height=height, log=log, doubling=doubling)
    at_ends = [(words or {}).get(name, name) for name in drawn]
    return line_chart(lines, axes, theme=theme, y_range=y_range, words=at_ends)
