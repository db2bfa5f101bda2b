from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis.efficient import state_space
from tfmviz.analysis.heads import looks_back
from tfmviz.analysis.mask_effect import next_token_losses
from tfmviz.analysis.position_terms import smoothed
from tfmviz.paths import PROJECT
from tfmviz.plots.cells import Axis, Cells, ValueFormat, amounts, masked, of_tokens, share, signed, written
from tfmviz.plots.lines import Axes
from tfmviz.record.model import AnyModel
from tfmviz.ui import before_after, controls, icons, inputs, lesson, models
from tfmviz.ui.cache import cached_for_all, read_json
from tfmviz.ui.efficient import BYTES
from tfmviz.ui.figures import result, show, show_columns, show_curves, show_matrix
from tfmviz.ui.held_out import ByPosition, by_position
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.shapes import kept
from tfmviz.words import markdown
from tfmviz.words.labels import quoted
from tfmviz.words.numbers import counted, decimal, in_bytes, per_cent
from tfmviz.zoo import ModelUnavailable

TWINS = {
    "a window of 8": ("twins-window", "twins-rope"),
    "linear": ("twins-linear", "twins-sinusoidal"),
    "2 key/value heads": ("twins-gqa", "twins-rope"),
}


def twins(ctx: PageContext) -> None:
    with lesson.control_row("twins"):
        kind = inputs.segmented_control("Trained with", list(TWINS), key="trained_with", required=True)
    cheap, full = (models.needed(name) for name in TWINS[kind])
    if cheap is None or full is None:
        return
    names = f"every pair ({full.name})", f"{kind} ({cheap.name})"
    traces = [models.trace(model, ctx.text) for model in (full, cheap)]
    back = [np.stack([looks_back(trace[f"{layer}.pattern"]) for layer in trace.layers]) for trace in traces]
    values, form = np.stack(back), ValueFormat(digits=1, unit=" tokens back")
    show(
        "looks_back",
        Cells(
            values,
            Axis("layer"),
            Axis("head"),
            amounts(values, "tokens back"),
            form=form,
            titles=("every pair", kind),
            across=2,
            texts=written(np.concatenate(values), ".1f"),
        ),
    )
    result(
        f"Heads look back **{decimal(float(back[0].mean()), '.1f')}** tokens on average with every pair, "
        f"**{decimal(float(back[1].mean()), '.1f')}** with {kind}."
    )
    losses = [next_token_losses(trace["logits"], trace.target.ids) for trace in traces]
    if len(losses[0]):
        means = [decimal(float(found.mean()), ".2f") for found in losses]
        st.markdown(
            f"**On your text.** Mean surprise: {means[0]} nats with every pair, {means[1]} with {kind}."
            f"{before_after.of_twins(ctx.text)}"
        )
        before_after.show_losses(traces[0].target.tokens, *losses, series=names, key="surprises")
    else:
        st.markdown(before_after.ONE_TOKEN)
    _by_position(kind, {name: by_position(model.name) for name, model in zip(names, (full, cheap), strict=True)})
    configs = full.config, cheap.config
    show_columns(
        "kept",
        {
            "model": list(names),
            "parameters": [f"{model.weights.n_parameters:,}" for model in (full, cheap)],
            "after 64 tokens": [in_bytes(kept(config, 64, size=BYTES)) for config in configs],
            "after 4,096": [in_bytes(kept(config, 4096, size=BYTES)) for config in configs],
        },
        caption="Memory needed to write on",
    )
    st.caption(
        f"Memory holds keys and values that can still be seen, or running sums, at {BYTES} bytes each. The models "
        f"read at most {full.config.max_len} tokens."
    )


