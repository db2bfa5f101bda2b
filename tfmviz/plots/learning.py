"""Figures of the page on training: what is logged on the way, and heads that form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tfmviz.plots.cells import Axis, Cells, masked, share
from tfmviz.plots.charts import Chart
from tfmviz.plots.lines import DASHES, Stroke
from tfmviz.plots.panels import Curve, Panel, panels
from tfmviz.plots.theme import Theme, shades
from tfmviz.record.trace import Array
from tfmviz.words.labels import visible, whole

FEW = 4
"""Lines that everybody can tell apart by a legend."""

MOST_DRAWN = 400
"""A line has about so many points; a longer run is drawn with every second, third … step."""


def strokes(n: int, theme: Theme) -> tuple[Stroke, ...]:
    """Strokes for `n` lines that differ in colour and dashes."""
    return tuple(Stroke(colour=tint, dash=DASHES[i % len(DASHES)]) for i, tint in enumerate(shades(n, theme)))


def by_layer(heads: Sequence[str], theme: Theme) -> tuple[Stroke, ...]:
    """Strokes for heads: a colour for each layer, dashes for the heads in it."""
    layers = list(dict.fromkeys(_layer_of(head) for head in heads))
    colours = shades(len(layers), theme)
    found, seen = [], dict.fromkeys(layers, 0)
    for head in heads:
        layer = _layer_of(head)
        tint = colours[layers.index(layer)]
        found.append(Stroke(colour=tint, dash=DASHES[seen[layer] % len(DASHES)]))
        seen[layer] += 1
    return tuple(found)


def _layer_of(head: str) -> str:
    return head.rsplit(".", 1)[0]


def thinned(steps: Array, values: Array) -> tuple[Array, Array]:
    """About `MOST_DRAWN` points of a line, with the last one."""
    every = max(1, -(-len(steps) // MOST_DRAWN))
    kept = np.unique(np.r_[np.arange(0, len(steps), every), max(0, len(steps) - 1)])
    return (steps, values) if every == 1 else (steps[kept], values[kept])


def curves(lines: Mapping[str, tuple[Array, Array]], looks: Sequence[Stroke]) -> list[Curve]:
    """Lines by their names, each with its steps and values."""
    found = []
    for (name, line), stroke in zip(lines.items(), looks, strict=True):
        steps, values = thinned(*line)
        found.append(Curve(name=name, steps=steps, values=values, stroke=stroke))
    return found


def log_panels(
    columns: Mapping[str, Mapping[str, tuple[Array, Array]]],
    *,
    theme: Theme,
    levels: Sequence[tuple[float, str]] = (),
    heights: Sequence[int] = (230, 100, 100),
    marked: Sequence[tuple[float, str]] = (),
) -> Chart:
    """What runs logged, a panel for each column, on one axis of steps. Many lines have their names at their ends.

    Args:
        columns: by the title of the panel, the lines by the names of the runs: steps and values.
        levels: heights in the first panel that get a line across, with a word.
    """
    most = max(len(lines) for lines in columns.values())
    looks, named = strokes(most, theme), most > FEW
    room = most * (theme.letters + 2)
    parts = [
        Panel(
            title=title,
            curves=curves(lines, looks[: len(lines)]),
            form=".2e" if "rate" in title else ".3g",
            levels=levels if n == 0 else (),
            low=0.0 if n == 0 else None,
            height=max(heights[0], room) if n == 0 and named else heights[min(n, len(heights) - 1)],
            legend=n == 0,
            ends=n == 0 and named,
        )
        for n, (title, lines) in enumerate(columns.items())
    ]
    return panels(parts, theme=theme, marked=marked)


def forming(
    steps: Array,
    *,
    losses: Mapping[str, Array],
    heads: Mapping[str, Mapping[str, Array]],
    level: tuple[float, str],
    now: int,
    theme: Theme,
) -> Chart:
    """How heads form: losses above, then a panel for each measure of the heads, over steps on a logarithmic axis.

    Args:
        steps: (snapshot,).
        losses: (snapshot,) by what they are losses of, in nats.
        heads: by the title of a panel, the values (snapshot,) of each head by its name.
        level: the loss of pure chance, and a word for it.
        now: the step that is shown beside the chart.
    """
    first = (Stroke(colour=theme.plain, dash=DASHES[2]), Stroke(colour=theme.text))
    above = Panel(
        title="loss, nats per token",
        curves=curves({name: (steps, values) for name, values in losses.items()}, first[: len(losses)]),
        levels=[level],
        low=0.0,
        height=120,
    )
    parts = [above, *_of_heads(steps, heads, theme)]
    return panels(parts, theme=theme, log_steps=True, marked=[_shown(now)])


def head_panels(steps: Array, heads: Mapping[str, Mapping[str, Array]], *, now: int, theme: Theme) -> Chart:
    """Measures of the heads over steps on a logarithmic axis; see `forming`."""
    return panels(_of_heads(steps, heads, theme), theme=theme, log_steps=True, marked=[_shown(now)])


def _shown(now: int) -> tuple[float, str]:
    return float(now), f"step {now:,}"


def _of_heads(steps: Array, heads: Mapping[str, Mapping[str, Array]], theme: Theme) -> list[Panel]:
    """A panel for each measure; a head looks the same in all."""
    names = list(dict.fromkeys(head for lines in heads.values() for head in lines))
    looks = dict(zip(names, by_layer(names, theme), strict=True))
    return [
        Panel(
            title=title,
            curves=curves({head: (steps, values) for head, values in lines.items()}, [looks[head] for head in lines]),
            low=0.0,
            height=110,
            legend=n == 0,
        )
        for n, (title, lines) in enumerate(heads.items())
    ]


def patterns(
    matrices: Sequence[Array],
    masks: Array,
    *,
    titles: Sequence[str],
    queries: Sequence[str],
    keys: Sequence[str],
    across: int,
) -> Cells:
    """Attention patterns of all heads on one text, small and side by side; grey is masked.

    Args:
        matrices: each (q_len, k_len).
        masks: (q_len, k_len), True = may attend.
    """
    axis = {
        title: Axis(title="", names=(), spoken=[f"{title} {i} “{whole(visible(t))}”" for i, t in enumerate(tokens)])
        for title, tokens in (("query", queries), ("key", keys))
    }
    return Cells(
        matrices=masked(matrices, masks),
        rows=axis["query"],
        columns=axis["key"],
        scale=share(),
        titles=tuple(titles),
        square=True,
        across=across,
    )
