from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from tfmviz.paths import PROJECT
from tfmviz.plots.cells import amounts, of_heads, written
from tfmviz.plots.lines import Axes, Line, Stroke, line_chart, named_lines
from tfmviz.ui import lesson, models
from tfmviz.ui.background import Found, measured
from tfmviz.ui.cache import cached_for_all, read_json
from tfmviz.ui.figures import result, show, theme
from tfmviz.ui.lesson import PageContext
from tfmviz.words import markdown
from tfmviz.words.numbers import per_cent, rounded

MEASURED = PROJECT / "assets" / "training" / "tuning.json"

WAYS = {"new weights": "scratch", "head alone": "head", "low rank": "lora", "all weights": "all"}
"""Ways to train, by the page's names and those of `training.tuning`."""

SIZES = (16, 64, 256, 1024)


def tuned(ctx: PageContext) -> None:
    with lesson.control_row("tuning"):
        names = ["tiny-english", "fill-in"]
        name = st.segmented_control("Model", names, default=names[0], key="body", bind="query-params", required=True)
        way = st.segmented_control(
            "What is trained", list(WAYS), default="head alone", key="way", bind="query-params", required=True
        )
        n = st.select_slider("Examples", SIZES, 64, key="examples", bind="query-params")
        rank = 0
        if WAYS[way] == "lora":
            rank = st.select_slider("Rank", (1, 2, 4, 8, 16), 4, key="rank", bind="query-params")
    draw = partial(_draw, ctx=ctx, name=name, way=way, n=n, rank=rank)
    measured("tfmviz.runs.tuner", draw, name, WAYS[way], str(n), str(rank), words="Train (half a minute)")


def _draw(found: Sequence[Found], *, ctx: PageContext, name: str, way: str, n: int, rank: int) -> None:
    last = found[-1] if found and "accuracy" in found[-1] else None
    curves = _curves(name)

    def tooltips(name: str, x: float, y: float) -> str:
        return f"{name}, {x:,.0f} examples: {per_cent(y)}"

    lines = named_lines(curves, tooltips, theme=theme(), dot=60)
    if last:
        (stroke,) = (replace(line.stroke, width=0, dot=260) for line in lines if line.name == way)
        x, y = np.array([n], dtype=float), np.array([last["accuracy"]])
        lines.append(Line("this run", x, y, stroke, partial(tooltips, f"this run, {way}")))
    axes = Axes("examples", "right answers", 260, doubling=True)
    show("tuning", line_chart(lines, axes, theme=theme(), y_range=(0.5, 1.0)))
    if last is None:
        new, read = (curves[way][1][0] for way in ("new weights", "head alone"))
        st.markdown(
            f"With {SIZES[0]} examples a new model is right in {per_cent(new)}, a head on the trained one in "
            f"**{per_cent(read)}**."
        )
        st.caption(
            "Means of three runs on 560 held-out sentences, half of them questions; the low rank is 4 "
            "(`scripts.measure_tuning`)."
        )
        return
    what = f"{way}, rank {rank}" if rank else way
    result(
        f"**{markdown.plain(what)}**, {n:,} examples: {last['trained']:,} parameters were trained, and "
        f"**{per_cent(last['accuracy'])}** of the answers are correct."
    )
    if WAYS[way] == "head":
        st.markdown(_own_text(ctx.text, name, last["head"]))
    if "moved" in last:
        _moved(last, rank)


def _moved(last: dict[str, Any], rank: int) -> None:
    shares, values = np.array(last["moved"]), np.array(last["spectrum"])
    layer, head = np.unravel_index(int(shares.argmax()), shares.shape)
    left, right = st.columns(2)
    with left:
        scale, texts = amounts(shares, "‖ΔW_Q‖ / ‖W_Q‖", ticks="per cent"), written(100 * shares, ".1f")
        show("moved", of_heads(shares, scale, texts=texts))
    with right:
        title = f"Singular values of the query matrix's change in layer {last['layer']}"
        first, look = values[:24], Stroke(theme().plain, dot=60)
        at = np.arange(1.0, len(first) + 1)
        line = Line("ΔW", at, first.astype(float), look, lambda x, y: f"direction {x:.0f}: {rounded(y)}")
        axes = Axes("direction", "singular value of ΔW", 230, legend=False)
        show("spectrum", line_chart([line], axes, theme=theme(), y_range=(0.0, 0.0)), title=title)
    part = per_cent(float((values[:4] ** 2).sum() / (values**2).sum()))
    st.markdown(
        f"The query matrix of head {layer}.{head} changed most. Four directions hold {part} of the change in layer "
        f"{last['layer']}" + (f", whose rank is {rank}." if rank else ".")
    )


def _own_text(text: str, name: str, head: Sequence[float]) -> str:
    bare = text.rstrip().rstrip("?.!？。！")
    trace = models.trace(models.load(name), bare) if bare.strip() else None
    if trace is None or not len(trace.target.ids):
        return ""
    x = trace[f"{models.load(name).writes_from}.norm"]
    vector = x[-1] if name == "tiny-english" else x.mean(axis=0)
    p = 1 / (1 + math.exp(-float(vector @ np.array(head[:-1]) + head[-1])))
    return f"“{markdown.plain(bare)}”: a question with probability **{per_cent(p)}**."


@cached_for_all
def _curves(name: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Measurements of `scripts.measure_tuning`: numbers of examples and mean shares of right answers."""
    data = read_json(MEASURED)
    sizes = np.array(data["sizes"], dtype=float)
    return {way: (sizes, np.array(data["accuracy"][name][method]).mean(axis=1)) for way, method in WAYS.items()}
