from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfmviz import zoo
from tfmviz.analysis import position_table
from tfmviz.analysis.sinusoids import cosines
from tfmviz.plots.dots import path
from tfmviz.plots.lines import DASHES, Stroke
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.ui import icons, inputs, lesson, models
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import result, show, theme
from tfmviz.ui.held_out import by_position
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.positions.tables import between, lines, table
from tfmviz.ui.tabs import Tab, parts
from tfmviz.words import markdown
from tfmviz.words.numbers import decimal

LEARNED, REVERSE = "twins-learned", "reverse"

WINDOW = 8
"""Positions over which the measured loss is averaged."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LearnedPosition:
    model: Model
    stack: str

    @property
    def table(self) -> Array:
        """(max_len, d_model), as trained."""
        table = self.model.position_effects(self.stack, self.model.config.max_len).added
        assert table is not None, "a learned scheme adds its table"
        return table

    @property
    def is_ours(self) -> bool:
        """Trained here, from a known random start."""
        return isinstance(self.model.tokenizer, Tokenizer)


def tables(ctx: PageContext) -> None:
    line = lesson.control_row("of_table")
    place = choose(line)
    if place is None:
        return
    config = place.model.config
    if config.trained_on > config.max_len:  # more positions before it was converted
        st.markdown(f"These are the first {config.max_len:,} of the model's {config.trained_on:,} positions.")
    parts(
        "of_table",
        ctx,
        Tab(
            "The table",
            lambda _: heat_map(place),
            "As in BERT and GPT-2, each row is added to the word at its position.",
        ),
        Tab("Similarity", lambda _: similarity(place)),
        Tab("Main directions", lambda _: directions(place)),
        Tab("Well trained?", lambda _: norms(place), "A row grows only if training reaches it."),
        Tab("The wall", lambda _: wall(place)),
        line=line,
    )


def choose(line: DeltaGenerator) -> LearnedPosition | None:
    """Draws the choice of a shipped model's table; a note and None where there is none."""
    stacks = {"decoder-only": ("decoder",), "encoder-only": ("encoder",), "encoder-decoder": ("encoder", "decoder")}
    places = {
        f"{entry.name}, {stack}": (entry.name, stack)
        for entry in zoo.catalogue()
        if entry.config and entry.config.positions.kind == "learned"
        for stack in stacks[entry.config.architecture]
    }
    if not places:
        models.needed(LEARNED)
        return None
    first = next((n for n, (name, _) in enumerate(places.values()) if name == LEARNED), 0)
    chosen = inputs.selectbox("Trained table", list(places), index=first, key="trained", line=line)
    name, stack = places[chosen]
    return LearnedPosition(model=models.load(name), stack=stack)


def heat_map(place: LearnedPosition) -> None:
    values = place.table
    limit = max(float(np.quantile(np.abs(values), 0.99)), 1e-6)
    show("trained_table", table(values, f"trained value (colours end at ±{limit:.2f})", limit=limit))
    result(f"{values.shape[0]} × {values.shape[1]} = **{values.size:,} parameters**.")


