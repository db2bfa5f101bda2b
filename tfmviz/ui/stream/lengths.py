"""How long every token's vector is, layer by layer, and what the norms do to it."""

from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz.analysis import residual
from tfmviz.analysis.attention_layer import is_pre_norm
from tfmviz.plots.cells import Cells, Form, amounts, chosen_column, named, of_tokens
from tfmviz.plots.pairs import pairs
from tfmviz.plots.paths import by_stage
from tfmviz.record.trace import Array, Trace
from tfmviz.ui import controls, lesson
from tfmviz.ui.figures import result, show, theme
from tfmviz.ui.lesson import Lesson
from tfmviz.words import markdown
from tfmviz.words.labels import quoted, visible


def lengths(here: Lesson) -> None:
    """Length of every token's vector by depth, as lines and as a map, and what the norms do to it."""
    trace, choice, token = here.trace, here.choice, here.query
    with lesson.line("token"):
        controls.token_box([visible(t) for t in trace.axes(choice.layer)[0].tokens], token)
    stack = choice.layer.split(".")[0]
    tokens = trace.axes(choice.layer)[0].tokens
    stages = residual.stages(trace, stack, "steps")
    values = residual.lengths(trace, list(stages.values()))
    show("growth", by_stage(values, stages=list(stages), tokens=tokens, position=token, theme=theme()))
    _growth_in_words(values, trace)
    _outlier_in_words(values, list(stages), tokens[0])
    columns, scale, form = (
        of_tokens("token", tokens),
        amounts(values, "norm of the vector"),
        Form(name="norm ", digits=2),
    )
    frames = chosen_column(token, len(values))
    show("lengths", Cells(values[None], named(list(stages)), columns, scale, form=form, frames=frames))
    st.markdown(
        f"{markdown.plain(quoted(tokens)[token])} before and after each norm. "
        + ("The layers read a normalised copy." if is_pre_norm(trace) else "The normalised vector replaces the stream.")
    )
    _before_and_after(trace, stack, token)


def _growth_in_words(values: Array, trace: Trace) -> None:
    first, last = values[0].mean(), values[-1].mean()
    kind = (
        "Pre-norm: every layer adds to the stream"
        if is_pre_norm(trace)
        else "Post-norm: a norm after every layer resets it"
    )
    st.markdown(
        f"{kind}. The mean norm goes from **{first:.2f}** to **{last:.2f}**, a factor of "
        f"{last / max(first, 1e-12):.3g}."
    )


def _outlier_in_words(values: Array, stages: list[str], first: str) -> None:
    if values.shape[1] < 2:
        return
    stage, factor = residual.outlier(values)
    name, where = markdown.plain(visible(first)), stages[stage]
    where = "in the embedding" if stage == 0 else f"after {where}"
    if factor >= 2.0:
        result(f"**The first token “{name}” stands out**: {where} its norm is {factor:.1f} times the others' median.")
        return
    result(f"The first token “{name}” is no outlier: at most {factor:.2f} times the others' median, {where}.")


def _before_and_after(trace: Trace, stack: str, token: int) -> None:
    norms = residual.normalisations(trace, stack)
    before, after = (
        np.array([np.linalg.norm(pair[side][token]) for pair in norms.values()], dtype=float) for side in (0, 1)
    )
    show(
        "norms_before_after",
        pairs(
            list(norms),
            before,
            after,
            series=("before the norm", "after it"),
            title="norm",
            token_title="the norm of layer",
            theme=theme(),
        ),
    )
