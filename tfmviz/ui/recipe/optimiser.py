from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis.optimisers import AdamSettings, adam, descent, momentum, valley
from tfmviz.paths import PROJECT
from tfmviz.plots import dots, space
from tfmviz.plots.lines import Axes
from tfmviz.plots.paths import descents
from tfmviz.plots.theme import shades
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.schedule import cosine, noam, noam_peak
from tfmviz.ui import icons, inputs, lesson, recipe
from tfmviz.ui.cache import cached_for_all, read_log
from tfmviz.ui.figures import result, seen_from, show, show_code, show_curves, show_table, theme
from tfmviz.ui.lesson import PageContext
from tfmviz.words import markdown
from tfmviz.words.labels import quoted
from tfmviz.words.numbers import decimal, rounded, tiny

STEPS = 60

REACH = (3.0, 2.0)

PATHS = ("Adam", "Adam without correction", "gradient descent", "with momentum")


def going_down() -> None:
    line = lesson.control_row("adam")
    with line:
        bright = inputs.segmented_control("Highlight", PATHS, key="downhill", required=True)
    seen, below = seen_from(line, first="above"), st.container()
    with lesson.control_row("adam_start"):
        x = inputs.slider("Start x", -2.5, 2.5, -2.5, 0.1, key="x")
        y = inputs.slider("Start y", -1.5, 1.5, 1.0, 0.1, key="y")
        steepness = inputs.select_slider("Steepness along y", (1, 3, 10, 30, 100), 30, key="steep")
        steps = inputs.slider("Steps", 1, STEPS, STEPS, key="descended")
    with lesson.control_row("adam_numbers"):
        rate = inputs.select_slider("η of Adam", (0.01, 0.03, 0.1, 0.3, 1.0), 0.1, key="eta")
        plain = inputs.select_slider("η of descent", (0.003, 0.01, 0.03, 0.05, 0.1, 0.3), 0.03, key="eta_plain")
        beta1 = inputs.select_slider("β₁", (0.0, 0.5, 0.9, 0.99), 0.9, key="beta1")
        beta2 = inputs.select_slider("β₂", (0.0, 0.9, 0.98, 0.999), 0.98, key="beta2")
        epsilon = inputs.select_slider("ε", (1e-9, 1e-6, 1e-3, 0.1, 1.0), 1e-9, key="adam_epsilon")
    function, gradient = valley(float(steepness))
    start = np.array([x, y]).round(1)  # a slider's 0.0 may be 10⁻¹⁷, and a steep valley makes anything but 0 grow
    settings = AdamSettings(learning_rate=rate, beta1=beta1, beta2=beta2, epsilon=epsilon)
    with_correction = adam(gradient, start, settings, steps=STEPS)
    walked = (
        with_correction.places,
        adam(gradient, start, replace(settings, corrected=False), steps=STEPS).places,
        descent(gradient, start, learning_rate=plain, steps=STEPS),
        momentum(gradient, start, learning_rate=plain, beta=beta1, steps=STEPS),
    )
    paths = {name: path[: steps + 1] for name, path in zip(PATHS, walked, strict=True)}
    ended = ", ".join(f"{name} {_height(float(function(path[-1])))}" for name, path in paths.items())
    with below:
        alt = f"The paths start at ({decimal(x)}, {decimal(y)}). Height after {steps} steps: {ended}."
        if seen == "above":
            angle = np.linspace(0, 2 * np.pi, 61)
            circle = np.stack([np.cos(angle), np.sin(angle) / np.sqrt(steepness)], axis=1)
            rings = [np.sqrt(2 * height) * circle for height in (0.05, 0.3, 1.0, 2.5, 5.0)]  # of equal height
            reach = REACH[0], 1.1 * max(1.0, abs(float(paths[bright][0, 1])))
            show("descents", descents(paths, rings, bright=PATHS.index(bright), reach=reach, theme=theme()), alt=alt)
        else:
            show("valley", _surface(function, paths, seen), alt=f"A valley as a surface. {alt}")
    result(f"Height after {steps} steps: {ended}. {_words(start, steepness, plain)}")
    changes = np.diff(with_correction.places[:, 0])
    columns = (
        with_correction.gradients,
        with_correction.m,
        with_correction.m_hat,
        with_correction.v,
        with_correction.v_hat,
    )
    show_table(
        "adam_steps",
        caption="Adam's first steps along x",
        columns=("step", "g", "m", "m̂ = m/(1 − β₁ᵗ)", "v", "v̂ = v/(1 − β₂ᵗ)", "change in x"),
        rows=[
            (f"t = {t + 1}", *(decimal(float(c[t, 0]), ".3g") for c in columns), decimal(float(changes[t]), ".3g"))
            for t in (0, 1, 2, 4, 9)
        ],
    )
    without = ""
    if with_correction.v[0, 0] > 0:
        share = decimal(float(abs(with_correction.m[0, 0]) / np.sqrt(with_correction.v[0, 0])))
        without = f"Without the correction it would be (1 − β₁)/√(1 − β₂) = {share} times as long. "
    st.markdown(
        "m and v are running means that start at 0: after one step they are (1 − β₁) g and (1 − β₂) g². Dividing by "
        f"1 − βᵗ makes them g and g², so the first step is η along each axis. {without}"
    )
    show_code(adam, descent)


