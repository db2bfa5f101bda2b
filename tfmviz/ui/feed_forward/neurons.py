from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis import feed_forward
from tfmviz.analysis.neurons import FILE, NoPeaks, Peaks, load
from tfmviz.analysis.predictions import softmax
from tfmviz.paths import PROJECT
from tfmviz.plots.bars import bar_chart, of_signs
from tfmviz.plots.cells import Axis, ValueFormat, chosen_column, chosen_row, of_tokens, signed, written
from tfmviz.record.edits import Edit, Scale
from tfmviz.record.model import Model
from tfmviz.record.trace import Array, Trace
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.ui import before_after, controls, head_comparison, icons, inputs, lesson, models, side, url
from tfmviz.ui.cache import cached_for_all, read_lines
from tfmviz.ui.feed_forward import MLPContext, predicts, site_of
from tfmviz.ui.figures import show, show_columns, show_matrix, theme
from tfmviz.ui.head_comparison import HeadComparison
from tfmviz.ui.lesson import PageContext
from tfmviz.words import markdown
from tfmviz.words.labels import quoted, visible
from tfmviz.words.numbers import decimal, per_cent

SHOWN = 16

WORDS = 6
"""Words that a neuron raises, and as many that it lowers."""

OFF = ("this neuron", "the ten strongest", "the whole layer")

SERIES = ("whole model", "with neurons off")

AROUND = 8
"""Tokens on either side of the one on which a neuron fires."""

HELD_OUT = ("english.txt", "french.txt")
"""Texts that our models were not trained on."""


def neurons(subject: MLPContext) -> None:
    order = feed_forward.strongest(subject.post, SHOWN)
    figure = st.container()
    line = lesson.control_row("neuron")
    with line:
        controls.token_box(subject.tokens, subject.token)
    last = len(subject.post) - 1
    neuron = url.place("neuron", last, order.tolist()[0])

    def draw() -> int:
        st.session_state["chosen_neuron"] = neuron
        label, key = f"Neuron (0 to {last})", "chosen_neuron"
        line.number_input(
            label, 0, last, key=key, on_change=lambda: url.put({"neuron": str(st.session_state[key])}), width=260
        )
        return neuron

    neuron = int(side.once("neuron", draw, lambda chosen: min(chosen, last)))
    values = subject.ctx.trace[f"{subject.site}.post"][:, order]

    def pick(row: int, column: int) -> None:
        controls.remember(row, {"neuron": str(order[column])})

    place = np.flatnonzero(order == neuron)
    column = int(place[0]) if len(place) else None
    with figure:
        at = replace(*chosen_row(subject.token, len(order)), colour="text")
        show_matrix(
            "neurons",
            values,
            of_tokens("token", subject.tokens),
            Axis("neuron", [str(n) for n in order], [f"neuron {n}" for n in order]),
            signed(values, "value of the neuron", root=True),
            form=ValueFormat(digits=2),
            texts=written(np.where(np.abs(values) >= 0.05, values, np.nan), ".2f", absent="·"),
            frames=(at, *chosen_column(column, len(values))),
            row_height=28,
            click="choose its neuron and token",
            on_pick=pick,
        )
    left, right = st.columns(2)
    with left:
        writes(subject, neuron)
    with right:
        fires(subject, neuron)
    without(subject, neuron, order.tolist())


def _choose(neuron: int) -> None:
    url.put({"neuron": str(neuron)})


def writes(subject: MLPContext, neuron: int) -> None:
    if not predicts(subject.ctx):
        st.info("This model has no output vocabulary.", icon=icons.INFO)
        return
    if not subject.is_read_out:
        st.info("No words are read from this encoder; its output goes to the decoder.", icon=icons.INFO)
        return
    if subject.ctx.model.weights.stacks[subject.stack].readout.transform is not None:
        st.info("This model's head is not linear.", icon=icons.INFO)
        return
    (change,) = feed_forward.directions(subject.weights, np.array([neuron]), subject.ctx.model.weights.W_U)
    vocabulary = subject.ctx.model.vocabulary
    order = np.argsort(-change, kind="stable")
    special = subject.ctx.model.tokenizer.special_tokens
    named = [
        n
        for n, token in enumerate(vocabulary)
        if any(map(str.isalpha, token)) and token not in special and token[:5] != "[byte"
    ]
    if len(named) >= 2 * WORDS:
        order = order[np.isin(order, named)]
    shown = np.concatenate((order[:WORDS], order[-WORDS:]))
    words, values = [visible(vocabulary[index]) for index in shown], change[shown]
    title = f"Words that neuron {neuron} promotes: its row of W_out times W_U"
    chart = bar_chart(
        words,
        values,
        "change of the logit per unit of the neuron",
        words=[decimal(value, "+.2f") for value in values],
        colours=of_signs(values, theme()),
        tooltips=[f"“{word}”: {decimal(value, '+.3f')}" for word, value in zip(words, values, strict=True)],
        room=1.3,
        theme=theme(),
    )
    show("directions", chart, title=title)
    st.caption("The last norm and later layers are left out.")