def _by_position(kind: str, measured: dict[str, ByPosition | None]) -> None:
    full, cheap = measured.values()
    if full is None or cheap is None:
        st.info("These models were not measured on held-out text yet: run `scripts/evaluate.py`.", icon=icons.INFO)
        return
    trained = full.trained
    within, beyond = [full.mean, cheap.mean], [float(one.losses[trained:].mean()) for one in (full, cheap)]
    st.markdown(
        f"**On held-out text**, up to {trained} tokens as in training: {decimal(within[0], '.3f')} nats with every "
        f"pair, {decimal(within[1], '.3f')} with {kind} ({decimal(within[1] - within[0], '+.3f')}); further on "
        f"{decimal(beyond[0], '.2f')} and {decimal(beyond[1], '.2f')}."
    )
    points = {name: smoothed(one.losses) for name, one in zip(measured, (full, cheap), strict=True)}
    axes, marked = Axes("position", "surprise, nats", 320), [(trained - 0.5, f"trained on {trained} positions")]
    tooltips = "{}, position {:.0f}: {:.3f} nats".format
    show_curves("by_position", points, axes, tooltips, dot=50, words=(), marked=marked)


FOLDER = PROJECT / "assets" / "spaces"
"""The folder of the state-space pair, which is not in the menu."""

NEAR = 4
"""The last tokens, for a sentence about them."""


def trained(ctx: PageContext) -> None:
    try:
        space, twin = _space(), models.of_folder("attention", FOLDER)
    except ModelUnavailable as error:
        st.info(f"This part needs two models that are missing. {markdown.plain(str(error))}", icon=icons.INFO)
        return
    config = space.config.to_dict()
    with lesson.control_row("space"):
        layers = range(config["n_layers"])
        layer = inputs.segmented_control("Layer", layers, key="space", required=True)
        channel = inputs.slider("Channel", 0, config["d_model"] - 1, 0, key="channel")
    trace, twins_run = models.trace_at(space, ctx.text), models.trace(twin, ctx.text)
    controls.say_what_was_cut(trace.target, "These models read")
    a = zoo.experiments.decays(space, layer)
    states = trace[f"ssm.{layer}.hidden"].astype(float)
    shares = state_space.remembered(states, a)
    attends = twins_run[f"decoder.{layer}.self_attn.pattern"].mean(axis=0)
    values = masked([attends, shares], np.tri(len(shares), dtype=bool))
    show(
        "left_in_state",
        Cells(
            values,
            of_tokens("after", trace.tokens),
            of_tokens("what is left of", trace.tokens),
            share("share"),
            titles=("attention, mean of heads", "left in the state"),
            texts=written(np.concatenate(values), ".2f"),
            square=True,
            across=2,
        ),
    )
    result(
        f"After {markdown.plain(quoted(trace.tokens)[-1])}, **{per_cent(float(shares[-1, -NEAR:].sum()))}** of the "
        f"state of layer {layer} comes from the last {counted(min(NEAR, len(trace.tokens)), 'token')}. A token's trace "
        "fades at a fixed rate."
    )
    n_state = config["n_state"]
    mine = slice(channel * n_state, (channel + 1) * n_state)
    lives = state_space.half_lives(a)
    order = np.argsort(-lives[mine], kind="stable")
    values = states[:, mine].T[order]
    rows = Axis("half-life, tokens", [decimal(float(one), ".1f") for one in lives[mine][order]])
    columns = of_tokens("token", trace.tokens)
    show_matrix("channel_state", values, rows, columns, signed(values, "state"), row_height=20)
    st.markdown(
        f"In this layer, half-lives range from {decimal(float(lives.min()), '.1f')} to "
        f"{decimal(float(lives.max()), '.0f')} tokens."
    )
    measured = read_json(FOLDER / "measured.json")
    held_out = [decimal(float(measured[name]["held_out"])) for name in ("attention", "state-space")]
    on_text = "."
    losses = [next_token_losses(one["logits"], one.target.ids) for one in (twins_run, trace)]
    if len(losses[0]):
        means = [decimal(float(one.mean())) for one in losses]
        on_text = f"; on your text {means[0]} and **{means[1]}**.{before_after.of_twins(ctx.text)}"
    cache = in_bytes(kept(twin.config, 4096, size=BYTES))
    state = in_bytes(BYTES * config["n_layers"] * states.shape[1])
    st.markdown(
        f"The held-out loss is {held_out[0]} nats with attention, **{held_out[1]}** with state spaces (one run each)"
        f"{on_text} After 4,096 tokens attention would have to keep {cache}; state spaces keep {state}, as after one."
    )


@cached_for_all
def _space() -> AnyModel:
    models.import_torch()
    return zoo.load("state-space", FOLDER, kind=zoo.EarlierModel)