def _surface(function: Callable[[Array], Array], paths: Mapping[str, Array], seen: space.View) -> space.Space:
    x, y = (np.linspace(-end, end, 41) for end in REACH)
    heights = function(np.stack(np.meshgrid(x, y), axis=-1))
    look, lift = theme(), 0.01 * float(heights.max())  # a little above the ground, or they would be half hidden
    ways = []
    for (name, path), colour in zip(paths.items(), shades(len(paths), look), strict=True):
        outside = (np.abs(path) > REACH).any(axis=1)
        inside = path[: int(outside.argmax()) if outside.any() else len(path)]
        ways.append(
            space.Way(
                name=name,
                points=np.column_stack([inside, function(inside) + lift]),
                tooltips=[f"{name}, after {n} steps" for n in range(len(inside))],
                colour=colour,
                width=9,
            )
        )
    return space.ways(
        ways,
        axes=("x", "y", "height f"),
        title="Paths down the valley",
        seen_from=seen,
        ground=(x, y, heights),
        shape=(1.5, 1, 0.7),
        theme=look,
    )


def _height(value: float) -> str:
    return decimal(value, ".3g") if value < 1e6 else "diverged"


def _words(start: Array, steepness: int, plain: float) -> str:
    adam_divides = "**Adam** divides each coordinate of the gradient by its own root mean square, so it moves"
    if not start.any():
        return "You start at the bottom, where the gradient is 0. Move the starting point."
    if steepness == 1:
        return (
            "On f = ½ (x² + y²) **gradient descent** goes straight to the "
            f"bottom. {adam_divides} about η per step along each axis."
        )
    return (
        f"On f = ½ (x² + {steepness} y²) **gradient descent** moves by η times the gradient: if η exceeds "
        f"2/{steepness} = {decimal(2 / steepness, '.3g')}, the descent overshoots further each time "
        f"({_verdict(start, steepness, plain)}). {adam_divides} about η per step along each axis, steep or flat."
    )


def _verdict(start: Array, steepness: int, plain: float) -> str:
    if plain <= 2 / steepness:
        return "yours is below it"
    if start[1] == 0:
        return "yours is above it, but y = 0 cannot grow"
    return "yours is above it, so the path diverges"


RUNS = {
    "post-norm, no warm-up": "post-norm-none",
    "post-norm, warm-up": "post-norm-warm-up",
    "pre-norm, no warm-up": "pre-norm-none",
    "pre-norm, warm-up": "pre-norm-warm-up",
}
"""The shipped runs of `scripts.train_recipe`, by the names of their logs."""

LAST = 20
"""Losses at the end of a curve that are averaged."""

AROUND = 4
"""Losses on either side that a curve averages."""


def schedules() -> None:
    with lesson.control_row("schedules"):
        d_model = inputs.select_slider("d_model", (64, 128, 256, 512, 1024), 512, key="rate_width")
        warmup = inputs.slider("Warm-up steps", 100, 10_000, 4000, 100, key="warmup")
        steps = inputs.select_slider("Steps", (2_000, 10_000, 30_000, 100_000), 30_000, key="rate_steps")
    at = np.unique(np.linspace(1, steps, 240).astype(int))
    peak = noam_peak(d_model=d_model, warmup=warmup)
    rates = {
        "2017 (Noam)": np.array([noam(s - 1, d_model=d_model, warmup=warmup) for s in at.tolist()]),
        "cosine": np.array([peak * cosine(s - 1, warmup=warmup, steps=steps) for s in at.tolist()]),
        "constant": np.full(len(at), peak),
    }
    marked = [(float(warmup), "warm-up ends")] if warmup <= steps else []
    points, top = {name: (at, rate) for name, rate in rates.items()}, 1.1 * max(float(r.max()) for r in rates.values())

    def tooltips(name: str, step: float, rate: float) -> str:
        return f"{name}, step {step:,.0f}: {tiny(rate)}"

    axes = Axes("step", "learning rate", 330)
    show_curves("schedules", points, axes, tooltips, dot=0, marked=marked, y_range=(0.0, top))
    falls = " The cosine falls to a tenth of the peak by the last step." if warmup < steps else ""
    result(
        r"The paper's rate, $d_\text{model}^{-1/2} \min(\text{step}^{-1/2}, \text{step} \cdot \text{warmup}^{-3/2})$, "
        f"rises to **{tiny(peak)}** and falls as 1/√step.{falls}"
    )
    show_code(noam, cosine)


