"""Figures of the page on efficient attention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tfmviz.plots.charts import Chart
from tfmviz.plots.lines import Axes, line_chart, named_lines
from tfmviz.plots.theme import Theme
from tfmviz.record.trace import Array
from tfmviz.words.numbers import per_cent


def random_features(counts: Sequence[int], errors: Mapping[str, Array], *, theme: Theme) -> Chart:
    """The attention that random features move elsewhere, by their number, on two scales of powers.

    Args:
        counts: of features, m.
        errors: the shares, (m,) for each head; the last gets 1/√m beside it, from its last point.
    """
    x = np.array(counts, float)
    last = list(errors.values())[-1]
    curves = {**errors, "1/√m": last[-1] * np.sqrt(x[-1] / x)}
    points = {name: (x, np.where(y > 0, y, np.nan)) for name, y in curves.items()}  # powers have no 0
    lines = named_lines(points, lambda name, m, y: f"{name}, {m:.0f} features: {per_cent(y)}", theme=theme, dot=50)
    axes = Axes(x="features m", y="share of attention moved to other keys", height=260, log=True, doubling=True)
    return line_chart(lines, axes, theme=theme, words=list(points))


def errors(x: Array, curves: Mapping[str, Array], *, title: str, theme: Theme) -> Chart:
    """Shares that are lost or kept, against a setting."""
    points = {name: (x, y) for name, y in curves.items()}
    lines = named_lines(points, lambda name, k, v: f"{name}, {title} {k:.0f}: {per_cent(v)}", theme=theme, dot=50)
    return line_chart(lines, Axes(x=title, y="share", height=260), theme=theme, y_range=(0.0, 1.0))


def by_position(curves: Mapping[str, tuple[Array, Array]], *, trained: int, theme: Theme) -> Chart:
    """The surprise by position, of several models that were trained on `trained` tokens at a time."""
    lines = named_lines(curves, lambda name, x, y: f"{name}, position {x:.0f}: {y:.3f} nats", theme=theme, dot=50)
    axes = Axes(x="position", y="surprise, nats", height=320)
    return line_chart(lines, axes, theme=theme, marked=[(trained - 0.5, f"trained on {trained} positions")])
