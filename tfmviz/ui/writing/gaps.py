"""A model that fills in words writes too: gap by gap, the most certain first, with both sides in view."""

from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz.analysis.predictions import softmax
from tfmviz.plots.cells import Axis, Cells, ValueFormat, chosen_cell, probability
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.ui import icons, lesson
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import show
from tfmviz.ui.lesson import PageContext
from tfmviz.words.labels import visible

MOST_GAPS = 8
"""The model runs once for each gap."""


def fill(ctx: PageContext) -> None:
    lesson.hide("kind", "layer", "head")
    st.markdown("Each round (a row) fills the gap, `___`, about which the model is most certain (framed).")
    vocabulary, mask = ctx.model.vocabulary, ctx.model.tokenizer.marks.mask
    ids = ctx.model.encode(ctx.text).ids
    all_gaps = [n for n, index in enumerate(ids) if index == mask]
    if not all_gaps:
        st.info("Write `___` for each gap: “The ___ sat on the ___ and slept.”", icon=icons.INFO)
        return
    best, shares, order, ids = _filled(ctx.model, ids, tuple(all_gaps[:MOST_GAPS]))
    texts = [[visible(vocabulary[index]) for index in row] for row in best]
    rows, columns = (
        Axis(of, [str(n + 1) for n in range(size)]) for of, size in zip(("round", "gap"), shares.shape, strict=True)
    )
    picture = Cells(
        shares[None],
        rows,
        columns,
        probability("probability of the best word"),
        form=ValueFormat(digits=1, percent=True),
        notes=[[f"“{word}”" for word in row] for row in texts],
        texts=texts,
        frames=tuple(frame for cell in enumerate(order) for frame in chosen_cell(cell)),
    )
    show("gaps", picture)
    st.code(ctx.model.tokenizer.encoding_of(ids, max_len=len(ids)).text, language=None, wrap_lines=True)
    if changed := [str(n + 1) for n, column in enumerate(best.T) if len(set(column.tolist())) > 1]:
        plural = "s" * (len(changed) > 1)
        st.markdown(f"Words filled in earlier changed the model's choice in gap{plural} {', '.join(changed)}.")
    if n_left := len(all_gaps) - len(order):
        plural = "s" * (n_left == 1)
        st.info(f"The first {MOST_GAPS} gaps are filled; {n_left} more remain{plural} open.", icon=icons.CUT)


@cached_for_all
def _filled(
    model: Model, ids: tuple[int, ...], gaps: tuple[int, ...]
) -> tuple[Array, Array, tuple[int, ...], tuple[int, ...]]:
    """One round for every gap: read the whole text, fill the gap whose best word is most probable.

    Returns:
        The most probable token in each gap, (round, gap), or the word once filled; its probability, then NaN; the gap
        filled in each round; the tokens of the text without gaps.
    """
    marks, text = model.tokenizer.marks, list(ids)
    words: list[Array] = []
    shares: list[Array] = []
    order: list[int] = []
    for _ in gaps:
        logits = model.trace(text, sites=("logits",)).rows("logits", gaps).copy()  # (gap, vocab)
        logits[:, [index for index in (marks.mask, *marks.ends) if index is not None]] = -np.inf
        p = softmax(logits)
        best = p.argmax(axis=-1)
        share = p[np.arange(len(gaps)), best]
        for gap in order:
            best[gap], share[gap] = text[gaps[gap]], np.nan
        chosen = int(np.nanargmax(share))
        text[gaps[chosen]] = int(best[chosen])
        words.append(best)
        shares.append(share)
        order.append(chosen)
    return np.stack(words), np.stack(shares), tuple(order), tuple(text)
