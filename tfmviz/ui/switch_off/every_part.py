from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis import ablation
from tfmviz.analysis.ablation import Part, Question
from tfmviz.constants import ATTENTION_KINDS
from tfmviz.plots import dots
from tfmviz.plots.cells import Axis, ValueFormat, chosen_cell, named, signed, written
from tfmviz.record.model import Model
from tfmviz.record.trace import Array, kind_of
from tfmviz.ui import controls, inputs, lesson, models
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import result, show, show_matrix, theme
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.switch_off import Switches, Way, edits_of, question, switch_off
from tfmviz.words import markdown
from tfmviz.words.labels import visible
from tfmviz.words.numbers import counted, decimal, per_cent

PRECISION = 5
"""Digits of a change of the loss in nats; float32's noise beyond them would order equal parts."""

LITTLE = 0.05
"""Nats. If a head changes the loss by less, other parts may stand in for it."""

MEASURES = ("the whole sentence", "the word after the chosen token")


def damage_map(ctx: PageContext, switches: Switches) -> None:
    figure = st.container()
    asked, measured = _measure(ctx)
    with st.spinner("Switching off every part in turn…"):
        values = _damage(ctx.model, ctx.text, asked, switches.way)
    last = values.shape[1] - 1
    cells = {
        part: (row, last if part.head is None else part.head)
        for row, parts in enumerate(ablation.layers_of(ctx.trace))
        for part in parts
    }
    layers, choice, way = ctx.trace.layers, ctx.choice, switches.way
    many = ctx.trace.source is not None
    mlp = [] if np.isnan(values[:, last]).all() else ["MLP"]
    shown = values[:, : last + len(mlp)]

    def look_at(row: int, column: int) -> None:
        if column < len(ctx.trace[f"{layers[row]}.z"]):
            controls.look_at(layers[row], column)

    with figure:
        show_matrix(
            "damage_map",
            shown,
            named([f"{ATTENTION_KINDS[kind_of(one)] if many else 'layer'} {one.split('.')[1]}" for one in layers]),
            Axis("head", [*map(str, range(last)), *mlp], [*(f"head {n}" for n in range(last)), *mlp]),
            signed(values, "change of the loss, in nats", root=True),
            form=ValueFormat(digits=4, sign=True, unit=" nats"),
            texts=written(shown, "+.2f"),
            frames=chosen_cell((layers.index(choice.layer), choice.head)),
            crosses=tuple(cells[part] for part in cells if part in switches.off and cells[part][1] < shown.shape[1]),
            row_height=44,
            click=controls.LOOKS,
            on_pick=look_at,
        )
    ranked = sorted(((part, float(values[cell])) for part, cell in cells.items()), key=lambda pair: -pair[1])
    heads = [(part, loss) for part, loss in ranked if part.kind == "head"]
    st.markdown(
        f"Orange: {measured} is more surprising with this part {way.done()}. {_missed(ranked, way)} "
        f"{_spared(heads, way)}"
    )
    verb = "Switch off" if way.removes else "Change"
    worst, least = heads[0][0], heads[-1][0]
    spared = [part.code for part, loss in heads if loss <= 0]
    words = f"{verb} all {len(spared)} that cost nothing alone" if len(spared) > 1 else f"{verb} {least.name} only"
    left, right = st.columns(2)
    inputs.button(
        f"{verb} {worst.name} only", on_click=switch_off, args=([worst.code],), key="worst", width="stretch", line=left
    )
    inputs.button(words, on_click=switch_off, args=(spared or [least.code],), key="spared", width="stretch", line=right)


def _missed(ranked: list[tuple[Part, float]], way: Way) -> str:
    worst, most = ranked[0]
    if round(most, 3) <= 0:
        return f"No single part matters here: with any one {way.done()}, the loss does not grow."
    heads = [(part, loss) for part, loss in ranked[1:] if part.kind == "head" and loss > 0][:3]
    named = ", ".join(f"**{part.name}** ({decimal(loss, '+.3f')})" for part, loss in heads)
    among = f"; of the {'other ' * (worst.kind == 'head')}heads, with {named}" if heads else ""
    return f"The loss grows most with **{worst.name}** {way.done()} ({decimal(most, '+.3f')} nats){among}."


