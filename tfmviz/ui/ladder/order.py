"""Why recurrence lost: how many steps must follow one another, and the time that takes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from tfmviz.analysis import recurrence
from tfmviz.plots.cells import Axis, Cells, Form, Scale, of_tokens, written
from tfmviz.plots.lines import Axes, curves
from tfmviz.record.trace import Array
from tfmviz.ui.background import Found, by_name, measured
from tfmviz.ui.figures import show, theme
from tfmviz.ui.ladder import rungs
from tfmviz.ui.ladder.distance import powers_around
from tfmviz.ui.lesson import Lesson
from tfmviz.words.numbers import counted, decimal

N_LAYERS = 3

MODULE = "tfmviz.model.layer_times"


def order(here: Lesson) -> None:
    """The number of steps before each value is there, for three kinds of layers; then measured times."""
    tokens = rungs.ladder().encode(here.text).tokens
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
    """The step after which each value is there, (layer, token), the last layer on top.

    Args:
        most: end of the scale, the same for all kinds of layers.
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
        form=Form(name="there after step ", digits=0),
        texts=written(upside_down, ".0f"),
        notes=notes,
        row_height=26,
    )


def _times(found: Sequence[Found]) -> None:
    if not found:
        return
    from tfmviz.model.layer_times import WIDTH

    left, right = st.columns(2)
    for column, key, title in ((left, "reading", "reading, ms"), (right, "training", "training step, ms")):
        with column:
            _chart(by_name(found, "kind", "length", key), key=key, title=title)
    st.caption(
        f"One layer of width {WIDTH} on one processor. A GPU computes n² pairs in parallel; recurrent steps must wait."
    )


def _chart(by_kind: dict[str, tuple[Array, Array]], *, key: str, title: str) -> None:
    show(
        f"times_{key}",
        curves(
            by_kind,
            Axes("tokens", title, 280, log=True),
            lambda name, n, ms: f"{name}, {n:.0f} tokens: {decimal(ms)} ms",
            theme=theme(),
            y_range=powers_around([ms for _, ms in by_kind.values()]),
        ),
    )
