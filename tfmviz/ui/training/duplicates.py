"""What duplicates in the text do: every story once, or a tenth of them ten times, in as many steps."""

from __future__ import annotations

import json

import numpy as np
import streamlit as st

from tfmviz.places import PROJECT
from tfmviz.plots.lines import DASHES, Axes, Stroke, line_chart, named_lines
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
        f"{said}, {what}": _from(points)
        for name, said in NAMES.items()
        for what, points in found[name]["curve"].items()
    }
    # A colour for each run; in training unbroken, held out dashed.
    strokes = [
        Stroke(tint, dash, dot=50 * n) for tint in (theme().text, theme().plain) for n, dash in enumerate(DASHES[:2])
    ]
    lines = named_lines(curves, "{}, step {:,.0f}: {:.2f}".format, theme=theme(), strokes=strokes)
    show("duplicates", line_chart(lines, Axes("step", "bits per byte", 340), theme=theme()))
    once, ten = (found[name] for name in NAMES)
    result(
        f"Bits per byte on the repeated stories: {decimal(once['seen'])} read once, **{decimal(ten['seen'])}** ten "
        f"times; on held-out ones: {decimal(once['held_out'])} and **{decimal(ten['held_out'])}**. Hence training "
        "texts are deduplicated (Lee et al. 2022)."
    )
    st.caption(
        f"The model has four layers; the tenth is {found['stories']:,} stories. Reproduce it with "
        "`python -m scripts.train_pairs duplicates`."
    )


def _from(points: list[list[float]]) -> tuple[Array, Array]:
    """Steps and values, without the steep beginning that both runs share."""
    steps, values = np.array(points).T
    return steps[steps >= 250], values[steps >= 250]
