from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis import reach
from tfmviz.analysis.dependencies import AGREEMENT, CLOSING, MANY, NAME, NAMES, ONE, QUOTATION
from tfmviz.plots.lines import Axes
from tfmviz.plots.paths import Series, against_length
from tfmviz.record.trace import Array
from tfmviz.ui import icons, inputs, lesson
from tfmviz.ui.cache import cached_for_all, read_json
from tfmviz.ui.figures import result, show, show_columns, show_curves, theme
from tfmviz.ui.held_out import outdated
from tfmviz.ui.ladder import rungs
from tfmviz.ui.ladder.rungs import FOLDER, TITLES, Ladder
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.tabs import either
from tfmviz.words import markdown
from tfmviz.words.labels import quoted
from tfmviz.words.numbers import counted, decimal, per_cent, rounded

CHANGE, GRADIENT = "change the word", "gradient"

WORDS = {24: 4, 40: 2}
"""Words that replace each token in turn, by the most tokens of a text; in a longer text, one word."""


def distance(ctx: PageContext) -> None:
    either("On", "seen_on", {"your text": own, "held-out text": lambda _: averages()})(ctx)


def own(ctx: PageContext) -> None:
    with lesson.control_row("reach"):
        how = inputs.segmented_control("How", (CHANGE, GRADIENT), key="reach_by")
    ladder = rungs.ladder()
    text = rungs.read_text(ladder, ctx.text).text
    values, y = (moved(ladder, ctx.text), "share moved") if how == CHANGE else (pulled(ladder, ctx.text), "gradient")
    k, names = np.arange(1.0, len(text) + 1), quoted(text.tokens)

    def tooltips(name: str, place: float, value: float) -> str:
        shown = per_cent(value) if how == CHANGE else rounded(value)
        return f"{name}, {names[-int(place)]}, {place:.0f} back: {shown}"

    show_curves(
        "reach",
        found := _above_0({title: (k, curve) for title, curve in values.items()}),
        Axes("tokens back", y, 330, log=True),
        tooltips,
        y_range=(0.8 * least(values.values()), 1.0) if how == CHANGE else powers_around(values.values()),
        words=list(found),
    )
    ends = {
        title: n
        for title, curve in values.items()
        if 0 < (n := int(np.flatnonzero(curve).max(initial=-1)) + 1) < len(curve)
    }
    seen = "; ".join(f"the {title} sees nothing beyond {counted(n, 'token')}" for title, n in ends.items())
    result(f"{f'**Here {seen}.** ' if seen else ''}{_explained(how, n_words(len(text)))}")


def _above_0(curves: dict[str, tuple[Array, Array]]) -> dict[str, tuple[Array, Array]]:
    seen = {name: y > 0 for name, (_, y) in curves.items()}
    return {name: (x[seen[name]], y[seen[name]]) for name, (x, y) in curves.items() if seen[name].any()}


def powers_around(curves: Iterable[Array]) -> tuple[float, float]:
    """Powers of ten around all numbers that are not 0."""
    positive = np.concatenate([curve[curve > 0] for curve in curves] or [np.ones(1)])
    powers = np.log10(positive) if len(positive) else np.zeros(1)
    return float(10.0 ** np.floor(powers.min())), float(10.0 ** np.ceil(powers.max() + 1e-9))


def least(curves: Iterable[Array]) -> float:
    """The smallest number that is not 0; 0.1 where all are."""
    return float(min((curve[curve > 0].min() for curve in curves if curve.any()), default=0.1))


def _explained(how: str, n: int) -> str:
    if how == GRADIENT:
        return (
            "‖∂ log p(w) / ∂e‖ for each token's vector e; w is the most probable next token (Madsen 2019). Counts have "
            "no gradient."
        )
    return f"How much of the next token's probability moves{f', averaged over {n} other words' if n > 1 else ''}."


def n_words(length: int) -> int:
    return next((n for longest, n in WORDS.items() if length <= longest), 1)


@cached_for_all
def moved(ladder: Ladder, text: str) -> dict[str, Array]:
    """Change of each model's prediction when the token k back is replaced: (len,)."""
    ids = np.array(ladder.encode(text).ids)
    words = reach.replacements(ladder.transformer.vocabulary, n_words(len(ids)) + 1)
    return {title: reach.by_distance(predict, ids, words=words) for title, predict in ladder.predictors.items()}


@cached_for_all
def pulled(ladder: Ladder, text: str) -> dict[str, Array]:
    """Norm of each network's gradient at the token k back: (len,)."""
    ids = ladder.encode(text).ids
    return {title: zoo.experiments.pull(model, ids)[::-1] for title, model in ladder.networks.items()}


MEASURES = {
    "one word changed": ("changed", "share moved"),
    "cut off": ("cut", "extra nats"),
    "shuffled": ("shuffled", "extra nats"),
    "every other dropped": ("thinned", "extra nats"),
}
"""The change to the held-out text before the last tokens: its name in the file, and what was measured."""


