"""The page on positions: what adding them does to the words of the reader's sentence in a real model."""

from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz.analysis.sinusoids import cosines
from tfmviz.plots.cells import of_tokens
from tfmviz.plots.pairs import pairs
from tfmviz.record.model import Model
from tfmviz.record.trace import Array, Trace
from tfmviz.ui import controls, inputs, lesson, models
from tfmviz.ui.cache import shared
from tfmviz.ui.figures import result, show, theme
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.positions.order_blind import SIGHTED
from tfmviz.ui.positions.tables import between
from tfmviz.words import markdown
from tfmviz.words.labels import visible


def on_words(here: Lesson) -> None:
    model = models.needed(SIGHTED)
    if model is None:
        return
    trace = _embedded(model, here.text)
    controls.say_what_was_cut(trace.target, f"{markdown.code(SIGHTED)} reads")
    words, added = trace["embed"], trace["decoder.pos_embed"]
    scale = float(np.sqrt(model.config.d_model))
    label = f"× √d_model = {scale:.2f}, as in the model"
    line = lesson.line("scaled")
    scaled = inputs.toggle(label, value=True, key="scaled", line=line)
    joined = inputs.toggle("Concatenate, do not add", key="joined", line=line)
    words = words if scaled else words / scale
    lengths = [np.linalg.norm(vectors, axis=-1) for vectors in (words, added)]
    show(
        "added_lengths",
        pairs(trace.tokens, *lengths, series=("word", "position"), title="norm", token_title="token", theme=theme()),
    )
    before = np.pad(words, ((0, 0), (0, words.shape[1]))) if joined else words
    after = np.concatenate([words, added], axis=1) if joined else words + added
    kept = [cosines(np.stack(both))[0, 1] for both in zip(before, after, strict=True)]
    drowned = lengths[1][0] > lengths[0].mean()
    result(
        f"Position vectors have norm {lengths[1][0]:.2f}, words {lengths[0].mean():.2f}; the cosine between "
        f"{'both together' if joined else 'sum'} and word is **{np.mean(kept):.2f}** on average. "
        + ("Without √d_model the position drowns out the word." if not scaled and drowned else "")
    )
    _token_cosines(trace, cosines(before), cosines(after), "concatenating" if joined else "adding")
    st.markdown(
        "⚠ Some slides add p to q, k and v. The paper adds it to x: q = x W_Q + p W_Q, so each head can ignore p."
    )


def _token_cosines(trace: Trace, before: Array, after: Array, how: str) -> None:
    parts = ((f"before {how}", before), (f"after {how}", after))
    for column, (name, values) in zip(st.columns(2), parts, strict=True):
        with column:
            show(
                f"cosines_{name.split()[0]}",
                between(values, f"cosine, {name}", of_tokens("token", trace.tokens)),
                follows=name.startswith("after"),
            )
    ids = trace.target.ids
    twice = next(((ids.index(t), n) for n, t in enumerate(ids) if ids.index(t) < n), None)
    if twice is None:
        st.markdown("Type a token twice to see its two vectors.")
        return
    word = markdown.plain(visible(trace.tokens[twice[0]]))
    st.markdown(
        f"“{word}” at {twice[0]} and {twice[1]}: one vector before (cosine {before[twice]:.2f}), two "
        f"after (**{after[twice]:.2f}**)."
    )


@shared
def _embedded(model: Model, text: str) -> Trace:
    return model.trace(text, sites=("embed", "decoder.pos_embed"))
