"""Figures of the normalisation page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from tfmviz.plots import alt
from tfmviz.plots.charts import (
    FEW,
    Chart,
    Columns,
    Spec,
    hover,
    number,
    numbered,
    role,
    rows,
    rule,
    slanted,
    specification,
)
from tfmviz.plots.theme import Theme
from tfmviz.record.trace import Array
from tfmviz.words.numbers import decimal


def points(
    values: Array, *, names: Sequence[str], link: tuple[int, int], titles: tuple[str, str], theme: Theme
) -> Chart:
    """Points on two axes of the same scale, so that distances are what they look like; a line joins two of them.

    The axes begin at 0 where all values are positive. Points that almost coincide share a label.

    Args:
        values: (n, 2).
        names: one per point.
        link: indices of the points to join.
        titles: of the two axes.
    """
    joined = values[list(link)]
    from_zero = bool((values > 0).all())
    middle = (values.max(axis=0) + values.min(axis=0)) / 2
    reach = 0.55 * float(values.max()) if from_zero else 0.58 * max(float(np.ptp(values, axis=0).max()), 1e-9)
    near = np.abs(values[:, None] - values).max(axis=-1) < 0.1 * reach  # (point, point): their names would touch
    data: dict[str, Columns] = {
        "rows": {
            "x": values[:, 0],
            "y": values[:, 1],
            "role": ["linked" if i in link else "other" for i in range(len(names))],
            "word": [
                "" if near[i, :i].any() else ", ".join(names[j] for j in np.flatnonzero(near[i]).tolist())
                for i in range(len(names))
            ],
            "hover": [
                f"{n}: {decimal(x, '.3f')} and {decimal(y, '.3f')}" for n, (x, y) in zip(names, values, strict=True)
            ],
        },
        "link": {"x": joined[:, 0], "y": joined[:, 1]},
        "frame": {"x": middle[:1], "y": middle[1:], "reach": [reach], "from": [float(from_zero)]},
    }
    return Chart(spec=_points(theme, *titles), data=data)


@cache
def _points(theme: Theme, across: str, upwards: str) -> Spec:
    x = number(alt.X, "x", across, axis=FEW | {"grid": True}, domain=_frame("x", "width", "height"))
    y = number(alt.Y, "y", upwards, domain=_frame("y", "height", "width"))
    color = role("role", {"linked": theme.accent, "other": theme.plain})
    return specification(
        theme,
        rows("frame").mark_point(opacity=0, aria=False).encode(x=x, y=y),
        rows("link").mark_line(color=theme.accent, strokeWidth=3, aria=False).encode(x=x, y=y),
        rows().mark_point(filled=True, size=150, opacity=1).encode(x=x, y=y, color=color, **hover()),
        rows().mark_text(align="left", dx=12).encode(x=x, y=y, text=alt.Text("word:N")),
        height=400,
        says=f"Points: {upwards} against {across}, on one scale.",
    )


def _frame(field: str, this: str, other: str) -> list[Spec]:
    """The ends of an axis of which one unit is as long as on the other axis, whatever the width of the page."""
    middle, half = f"data('frame')[0].{field}", f"data('frame')[0].reach * max(1, {this} / {other})"
    is_from_zero = "data('frame')[0].from"
    low, high = f"{is_from_zero} ? 0 : {middle} - {half}", f"{is_from_zero} ? 2 * {half} : {middle} + {half}"
    return [{"expr": low}, {"expr": high}]


def spread(quartiles: Array, *, names: Sequence[str], title: str, usual: float, theme: Theme) -> Chart:
    """Smallest, quarters and largest of the numbers of each norm, as boxes with whiskers.

    Args:
        quartiles: (norm, 5), from the smallest to the largest.
        usual: their value before training, drawn as a line.
    """
    said = [
        f"{name}: {decimal(low, '.3f')} to {decimal(high, '.3f')}, half of them from {decimal(first, '.3f')} to "
        f"{decimal(third, '.3f')}, median {decimal(median, '.3f')}"
        for name, (low, first, median, third, high) in zip(names, quartiles, strict=True)
    ]
    numbers = dict(zip(("low", "first", "median", "third", "high"), quartiles.T, strict=True))
    return Chart(spec=_spread(theme, title, usual), data={"rows": {"norm": numbered(names), "hover": said, **numbers}})


@cache
def _spread(theme: Theme, title: str, usual: float) -> Spec:
    x, tint = slanted("norm", None), theme.norm
    low, first, middle = (number(alt.Y, field, title, padding=8) for field in ("low", "first", "median"))
    box = rows().mark_bar(color=tint, fillOpacity=0.3, stroke=tint, strokeWidth=2)
    return specification(
        theme,
        rows().mark_rule(color=tint, aria=False).encode(x=x, y=low, y2=alt.Y2("high")),
        box.encode(x=x, y=first, y2=alt.Y2("third"), **hover()),
        rows().mark_tick(color=tint, thickness=3, aria=False).encode(x=x, y=middle),
        rule(theme, y=usual, strokeDash=[2, 3]),
        height=400,
        says=f"Boxes with whiskers, one for every norm: {title}.",
    )
