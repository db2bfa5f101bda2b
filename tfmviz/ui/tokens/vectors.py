from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from tfmviz.analysis import embedding, residual
from tfmviz.analysis.predictions import softmax
from tfmviz.plots import dots
from tfmviz.plots.bars import bar_chart
from tfmviz.plots.cells import Axis, Frame, ValueFormat, chosen_row, signed
from tfmviz.record.model import Model
from tfmviz.record.trace import Array, Encoding
from tfmviz.ui import controls, inputs, lesson
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import result, show, show_matrix, theme
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.sentences import WHAT_IT_PREDICTS
from tfmviz.views.bars import Bars
from tfmviz.words import markdown
from tfmviz.words.labels import quoted, visible, whole
from tfmviz.words.numbers import decimal, per_cent, tiny

AROUND = 2
"""Rows of W_E on either side of the chosen one."""

COORDINATES = 32

NEIGHBOURS = 12

PREDICTED = 8

ON_THE_MAP = 120
"""Entries on the map; zooming in shows more of the vocabulary."""

NEAREST = 10
"""Entries next to the chosen one that the map names."""


def _choose(ctx: PageContext) -> tuple[Encoding, int]:
    text = ctx.model.encode(ctx.text)
    position = controls.token(text.tokens, text=ctx.text)
    controls.token_box([visible(token) for token in text.tokens], position)
    return text, position


def look_up(ctx: PageContext) -> None:
    with lesson.control_row("look_up"):
        text, position = _choose(ctx)
    index, table = text.ids[position], ctx.model.weights.W_E
    first = max(min(index - AROUND, len(table) - 2 * AROUND - 1), 0)
    shown = slice(first, first + 2 * AROUND + 1)
    product = embedding.looked_up(table, index)
    names = [f"{n}  {visible(ctx.model.vocabulary[n])}" for n in range(shown.start, min(shown.stop, len(table)))]
    difference = float(np.abs(product - table[index]).max())
    values = np.vstack([table[shown], product])[:, :COORDINATES]
    of = len(product)
    n_rows, width = values.shape
    show_matrix(
        "look_up",
        values,
        Axis("", [*names, "one-hot × W_E"], [*(f"row {name}" for name in names), "the product"]),
        Axis(
            "coordinate" if of == width else f"coordinate, the first {width} of {of}",
            spoken=[f"coordinate {i}" for i in range(width)],
        ),
        signed(values, "rows of W_E"),
        form=ValueFormat(sign=True),
        frames=(
            *chosen_row(index - first, width),
            Frame(top=n_rows - 1, left=0, bottom=n_rows - 1, right=width, colour="text"),
        ),
        row_height=30,
    )
    n, d = table.shape
    scale = " The model then multiplies it by √d." if ctx.model.config.embeddings.scaled else ""
    result(
        f"{markdown.plain(quoted(text.tokens)[position])} is entry {index} of {n:,}: a **one-hot vector** of "
        f"{n - 1:,} zeros and a 1. Its product with the embedding matrix $W_E$ ({n:,} × {d}) is row {index}: they "
        f"differ by at most **{tiny(difference)}**. So the row is looked up.{scale}"
    )


def neighbours(ctx: PageContext) -> None:
    with lesson.control_row("neighbours"):
        text, position = _choose(ctx)
    index, weights = text.ids[position], ctx.model.weights
    found = embedding.nearest(weights.W_E, index, n=NEIGHBOURS)
    cosines = embedding.cosines_to(weights.W_E, index)[found]
    tokens = [ctx.model.vocabulary[n] for n in found]
    names, words = [visible(token) for token in tokens], [decimal(value) for value in cosines]
    tooltips = [f"“{whole(token)}”: cosine {word}" for token, word in zip(tokens, words, strict=True)]
    look: dict[str, Any] = {"colours": theme().plain, "tooltips": tooltips, "room": 1.15, "theme": theme()}
    title = f"Cosine with {quoted(text.tokens)[position]}"
    show("neighbours", bar_chart(names, cosines, "cosine", words=words, **look), title=title)
    st.markdown("Words used in the same contexts get similar gradients and so similar vectors.")


