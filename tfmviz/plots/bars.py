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
    rows,
    rule,
    specification,
)
from tfmviz.plots.theme import Theme
from tfmviz.record.trace import Array


def bar_chart(
    names: Sequence[str],
    values: Array,
    title: str,
    *,
    words: Sequence[str],
    colours: str | Sequence[str],
    said: Sequence[str] = (),
    room: float = 1.2,
    theme: Theme,
) -> Chart:
    """Numbers by name, those below 0 to the left.

    Args:
        title: what is measured.
        words: written beside each bar.
        colours: of all bars, or of each.
        said: what each bar says under the pointer; else its name and its word.
        room: how much longer than the longest bar the scale is, for the words.
    """
    end = room * max(float(np.nanmax(np.abs(values), initial=0.0)), 1e-9)
    bars: Columns = {
        "name": numbered(names),
        "value": values,
        "colour": [colours] * len(names) if isinstance(colours, str) else colours,
        "word": words,
        "hover": said or [f"{name}: {word}" for name, word in zip(names, words, strict=True)],
    }
    ends = [-end if (values < 0).any() else 0.0, end]
    return Chart(spec=_bars(theme, title, len(names)), data={"rows": bars, "ends": {"x": ends}})


@cache
def _bars(theme: Theme, title: str, n: int) -> Spec:
    y = name(alt.Y, "name")
    x = number(alt.X, "value", title, axis=FEW)
    colour, side = alt.Color("colour:N", scale=None), {"expr": "datum.value < 0 ? 'right' : 'left'"}
    return specification(
        theme,
        reach(number(alt.X, "x", title)),
        rows().mark_bar().encode(x=x, y=y, color=colour, **hover()),
        rule(theme, x=0),
        rows().mark_text(align=side, dx={"expr": "datum.value < 0 ? -5 : 5"}).encode(x=x, y=y, text=alt.Text("word:N")),
        height=28 * n + 60,
        says=f"Bars from top to bottom: {title}.",
    )


def of_signs(values: Array, theme: Theme) -> list[str]:
    """The colour of each number: what is below 0, and what is not."""
    return [theme.signed[0] if value < 0 else theme.signed[-1] for value in values]
