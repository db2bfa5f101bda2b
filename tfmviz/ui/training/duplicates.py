"""What duplicates in the text do: every story once, or a tenth of them ten times, in as many steps."""

from __future__ import annotations

import json

import numpy as np
import streamlit as st

from tfmviz.places import PROJECT
from tfmviz.plots import pair as figures
from tfmviz.record.trace import Array
from tfmviz.ui.figures import result, show, theme
from tfmviz.words.numbers import decimal

FILE = PROJECT / "assets" / "duplicates" / "measured.json"

NAMES = {"once": "every story once", "ten-times": "a tenth, ten times"}
"""What the page calls the two runs."""


def duplicates() -> None:
    """Losses in training and on held-out stories of both runs."""
    found = json.loads(FILE.read_text(encoding="utf-8"))
    curves = {
        said: {what: _from(points) for what, points in found[name]["curve"].items()} for name, said in NAMES.items()
    }
    show("duplicates", figures.in_and_out(curves, title="bits per byte", theme=theme()))
    once, ten = (found[name] for name in NAMES)
    result(
        f"Bits per byte on the repeated stories: {decimal(once['seen'])} read once, **{decimal(ten['seen'])}** ten "
        f"times; on held-out ones: {decimal(once['held_out'])} and **{decimal(ten['held_out'])}**. Hence texts are "
        "deduplicated before training (Lee et al. 2022)."
    )
    st.caption(
        f"A model of four layers, {found['stories']:,} stories in the tenth. Made by "
        "`python -m scripts.train_pairs duplicates`."
    )


def _from(points: list[list[float]]) -> tuple[Array, Array]:
    """Steps and values, without the steep beginning that both runs share."""
    steps, values = np.array(points).T
    return steps[steps >= 250], values[steps >= 250]