def warm_up() -> None:
    logs = {name: read_log(PROJECT / "assets" / "recipe" / f"{file}.jsonl") for name, file in RUNS.items()}
    runs = {name: (log.steps, log.loss) for name, log in logs.items()}
    last = {name: float(losses[-LAST:].mean()) for name, (_, losses) in runs.items()}
    smooth = {
        name: (steps[AROUND:-AROUND], np.lib.stride_tricks.sliding_window_view(losses, 2 * AROUND + 1).mean(axis=1))
        for name, (steps, losses) in runs.items()
    }
    words = [f"{name} {decimal(value)}".replace(", ", ",\n") for name, value in last.items()]
    result(
        "**Post-norm without warm-up never learns**; pre-norm gains little from warm-up. (Four eight-layer models "
        f"share data, seed and peak rate; at the right is the mean of the last {LAST} losses.)"
    )
    axes, tooltips = Axes("step", "loss, nats, running mean", 360), "{}, step {:,.0f}: {:.2f}".format
    show_curves("warm_up_runs", smooth, axes, tooltips, dot=0, words=words)
    st.caption("“Normalisation” shows a likely reason. Reproduce it with `python -m scripts.train_recipe warm-up`.")


PASSES = 10

MOST_TOKENS = 60
"""Tokens in the picture of dropout."""

LARGEST = 60_000_000
"""Parameters of a model whose gradients are computed: they take as much memory as its weights."""


def dropout(ctx: PageContext) -> None:
    with lesson.control_row("dropout"):
        rate = inputs.slider("p", 0.0, 0.5, 0.1, 0.05, key="p")
        seed = inputs.slider("Random seed", 0, 50, 0, key="dropout_draw")
    if (found := recipe.forced(ctx)) is None:
        return
    model = found.model
    runs = _dropped(model, ctx.text, rate, seed)
    n = min(len(found.ids), MOST_TOKENS)
    tokens = found.targets[:n]
    names = quoted(tokens, first=1)
    show("dropped", dots.dropped(tokens, names, runs[:, :n], found.losses[:n], theme=theme()))
    most = int(runs.std(axis=0).argmax())
    used = model.config.dropout
    if model.config.training_mask == "none":
        st.info("In training this model also sees the next token, so its losses are near 0.", icon=icons.INFO)
    changes = "With p = 0 nothing is dropped."
    if rate:
        changes = (
            f"The loss varies most on {markdown.plain(quoted(found.targets, first=1)[most])} "
            f"(from {decimal(float(runs[:, most].min()))} to {decimal(float(runs[:, most].max()))} nats)."
        )
    result(
        f"Mean loss: **{decimal(float(found.losses.mean()))}** without, **{decimal(float(runs.mean()))}** with "
        f"dropout. {changes} Embeddings, attention weights and layer outputs are set to 0 with probability "
        f"p = {rate:g}; the others are divided by 1 − p. "
        + (f"This model was trained with p = {used:g}." if used else "This model was trained without dropout.")
    )


@cached_for_all
def _dropped(model: Model, text: str, rate: float, seed: int) -> Array:
    return zoo.experiments.losses_with_dropout(model, text, dropout=rate, runs=PASSES, seed=seed)[1]


def gradients(ctx: PageContext) -> None:
    with lesson.control_row("gradients"):
        seed = inputs.slider("Seed of the random weights", 0, 20, 0, key="gradient_seed")
    if (ctx_b := recipe.with_writer(ctx)) is None:
        return
    model = ctx_b.model
    if model.weights.n_parameters > LARGEST:
        st.info(
            f"This model has {model.weights.n_parameters:,} parameters; gradients are computed up to {LARGEST:,}.",
            icon=icons.INFO,
        )
        return
    if not (trained := _lengths(model, ctx.text, None)):
        recipe.say_too_short()
        return
    random = _lengths(model, ctx.text, seed)
    layers = list(trained)
    lengths = {
        "random weights": np.array([random.get(layer, 0.0) for layer in layers]),
        "trained": np.array([trained[layer] for layer in layers]),
    }
    show("gradient_lengths", dots.gradients([_name(layer) for layer in layers], lengths, theme=theme()))
    whole = {kind: float(np.sqrt((values**2).sum())) for kind, values in lengths.items()}
    result(
        f"The norm of the whole gradient is **{rounded(whole['random weights'])}** with random weights and "
        f"**{rounded(whole['trained'])}** after training."
    )


def _name(layer: str) -> str:
    """Such as "3 attention" for "decoder.3.self_attn"."""
    if layer == "embedding":
        return "W_E"
    stack, number, part = layer.split(".")
    name = {"self_attn": "attention", "cross_attn": "cross-attention", "mlp": "MLP"}[part]
    return f"{'' if stack == 'decoder' else 'encoder '}{number} {name}"


@cached_for_all
def _lengths(model: Model, text: str, untrained: int | None) -> dict[str, float]:
    return zoo.experiments.gradient_lengths(model, text, untrained=untrained)
