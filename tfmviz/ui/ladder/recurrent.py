from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfmviz import zoo
from tfmviz.analysis import recurrence
from tfmviz.analysis.normalisation import change
from tfmviz.analysis.recurrence import Steps, fading
from tfmviz.plots.cells import (
    Axis,
    Cells,
    Scale,
    ValueFormat,
    amounts,
    chosen_column,
    of_tokens,
    share,
    signed,
    written,
)
from tfmviz.plots.lines import Axes
from tfmviz.record.model import AnyModel
from tfmviz.record.trace import Array
from tfmviz.ui import controls, inputs, lesson, models
from tfmviz.ui.background import Found, by_name, measured
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import show, show_curves, show_matrix
from tfmviz.ui.ladder import rungs, uses
from tfmviz.ui.ladder.distance import powers_around
from tfmviz.ui.lesson import PageContext
from tfmviz.words import markdown
from tfmviz.words.labels import quoted, visible
from tfmviz.words.numbers import counted, decimal, rounded

SHOWN = 28
"""Coordinates of a state that are drawn."""

SITES: dict[str, tuple[str, Literal["signed", "share"]]] = {
    "state h": ("hidden", "signed"),
    "candidate n": ("candidate", "signed"),
    "update gate z": ("update", "share"),
    "reset gate r": ("reset", "share"),
}
"""Values to show: site and colours."""

UNIT_HEIGHT = 8
"""Pixels of a row that stands for one coordinate of a state."""
STACKED = "two layers, both ways"
"""The labeller in place of the ladder's network; its second layer reads both directions of the first."""

WAYS = ("forward", "backward")

SMALLEST = 1e-12
"""The axis ends here: smaller gradients are drawn at the end."""


def state(ctx: PageContext) -> None:
    model = rungs.ladder().recurrent
    layers = range(model.config.to_dict()["n_layers"])
    line = lesson.control_row("state")
    what = inputs.segmented_control("Show", (*SITES, STACKED), key="gate", line=line)
    if what == STACKED:
        return _stacked(ctx, line)
    layer = inputs.segmented_control("Layer of the network", layers, key="rnn", line=line)
    site, kind = SITES[what]
    trace = models.trace_at(model, ctx.text, "rnn.*")
    values = trace[f"rnn.{layer}.{site}"].T  # (unit, token)
    chosen = np.sort(np.argsort(-trace[f"rnn.{layer}.hidden"].std(axis=0), kind="stable")[:SHOWN])
    rows, columns = Axis("unit", (), [f"unit {number}" for number in chosen]), of_tokens("token", trace.tokens)
    scale = signed(values, what, limit=1.0) if kind == "signed" else share("how far the gate is open")
    form = ValueFormat(digits=2, sign=kind == "signed")
    show_matrix("state", values[chosen], rows, columns, scale, form=form, row_height=UNIT_HEIGHT)
    st.markdown(
        f"The {len(chosen)} of {len(values)} units in layer {layer} that change most. "
        "hₜ = (1 − z) ⊙ n + z ⊙ hₜ₋₁, so near z = 1 the colour stays."
    )
    left = {f"layer {layer}": faded(model, trace.target.text, layer) for layer in layers}
    lowest = max(min(float(curve.min()) for curve in left.values()), SMALLEST)
    x = np.arange(1.0, len(trace.tokens) + 1)
    show_curves(
        "fading",
        {name: (x, curve.clip(min=SMALLEST)) for name, curve in left.items()},
        Axes("step t", "‖∂hₜ/∂h₁‖", 280, log=True),
        lambda name, t, value: f"{name}, step {t:.0f}, “{visible(trace.tokens[int(t) - 1])}”: {rounded(value)}",
        y_range=(min(10.0 ** np.floor(np.log10(lowest)), 0.1), max(float(curve.max()) for curve in left.values())),
        title="How much of the first step is left? As ‖∂hₜ/∂h₁‖ fades, relative to its start, so does learning.",
    )


