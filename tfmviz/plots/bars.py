"""Bars from top to bottom, one for every name, with their numbers beside them."""

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
    name,
    number,
    numbered,
    reach,
    role,
    rows,
    rule,
    specification,
)
from tfmviz.plots.theme import Theme
from tfmviz.record.trace import Array


def bar_chart(
    names: Sequence[str],
    values: Array,
    *,
    roles: Sequence[str],
    colours: tuple[tuple[str, str], ...],
    words: Sequence[str],
    said: Sequence[str],
    title: str,
    room: float,
    theme: Theme,
) -> Chart:
    """Numbers by name, those below 0 to the left.

    Args:
        roles: each bar's role, which decides its colour.
        colours: the colour of each role.
        words: written beside each bar.
        said: what each bar says under the pointer.
        title: what is measured.
        room: how much longer than the longest bar the scale is, for the words.
    """
    end = room * max(float(np.nanmax(np.abs(values), initial=0.0)), 1e-9)
    bars: Columns = {"name": numbered(names), "value": values, "role": roles, "word": words, "hover": said}
    ends = [-end if (values < 0).any() else 0.0, end]
    return Chart(spec=_bars(theme, colours, title, len(names)), data={"rows": bars, "ends": {"x": ends}})


@cache
def _bars(theme: Theme, colours: tuple[tuple[str, str], ...], title: str, n: int) -> Spec:
    y = name(alt.Y, "name")
    x = number(alt.X, "value", title, axis=FEW)
    side = {"expr": "datum.value < 0 ? 'right' : 'left'"}
    return specification(
        theme,
        reach(number(alt.X, "x", title)),
        rows().mark_bar().encode(x=x, y=y, color=role("role", dict(colours)), **hover()),
        rule(theme, x=0),
        rows().mark_text(align=side, dx={"expr": "datum.value < 0 ? -5 : 5"}).encode(x=x, y=y, text=alt.Text("word:N")),
        height=28 * n + 60,
        says=f"Bars from top to bottom: {title}.",
    )
