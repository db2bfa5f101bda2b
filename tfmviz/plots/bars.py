"""Bars from top to bottom, one for every name, with their numbers beside them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from tfmviz.plots.charts import (
    FEW,
    HOVER,
    WORD,
    Chart,
    Columns,
    Spec,
    layer,
    name,
    number,
    numbered,
    reach,
    role,
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
    hover: Sequence[str],
    title: str,
    room: float,
    theme: Theme,
) -> Chart:
    """Numbers by name, those below 0 to the left.

    Args:
        roles: each bar's role, which decides its colour.
        colours: the colour of each role.
        words: written beside each bar.
        title: what is measured.
        room: how much longer than the longest bar the scale is, for the words.
    """
    end = room * max(float(np.nanmax(np.abs(values), initial=0.0)), 1e-9)
    rows: Columns = {"name": numbered(names), "value": values, "role": roles, "word": words, "hover": hover}
    ends = [-end if (values < 0).any() else 0.0, end]
    return Chart(spec=_bars(theme, colours, title, len(names)), data={"rows": rows, "ends": {"x": ends}})


@cache
def _bars(theme: Theme, colours: tuple[tuple[str, str], ...], title: str, n: int) -> Spec:
    y = name("name")
    x = number("value", title, axis=FEW)
    word = {
        "type": "text",
        "align": {"expr": "datum.value < 0 ? 'right' : 'left'"},
        "dx": {"expr": "datum.value < 0 ? -5 : 5"},
    }
    return specification(
        theme,
        reach(x=title),
        layer({"type": "bar"}, x=x, y=y, color=role("role", dict(colours)), **HOVER),
        rule(theme, x=0),
        layer(word, x=x, y=y, text=WORD),
        height=28 * n + 60,
        says=f"Bars from top to bottom: {title}.",
    )
