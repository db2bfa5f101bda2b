"""Long dependencies: what each model still knows so many words later, measured, and on the reader's own text."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import streamlit as st

from tfmviz.analysis.dependencies import AGREEMENT, CLOSING, MANY, NAME, NAMES, ONE, QUOTATION
from tfmviz.plots.paths import Series, against_length
from tfmviz.ui import icons, inputs, lesson
from tfmviz.ui.cache import read_json
from tfmviz.ui.figures import show, theme
from tfmviz.ui.held_out import outdated
from tfmviz.ui.ladder import rungs
from tfmviz.ui.ladder.rungs import FOLDER, TITLES
from tfmviz.ui.lesson import Lesson
from tfmviz.views.counts import of_columns
from tfmviz.words import markdown
from tfmviz.words.numbers import per_cent

ASKS = {
    AGREEMENT: "is or are, was or were?",
    QUOTATION: "is the quotation still open?",
    NAME: "who is meant?",
}

Row = Mapping[str, Any]


def dependencies(here: Lesson) -> None:
    """The curves for one kind, then what the models expect after the reader's text."""
    with lesson.line("depends"):
        kinds = list(ASKS)
        kind = inputs.segmented_control("What", kinds, default=kinds[0], key="depends")
    found = measured()
    if not outdated(found, *["5-gram.npz"] * (_counts() != found["counts"])):
        _curves(found, kind)
    _own(here, kind)


@lru_cache(maxsize=1)
def _counts() -> str:
    return hashlib.sha256((FOLDER / "5-gram.npz").read_bytes()).hexdigest()


def measured() -> Row:
    """What `scripts.measure_dependencies` found."""
    return read_json(FOLDER / "dependencies.json")


def _curves(found: Row, kind: str) -> None:
    rows = found["kinds"][kind]
    series = {title: _series(rows, name, title) for name, title in TITLES.items()}
    show(
        "dependencies",
        against_length(series, title="pairs told apart", x="words in between", percent=True, theme=theme()),
    )
    shown, last = rows[len(rows) // 3], rows[-1]
    then = "; ".join(f"{title} {per_cent(last['leans'][name][0])}" for name, title in TITLES.items())
    st.markdown(
        f"“{markdown.plain(shown['example'])} …”: {ASKS[kind]} The two texts differ only in the deciding word; at 50% "
        f"a model prefers neither. **With {last['n']} words in between: {then}.**"
        f"{_preferred(rows, kind)}"
    )
    st.caption(f"{found['sentences']} generated sentences per length, 95% intervals. {markdown.code(found['command'])}")


def _preferred(rows: list[Row], kind: str) -> str:
    """To lean is less than to say it: how often the right one is also the more probable."""
    if kind == QUOTATION:
        return ""
    row, name = rows[1], "twins-rope"
    return (
        f" Ranking the right form first is harder: with {row['n']} words in between, the transformer does so in "
        f"{per_cent(row['prefers'][name][0])} of the texts."
    )


def _series(rows: list[Row], name: str, title: str) -> Series:
    values = np.array([row["leans"][name] for row in rows])
    return Series(
        x=np.array([float(row["n"]) for row in rows]),
        values=values,
        said=[
            f"{title}, {row['n']} words: {per_cent(share)} ({per_cent(low)} to {per_cent(high)})"
            for row, (share, low, high) in zip(rows, values.tolist(), strict=True)
        ],
    )


def _own(here: Lesson, kind: str) -> None:
    ladder = rungs.ladder()
    p = rungs.read(ladder, here.text).p[:, -1]
    asked = answers(here.text, kind)
    if not asked:
        st.info(f"Your text contains none of the names {', '.join(NAMES)}.", icon=icons.INFO)
        return
    shares = {
        name: p[:, [ladder.encode(token).ids[0] for token in tokens]].sum(axis=1) for name, tokens in asked.items()
    }
    if len(shares) > 1:  # of all words both are improbable: what counts is which is the more probable
        together = np.sum(list(shares.values()), axis=0)
        shares = {name: one / together for name, one in shares.items()} | {"together": together}
    show(
        "own_dependency",
        of_columns(
            {"after your text": list(TITLES.values())} | {name: list(map(per_cent, of)) for name, of in shares.items()},
            caption="After your text, which does each model expect?",
        ),
    )


def answers(text: str, kind: str) -> dict[str, tuple[str, ...]]:
    """What may come next, and the tokens that say it."""
    if kind == AGREEMENT:
        return {"is, was": ONE, "are, were": MANY}
    if kind == QUOTATION:
        return {"closing quotation mark": CLOSING}
    named = dict.fromkeys(re.findall(r"\w+", text))
    return {name: (f" {name}",) for name in named if name in NAMES}
