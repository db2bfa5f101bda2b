"""A model that fills in words writes too: gap by gap, the most certain first, with both sides in view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from tfmviz.analysis.predictions import softmax
from tfmviz.plots.cells import Axis, Cells, Form, chosen_cell, probability
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.ui import icons, lesson
from tfmviz.ui.cache import shared
from tfmviz.ui.figures import show
from tfmviz.ui.lesson import Lesson
from tfmviz.words.labels import visible

MOST = 8
"""Gaps that are filled; the model runs once for each."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Filled:
    """How the gaps of a text were filled.

    Attributes:
        gaps: positions of the gaps among the tokens.
        words: (round, gap), the most probable token in each gap; of a gap that is filled already, the word in it.
        shares: (round, gap), its probability; NaN for a gap that is filled already.
        order: (round,), the gap that is filled in each round.
        ids: the tokens of the text without gaps.
        n_left: further gaps that stay open.
    """

    gaps: tuple[int, ...]
    words: Array
    shares: Array
    order: tuple[int, ...]
    ids: tuple[int, ...]
    n_left: int


def fill(here: Lesson) -> None:
    """Fills the gaps of the sentence, and shows what every gap would have got in every round."""
    lesson.hide("kind", "layer", "head")
    st.markdown("Each round (a row) fills the gap, `___`, about which the model is most certain (framed).")
    found = _filled(here.model, here.text)
    if found is None:
        st.info("Write `___` for each gap: “The ___ sat on the ___ and slept.”", icon=icons.INFO)
        return
    vocabulary = here.model.vocabulary
    words = [[visible(vocabulary[index]) for index in row] for row in found.words]
    whole = "".join(vocabulary[index] for index in found.ids)
    rows, columns = (
        Axis(of, [str(n + 1) for n in range(size)])
        for of, size in zip(("round", "gap"), found.shares.shape, strict=True)
    )
    look: dict[str, Any] = {"notes": [[f"“{word}”" for word in row] for row in words], "texts": words}
    look["frames"] = tuple(frame for cell in enumerate(found.order) for frame in chosen_cell(cell))
    scale, form = probability("probability of the best word"), Form(digits=1, percent=True)
    show("gaps", Cells(found.shares[None], rows, columns, scale, form=form, **look))
    st.code(whole, language=None, wrap_lines=True)
    changed = [gap for gap in range(len(found.gaps)) if len(set(found.words[:, gap].tolist())) > 1]
    if changed:
        names = ", ".join(str(gap + 1) for gap in changed)
        st.markdown(f"Words filled in earlier changed the model's choice in gap{'s' * (len(changed) > 1)} {names}.")
    if found.n_left:
        st.info(
            f"The first {MOST} gaps are filled; {found.n_left} more remain{'s' * (found.n_left == 1)} open.",
            icon=icons.CUT,
        )


@shared
def _filled(model: Model, text: str) -> Filled | None:
    """One round for every gap: read the whole text, fill the gap whose best word is most probable."""
    marks = model.tokenizer.marks
    ids = list(model.encode(text).ids)
    all_gaps = [n for n, index in enumerate(ids) if index == marks.mask]
    gaps = all_gaps[:MOST]
    if not gaps:
        return None
    words: list[Array] = []
    shares: list[Array] = []
    order: list[int] = []
    for _ in gaps:
        logits = model.trace(ids, sites=("logits",)).rows("logits", gaps).copy()  # (gap, vocab)
        logits[:, [index for index in (marks.mask, *marks.ends) if index is not None]] = -np.inf
        p = softmax(logits)
        best = p.argmax(axis=-1)
        share = p[np.arange(len(gaps)), best]
        for gap in order:
            best[gap], share[gap] = ids[gaps[gap]], np.nan
        chosen = int(np.nanargmax(share))
        ids[gaps[chosen]] = int(best[chosen])
        words.append(best)
        shares.append(share)
        order.append(chosen)
    return Filled(
        gaps=tuple(gaps),
        words=np.stack(words),
        shares=np.stack(shares),
        order=tuple(order),
        ids=tuple(ids),
        n_left=len(all_gaps) - len(gaps),
    )
