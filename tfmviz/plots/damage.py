"""Figures of the page that switches parts of a model off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from tfmviz.plots import alt
from tfmviz.plots.cells import Axis, Cells, Form, chosen_cell, chosen_column, largest, signed, written
from tfmviz.plots.charts import FEW, Chart, Columns, Spec, hover, number, role, rows, rule, specification
from tfmviz.plots.theme import Theme
from tfmviz.record.trace import Array
from tfmviz.words.labels import visible, whole
from tfmviz.words.numbers import decimal

N_NAMED = 5
"""How many points of the scatter bear their names: the highest, and those farthest to the right."""


def damage(
    values: Array,
    *,
    rows: Sequence[str],
    off: Sequence[tuple[int, int]],
    chosen: tuple[int, int] | None = None,
) -> Cells:
    """How much the loss grows without each head, and without each MLP (the last column); grey: there is none.

    Args:
        values: (attention layer, head + 1), in nats.
        rows: names of the attention layers.
        off: row and column of what the reader has switched off, to cross out.
        chosen: row and column of the head to frame.
    """
    n_heads = values.shape[1] - 1
    has_mlp = not np.isnan(values[:, -1]).all()
    shown = values if has_mlp else values[:, :-1]
    last = ["MLP"] if has_mlp else []
    heads = range(n_heads)
    return Cells(
        matrices=shown[None],
        rows=Axis(title="", names=rows, spoken=rows),
        columns=Axis(title="head", names=[*map(str, heads), *last], spoken=[*(f"head {n}" for n in heads), *last]),
        scale=signed(values, "change of the loss, in nats", limit=largest(values), root=True),
        form=Form(digits=4, sign=True, unit=" nats"),
        texts=written(shown, "+.2f"),
        frames=chosen_cell(chosen),
        crosses=tuple((row, column) for row, column in off if column < shown.shape[1]),
        row_height=44,
    )


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


def recovered(values: Array, *, tokens: Sequence[tuple[str, str]], position: int, title: str) -> Cells:
    """How far copying one vector from another run turns the answer into that run's: 0 not at all, 1 all the way.

    Args:
        values: (n_layers, len).
        tokens: per position that of the first and of the second sentence.
        position: where the answer is read; its column is marked.
    """

    def joined(named: Callable[[str], str]) -> list[str]:
        pairs = [(named(one), named(other)) for one, other in tokens]
        return [one if one == other else f"{one} / {other}" for one, other in pairs]

    spoken = [f"token {i} “{name}”" for i, name in enumerate(joined(whole))]
    return Cells(
        matrices=values[None],
        rows=Axis(title="layer"),
        columns=Axis(title="token whose vector is copied", names=joined(visible), spoken=spoken),
        scale=signed(values, title, limit=max(1.0, largest(values))),
        form=Form(sign=True),
        texts=written(np.where(np.abs(values) >= 0.05, values, np.nan), ".2f"),
        frames=chosen_column(position, len(values)),
        row_height=44,
    )