def tying(ctx: PageContext) -> None:
    """The prediction with W_E at the end too, or with a separate W_U: a tied model's would be random at first."""
    weights, stack = ctx.model.weights, ctx.model.writes_from
    if not weights.has_head:
        st.markdown("This model has no output layer to tie.")
        return
    n, d = weights.W_E.shape
    is_tied = np.shares_memory(weights.W_E, weights.W_U)
    ties = inputs.toggle("Tied weights", is_tied, key="tied", line=lesson.control_row("tying"))
    other = np.random.default_rng(0).normal(0, weights.W_E.std(), weights.W_E.shape) if is_tied else weights.W_U
    readout = replace(weights.stacks[stack].readout, W_U=weights.W_E if ties else other)
    *_, end = residual.stages(ctx.trace, stack, "layers").values()
    p = softmax(readout.logits(ctx.trace[end][ctx.target]))
    best = np.argsort(-p, kind="stable")[:PREDICTED]
    names = [visible(ctx.model.vocabulary[token]) for token in best.tolist()]
    show(
        "tied_words",
        Bars(labels=names, shares=[p[best].tolist()]),
        title=WHAT_IT_PREDICTS[ctx.model.config.architecture],
    )
    total = weights.n_parameters + (n * d if is_tied else 0)
    if ties:
        sentence = "a token's score is the product of the last stream with its embedding. It saves"
        st.markdown(f"**Weight tying** (Press & Wolf 2017): {sentence} {n * d:,} of {total:,} parameters.")
    elif is_tied:
        st.markdown(
            f"Untied, the unembedding matrix $W_U$ has {n * d:,} parameters of its own, random before training. "
            "[What training then gains](./size?sized=Which+changes+help%3F)."
        )
    else:
        st.markdown(
            f"This model is not tied: the unembedding matrix $W_U$ has {n * d:,} parameters of its own, "
            f"{_unlike(ctx.model)}."
        )


def _unlike(model: Model) -> str:
    first, last = model.weights.W_E, model.weights.W_U
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(last, axis=1)
    cosines = (first * last).sum(axis=1) / np.maximum(lengths, 1e-12)
    return f"mean cosine {decimal(float(cosines.mean()))}"


def embedding_map(ctx: PageContext) -> None:
    """All entries on the plane of the first two principal components, around the chosen token."""
    with lesson.control_row("map"):
        text, position = _choose(ctx)
        zoom = inputs.select_slider("Zoom", (1, 2, 4, 8, 16, 32), 1, format_func=lambda z: f"{z} ×", key="zoom")
    places, shares = _plane(ctx.model)
    index = text.ids[position]
    typed = set(text.ids)
    frequent = [n for n, entry in enumerate(ctx.model.vocabulary) if _is_word(entry)][:ON_THE_MAP]
    usual = np.quantile(places[frequent or slice(None)], [0.02, 0.98], axis=0)
    low, high = (end(np.vstack([usual, places[sorted(typed)]]), axis=0) for end in (np.min, np.max))
    centre = (low + high) / 2 if zoom == 1 else places[index]
    half = 0.52 * (high - low) / zoom
    low, high = centre - half, centre + half
    inside = np.all((places >= low) & (places <= high), axis=1)
    own = [n for n in sorted(typed) if inside[n]]
    others = [n for n in np.flatnonzero(inside).tolist() if n not in typed and _is_word(ctx.model.vocabulary[n])]
    shown = [*own, *others][: max(ON_THE_MAP, len(own))] or [index]
    distances = ((places - places[index]) ** 2).sum(axis=1)
    near = [n for n in np.argsort(distances, kind="stable")[: NEAREST + 1].tolist() if n != index][:NEAREST]
    role_of = dict.fromkeys(near, "near") | dict.fromkeys(text.ids, "text") | {index: "chosen"}
    shown = list(dict.fromkeys([*shown, *near]))
    roles = [role_of.get(n, "other") for n in shown]
    words = [ctx.model.vocabulary[n] for n in shown]
    show(
        "embedding_map",
        dots.embedding_map(places[shown], tokens=words, roles=roles, window=(low, high), theme=theme()),
        hint="Hover over a dot for its word.",
    )
    result(
        f"This plane keeps {per_cent(float(shares[0]))} + {per_cent(float(shares[1]))} of the variance, so "
        f"neighbours here may be far apart; “Nearest” measures in all {ctx.model.config.d_model} coordinates. "
        "Your words are bold."
    )


@cached_for_all
def _plane(model: Model) -> tuple[Array, Array]:
    return embedding.plane(model.weights.W_E)


def _is_word(entry: str) -> bool:
    """The entry begins a word: it includes the space before it, as in byte-level vocabularies."""
    return entry.strip().isalpha() and len(entry.strip()) > 1 and not entry.strip().startswith("##")
