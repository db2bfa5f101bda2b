from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz.analysis import naive_positions
from tfmviz.plots.cells import Axis, Scale, ValueFormat
from tfmviz.plots.dots import rulers
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.ui import icons, inputs, lesson, models
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import result, show, show_matrix, theme
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.positions.order_blind import SIGHTED
from tfmviz.ui.positions.tables import lines
from tfmviz.ui.tabs import Tab, parts
from tfmviz.words.numbers import counted, decimal

OTHERS = ("Man eats small dinosaur.", "Once upon a time there was a little girl.")
"""Compared with the reader's sentence: the first with another number of tokens, if any."""


def ideas(ctx: PageContext) -> None:
    parts(
        "idea",
        ctx,
        Tab("Append the index", appended_index),
        Tab("index / (N − 1)", fractions),
        Tab("Count in bits", counter, inputs=()),
    )


def appended_index(ctx: PageContext) -> None:
    """The index as one more coordinate: it grows until words look alike."""
    model = models.needed(SIGHTED)
    if model is None:
        return
    vectors = _different_words(model, ctx.text)
    if len(vectors) < 2:
        st.info("Type at least two different words.", icon=icons.INFO)
        return
    line = lesson.control_row("appended")
    length = inputs.select_slider("Positions", (200, 1000, 5000), 200, key="index_up_to", line=line)
    with_index, with_waves = _alike(model, ctx.text, length)
    show(
        "appended",
        lines(
            {"index appended": with_index, "sinusoid added": with_waves},
            "mean cosine of different words",
            y_range=(min(-0.05, float(with_waves.min()), float(with_index.min())), 1.02),
        ),
    )
    half = f" and passes 0.5 at position {int(np.argmax(with_index > 0.5))}" * bool(with_index.max() > 0.5)
    result(
        f"**The index drowns out the words**: their mean cosine rises from {decimal(with_index[0])} to "
        f"**{with_index[-1]:.3f}** at {length - 1:,}{half}. Their mean norm is "
        f"{np.linalg.norm(vectors, axis=-1).mean():.1f}. With a sinusoid the cosine is at most "
        f"{decimal(with_waves.max())}."
    )


@cached_for_all
def _different_words(model: Model, text: str) -> Array:
    """Embeddings of the different tokens of a text, as the model uses them: (n, d_model)."""
    trace = model.trace(text, sites=("embed",))
    _, first = np.unique(trace.target.ids, return_index=True)
    return trace["embed"][np.sort(first)]


@cached_for_all
def _alike(model: Model, text: str, length: int) -> tuple[Array, Array]:
    """Mean cosine between different words at each position: index appended, sinusoid added."""
    from tfmviz.positions.sinusoidal import sinusoids

    vectors = _different_words(model, text)
    waves = sinusoids(length, vectors.shape[1]).numpy()
    return (
        naive_positions.alike_with_index(vectors, range(length)),
        np.array([naive_positions.alikeness(vectors, wave) for wave in waves]),
    )


def fractions(ctx: PageContext) -> None:
    """index / (N - 1) for the reader's sentence and for another one."""
    own = ctx.model.encode(ctx.text).tokens
    usual = next((text for text in OTHERS if len(ctx.model.encode(text)) != len(own)), OTHERS[0])
    typed = inputs.text_input(
        "Another sentence", key="another", max_chars=200, placeholder=usual, line=lesson.control_row("fractions")
    )
    texts = [own, ctx.model.encode(typed.strip() or usual).tokens]
    places = [naive_positions.fractions(len(tokens)) for tokens in texts]
    sizes = [len(tokens) for tokens in texts]
    steps = [f"1/{n - 1} = **{1 / (n - 1):.3f}**" if n > 1 else "undefined, 0/0" for n in sizes]

    show("fractions", rulers(texts, places, theme=theme()))
    if sizes[0] == sizes[1]:
        st.markdown("Both sentences have the same number of tokens.")
        return
    result(
        f"A step of one token is {steps[0]} in the sentence with {counted(sizes[0], 'token')} and {steps[1]} in "
        f"the one with {sizes[1]}: **the same distance means different things**."
    )


def counter(_: PageContext) -> None:
    """Positions in binary next to sinusoids with as many coordinates."""
    from tfmviz.positions.sinusoidal import sinusoids

    n_bits = inputs.slider("Bits", 2, 8, 4, key="bits", line=lesson.control_row("counter"))
    length = min(2**n_bits, 64)
    values = naive_positions.binary(length, n_bits)
    bits = range(n_bits)
    rows = Axis("", [f"every {2**bit}" for bit in bits], [f"bit {bit}" for bit in bits])
    left, right = st.columns(2)
    with left:
        show_matrix("bits_map", values.T, rows, Axis("position"), Scale("norms", 0, 1), form=ValueFormat(digits=0))
    waves = sinusoids(length, 2 * (-(-n_bits // 2))).numpy()
    steps = [naive_positions.steps(table) for table in (values, waves)]
    middle = length // 2
    flipped = int(np.abs(values[middle] - values[middle - 1]).sum())
    result(
        f"{n_bits} bits count {2**n_bits} positions, but from {middle - 1} to {middle}, **{flipped} bits flip at "
        "once**. Sines and cosines change smoothly."
    )
    series, y_range = dict(zip(("bits", "sines and cosines"), steps, strict=True)), (0, 1.08 * float(steps[0].max()))
    with right:
        show("bit_steps", lines(series, "distance to the next position", y_range=y_range))
