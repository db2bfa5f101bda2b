from __future__ import annotations

import re

import numpy as np
import streamlit as st

from tfmviz.counting.smoothing import Counted, Smoothing
from tfmviz.counting.words import MARK, words_of
from tfmviz.counting.writing import Step, joined, written
from tfmviz.record.trace import Array
from tfmviz.ui import icons, inputs, url
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.counting import Counting, unknown_words
from tfmviz.ui.figures import show, show_table
from tfmviz.views.bars import Bars
from tfmviz.words import markdown
from tfmviz.words.labels import visible
from tfmviz.words.numbers import per_cent, rounded

ROWS = 8

UNSEEN = 3
"""Rows for words that never followed, when smoothing gives them a share."""

SENTENCES = 6

AROUND = 90
"""Characters of a sentence on either side of the highlighted words."""

SIGN = re.compile("[\u3041-\u3096\u30a1-\u30fa\u3400-\u9fff]")
"""A Chinese character or Japanese kana, counted as a word. A Korean syllable is not."""

FORMULAS = {
    "none": "P(w | h) = count(h w) / count(h): 0 if w never followed, 0/0 if h never occurred.",
    "add-δ": "P(w | h) = (count(h w) + δ) / (count(h) + δ·V), as if each word had followed δ more times.",
    "back-off": "If h never occurred, drop its first word. A word that never followed gets 0.",
    "interpolation": "P(w | h) = λ · count(h w) / count(h) + (1 − λ) · P(w | h without its first word). Contexts that "
    "never occurred are skipped; last comes 1/V.",
    "Kneser–Ney": "P(w | h) = max(count(h w) − D, 0) / count(h) + γ(h) · P(w | h without its first word). For shorter "
    "contexts that do not begin with ⟨s⟩, it counts the different words before them.",
}


def table(at: Counting) -> None:
    context = at.text.longest_known(at.context) if at.smoothing.method == "back-off" else at.context
    counts = at.text.after(context)
    p = at.text.distribution(at.context, at.smoothing, n=at.n)
    rows = rows_of(at, counts, p)
    asked = at.text.numbers.get(url.text("counted"))
    picked = asked if asked in rows else rows[0]
    smoothed = [] if at.smoothing.method == "none" else [f"P, {at.smoothing.method}"]
    total, others = int(counts.sum()), max(1 - float(p[rows].sum()), 0.0)
    rest = f"All other words together get {'almost everything' if others > 0.995 else per_cent(others)}."
    if np.isnan(p).any():
        rest = "It never occurs."
    elif others < 1e-9:
        rest = "Every other word gets probability 0."

    def row(word: int) -> tuple[str, ...]:
        share = "0/0" if not total else per_cent(counts[word] / total) if counts[word] else "0"
        fraction = f"{counts[word]:,}/{total:,} = {share}" if total else share
        probability = [rounded(float(p[word]))] if smoothed else []
        return (name_of(at, word), f"{counts[word]:,}", f"{total:,}", fraction, *probability)

    show_table(
        "counts",
        caption=f"h = “{at.spoken(context)}”. {rest}" if context else f"h is empty. {rest}",
        columns=("next word w", "count(h w)", "count(h)", "P counted", *smoothed),
        rows=[row(word) for word in rows],
        shares=np.nan_to_num(p[rows]).tolist(),
        has_ground=True,
        picked=rows.index(picked),
        about=_about(at, context, picked, int(counts[picked])),
        sentences=[
            _marked(at, place, len(context) + 1)
            for place in at.text.occurrences((*context, picked), SENTENCES).tolist()
        ],
        on_pick=lambda row: url.put({"counted": at.text.vocabulary[rows[row]]}),
    )
    notes = []
    if unknown := unknown_words(at):
        named = ", ".join(f"“{markdown.plain(visible(name))}”" for name in unknown[:5])
        more = f" and {len(unknown) - 5:,} more" if len(unknown) > 5 else ""
        notes.append(f"The text does not contain {named}{more}, so the model reads ⟨unknown⟩.")
    if any(SIGN.fullmatch(word.name) for word in words_of(at.typed)):
        notes.append("Each Chinese or Japanese character counts as one word.")
    if context != at.context:
        shorter = f"“{markdown.plain(at.spoken(context))}”" if context else "no context at all"
        notes.append(f"“{markdown.plain(at.spoken(at.context))}” never occurs, so the model backs off to {shorter}.")
    elif not total and at.smoothing.method == "none":
        notes.append(
            f"“{markdown.plain(at.spoken(context))}” never occurs, so every fraction is 0/0. Choose a smaller n or "
            "smoothing."
        )
    if notes:
        st.info(" ".join(notes), icon=icons.INFO)
    formula = markdown.plain(FORMULAS[at.smoothing.method])
    st.caption(f"{formula} Here V = {at.text.vocab_size:,}.")


