"""A state space model that was trained, in the place of attention: its state on the reader's text."""

from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis.efficient import state_space
from tfmviz.analysis.mask_effect import next_token_losses
from tfmviz.places import PROJECT
from tfmviz.plots.cells import Axis, Cells, masked, of_tokens, share, signed, written
from tfmviz.record.model import AnyModel, Model
from tfmviz.record.trace import Array, Trace
from tfmviz.ui import controls, icons, inputs, lesson, models
from tfmviz.ui.cache import read_json, shared
from tfmviz.ui.efficient.subject import BYTES
from tfmviz.ui.figures import result, show
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.shapes import kept
from tfmviz.words import markdown
from tfmviz.words.labels import quoted
from tfmviz.words.numbers import counted, decimal, in_bytes, per_cent
from tfmviz.zoo import ModelUnavailable

FOLDER = PROJECT / "assets" / "spaces"
"""The folder of the pair, which differs in nothing but what stands in the place of attention. It is not in the menu."""

NEAR = 4
"""Tokens that a sentence calls the last."""


def trained(here: Lesson) -> None:
    """The state of a layer, what each token has left in it beside a pattern of attention, and what both lose."""
    try:
        space, twin = _space(), _twin()
    except ModelUnavailable as error:
        st.info(f"This part needs two models that are missing. {markdown.plain(str(error))}", icon=icons.INFO)
        return
    config = space.config.to_dict()
    with lesson.line("space"):
        layers = range(config["n_layers"])
        layer = inputs.segmented_control("Layer", layers, default=0, key="space", required=True)
        channel = inputs.slider("Channel", 0, config["d_model"] - 1, 0, key="channel")
    trace, pattern = _run(space, here.text), models.trace(twin, here.text)
    controls.say_what_was_cut(trace.target, "These models read")
    a = zoo.experiments.decays(space, layer)
    states = trace[f"ssm.{layer}.hidden"].astype(float)
    _shares(trace, pattern, state_space.remembered(states, a), layer)
    _state(trace, states, a, channel, config["n_state"])
    _losses(trace, pattern, twin, n_kept=config["n_layers"] * states.shape[1])


def _shares(trace: Trace, twin: Trace, shares: Array, layer: int) -> None:
    """What of each token is left in the state, beside the mean pattern of the transformer's layer."""
    tokens = trace.tokens
    pattern, titles = (
        twin[f"decoder.{layer}.self_attn.pattern"].mean(axis=0),
        ("attention, mean of heads", "left in the state"),
    )
    values = masked([pattern, shares], np.tri(len(shares), dtype=bool))
    rows, columns = of_tokens("after", tokens), of_tokens("what is left of", tokens)
    texts = written(np.concatenate(values), ".2f")
    show(
        "left_in_state", Cells(values, rows, columns, share("share"), titles=titles, texts=texts, square=True, across=2)
    )
    near = float(shares[-1, -NEAR:].sum())
    result(
        f"After {markdown.plain(quoted(tokens)[-1])}, **{per_cent(near)}** of the state of layer {layer} comes from "
        f"the last {counted(min(NEAR, len(tokens)), 'token')}. A token's trace fades at a fixed rate."
    )


def _state(trace: Trace, states: Array, a: Array, channel: int, n_state: int) -> None:
    """The numbers of one channel, from the slowest to the fastest."""
    mine = slice(channel * n_state, (channel + 1) * n_state)
    lives = state_space.half_lives(a)
    order = np.argsort(-lives[mine], kind="stable")
    values = states[:, mine].T[order]
    rows = Axis("half-life, tokens", [decimal(float(one), ".1f") for one in lives[mine][order]])
    columns = of_tokens("token", trace.tokens)
    show("channel_state", Cells(values[None], rows, columns, signed(values, "state"), row_height=20))
    st.markdown(
        f"In this layer, half-lives range from {decimal(float(lives.min()), '.1f')} to "
        f"{decimal(float(lives.max()), '.0f')} tokens."
    )


def _losses(trace: Trace, twin: Trace, model: Model, *, n_kept: int) -> None:
    measured = read_json(FOLDER / "measured.json")
    held_out = [decimal(float(measured[name]["held_out"])) for name in ("attention", "state-space")]
    on_text = ""
    losses = [next_token_losses(one["logits"], one.target.ids) for one in (twin, trace)]
    if len(losses[0]):
        means = [decimal(float(one.mean())) for one in losses]
        on_text = f"; on your text {means[0]} and **{means[1]}**"
    cache, state = in_bytes(kept(model.config, 4096, size=BYTES)), in_bytes(BYTES * n_kept)
    st.markdown(
        f"The held-out loss is {held_out[0]} nats with attention, **{held_out[1]}** with state spaces (one run each)"
        f"{on_text}. After 4,096 tokens attention would have to keep {cache}; state spaces keep {state}, as after one."
    )


@shared
def _space() -> AnyModel:
    models.import_torch()
    return zoo.load("state-space", FOLDER, kind=zoo.EarlierModel)


@shared
def _twin() -> Model:
    models.import_torch()
    return zoo.load("attention", FOLDER)


@shared
def _run(model: AnyModel, text: str) -> Trace:
    return model.trace(text)