def similarity(place: LearnedPosition) -> None:
    """Cosines within the table, next to those of sinusoids of the same size."""
    from tfmviz.positions.sinusoidal import sinusoids

    values = place.table
    formula = sinusoids(len(values), values.shape[1] // 2 * 2).numpy()
    found = [cosines(table) for table in (values, formula)]
    for column, name, matrix in zip(st.columns(2), ("trained", "sinusoids"), found, strict=True):
        with column:
            show(f"similar_{name}", between(matrix, f"cosine, {name}"), follows=name == "sinusoids")
    far = len(values) // 2
    (close, apart), (close_formula, apart_formula) = (
        (np.diag(matrix, 1).mean(), np.diag(matrix, far).mean()) for matrix in found
    )
    result(
        f"Neighbours have a cosine of **{decimal(close)}** on average, positions {far} apart **{decimal(apart)}** "
        f"(sinusoids: {decimal(close_formula)} and {decimal(apart_formula)}). "
        + ("Training made neighbours similar." if close > 0.5 else "Most are no more similar than random ones.")
    )


def directions(place: LearnedPosition) -> None:
    """Principal components over the positions, and the path through the first two."""
    found = position_table.principal_components(place.table)
    left, right = st.columns(2)
    with left:
        drawn = {f"{n + 1}: {share:.0%}": found.scores[:, n] for n, share in enumerate(found.shares)}
        chart = lines(drawn, "coordinate")
        show("components", chart, title="Main directions and their shares of the variance")
    with right:
        first, second, *_ = found.shares
        titles = f"first direction ({first:.0%} of the variance)", f"second ({second:.0%})"
        chart = path(found.scores, titles=titles, theme=theme())
        show("component_path", chart, title="Positions along the two main directions")


def norms(place: LearnedPosition) -> None:
    """Norms of the rows against their initial norm, and the loss measured position by position."""
    values = place.table
    from tfmviz.positions.learned import STD

    lengths, began = position_table.lengths(values), position_table.first_length(values.shape[1], std=STD)
    start = "before training" if place.is_ours else f"random, {STD}"
    show(
        "trained_norms",
        lines(
            {"norm now": lengths, start: np.full(len(values), began)},
            "norm of the row",
            strokes={start: Stroke(theme().plain, DASHES[1])},
            y_range=(0, 1.08 * max(float(lengths.max()), began)),
        ),
    )
    poor = position_table.untrained(values, std=STD)
    if place.model.name == REVERSE and place.stack == "encoder":
        st.markdown("Row 11 was met in one training word of 12.")
    if not place.is_ours:
        result(f"{len(values) - len(poor)} of {len(values)} rows are clearly longer than random ones ({began:.2f}).")
    elif len(poor):
        result(
            f"**{len(poor)} of {len(values)} rows, from position {poor[0]} on, are hardly longer than at their "
            f"random start ({began:.2f}).**"
        )
    else:
        result(f"Every row has grown from its random start ({began:.2f}). Compare {markdown.code(REVERSE)}.")
    if measured := by_position(place.model.name):
        window = min(WINDOW, len(measured.losses))
        mean = position_table.smoothed(measured.losses, window=window)
        chart = lines(
            {"measured": measured.losses, f"mean over {window} positions": mean},
            "loss, nats per token",
            strokes={"measured": Stroke(theme().text, width=0, dot=40)},
            marked=[(measured.trained - 0.5, "the wall")],
        )
        show("loss_by_position", chart)


def wall(place: LearnedPosition) -> None:
    try:
        place.model.position_effects(place.stack, place.model.config.max_len + 1)
    except ValueError as error:  # the scheme's own error
        st.code(str(error), language=None, wrap_lines=True)
    st.markdown("**One token too many: the table has no row for it.**")
    if model := models.needed(REVERSE):
        _beyond(model)


def _beyond(model: Model) -> None:
    line = lesson.control_row("letters")
    word = inputs.text_input("Letters to reverse", "attentionisallyouneed", key="letters", max_chars=32, line=line)
    letters = "".join(c for c in word.lower() if "a" <= c <= "z")
    if len(letters) < 2:
        st.info("Type at least two letters from a to z.", icon=icons.INFO)
        return
    ends = sorted({n for n in (4, 8, 10, 11, 12, 13, 14, 16, 20) if n <= len(letters)} | {len(letters)})
    answers = [_answer(model, letters[:n]) for n in ends]
    right = [n for n, answer in zip(ends, answers, strict=True) if answer == letters[:n][::-1]]
    with st.container(key="reversed"):
        st.table(
            {
                "letters": ends,
                "asked": [letters[:n] for n in ends],
                "answer": [answer or "(nothing)" for answer in answers],
                "right": ["✓" if n in right else "✗" for n in ends],
            }
        )
    from tfmviz.positions.learned import STD

    poor = position_table.untrained(LearnedPosition(model=model, stack="encoder").table, std=STD)
    st.markdown(
        (f"Training has reached the first {poor[0]} rows of {markdown.code(REVERSE)}. " if len(poor) else "")
        + (f"The longest text it reverses here has **{max(right)}** letters." if right else "It gets none right.")
    )


@cached_for_all
def _answer(model: Model, word: str) -> str:
    return zoo.writing.generate(model, word).text