def _stacked(ctx: PageContext, line: DeltaGenerator) -> None:
    model = models.earlier(uses.BOTH)
    text = model and uses.encode(model, ctx.text)
    if not model or not text or not text.ids:
        return
    chosen = controls.token(text.tokens, text=ctx.text)
    with line:
        controls.token_box([visible(token) for token in text.tokens], chosen)
    dot, comma = (model.encode(sign).ids[0] for sign in ".,")
    ids = list(text.ids)
    ids[chosen] = comma if ids[chosen] == dot else dot
    before, after = (model.trace(one, sites=("rnn.*",)) for one in (text.ids, tuple(ids)))
    sites = [f"rnn.{layer}.{way}.hidden" for layer in range(model.config.to_dict()["n_layers"]) for way in WAYS]
    moved = np.stack([change(before[site], after[site]) for site in sites])
    names = [f"layer {n // 2} {'→←'[n % 2]}" for n in range(len(sites))]
    values = moved[::-1]
    show_matrix(
        "stacked",
        np.where(values > 0, values, np.nan),
        Axis("", names[::-1]),
        of_tokens("token", text.tokens),
        amounts(moved, "‖Δh‖ / ‖h‖", ticks="per cent"),
        form=ValueFormat(name="moves by ", digits=0, percent=True),
        texts=written(100 * values, ".0f"),
        frames=chosen_column(chosen, len(names)),
        row_height=42,
        click="change that token",
        on_pick=lambda _, column: controls.pin(column),
    )
    st.markdown(
        f"{markdown.plain(quoted(text.tokens)[chosen])} becomes “{'.,'[ids[chosen] == comma]}”. → reads from the left, "
        "← from the right; layer 1 reads both, so all of its states move."
    )


@cached_for_all
def faded(model: AnyModel, text: str, layer: int) -> Array:
    trace = models.trace_at(model, text, "rnn.*")
    at = Steps(**{site: trace[f"rnn.{layer}.{site}"] for site in ("reset", "update", "candidate", "hidden")})
    return fading(zoo.experiments.recurrent_weights(model, f"rnn.{layer}"), at)


N_LAYERS = 3

MODULE = "tfmviz.model.layer_times"


def order(ctx: PageContext) -> None:
    tokens = rungs.ladder().encode(ctx.text).tokens
    n = len(tokens)
    recurrent, at_once = recurrence.steps_of_recurrence(N_LAYERS, n), recurrence.steps_of_layers(N_LAYERS, n)
    sees = int(recurrence.reach_of_convolution(N_LAYERS)[-1])
    for name, numbers, path, blind in (
        ("recurrent", recurrent, n - 1, range(0)),
        ("attention", at_once, min(n - 1, 1), range(0)),
        ("convolution", at_once, -(-(n - 1) // (recurrence.WIDTH - 1)), range(sees + 1, n)),
    ):
        title = f"{name}: {counted(int(numbers.max()), 'step')}; {path} from the first token to the last"
        show(
            f"steps_{name}",
            _steps(numbers, tokens, title, int(recurrent.max()), list(blind)),
            follows=name != "convolution",
        )
    st.markdown("Each number is a step; grey cells do not see the first token.")
    measured(MODULE, _times, words="Measure how long one layer takes (a few seconds)")


def _steps(numbers: Array, tokens: Sequence[str], title: str, most: int, blind: list[int]) -> Cells:
    """The step after which each value is available, (layer, token), the last layer on top.

    Args:
        blind: columns whose last layer does not see the first token: grey.
    """
    upside_down = numbers[::-1].astype(float)
    coloured, notes = upside_down.copy(), [["" for _ in tokens] for _ in numbers]
    coloured[0, blind] = np.nan
    for column in blind:
        notes[0][column] = f"known after step {numbers[-1, column]}; does not see the first token"
    return Cells(
        coloured[None],
        Axis("", [f"layer {layer}" for layer in range(len(numbers), 0, -1)]),
        of_tokens("token", tokens),
        Scale("norms", 0, most, title, ticks="whole"),
        form=ValueFormat(name="there after step ", digits=0),
        texts=written(upside_down, ".0f"),
        notes=notes,
        row_height=26,
    )


def _times(found: Sequence[Found]) -> None:
    if not found:
        return
    from tfmviz.model.layer_times import WIDTH

    for column, key, title in zip(
        st.columns(2), ("reading", "training"), ("reading, ms", "training step, ms"), strict=True
    ):
        by_kind = by_name(found, "kind", "length", key)
        with column:
            show_curves(
                f"times_{key}",
                by_kind,
                Axes("tokens", title, 280, log=True),
                lambda name, n, ms: f"{name}, {n:.0f} tokens: {decimal(ms)} ms",
                y_range=powers_around([ms for _, ms in by_kind.values()]),
            )
    st.caption(
        f"One layer of width {WIDTH} on one processor. A GPU computes n² pairs in parallel; recurrent steps must wait."
    )
