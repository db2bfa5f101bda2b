"""Single neurons: which fire for a token, what they write, where they fire most, and the model without them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis import feed_forward
from tfmviz.analysis.neurons import FILE, NoPeaks, Peaks, load
from tfmviz.analysis.predictions import softmax
from tfmviz.plots import feed_forward as figures
from tfmviz.record.edits import Scale
from tfmviz.record.model import Model
from tfmviz.record.trace import Trace
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.ui import before_after, controls, icons, inputs, lesson, models
from tfmviz.ui.cache import shared
from tfmviz.ui.feed_forward.subject import Subject, predicts
from tfmviz.ui.figures import show, theme
from tfmviz.words import markdown
from tfmviz.words.labels import quoted, visible
from tfmviz.words.numbers import decimal, per_cent

SHOWN = 16
"""Neurons in the picture."""

WORDS = 6
"""Words that a neuron raises, and as many that it lowers."""

OFF = ("this neuron", "the ten strongest", "the whole layer")

SERIES = ("whole model", "with neurons off")

AROUND = 8
"""Tokens shown on either side of the one on which a neuron fires."""

HELD_OUT = ("english.txt", "french.txt")
"""Texts that are kept out of the training of our models."""


def neurons(subject: Subject) -> None:
    """The neurons of the chosen token, then one of them."""
    order = feed_forward.strongest(subject.post, SHOWN)
    figure = st.container()
    neuron = _ask(subject, order.tolist())
    values = subject.here.trace[f"{subject.site}.post"][:, order]

    def pick(row: int, column: int) -> None:
        controls.remember(row, {"neuron": str(order[column])})

    place = np.flatnonzero(order == neuron)
    column = int(place[0]) if len(place) else None
    with figure:
        show(
            "neurons",
            figures.neurons(values, subject.tokens, order.tolist(), token=subject.token, neuron=column),
            click="choose its neuron and token",
            on_pick=pick,
        )
    left, right = st.columns(2)
    with left:
        writes(subject, neuron)
    with right:
        fires(subject, neuron)
    without(subject, neuron, order.tolist())


def _ask(subject: Subject, strongest: list[int]) -> int:
    """Asks for token and neuron; until the reader has chosen one, it is the strongest."""
    line = lesson.line("neuron")
    with line:
        controls.token_box(subject.tokens, subject.token)
    asked, last = inputs.asked_number("neuron"), len(subject.post) - 1
    neuron = strongest[0] if asked is None else min(asked, last)
    st.session_state["chosen_neuron"] = neuron
    with line:
        st.number_input(
            f"Neuron (0 to {last})",
            0,
            last,
            key="chosen_neuron",
            on_change=lambda: controls.put({"neuron": str(st.session_state["chosen_neuron"])}),
            width=260,
        )
    return neuron


def writes(subject: Subject, neuron: int) -> None:
    """What the neuron writes toward the vocabulary."""
    if not predicts(subject.here):
        st.info("This model has no output vocabulary.", icon=icons.INFO)
        return
    if not subject.is_read_out:
        st.info("No words are read from this encoder; its output goes to the decoder.", icon=icons.INFO)
        return
    if subject.here.model.weights.stacks[subject.stack].readout.transform is not None:
        st.info("This model's head is not linear.", icon=icons.INFO)
        return
    (change,) = feed_forward.directions(subject.weights, np.array([neuron]), subject.here.model.weights.W_U)
    vocabulary = subject.here.model.vocabulary
    order = np.argsort(-change, kind="stable")
    if len(named := _words(vocabulary, subject.here.model.tokenizer.special_tokens)) >= 2 * WORDS:
        order = order[np.isin(order, named)]
    shown = np.concatenate((order[:WORDS], order[-WORDS:]))
    words = [vocabulary[index] for index in shown]
    title = f"Words that neuron {neuron} promotes: its row of W_out times W_U"
    show("directions", figures.directions(words, change[shown], theme=theme()), title=title)
    st.caption("The last norm and later layers are left out.")


def _words(vocabulary: Sequence[str], special: Sequence[str]) -> list[int]:
    """Places of tokens with a letter: neither bytes, nor signs, nor special tokens."""
    named = enumerate(vocabulary)
    return [n for n, token in named if any(map(str.isalpha, token)) and token not in special and token[:5] != "[byte"]


def fires(subject: Subject, neuron: int) -> None:
    """The words of the shipped texts on which the neuron fires most."""
    heading = f"**Where neuron {neuron} fires most**"
    try:
        texts, peaks = _peaks(subject.here.model)
    except NoPeaks as error:
        st.markdown(heading)
        name = subject.here.model.name
        hint = f" Create it with `python -m scripts.find_neurons {name}`." if name in zoo.available() else ""
        st.info(markdown.plain(str(error)) + hint, icon=icons.INFO)
        return
    ours = isinstance(subject.here.model.tokenizer, Tokenizer)  # nobody knows what others have read
    known = ", in held-out sentences" if ours and texts in HELD_OUT else ""
    st.markdown(f"{heading}{known}:")
    lines, found = _lines(texts), peaks[subject.site]
    for text, token, value in zip(found.text[neuron], found.token[neuron], found.value[neuron], strict=True):
        tokens = _tokens(subject.here.model, lines[text], subject.stack)
        st.markdown(f"{decimal(float(value))}  {_marked(tokens, int(token))}")
    st.caption("Common Voice, CC0." if texts != "french.txt" else "Tatoeba, CC BY 2.0 FR.")


def _marked(tokens: tuple[str, ...], token: int) -> str:
    """Some tokens of a text in Markdown, one of them on a ground of its own."""
    first, last = max(0, token - AROUND), min(len(tokens), token + AROUND + 1)
    before, after = "".join(tokens[first:token]), "".join(tokens[token + 1 : last])
    marked = f":orange-background[{markdown.plain(visible(tokens[token]))}]"
    space = " " if tokens[token].startswith(" ") else ""
    return (
        f"{'…' * (first > 0)}{markdown.plain(before)}{space}{marked}{markdown.plain(after)}{'…' * (last < len(tokens))}"
    )


@shared
def _peaks(model: Model) -> tuple[str, dict[str, Peaks]]:
    places = [place / model.name for place in zoo.folders() if (place / model.name).is_dir()]
    return load((places[-1] if places else zoo.MODELS) / FILE, model.weights)


@st.cache_resource(show_spinner=False)
def _lines(name: str) -> list[str]:
    return (zoo.MODELS.parent / "texts" / name).read_text(encoding="utf-8").splitlines()


@shared
def _tokens(model: Model, text: str, stack: str) -> tuple[str, ...]:
    """The tokens that a stack reads of a text; a decoder that translates reads its own answer."""
    if stack == model.writes_from and model.config.architecture == "encoder-decoder":
        return models.run(model, text, sites=("decoder.0.mlp.pre",)).tokens
    return model.encode(text).tokens


def without(subject: Subject, neuron: int, strongest: list[int]) -> None:
    """The prediction with neurons switched off at every token."""
    here = subject.here
    if not predicts(here):
        return
    asked = st.segmented_control("Switch off", OFF, default=OFF[0], key="neurons_off", bind="query-params") or OFF[0]
    numbers = {OFF[0]: (neuron,), OFF[1]: tuple(strongest[:10]), OFF[2]: None}[asked]
    after = _run(here.model, here.text, subject.site, numbers)
    token = here.target
    old, new = (softmax(run.row("logits", token)) for run in (here.trace, after))
    moved = int(np.abs(new - old).argmax())
    word = markdown.plain(visible(here.model.vocabulary[moved]))
    with_them, without_them = (per_cent(float(p[moved])) for p in (old, new))
    found = f"“{word}”: **{with_them}** with them, **{without_them}** without."
    if with_them == without_them:
        found = f"“{word}”, and even that hardly changes: **{with_them}**."
    st.markdown(
        f"{before_after.place(here)} {markdown.plain(quoted(here.trace.tokens)[token])} the probability that "
        f"changes most is that of {found}"
    )
    before_after.next_words(here, after, token, series=SERIES)


@shared
def _run(model: Model, text: str, site: str, numbers: tuple[int, ...] | None) -> Trace:
    if numbers is None:
        return models.run(model, text, (Scale(site=f"{site}.out", factor=0.0),))
    return models.run(
        model, text, tuple(Scale(site=f"{site}.post", factor=0.0, coordinate=number) for number in numbers)
    )
