"""The learning rate: schedules with sliders, and what happens without warm-up."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from tfmviz.places import PROJECT
from tfmviz.plots.lines import Axes, curves
from tfmviz.record.trace import Array
from tfmviz.runs import records
from tfmviz.schedule import cosine, noam, noam_peak
from tfmviz.ui import inputs, lesson
from tfmviz.ui.cache import shared
from tfmviz.ui.figures import result, show, show_code, theme
from tfmviz.words.numbers import decimal, tiny

RUNS = {
    "post-norm, no warm-up": "post-norm-none",
    "post-norm, warm-up": "post-norm-warm-up",
    "pre-norm, no warm-up": "pre-norm-none",
    "pre-norm, warm-up": "pre-norm-warm-up",
}
"""The shipped runs, by the names of their logs; `scripts.train_recipe` made them."""

LAST = 20
"""Losses at the end of a curve that are averaged."""

AROUND = 4
"""Losses on either side that a curve averages."""


def schedules() -> None:
    with lesson.line("schedules"):
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

    def said(name: str, step: float, rate: float) -> str:
        return f"{name}, step {step:,.0f}: {tiny(rate)}"

    look: dict[str, Any] = {"dot": 0, "marked": marked, "y_range": (0.0, top)}
    show("schedules", curves(points, Axes("step", "learning rate", 330), said, theme=theme(), **look))
    falls = " The cosine falls to a tenth of the peak by the last step." if warmup < steps else ""
    result(
        f"The paper's rate, d_model^−½ · min(step^−½, step · warmup^−3/2), rises to (d_model · warmup)^−½ = "
        f"**{tiny(peak)}** and falls as 1/√step.{falls}"
    )
    show_code(noam, cosine)


def warm_up() -> None:
    runs = {name: _log(file) for name, file in RUNS.items()}
    last = {name: float(losses[-LAST:].mean()) for name, (_, losses) in runs.items()}
    smooth = {name: (steps[AROUND:-AROUND], _running(losses)) for name, (steps, losses) in runs.items()}
    words = [f"{name} {decimal(value)}" for name, value in last.items()]
    result(
        "**Post-norm without warm-up never learns**; pre-norm gains little from warm-up. (Four eight-layer models "
        f"share data, seed and peak rate; at the right is the mean of the last {LAST} losses.)"
    )
    axes, said = Axes("step", "loss, nats, running mean", 360), "{}, step {:,.0f}: {:.2f}".format
    show("warm_up_runs", curves(smooth, axes, said, theme=theme(), dot=0, words=words))
    st.markdown(
        "Xiong et al. 2020 blame the large initial gradients in the last post-norm layers (see “Normalisation”); Liu "
        "et al. 2020 disagree."
    )
    st.caption("Reproduce it with `python -m scripts.train_recipe warm-up`.")


def _running(losses: Array) -> Array:
    """The mean of each loss and its neighbours: (n − 2 · AROUND,)."""
    return np.lib.stride_tricks.sliding_window_view(losses, 2 * AROUND + 1).mean(axis=1)


@shared
def _log(name: str) -> tuple[Array, Array]:
    log = records.read(PROJECT / "assets" / "recipe" / f"{name}.jsonl")
    return log.steps, log.loss
