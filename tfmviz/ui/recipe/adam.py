"""Adam beside plain gradient descent, on two coordinates in a valley."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import streamlit as st

from tfmviz.analysis.optimisers import AdamPath, AdamSettings, adam, descent, momentum, valley
from tfmviz.plots import space
from tfmviz.plots.paths import descents
from tfmviz.plots.theme import shades
from tfmviz.record.trace import Array
from tfmviz.ui import inputs, lesson
from tfmviz.ui.figures import result, seen_from, show, show_code, theme
from tfmviz.views.counts import Table
from tfmviz.words.numbers import decimal

STEPS = 60

REACH = (3.0, 2.0)

PATHS = ("Adam", "Adam without correction", "gradient descent", "with momentum")


def going_down() -> None:
    line = lesson.line("adam")
    with line:
        bright = inputs.segmented_control("Highlight", PATHS, default=PATHS[0], key="downhill", required=True)
    seen, below = seen_from(line, first="above"), st.container()
    with lesson.line("adam_start"):
        x = inputs.slider("Start x", -2.5, 2.5, -2.5, 0.1, key="x")
        y = inputs.slider("Start y", -1.5, 1.5, 1.0, 0.1, key="y")
        steepness = inputs.select_slider("Steepness along y", (1, 3, 10, 30, 100), 30, key="steep")
        steps = inputs.slider("Steps", 1, STEPS, STEPS, key="descended")
    with lesson.line("adam_numbers"):
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
            _from_above(paths, steepness, bright, alt)
        else:
            show("valley", _surface(function, paths, seen), alt=f"A valley as a surface. {alt}")
    result(f"Height after {steps} steps: {ended}. {_words(start, steepness, plain)}")
    _numbers(with_correction)
    show_code(adam, descent)


def _from_above(paths: Mapping[str, Array], steepness: int, bright: str, alt: str) -> None:
    angle = np.linspace(0, 2 * np.pi, 61)
    circle = np.stack([np.cos(angle), np.sin(angle) / np.sqrt(steepness)], axis=1)
    rings = [np.sqrt(2 * height) * circle for height in (0.05, 0.3, 1.0, 2.5, 5.0)]  # of equal height
    reach = REACH[0], 1.1 * max(1.0, abs(float(paths[bright][0, 1])))
    show("descents", descents(paths, rings, bright=PATHS.index(bright), reach=reach, theme=theme()), alt=alt)


def _surface(function: Callable[[Array], Array], paths: Mapping[str, Array], seen: space.View) -> space.Space:
    """The valley as a surface, with the ways down it as far as they stay within reach."""
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
                said=[f"{name}, after {n} steps" for n in range(len(inside))],
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
    return decimal(value, ".3g") if np.isfinite(value) and value < 1e6 else "diverged"


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
    """Whether the chosen rate throws the descent out of the valley."""
    if plain <= 2 / steepness:
        return "yours is below it"
    if start[1] == 0:
        return "yours is above it, but y = 0 cannot grow"
    return "yours is above it, so the path diverges"


def _numbers(path: AdamPath) -> None:
    steps = np.diff(path.places[:, 0])
    columns = (path.gradients, path.m, path.m_hat, path.v, path.v_hat)
    show(
        "adam_steps",
        Table(
            caption="Adam's first steps along x",
            columns=("step", "g", "m", "m̂ = m/(1 − β₁ᵗ)", "v", "v̂ = v/(1 − β₂ᵗ)", "change in x"),
            rows=[
                (f"t = {t + 1}", *(decimal(float(c[t, 0]), ".3g") for c in columns), decimal(float(steps[t]), ".3g"))
                for t in (0, 1, 2, 4, 9)
            ],
        ),
    )
    without = ""
    if path.v[0, 0] > 0:
        share = decimal(float(abs(path.m[0, 0]) / np.sqrt(path.v[0, 0])))
        without = f"Without the correction it would be (1 − β₁)/√(1 − β₂) = {share} times as long. "
    st.markdown(
        "m and v are running means that start at 0: after one step they are (1 − β₁) g and (1 − β₂) g². Dividing by "
        f"1 − βᵗ makes them g and g², so the first step is η along each axis. {without}"
    )
