"""Where the multiplications of the shown model go: on the typed sentence, and as texts grow."""

from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz.analysis.multiplications import Shape, in_model, overtakes
from tfmviz.plots.bars import bar_chart
from tfmviz.plots.lines import Axes, growth
from tfmviz.ui.figures import result, show, theme
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.shapes import shapes_of
from tfmviz.words.numbers import counted, in_words, per_cent

LENGTHS = tuple(2**p for p in range(3, 16))

SHOWN = (512, 4096, 32_768)


def model(here: Lesson) -> None:
    """Shares of the parts on the reader's sentence, and as n grows."""
    shapes = shapes_of(here.model.config)
    target, source = len(here.trace.target), len(here.trace.source or here.trace.target)
    counts = in_model(shapes, source=source, target=target)
    total, look = sum(counts.values()), theme()
    other = {"feed-forward": look.mlp, "vocabulary": look.text}
    chart = bar_chart(
        list(counts),
        np.array(list(counts.values()), float) / 1e6,
        "million multiplications",
        words=[f"{in_words(count)} ({per_cent(count / max(total, 1))})" for count in counts.values()],
        colours=[other.get(part, look.attention) for part in counts],
        said=[f"{part}: {in_words(count)} multiplications" for part, count in counts.items()],
        room=1.5,
        theme=look,
    )
    show("parts", chart)
    read = f"{source} and {target} tokens" if here.trace.source else counted(target, "token")
    meetings = (counts["scores"] + counts["values"]) / total
    result(
        f"To read your sentence ({read}) the model multiplies **{in_words(total)}** times. Scores and values are "
        f"{per_cent(meetings)} of that; the rest grows in proportion to the text."
    )
    _growing(here)


def _growing(here: Lesson) -> None:
    shapes = shapes_of(here.model.config)
    at = {n: _joined(in_model(shapes, source=n, target=n)) for n in {*LENGTHS, *SHOWN}}
    x = np.array(LENGTHS, float)
    marked = [(float(len(here.trace.source or here.trace.target)), "your\nsentence")]
    over = overtakes(next(iter(shapes.values())))
    if over is not None and len(shapes) == 1:
        marked.append((over, "attention =\nfeed-forward"))
    show(
        "growing",
        growth(
            {part: (x, np.array([at[n][part] for n in LENGTHS], float)) for part in at[8] if at[8][part]},
            Axes("tokens", "multiplications", 340),
            in_words,
            marked=[mark for mark in marked if LENGTHS[0] <= mark[0] <= LENGTHS[-1]],
            theme=theme(),
        ),
    )
    if over is not None:
        _overtaken(over, shapes)
    pairs = " All pairs are counted; a running sum needs none (see “Linear” on “Efficient attention”)."
    st.caption(
        "PyTorch's counter reports twice as many: it counts additions too."
        + (pairs if here.model.config.attention.kind == "linear" else "")
    )


def _overtaken(over: float, shapes: dict[str, Shape]) -> None:
    shape = next(iter(shapes.values()))
    router = f" + {shape.n_experts} experts to choose from · {shape.d_model}" if shape.n_experts > 1 else ""
    note = "With two matrices and d_model = n_heads · d_head that is n = d_ff."
    if len(shapes) == 2:
        note = "That holds for the encoder; in the decoder, with two attentions, it is half."
    st.markdown(
        f"Scores and values overtake the feed-forward layers at **n = {over:,.0f}**: there 2 · n · "
        f"{shape.n_heads} heads · {shape.d_head} = {shape.n_matrices} matrices · {shape.d_model} · "
        f"{shape.d_ff}{router}. {'' if router else note}"
    )


def _joined(counts: dict[str, int]) -> dict[str, int]:
    """Scores and values as one part, since they cost the same."""
    others = {part: count for part, count in counts.items() if part not in ("scores", "values")}
    return {"scores and values": counts["scores"] + counts["values"]} | others


def _said(counts: dict[str, int]) -> str:
    total = sum(counts.values())
    first, second, *_ = sorted(counts, key=lambda part: -counts[part])
    return f"{first} {per_cent(counts[first] / total)}, {second} {per_cent(counts[second] / total)}"
