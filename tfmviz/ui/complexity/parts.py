from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz.analysis.multiplications import in_model, overtakes
from tfmviz.plots.bars import bar_chart
from tfmviz.plots.lines import Axes, growth
from tfmviz.ui.figures import result, show, theme
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.shapes import shapes_of
from tfmviz.words.numbers import counted, in_words, per_cent

LENGTHS = tuple(2**p for p in range(3, 16))


def model(ctx: PageContext) -> None:
    shapes = shapes_of(ctx.model.config)
    target, source = len(ctx.trace.target), len(ctx.trace.source or ctx.trace.target)
    counts = in_model(shapes, source=source, target=target)
    total, look = sum(counts.values()), theme()
    other = {"feed-forward": look.mlp, "vocabulary": look.text}
    chart = bar_chart(
        list(counts),
        np.array(list(counts.values()), float) / 1e6,
        "million multiplications",
        words=[f"{in_words(count)} ({per_cent(count / total)})" for count in counts.values()],
        colours=[other.get(part, look.attention) for part in counts],
        tooltips=[f"{part}: {in_words(count)} multiplications" for part, count in counts.items()],
        room=1.5,
        theme=look,
    )
    show("parts", chart)
    read = f"{source} and {target} tokens" if ctx.trace.source else counted(target, "token")
    meetings = (counts["scores"] + counts["values"]) / total
    result(
        f"To read your sentence ({read}) the model multiplies **{in_words(total)}** times. Scores and values are "
        f"{per_cent(meetings)} of that; the rest grows in proportion to the text."
    )
    at = {n: in_model(shapes, source=n, target=n) for n in LENGTHS}
    at = {n: {"scores and values": found.pop("scores") + found.pop("values")} | found for n, found in at.items()}
    x = np.array(LENGTHS, float)
    marked = [(float(source), "your\nsentence")]
    over = overtakes(next(iter(shapes.values())))
    if over is not None and len(shapes) == 1:
        marked.append((over, "attention =\nfeed-forward"))
    chart = growth(
        {part: (x, np.array([at[n][part] for n in LENGTHS], float)) for part in at[8] if at[8][part]},
        Axes("tokens", "multiplications", 340),
        in_words,
        marked=[mark for mark in marked if LENGTHS[0] <= mark[0] <= LENGTHS[-1]],
        theme=theme(),
    )
    show("growing", chart)
    if over is not None:
        shape = next(iter(shapes.values()))
        router = f" + {shape.n_experts} experts to choose from · {shape.d_model}" if shape.n_experts > 1 else ""
        width = f"{shape.n_chosen} · {shape.d_ff}" if shape.n_chosen > 1 else f"{shape.d_ff}"
        if shape.d_shared:
            width, router = f"({width} + {shape.d_shared})", f"{router} + {shape.d_model}"
        note = "Where the heads divide d among them and a feed-forward layer has two matrices, n is its width."
        if len(shapes) == 2:
            note = "That holds for the encoder; in the decoder, with two attentions, it is half."
        st.markdown(
            f"Scores and values overtake the feed-forward layers at **n = {over:,.0f}**: there 2 · n · "
            f"{shape.n_heads} heads · {shape.d_head} = {shape.n_matrices} matrices · {shape.d_model} · "
            f"{width}{router}. {'' if router else note}"
        )
    pairs = " All pairs are counted; a running sum needs none (see “Linear” on “Efficient attention”)."
    st.caption(
        "PyTorch's counter reports twice as many: it counts additions too."
        + (pairs if ctx.model.config.attention.kind == "linear" else "")
    )