def _spared(heads: list[tuple[Part, float]], way: Way) -> str:
    spared = [(part, loss) for part, loss in heads if loss <= 0]
    found = f"With any of the heads {way.done()} the model does worse."
    if spared:
        least, loss = spared[-1]
        found = f"For {len(spared)} of {counted(len(heads), 'head')} the loss does not grow"
        change = decimal(loss, "+.3f")
        found += f"; with **{least.name}** {way.done()} it changes by {change} nats." if float(f"{loss:.3f}") else "."
    if not way.removes or min(abs(loss) for _, loss in heads) >= LITTLE:
        return found
    return f"{found} Below {LITTLE} nats, other parts may do the same work, or this text may not need it."


def look_and_matter(ctx: PageContext, switches: Switches) -> None:
    figure = st.container()
    asked, measured = _measure(ctx)
    with st.spinner("Switching off every part in turn…"):
        values = _damage(ctx.model, ctx.text, asked, switches.way)[:, :-1]
    sharpness = ablation.sharpness(ctx.trace)
    heads = [part for part in ablation.parts_of(ctx.trace) if part.kind == "head"]
    known = np.flatnonzero(~np.isnan(sharpness.ravel()))
    if len(known) < 3:
        st.info("Too few heads have a choice here: type more words.")
        return
    x, y = sharpness.ravel()[known], values.ravel()[known]
    names = [heads[i].name for i in known]
    said_of = [
        f"head {name}: largest share {sharp:.2f}, loss {decimal(lost, '+.4f')} nats"
        for name, sharp, lost in zip(names, x, y, strict=True)
    ]
    with figure:
        show(
            "look_and_matter",
            dots.scatter(
                x,
                y,
                names=names,
                tooltips=said_of,
                off=[n for n, i in enumerate(known) if heads[i] in switches.off],
                title=f"change of the loss with it {switches.way.done()}, in nats",
                theme=theme(),
            ),
        )
    sharpest, ρ = int(x.argmax()), ablation.rank_correlation(x, y)
    result(
        f"Head **{names[sharpest]}** attends most sharply ({per_cent(x[sharpest])} on one token, on average). "
        f"{_place(x, y, names, measured, switches.way)} The rank correlation is "
        f"**{'–' if np.isnan(ρ) else decimal(ρ)}**: {_in_words(ρ)}."
    )


def _place(x: Array, y: Array, names: list[str], measured: str, way: Way) -> str:
    """The sharpest head's rank by damage, and the head that ranks first.

    Args:
        x: (head,), how sharply each attends.
        y: (head,), the rise of the loss, in nats.
    """
    if y.max() <= 0:
        return f"No single head matters here: with any one {way.done()}, the loss does not grow."
    order = np.argsort(-y, kind="stable").tolist()  # equal heads have a fixed order, so also the first one
    place, dearest = order.index(int(x.argmax())) + 1, order[0]
    return f"By damage to {measured} it ranks {place} of {len(names)}; **{names[dearest]}** ranks first."


def _in_words(ρ: float) -> str:
    if np.isnan(ρ):
        return "there is nothing to rank"
    strength = "next to nothing" if abs(ρ) < 0.3 else "a little" if abs(ρ) < 0.6 else "a good deal"
    return f"how sharply a head looks says {strength} about how much it matters" + ", in reverse" * (ρ <= -0.3)


def _measure(ctx: PageContext) -> tuple[Question, str]:
    every_word = question(ctx)
    if every_word is not None:
        line = lesson.control_row("measure")
        chosen = inputs.radio("Measure the damage on", MEASURES, horizontal=True, key="damage_to", line=line)
        if chosen == MEASURES[0]:
            return every_word, "the next word"
    writes = ctx.model.config.architecture != "encoder-only"
    asked = ablation.one_word(ctx.trace, ctx.target, writes=writes)
    return asked, f"“{markdown.plain(visible(ctx.model.vocabulary[asked.answers[0]]))}”"


@cached_for_all
def _damage(model: Model, text: str, question: Question, way: Way) -> Array:
    trace = models.trace(model, text)
    read, target = (trace.target, None) if trace.source is None else (trace.source, trace.target.ids[1:])
    values = ablation.damage(
        trace,
        question,
        lambda variants, positions: zoo.experiments.logits_under(model, read.ids, variants, positions, target=target),
        lambda part: edits_of(part, model, way),
    )
    return values.round(PRECISION) + 0.0  # no −0
