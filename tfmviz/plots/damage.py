"""Figures of the page that switches parts of a model off."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from tfmviz.plots import alt
from tfmviz.plots.charts import FEW, Chart, Columns, Spec, hover, number, role, rows, rule, specification
from tfmviz.plots.theme import Theme
from tfmviz.record.trace import Array
from tfmviz.words.numbers import decimal

N_NAMED = 5
"""How many points of the scatter bear their names: the highest, and those farthest to the right."""


def against(
    sharpness: Array, lost: Array, *, names: Sequence[str], off: Sequence[int], title: str, theme: Theme
) -> Chart:
    """One point for each head: how sharply it looks, and how much the loss grows without it.

    Args:
        sharpness: (head,), in [0, 1].
        lost: (head,), in nats.
        off: indices of the heads that the reader has switched off.
        title: what is lost.
    """
    last = sorted(range(len(names)), key=lambda i: i in off)  # what is off lies on top
    named = {*off, *np.argsort(-lost)[:N_NAMED].tolist(), *np.argsort(-sharpness)[:N_NAMED].tolist()}
    place = np.argsort(np.argsort(sharpness))  # neighbours write above and below in turn
    points: Columns = {
        "x": sharpness[last],
        "y": lost[last],
        "role": ["off" if i in off else "on" for i in last],
        "word": [names[i] if i in named else "" for i in last],
        "below": [float(place[i] % 2) for i in last],
        "hover": [
            f"head {names[i]}: largest share {sharpness[i]:.2f}, loss {decimal(lost[i], '+.4f')} nats" for i in last
        ],
    }
    return Chart(spec=_against(theme, title), data={"rows": points})


@cache
def _against(theme: Theme, title: str) -> Spec:
    x = number(alt.X, "x", "largest share of attention", axis=FEW, domain=[0, 1.04])
    y = number(alt.Y, "y", title, axis={"format": "+.2~f"}, padding=24)
    color = role("role", {"on": theme.attention, "off": theme.accent})
    return specification(
        theme,
        rule(theme, y=0),
        rows().mark_point(filled=True, size=100, opacity=1).encode(x=x, y=y, color=color, **hover()),
        rows().mark_text(dy={"expr": "datum.below ? 16 : -14"}).encode(x=x, y=y, text=alt.Text("word:N")),
        height=420,
        says=f"One point for every head: its largest share of attention, and {title}.",
    )
