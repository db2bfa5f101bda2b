"""Figures of the page on training: what is logged on the way, and heads that form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from tfmviz.plots import alt
from tfmviz.plots.charts import FEW, Chart, Columns, Spec, hover, name, number, numbered, role, rows, specification
from tfmviz.plots.lines import DASHES, Stroke
from tfmviz.plots.panels import Curve, Panel, panels
from tfmviz.plots.theme import Theme, shades
from tfmviz.record.trace import Array

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
    for (run, line), stroke in zip(lines.items(), looks, strict=True):
        steps, values = thinned(*line)
        found.append(Curve(name=run, steps=steps, values=values, stroke=stroke))
    return found


def log_panels(
    columns: Mapping[str, Mapping[str, tuple[Array, Array]]],
    *,
    theme: Theme,
    levels: Sequence[tuple[float, str]] = (),
    heights: Sequence[int] = (230, 100, 100),
    marked: Sequence[tuple[float, str]] = (),
    bright: str = "",
) -> Chart:
    """What runs logged, a panel for each column, on one axis of steps.

    Args:
        columns: by the title of the panel, the lines by the names of the runs: steps and values.
        levels: heights in the first panel that get a line across, with a word.
        bright: the run that stands out from all others, which are grey; "" gives each a look of its own.
    """
    looks = strokes(max(len(lines) for lines in columns.values()), theme)
    if bright:
        columns = {title: _last(lines, bright) for title, lines in columns.items()}
        looks = (Stroke(colour=theme.hatch),) * (len(looks) - 1) + (Stroke(colour=theme.accent),)
    parts = [
        Panel(
            title=title,
            curves=curves(lines, looks[: len(lines)]),
            form=".2e" if "rate" in title else ".3g",
            levels=levels if n == 0 else (),
            low=0.0 if n == 0 else None,
            height=heights[min(n, len(heights) - 1)],
            legend=n == 0 and not bright,
        )
        for n, (title, lines) in enumerate(columns.items())
    ]
    return panels(parts, theme=theme, marked=marked)


def _last(lines: Mapping[str, tuple[Array, Array]], bright: str) -> dict[str, tuple[Array, Array]]:
    """The same lines, of which one is drawn above the others."""
    return {run: line for run, line in lines.items() if run != bright} | {bright: lines[bright]}


def held_out(losses: Mapping[str, float], *, bright: str, theme: Theme) -> Chart:
    """The loss of several models on held-out text, a dot for each, the lowest on top."""
    names = sorted(losses, key=lambda name: losses[name])
    values = [losses[name] for name in names]
    points: Columns = {
        "name": numbered(names),
        "value": values,
        "role": ["chosen" if name == bright else "other" for name in names],
        "word": [f"{value:.2f}" for value in values],
        "hover": [f"{name}: {value:.2f} nats per token" for name, value in zip(names, values, strict=True)],
    }
    return Chart(spec=_held_out(theme, len(names)), data={"rows": points})


@cache
def _held_out(theme: Theme, n: int) -> Spec:
    x = number(alt.X, "value", "loss on held-out text, nats per token", axis=FEW, padding=24)
    y = name(alt.Y, "name")
    shade = role("role", {"chosen": theme.accent, "other": theme.text})
    return specification(
        theme,
        rows().mark_point(filled=True, size=90, opacity=1).encode(x=x, y=y, color=shade, **hover()),
        rows().mark_text(align="left", dx=10, aria=False).encode(x=x, y=y, text=alt.Text("word:N")),
        height=22 * n + 60,
        says="Loss of several models on held-out text.",
    )


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
