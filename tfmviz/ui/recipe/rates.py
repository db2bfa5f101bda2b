"""The learning rate: schedules with sliders, and what happens without warm-up."""

from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz.places import PROJECT
from tfmviz.plots import recipe as figures
from tfmviz.record.trace import Array
from tfmviz.runs import records
from tfmviz.schedule import cosine, noam, noam_peak
from tfmviz.ui import lesson
from tfmviz.ui.cache import shared
from tfmviz.ui.figures import show, show_code, theme
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


def schedules() -> None:
    with lesson.line("schedules"):
        d_model = st.select_slider("d_model", (64, 128, 256, 512, 1024), 512, key="rate_width", bind="query-params")
        warmup = st.slider("Warm-up", 100, 10_000, 4000, 100, key="warmup", bind="query-params")
        steps = st.select_slider(
            "Steps", (2_000, 10_000, 30_000, 100_000), 30_000, key="rate_steps", bind="query-params"
        )
    at = np.unique(np.linspace(1, steps, 240).astype(int))
    peak = noam_peak(d_model=d_model, warmup=warmup)
    rates = {
        "2017 (Noam)": np.array([noam(s - 1, d_model=d_model, warmup=warmup) for s in at.tolist()]),
        "cosine": np.array([peak * cosine(s - 1, warmup=warmup, steps=steps) for s in at.tolist()]),
        "constant": np.full(len(at), peak),
    }
    marked = [(float(warmup), "warm-up ends")] if warmup <= steps else []
    show(
        "schedules",
        figures.schedules(at.astype(float), rates, marked=marked, theme=theme()),
        alt=f"{_rises(peak, warmup, steps)}; at step {steps:,}: "
        + "; ".join(f"{name} {tiny(float(rate[-1]))}" for name, rate in rates.items()),
    )
    falls = " A cosine falls to a tenth of the peak by the last step." if warmup < steps else ""
    st.markdown(
        f"The paper's rate, d_model^−½ · min(step^−½, step · warmup^−3/2), rises to (d_model · warmup)^−½ = "
        f"**{tiny(peak)}** and falls as 1/√step.{falls}"
    )
    show_code(noam, cosine)


def _rises(peak: float, warmup: int, steps: int) -> str:
    if warmup > steps:
        return f"The rate rises for all {steps:,} steps and stays below its peak of {tiny(peak)}"
    return f"The rate rises for {warmup:,} steps to {tiny(peak)}"


def warm_up() -> None:
    runs = {name: _log(file) for name, file in RUNS.items()}
    last = {name: float(losses[-LAST:].mean()) for name, (_, losses) in runs.items()}
    show(
        "warm_up_runs",
        figures.losses(runs, theme=theme()),
        alt=f"Mean training loss over the last {LAST} points: "
        + "; ".join(f"{name} {decimal(v)}" for name, v in last.items()),
    )
    ranking = "; ".join(f"{name} {decimal(last[name])}" for name in sorted(last, key=lambda name: last[name]))
    st.markdown(
        f"Four models of eight layers, alike in data, seed and highest rate. Training loss, mean of the last "
        f"{LAST} points: {ranking}. "
        "**Post-norm without warm-up never gets going**; pre-norm gains little by one.\n\nXiong et al. 2020 "
        "blame large first gradients in post-norm's last layers (see “Normalisation”); Liu et al. 2020 "
        "disagree."
    )
    st.caption("Made by `python -m scripts.train_recipe warm-up`.")


@shared
def _log(name: str) -> tuple[Array, Array]:
    log = records.read(PROJECT / "assets" / "recipe" / f"{name}.jsonl")
    return log.steps, log.loss