def fires(subject: MLPContext, neuron: int) -> None:
    heading = f"**Where neuron {neuron} fires most**"
    try:
        texts, peaks = _peaks(subject.ctx.model)
    except NoPeaks as error:
        st.markdown(heading)
        name = subject.ctx.model.name
        hint = f" Create it with `python -m scripts.find_neurons {name}`." if name in zoo.available() else ""
        st.info(markdown.plain(str(error)) + hint, icon=icons.INFO)
        return
    ours = isinstance(subject.ctx.model.tokenizer, Tokenizer)  # the training texts of other models are unknown
    known = ", in held-out sentences" if ours and texts in HELD_OUT else ""
    st.markdown(f"{heading}{known}:")
    lines, found = read_lines(PROJECT / "assets" / "texts" / texts), peaks[subject.site]
    for text, token, value in zip(found.text[neuron], found.token[neuron], found.value[neuron], strict=True):
        tokens = models.tokens_read(subject.ctx.model, lines[text], subject.stack)
        st.markdown(f"{decimal(float(value))}  {_marked(tokens, int(token))}")
    st.caption("Common Voice, CC0." if texts != "french.txt" else "Tatoeba, CC BY 2.0 FR.")


def _marked(tokens: tuple[str, ...], token: int) -> str:
    first, last = max(0, token - AROUND), min(len(tokens), token + AROUND + 1)
    before, after = "".join(tokens[first:token]), "".join(tokens[token + 1 : last])
    marked = f":orange-background[{markdown.plain(visible(tokens[token]))}]"
    space = " " if tokens[token].startswith(" ") else ""
    return (
        f"{'…' * (first > 0)}{markdown.plain(before)}{space}{marked}{markdown.plain(after)}{'…' * (last < len(tokens))}"
    )


@cached_for_all
def _peaks(model: Model) -> tuple[str, dict[str, Peaks]]:
    places = [place / model.name for place in zoo.folders() if (place / model.name).is_dir()]
    return load((places[-1] if places else zoo.MODELS) / FILE, model.weights)


def without(subject: MLPContext, neuron: int, strongest: list[int]) -> None:
    ctx = subject.ctx
    if not predicts(ctx):
        return
    asked = inputs.segmented_control("Switch off", OFF, key="neurons_off")
    numbers = {OFF[0]: (neuron,), OFF[1]: tuple(strongest[:10]), OFF[2]: None}[asked]
    after = _run(ctx.model, ctx.text, subject.site, numbers, ctx.edits)
    token = ctx.target
    old, new = (softmax(run.row("logits", token)) for run in (ctx.trace, after))
    moved = int(np.abs(new - old).argmax())
    word = markdown.plain(visible(ctx.model.vocabulary[moved]))
    with_them, without_them = (per_cent(float(p[moved])) for p in (old, new))
    found = f"“{word}”: **{with_them}** with them, **{without_them}** without."
    if with_them == without_them:
        found = f"“{word}”, and even that hardly changes: **{with_them}**."
    st.markdown(
        f"{before_after.place(ctx)} {markdown.plain(quoted(ctx.trace.tokens)[token])} the probability that "
        f"changes most is that of {found}"
    )
    before_after.next_words(ctx, after, token, series=SERIES)


@cached_for_all
def _run(model: Model, text: str, site: str, numbers: tuple[int, ...] | None, edits: tuple[Edit, ...]) -> Trace:
    off = [Scale(site=f"{site}.out", factor=0.0)]
    if numbers is not None:
        off = [Scale(site=f"{site}.post", factor=0.0, coordinate=number) for number in numbers]
    return models.run(model, text, (*edits, *off))


MOST_APART = 10


def apart(both: HeadComparison) -> None:
    """Neurons that fire for the chosen token in A and in B, counted; and those whose activations differ most."""
    site, at = site_of(both.lessons[0]), both.queries.partner(both.query)
    if at is None or site not in both.lessons[0].model.weights.stacks[site.split(".")[0]].feed_forward:
        return
    places = tuple(zip(both.lessons, (both.query, at), strict=True))
    a, b = (_fires(lesson, site, position) for lesson, position in places)
    st.markdown(
        f"For {markdown.plain(head_comparison.query_name(both))} {a.sum():,} of {a.size:,} neurons fire in A, "
        f"{b.sum():,} in B: {(a & b).sum():,} in both, {(a & ~b).sum():,} only in A, {(b & ~a).sum():,} only in B."
    )
    before, after = (lesson.trace[f"{site}.post"][position] for lesson, position in places)
    most = np.argsort(-np.abs(after - before), kind="stable")[:MOST_APART]
    columns = {"neuron": [str(n) for n in most]}
    for title, values in zip((*both.titles, "B − A"), (before, after, after - before), strict=True):
        columns[title] = [decimal(float(values[n]), ".3f") for n in most]
    show_columns("neurons_apart", columns, caption="The neurons that differ most")


def _fires(lesson: PageContext, site: str, position: int) -> Array:
    """(d_ff,), True where the function's input is above 0: the gate where there is one."""
    gate = f"{site}.gate"
    return lesson.trace[gate if gate in lesson.trace else f"{site}.pre"][position] > 0
