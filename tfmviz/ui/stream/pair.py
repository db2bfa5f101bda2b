from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis import residual
from tfmviz.analysis.block_tensors import block_tensors
from tfmviz.analysis.calibration import log_softmax
from tfmviz.paths import PROJECT
from tfmviz.plots.charts import Chart
from tfmviz.plots.lines import DASHES, Axes, Stroke, line_chart, named_lines
from tfmviz.plots.paths import by_stage
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.ui import controls, icons, lesson, models
from tfmviz.ui.cache import cached_for_all, read_json, read_log
from tfmviz.ui.figures import result, show, show_columns, theme
from tfmviz.ui.lesson import PageContext
from tfmviz.words import markdown
from tfmviz.words.labels import visible
from tfmviz.words.numbers import decimal, per_cent, rounded
from tfmviz.zoo import ModelUnavailable

FOLDER = PROJECT / "assets" / "residuals"
"""The folder of the pair. It is not in the menu: pages read a stream as a sum, which one of the two lacks."""

NAMES = ("with", "without")

HEIGHT = 270


def pair(ctx: PageContext) -> None:
    lesson.hide("layer")
    try:
        both = {name: models.of_folder(name, FOLDER) for name in NAMES}
    except ModelUnavailable as error:
        st.info(f"This tab needs two models. {markdown.plain(str(error))}", icon=icons.INFO)
        return
    traces = {name: models.trace(model, ctx.text) for name, model in both.items()}
    controls.say_what_was_cut(traces["with"].target, "These models read")
    left, right = st.columns(2)
    with left:
        logs = {name: read_log(FOLDER / f"{name}.jsonl") for name in NAMES}
        runs = {name: (log.steps, log.loss) for name, log in logs.items()}
        measured = read_json(FOLDER / "measured.json")
        last = {name: decimal(float(measured[name]["held_out"])) for name in NAMES}
        level = float(measured["unigram"])
        result(
            f"On held-out text, the loss is **{last['with']}** nats per token with residual connections and "
            f"**{last['without']}** without."
        )
        runs["frequencies alone"] = np.array([0.0, max(steps[-1] for steps, _ in runs.values())]), np.full(2, level)
        strokes = [*_two(), Stroke(theme().text, DASHES[2], 1.5)]
        lines = named_lines(runs, "{}, step {:,.0f}: {:.2f}".format, theme=theme(), strokes=strokes)
        show("pair_losses", line_chart(lines, Axes("step", "loss of the batch, nats", HEIGHT), theme=theme()))
    if len(traces["with"].tokens) < 2:
        st.info("A single token has no next one. Type more.", icon=icons.WRITE)
        return
    stages = list(residual.stages(traces["with"], "decoder", "layers").values())
    with right:
        alike = {name: residual.likeness(trace, stages) for name, trace in traces.items()}
        ends = {name: decimal(float(values[-1])) for name, values in alike.items()}
        st.markdown(
            f"At the end, two tokens' vectors have a mean cosine of **{ends['without']}** without them, {ends['with']} "
            "with them."
        )
        show("pair_likeness", _by_depth(alike, "mean cosine between tokens"))
    left, right = st.columns(2)
    with left:
        gradients = {}
        for name, model in both.items():
            gradients[f"{name}, at the start"] = _gradient(_at_the_start(name), ctx.text)
            gradients[f"{name}, trained"] = _gradient(model, ctx.text)
        shares = {when: rounded(float(norms[0] / norms[-1])) for when, norms in gradients.items()}
        st.markdown(
            f"Layer 0's gradient over the last layer's: {shares['with, at the start']} with them and "
            f"{shares['without, at the start']} without before training; now {shares['with, trained']} and "
            f"**{shares['without, trained']}**."
        )
        show("pair_gradients", _by_depth(gradients, "norm of the gradient", x="layer", log=True))
    with right:
        found = {name: residual.lengths(trace, stages).mean(axis=-1) for name, trace in traces.items()}
        growth = {name: rounded(float(values[-1] / values[0])) for name, values in found.items()}
        st.markdown(
            f"From start to end, norms grow by a factor of {growth['with']} with them, {growth['without']} without."
        )
        show("pair_lengths", _by_depth(found, "mean norm of the vectors", log=True))
    words, kinds = {}, {}
    for name, trace in traces.items():
        best = trace["logits"].argmax(axis=-1)
        p = per_cent(float(np.exp(log_softmax(trace["logits"][-1:])[0, best[-1]])))
        words[name] = f"“{markdown.plain(visible(both[name].vocabulary[best[-1]]))}” ({p})"
        kinds[name] = len(set(best.tolist()))
    st.markdown(
        f"Next, the model with them expects {words['with']}, the one without {words['without']}. Over the {len(best)} "
        f"positions of this text they expect **{kinds['with']}** and **{kinds['without']}** different tokens."
    )


def _two() -> list[Stroke]:
    return [Stroke(theme().text), Stroke(theme().plain)]