def averages() -> None:
    """The same averages over held-out text whose distant part is changed, cut, shuffled or thinned."""
    lesson.hide("text")
    with lesson.control_row("averages"):
        name = inputs.segmented_control("Text before", list(MEASURES), default="cut off", key="before")
    key, y = MEASURES[name]
    facts = rungs.measured()
    values = {title: np.array(facts["models"][model][key]) for model, title in TITLES.items()}
    kept = np.arange(1.0, len(values["5-gram"]) + 1) if key == "changed" else np.array(facts["kept"], dtype=float)
    x = "tokens back" if key == "changed" else "tokens left unchanged"

    def tooltips(name: str, place: float, value: float) -> str:
        return (
            f"{name}, {place:.0f} tokens: {per_cent(value) if key == 'changed' else decimal(value, '+.3f') + ' nats'}"
        )

    points, axes = {t: (kept, v) for t, v in values.items()}, Axes(x, y, 330, log=key == "changed", doubling=True)
    y_range = powers_around(values.values()) if key == "changed" else None
    show_curves("averages", _above_0(points) if axes.log else points, axes, tooltips, y_range=y_range)
    more = f" {_explained(CHANGE, 1)}" if key == "changed" else ""
    st.markdown(f"Measured on {facts['texts']}.{more}")


ASKS = {
    AGREEMENT: "is or are, was or were?",
    QUOTATION: "is the quotation still open?",
    NAME: "who is meant?",
}

Row = Mapping[str, Any]


def dependencies(ctx: PageContext) -> None:
    with lesson.control_row("depends"):
        kind = inputs.segmented_control("What", list(ASKS), key="depends")
    found = measured_dependencies()
    if not outdated(found, *["5-gram.npz"] * (_counts() != found["counts"])):
        rows = found["kinds"][kind]
        series = {title: _series(rows, name, title) for name, title in TITLES.items()}
        show(
            "dependencies",
            against_length(series, title="pairs told apart", x="words in between", percent=True, theme=theme()),
        )
        shown, last = rows[len(rows) // 3], rows[-1]
        first = (  # a preference is less than a prediction: how often is the right one also the more probable?
            f" Ranking the right form first is harder: with {rows[1]['n']} words in between, the transformer does so "
            f"in {per_cent(rows[1]['prefers']['twins-rope'][0])} of the texts."
            if kind != QUOTATION
            else ""
        )
        then = "; ".join(f"{title} {per_cent(last['leans'][name][0])}" for name, title in TITLES.items())
        st.markdown(
            f"“{markdown.plain(shown['example'])} …”: {ASKS[kind]} The two texts differ only in the deciding word; at "
            f"50% a model prefers neither. **With {last['n']} words in between: {then}.**{first}"
        )
        st.caption(
            f"{found['sentences']} generated sentences per length, 95% intervals. {markdown.code(found['command'])}"
        )
    ladder = rungs.ladder()
    p = rungs.read_text(ladder, ctx.text).p[:, -1]
    if not (asked := answers(ctx.text, kind)):
        st.info(f"Your text contains none of the names {', '.join(NAMES)}.", icon=icons.INFO)
        return
    shares = {
        name: p[:, [ladder.encode(token).ids[0] for token in tokens]].sum(axis=1) for name, tokens in asked.items()
    }
    if len(shares) > 1:  # among all words both are improbable: only their order counts
        together = np.sum(list(shares.values()), axis=0)
        shares = {name: one / together for name, one in shares.items()} | {"together": together}
    show_columns(
        "own_dependency",
        {"after your text": list(TITLES.values())} | {name: list(map(per_cent, of)) for name, of in shares.items()},
        caption="After your text, which does each model expect?",
    )


@lru_cache(maxsize=1)
def _counts() -> str:
    return hashlib.sha256((FOLDER / "5-gram.npz").read_bytes()).hexdigest()


def measured_dependencies() -> Row:
    return read_json(FOLDER / "dependencies.json")


def _series(rows: list[Row], name: str, title: str) -> Series:
    values = np.array([row["leans"][name] for row in rows])
    return Series(
        x=np.array([float(row["n"]) for row in rows]),
        values=values,
        tooltips=[
            f"{title}, {row['n']} words: {per_cent(share)} ({per_cent(low)} to {per_cent(high)})"
            for row, (share, low, high) in zip(rows, values.tolist(), strict=True)
        ],
    )


def answers(text: str, kind: str) -> dict[str, tuple[str, ...]]:
    if kind == AGREEMENT:
        return {"is, was": ONE, "are, were": MANY}
    if kind == QUOTATION:
        return {"closing quotation mark": CLOSING}
    named = dict.fromkeys(re.findall(r"\w+", text))
    return {name: (f" {name}",) for name in named if name in NAMES}
