"""Every part of the model off in turn: the map of damage, and whether the sharp heads are those that matter."""

from __future__ import annotations

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfmviz.analysis import ablation
from tfmviz.analysis.ablation import Part, Question
from tfmviz.plots import damage as figures
from tfmviz.plots.labels import visible
from tfmviz.plots.numbers import decimal, per_cent
from tfmviz.trace import Array, Trace, kind_of
from tfmviz.ui import controls, lesson, markdown, models
from tfmviz.ui.cache import shared
from tfmviz.ui.controls import KINDS
from tfmviz.ui.figures import show, show_cells, theme
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.switch_off.board import Switches, Way, edits_of, question, switch_off
from tfmviz.zoo import ZooModel

MEASURES = ("the whole sentence", "the word after the chosen token")


def damage_map(here: Lesson, said: Switches) -> None:
    """The map of damage: every head and every MLP off in turn."""
    figure = st.container()
    asked, measured = _measure(here)
    values = _damage(here.model, here.text, asked, said.way)
    rows = ablation.layers_of(here.trace)
    off = [
        (y, values.shape[1] - 1 if part.head is None else part.head)
        for y, row in enumerate(rows)
        for part in row
        if part in said.off
    ]
    layers, choice = here.trace.layers, here.choice

    def look_at(row: int, column: int) -> None:
        if column < len(here.trace[f"{layers[row]}.z"]):
            controls.look_at(layers[row], column)

    with figure:
        show_cells(
            figures.damage(
                values, rows=_layer_names(here.trace), off=off, chosen=(layers.index(choice.layer), choice.head)
            ),
            key="damage_map",
            alt="; ".join(f"{part.name} {decimal(loss, '+.3f')}" for part, loss in _ranked(here.trace, values)[:10]),
            click=controls.LOOKS,
            on_pick=look_at,
        )
    _damage_in_words(here, values, measured)


def _damage_in_words(here: Lesson, values: Array, measured: str) -> None:
    """What is lost most, what is spared, and two buttons that switch off just that."""
    ranked = _ranked(here.trace, values)
    heads = [(part, loss) for part, loss in ranked if part.kind == "head"]
    idle = sum(loss <= 0 for _, loss in heads)
    st.markdown(
        f"Orange: without this part {measured} surprises the model more. The colours end at the strongest head; an MLP "
        f"may go far beyond. The model loses most without **{ranked[0][0].name}** "
        f"({decimal(ranked[0][1], '+.3f')} nats), and among the heads without "
        + ", ".join(f"**{part.name}** ({decimal(loss, '+.3f')})" for part, loss in heads[:3])
        + f". {idle} of the {len(heads)} heads matter little *here*: with one of them off the model does no worse. "
        "Others may do the same work, or this text may not need it. Two parts that replace each other both look "
        "useless when only one is off."
    )
    worst, least = heads[0][0], heads[-1][0]
    spared = [part.code for part, loss in heads if loss <= 0]
    words = f"Switch off all {len(spared)} that cost nothing alone" if spared else f"Switch off {least.name} only"
    left, right = st.columns(2)
    _button(left, f"Switch off {worst.name} only", [worst.code], key="worst")
    _button(right, words, spared or [least.code], key="spared")


def _button(column: DeltaGenerator, words: str, codes: list[str], *, key: str) -> None:
    column.button(words, on_click=switch_off, args=(codes,), key=key, width="stretch")


def look_and_matter(here: Lesson, said: Switches) -> None:
    """Is the sharpest head the one that matters? One point for each head."""
    figure = st.container()
    asked, measured = _measure(here)
    values = _damage(here.model, here.text, asked, said.way)[:, :-1]
    sharpness = ablation.sharpness(here.trace)
    heads = [part for part in ablation.parts_of(here.trace) if part.kind == "head"]
    known = np.flatnonzero(~np.isnan(sharpness.ravel()))
    if len(known) < 3:
        st.info("Too few heads can choose where to look here: type more words, or choose a model with more heads.")
        return
    x, y = sharpness.ravel()[known], values.ravel()[known]
    names = [heads[i].name for i in known]
    with figure:
        show(
            figures.against(
                x,
                y,
                names=names,
                off=[n for n, i in enumerate(known) if heads[i] in said.off],
                title="change of the loss without it, in nats",
                theme=theme(),
            ),
            key="look_and_matter",
            alt="; ".join(
                f"{n}: largest share {a:.2f}, {decimal(b, '+.3f')} nats" for n, a, b in zip(names, x, y, strict=True)
            ),
        )
    sharpest, dearest = int(x.argmax()), int(y.argmax())
    order = np.argsort(-y)
    place = int(np.flatnonzero(order == sharpest)[0]) + 1
    ρ = ablation.rank_correlation(x, y)
    st.markdown(
        f"Head **{names[sharpest]}** looks most sharply: on average {per_cent(x[sharpest])} of its attention goes to "
        f"one token. By damage to {measured} it is number {place} of {len(names)}. Number 1 is **{names[dearest]}**, "
        f"whose largest share is {per_cent(x[dearest])} on average. The rank correlation is **{_two(ρ)}**: "
        f"{_in_words(ρ)}."
    )


def _in_words(ρ: float) -> str:
    if np.isnan(ρ):
        return "there is nothing to rank"
    if abs(ρ) < 0.3:
        return "how sharply a head looks says next to nothing about how much it matters here"
    strength = "something, but not much," if abs(ρ) < 0.6 else "a good deal"
    return f"how sharply a head looks says {strength} about how much it matters here" + ", in reverse" * (ρ < 0)


def _two(ρ: float) -> str:
    return "–" if np.isnan(ρ) else decimal(ρ)


def _measure(here: Lesson) -> tuple[Question, str]:
    """Asks what measures the damage, if there is a choice. Returns the question and its name in a sentence."""
    every_word = question(here)
    if every_word is not None:
        line = lesson.line("measure")
        chosen = line.radio("Damage to", MEASURES, horizontal=True, key="damage_to", bind="query-params")
        if chosen == MEASURES[0]:
            return every_word, "the next word"
    writes = here.model.config.architecture != "encoder-only"
    asked = ablation.one_word(here.trace, here.target, writes=writes)
    return asked, f"“{markdown.plain(visible(here.model.vocabulary[asked.answers[0]]))}”"


def _damage(model: ZooModel, text: str, question: Question, way: Way) -> Array:
    with st.spinner("Switching off every part in turn…"):
        return _damage_of(model, text, question, way)


@shared
def _damage_of(model: ZooModel, text: str, question: Question, way: Way) -> Array:
    trace = models.trace(model, text)
    target = None if trace.source is None else trace.target.ids[1:]
    return ablation.damage(
        trace,
        question,
        lambda variants, positions: model.logits_under(text, variants, positions, target=target),
        lambda part: edits_of(part, model, way),
    )


def _ranked(trace: Trace, values: Array) -> list[tuple[Part, float]]:
    """All parts of a map, the most damaging first."""
    found = [
        (part, float(row[-1 if part.head is None else part.head]))
        for row, parts in zip(values, ablation.layers_of(trace), strict=True)
        for part in parts
    ]
    return sorted(found, key=lambda pair: -pair[1])


def _layer_names(trace: Trace) -> list[str]:
    many = trace.source is not None
    return [f"{KINDS[kind_of(layer)] if many else 'layer'} {layer.split('.')[1]}" for layer in trace.layers]