def _by_depth(lines: dict[str, Array], title: str, *, x: str = "layers passed", log: bool = False) -> Chart:
    def tooltips(name: str, layer: float, value: float) -> str:
        return f"{name}, {x} {layer:.0f}: {decimal(value) if value < 0 else rounded(value)}"

    looks = _two()
    if len(lines) == 4:
        looks = [replace(look, dash=dash) for look in looks for dash in (DASHES[1], DASHES[0])]
    points = {name: (np.arange(len(y)), y) for name, y in lines.items()}
    drawn = named_lines(points, tooltips, theme=theme(), strokes=looks)
    return line_chart(drawn, Axes(x, title, HEIGHT, log=log), theme=theme())


@cached_for_all
def _at_the_start(name: str) -> Model:
    from tfmviz.model.in_training import untrained

    found = zoo.load(name, FOLDER)
    return replace(found, module=untrained(found.config, seed=0))  # its initial weights


@cached_for_all
def _gradient(model: Model, text: str) -> Array:
    lengths = zoo.experiments.gradient_lengths(model, text)
    layers = range(model.config.depth("decoder"))
    return np.array([np.hypot(lengths[f"decoder.{n}.self_attn"], lengths[f"decoder.{n}.mlp"]) for n in layers])


TWINS = {"pre-norm": "twins-rope", "post-norm": "twins-postnorm"}


def twins(ctx: PageContext) -> None:
    found = {kind: model for kind, name in TWINS.items() if (model := models.needed(name)) is not None}
    runs = {kind: models.trace(model, ctx.text) for kind, model in found.items()}
    if len(runs) < len(TWINS):
        return
    controls.say_what_was_cut(runs["pre-norm"].target, "Both models read")
    measured = {}
    for kind, trace in runs.items():
        stages = residual.stages(trace, "decoder", "steps")
        measured[kind] = (list(stages), residual.lengths(trace, list(stages.values())))
    top = max(float(values.max()) for _, values in measured.values())
    for column, (kind, (names, values)) in zip(st.columns(2), measured.items(), strict=True):
        tokens = runs[kind].tokens
        position = controls.token(tokens, text=ctx.text)
        with column:
            show(
                f"growth_{kind.removesuffix('-norm')}",
                by_stage(values, stages=names, tokens=tokens, position=position, theme=theme(), top=top),
                title=f"{kind} ({TWINS[kind]})",
            )
    spread = {kind: values[-1].std() / values[-1].mean() for kind, (_, values) in measured.items()}
    result(
        f"After the last layer, norms vary by {spread['pre-norm']:.0%} of their mean with pre-norm, by "
        f"{spread['post-norm']:.0%} with post-norm."
    )
    layer = min(ctx.choice.layer_index, residual.depth(runs["pre-norm"], "decoder") - 1)
    columns: dict[str, list[str]] = {}
    for kind, trace in runs.items():
        tensors = block_tensors(trace, f"decoder.{layer}")
        columns[kind] = [tensor.equation for tensor in tensors]
        columns[f"norm, {kind}"] = [f"{np.linalg.norm(tensor.value, axis=-1).mean():.2f}" for tensor in tensors]
    show_columns("blocks", columns, caption=f"Layer {layer} turns X into H")
    st.markdown("Follow the +: with pre-norm it bypasses the norm.")


ORDERS = {"sinusoidal": "twins-sinusoidal", "RoPE": "twins-rope"}

LATER = 16
"""Positions by which the text is moved on."""


def orders(ctx: PageContext) -> None:
    """The share of position in the stream: its change when all words move to other positions."""
    lesson.hide("layer")
    found, before, added = {}, {}, 0.0
    for kind, name in ORDERS.items():
        if (model := models.needed(name)) is None:
            return
        if "decoder.pos_embed" in (trace := models.trace(model, ctx.text)):
            added = float(np.linalg.norm(trace["decoder.pos_embed"], axis=-1).mean())
        before[kind], after = _moved(model, ctx.text)
        found[kind] = np.linalg.norm(after - before[kind], axis=-1).mean(axis=-1)
    norms = {kind: np.linalg.norm(streams, axis=-1).mean(axis=-1) for kind, streams in before.items()}
    upper = min(2, len(norms["RoPE"]) - 1)
    share = {kind: per_cent(float(found[kind][upper] / norms[kind][upper])) for kind in found}
    st.markdown(
        f"With all words {LATER} positions later, after two layers the sinusoidal twin's vectors change by "
        f"**{share['sinusoidal']}** of their norm, RoPE's by **{share['RoPE']}**. Sinusoids (norm "
        f"{decimal(added)}) stay in the stream; RoPE rotates only q and k."
    )
    show("moved_streams", _by_depth(found, "norm of the change"))


@cached_for_all
def _moved(model: Model, text: str) -> tuple[Array, Array]:
    """(1 + layer, len, d_model), at the usual positions and later."""
    ids = models.trace(model, text).target.ids
    now, later = (zoo.experiments.streams_from(model, ids, first=first) for first in (0, LATER))
    return now, later