def rows_of(at: Counting, counts: Array, p: Array) -> list[int]:
    """The most probable words that followed, and of the others those with a share.

    Where all is 0/0, the words that most often follow the longest end of the context that occurred.
    """
    if np.isnan(p).any():
        counts = p = at.text.after(at.text.longest_known(at.context))
    order = np.argsort(-p, kind="stable")
    order = order[p[order] > 0]
    seen = order[counts[order] > 0][:ROWS].tolist()
    unseen = order[counts[order] == 0][: UNSEEN if seen else ROWS].tolist()
    return sorted([*seen, *unseen], key=lambda word: (-p[word], word))


def name_of(at: Counting, word: int) -> str:
    return "⟨s⟩ (end)" if word == MARK else visible(at.text.vocabulary[word])


def _about(at: Counting, context: tuple[int, ...], word: int, count: int) -> str:
    sentence = at.spoken((*context, word))
    match count:
        case 0:
            return f"“{sentence}” never occurs in the text."
        case 1:
            return f"“{sentence}” occurs once:"
    return f"“{sentence}” occurs {count:,} times" + (
        f"; these are the first {SENTENCES}:" if count > SENTENCES else ":"
    )


def _marked(at: Counting, place: int, length: int) -> tuple[str, str, str]:
    marks = np.flatnonzero(at.text.stream[: place + 1] == MARK)
    line = at.text.lines[min(len(marks) - 1, len(at.text.lines) - 1)]
    words = words_of(line)
    first = place - int(marks[-1]) - 1  # -1: the mark before the sentence
    inside = words[max(first, 0) : first + length]
    begin, end = (inside[0].start, inside[-1].end) if inside else (0, 0)
    before, marked, after = line[:begin], line[begin:end], line[end:]
    if len(before) > AROUND:
        before = "…" + before[-AROUND:]
    if len(after) > AROUND:
        after = after[:AROUND] + "…"
    if len(marked) > 2 * AROUND:  # a word of extreme length
        marked = f"{marked[:AROUND]}…{marked[-AROUND:]}"
    return before, marked, after


LENGTH = 25

SHOWN = 60
"""The most words of the typed sentence written out before them."""

SEEDS = 999

BARS = 10


def writing(at: Counting) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        inputs.number_box("Seed", key="draw_seed", min_value=0, max_value=SEEDS, width=130)
        inputs.button("Write another", on_click=_next_seed)
    seed = int(st.session_state["draw_seed"])
    steps = _written(at.text, at.history, at.smoothing, at.n, seed)
    typed = at.history[1:]
    names = ["…"] * (len(typed) > SHOWN) + [visible(at.text.vocabulary[word]) for word in typed[-SHOWN:]]
    drawn = ["\n" if step.word == MARK else visible(at.text.vocabulary[step.word]) for step in steps]
    st.code(joined([*names, *drawn]), language=None, wrap_lines=True)
    before = at.n - 1 if at.n > 2 else "one"
    st.markdown(
        (
            f"Each word depends only on the {before} before it, so only short pieces make sense. "
            if at.n > 1
            else "With n = 1 no word depends on any other. "
        )
        + "Click a word to see its rivals."
    )
    picked = url.place("drawn", len(steps) - 1, 0)
    left, right = st.columns(2)
    with left:
        show_table(
            "steps_written",
            caption="Step by step",
            columns=("word", "drawn after", "P(w | h)"),
            rows=[
                (name_of(at, step.word), at.spoken(step.context) or "nothing", rounded(step.probability))
                for step in steps
            ],
            picked=picked,
            low=True,
            on_pick=lambda row: url.put({"drawn": str(row)}),
        )
    with right:
        step = steps[picked]
        p = at.text.distribution(step.context, at.smoothing, n=at.n)
        best = [word for word in np.argsort(-p, kind="stable")[:BARS].tolist() if p[word] > 0]
        possible = int((p > 0).sum())
        if step.word not in best:
            best = [*best[: BARS - 1], step.word]
        where = f"that may follow “{markdown.plain(at.spoken(step.context))}”" if step.context else "of the text"
        st.markdown(
            f"Word {picked + 1}, “{markdown.plain(name_of(at, step.word))}”, was drawn from {possible:,} "
            f"{'word' if possible == 1 else 'words'} {where}."
        )
        labels = [f"→ {name_of(at, word)}" if word == step.word else name_of(at, word) for word in best]
        show("drawn_from", Bars(labels=labels, shares=[p[best].tolist()]))


@cached_for_all
def _written(text: Counted, history: tuple[int, ...], smoothing: Smoothing, n: int, seed: int) -> tuple[Step, ...]:
    return tuple(written(text, history, smoothing, n=n, length=LENGTH, seed=seed))


def _next_seed() -> None:
    st.session_state["draw_seed"] = (st.session_state["draw_seed"] + 1) % (SEEDS + 1)
