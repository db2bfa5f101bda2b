"""The page on positions: attention is blind to order, and simple ways to tell it that fail."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis import naive_positions, word_order
from tfmviz.edits import SetMask
from tfmviz.plots import positions as figures
from tfmviz.plots.labels import visible
from tfmviz.plots.numbers import tiny
from tfmviz.plots.pairs import pairs
from tfmviz.plots.positions import Line
from tfmviz.trace import Array, Encoding
from tfmviz.ui import controls, models
from tfmviz.ui.figures import show, theme
from tfmviz.zoo import ZooModel

BLIND = "twins-none"
SIGHTED = "twins-sinusoidal"

ORDER = re.compile(r"\d{1,3}(\.\d{1,3}){0,200}")

BLIND_WITHIN = 1e-3
"""Differences below are float32's: the same sum in another order rounds differently, by a few millionths."""

SECOND = "Man eats small dinosaur."


def twin(name: str) -> ZooModel | None:
    """A model that a part needs, whatever the sidebar says; None, with a sentence, where it is not there."""
    if name in zoo.available():
        return models.load(name)
    st.info(f"This part needs the model {controls.code(name)}, which is not in `assets/models/`.", icon="ℹ️")
    return None


def order_blind(text: str) -> None:
    """The reader moves the words; the vectors of a model without positions stay, those of its twin do not."""
    blind = twin(BLIND)
    sighted = _choose_twin(blind) if blind else None
    if blind is None or sighted is None:
        return
    encoding = blind.tokenizer.encode(text, max_len=blind.config.max_len)
    if encoding.n_dropped:
        st.info(f"The twins read {len(encoding)} tokens at a time: the rest of your text is left out here.", icon="✂️")
    parts = word_order.pieces(encoding)
    if len(parts) < 2:
        st.info("One word has no order. Type at least two words above.", icon="ℹ️")
        return
    order = _ask_order(encoding, parts)
    moved = word_order.reordered(parts, order)
    after = tuple(encoding.ids[token] for token in moved)
    changes = {
        sees: [
            word_order.largest_changes(_last(name, encoding.ids, sees), _last(name, after, sees), moved)
            for name in (blind.name, sighted.name)
        ]
        for sees in ("everything", "the past")
    }
    for column, sees in zip(st.columns(2), changes, strict=True):
        with column:
            _changes(encoding, *changes[sees], names=(blind.name, sighted.name), sees=sees)
    with st.expander("The numbers"):
        _numbers(encoding, moved, changes, names=(blind.name, sighted.name))


def _choose_twin(blind: ZooModel) -> ZooModel | None:
    """Asks for a model that differs from the blind one in its positions only."""
    names = [
        entry.name
        for entry in zoo.catalogue()
        if entry.config and entry.name != blind.name and replace(entry.config, positions="none") == blind.config
    ]
    if not names:
        return twin(SIGHTED)
    first = names.index(SIGHTED) if SIGHTED in names else 0
    name = st.selectbox("Its twin with positions", names, index=first, key="twin", bind="query-params")
    chosen = models.load(name)
    if chosen.vocabulary != blind.vocabulary:
        st.info(f"{controls.code(name)} splits text in another way, so it cannot be compared. Choose another twin.")
        return None
    return chosen


@st.cache_resource(show_spinner=False, max_entries=64)
def _last(name: str, ids: tuple[int, ...], sees: str) -> Array:
    """Every token's vector after the last layer, (len, d_model); `sees` "everything" takes the causal mask away."""
    model = models.load(name)
    everything = ((True,) * len(ids),) * len(ids)
    edits = tuple(SetMask(layer=layer, mask=everything) for layer in model.config.layers)
    site = f"decoder.{model.config.n_layers - 1}.resid_post"
    return model.trace(ids, edits if sees == "everything" else (), sites=(site,))[site]


def _ask_order(encoding: Encoding, parts: list[tuple[int, ...]]) -> list[int]:
    """Draws the words in their order, to be moved; returns the order. It is in the address."""
    n = len(parts)
    order = _asked_order(n)
    names = [_word(encoding, part) for part in parts]
    st.pills(
        "The words in their new order. Click two of them: they change places.",
        range(n),
        selection_mode="multi",
        format_func=lambda place: controls.plain(names[order[place]]),
        key="swap",
        on_change=lambda: _swap(order),
    )
    new = {
        "Shuffle": random.sample(range(n), n),
        "Turn round": list(range(n))[::-1],
        "First ⇄ last": _first_and_last(n),
        "As typed": list(range(n)),
    }
    for column, (label, places) in zip(st.columns(4), new.items(), strict=True):
        column.button(label, on_click=_put_order, args=(places,), width="stretch")
    if order == list(range(n)):
        st.markdown("The words stand as typed, so nothing has moved. Click two words, or shuffle.")
    return order


def _asked_order(n: int) -> list[int]:
    """What the address says; at first the first and the last word have changed places."""
    asked = st.query_params.get("order", "")
    if not asked:
        return _first_and_last(n)
    order = [int(place) for place in asked.split(".")] if ORDER.fullmatch(asked) else []
    if word_order.is_order(order, n):
        return order
    st.info(f"The order in the address is not one of {n} words, so the first and the last change places.", icon="ℹ️")
    return _first_and_last(n)


def _first_and_last(n: int) -> list[int]:
    """The last sign of a sentence, its full stop, stays where it is."""
    order, last = list(range(n)), n - 2 if n > 2 else n - 1
    order[0], order[last] = order[last], order[0]
    return order


def _swap(order: list[int]) -> None:
    """Once two words are clicked they change places."""
    clicked = st.session_state["swap"]
    if len(clicked) == 2:
        one, other = clicked
        order[one], order[other] = order[other], order[one]
        st.session_state["swap"] = []
        _put_order(order)


def _put_order(order: list[int]) -> None:
    st.session_state["swap"] = []
    controls.put({"order": ".".join(map(str, order))})


def _word(encoding: Encoding, part: tuple[int, ...]) -> str:
    start, end = encoding.offsets[part[0]][0], encoding.offsets[part[-1]][1]
    return visible(encoding.text[start:end])


def _changes(encoding: Encoding, blind: Array, sighted: Array, *, names: tuple[str, str], sees: str) -> None:
    """How far the vectors have moved in both models under one mask."""
    schemes = ("no positions", models.load(names[1]).config.positions)
    free = sees == "everything"
    st.markdown(
        "**Every token sees all** (causal mask taken away)" if free else "**Every token sees the past** (as trained)"
    )
    show(
        pairs(
            encoding.tokens,
            blind,
            sighted,
            series=schemes,
            title="largest change of a number",
            token_title="token, as typed",
            top=None,
            theme=theme(),
        ),
        key=f"order_{sees.split()[-1]}",
        alt=f"Largest change after the last layer: {names[0]} {tiny(float(blind.max()))}, {names[1]} "
        f"{sighted.max():.2f}.",
    )
    largest = f"{controls.code(names[0])}: **{_size(blind)}** at most. {controls.code(names[1])}: **{_size(sighted)}**."
    if free and blind.max() < BLIND_WITHIN:
        why = "Each word's vector is the same wherever the word stands, up to rounding: a sum over keys has no order."
    elif free:
        why = "It does see the order."
    else:
        why = (
            "Both models see the order now: the first token sees one token, the second sees two. **The causal mask "
            "itself tells the order**, so a decoder can do without positions."
        )
    st.markdown(f"{largest} {why if blind.max() or sighted.max() else ''}")


def _size(changes: Array) -> str:
    largest = float(changes.max())
    return tiny(largest) if largest < BLIND_WITHIN else f"{largest:.2f}"


def _numbers(encoding: Encoding, moved: list[int], changes: dict[str, list[Array]], *, names: tuple[str, str]) -> None:
    """The same in figures, token by token."""
    place = np.argsort(moved)
    columns = {
        f"{name}, sees {sees}": [_size(value) for value in values]
        for sees, both in changes.items()
        for name, values in zip(names, both, strict=True)
    }
    st.dataframe(
        {"token": [visible(t) for t in encoding.tokens], "position": range(len(moved)), "new position": place}
        | columns,
        hide_index=True,
        height=300,
    )


def appended_index(text: str) -> None:
    """The index as one more number: it grows until words look alike."""
    model = twin(SIGHTED)
    if model is None:
        return
    vectors = _different_words(model.name, text)
    if len(vectors) < 2:
        st.info("This compares different words. Type at least two.", icon="ℹ️")
        return
    with_index, with_waves = _alike(model.name, text)
    show(
        figures.lines(
            [Line(name="index appended", y=with_index), Line(name="sinusoid added", y=with_waves)],
            title="mean cosine of different words",
            y_range=(min(-0.05, float(with_waves.min()), float(with_index.min())), 1.02),
            theme=theme(),
        ),
        key="appended",
        alt=f"Mean cosine between different words with the index appended: {with_index[0]:.2f} at position 0, "
        f"{with_index[-1]:.2f} at {len(with_index) - 1}; sinusoids: {with_waves.min():.2f} to {with_waves.max():.2f}.",
    )
    half = int(np.argmax(with_index > 0.5)) if with_index.max() > 0.5 else len(with_index)
    st.markdown(
        f"The words of your sentence as {controls.code(model.name)} embeds them, put at one position and compared with "
        f"one another. Without positions their mean cosine is {with_index[0]:.2f}. With the index appended it passes "
        f"0.5 at position {half} and is **{with_index[-1]:.3f}** at {len(with_index) - 1}: **the index grows without "
        "bound and drowns the words**. The sinusoid's numbers stay between −1 and 1, and it hardly changes."
    )


@st.cache_resource(show_spinner=False, max_entries=16)
def _different_words(name: str, text: str) -> Array:
    """Embeddings of the different tokens of a text, as the model uses them: (n, d_model)."""
    trace = models.load(name).trace(text, sites=("embed",))
    _, first = np.unique(trace.target.ids, return_index=True)
    return trace["embed"][np.sort(first)]


@st.cache_resource(show_spinner=False, max_entries=16)
def _alike(name: str, text: str) -> tuple[Array, Array]:
    """Mean cosine between different words at each of 200 positions: index appended, sinusoid added."""
    from tfmviz.positions.sinusoidal import sinusoids

    vectors = _different_words(name, text)
    waves = sinusoids(200, vectors.shape[1]).numpy()
    return (
        naive_positions.alike_with_index(vectors, range(200)),
        np.array([naive_positions.alikeness(vectors, wave) for wave in waves]),
    )


def fractions(text: str, model: ZooModel) -> None:
    """index / (N - 1) for the reader's sentence and for another one."""
    second = st.text_input("Another sentence", SECOND, key="other", bind="query-params", max_chars=200)
    texts = [
        model.tokenizer.encode(words, max_len=model.config.max_len).tokens for words in (text, second.strip() or SECOND)
    ]
    places = [naive_positions.fractions(len(tokens)) for tokens in texts]
    sizes = [len(tokens) for tokens in texts]
    steps = [f"1/{n - 1} = **{1 / (n - 1):.3f}**" if n > 1 else "undefined, 0/0" for n in sizes]
    halfway = [tokens[round((len(tokens) - 1) / 2)] for tokens in texts]
    show(
        figures.rulers(texts, places, theme=theme()),
        key="fractions",
        alt=f"{sizes[0]} tokens {steps[0]} apart; {sizes[1]} tokens {steps[1]} apart.".replace("*", ""),
    )
    st.markdown(
        f"From one token to the next it is {steps[0]} in the sentence with {sizes[0]} tokens and {steps[1]} in the one "
        f"with {sizes[1]}. **The same distance means different things in different sentences**: ½ is "
        f"“{controls.plain(visible(halfway[0]))}”, token {(sizes[0] - 1) / 2:g}, in one and "
        f"“{controls.plain(visible(halfway[1]))}”, token {(sizes[1] - 1) / 2:g}, in the other, and “the word before” "
        "has no number of its own. While a text is being written N is not even known."
    )


def counter() -> None:
    """Positions counted in bits beside sinusoids with as many numbers."""
    from tfmviz.positions.sinusoidal import sinusoids

    n_bits = st.slider("Bits", 2, 8, 4, key="bits", bind="query-params")
    length = min(2**n_bits, 64)
    values = naive_positions.binary(length, n_bits)
    show(
        figures.bits(values, theme=theme()),
        key="bits_map",
        alt="; ".join(f"bit {bit} changes every {2**bit} positions" for bit in range(n_bits)) + ".",
    )
    waves = sinusoids(length, 2 * (-(-n_bits // 2))).numpy()
    steps = [naive_positions.steps(table) for table in (values, waves)]
    middle = length // 2
    flipped = int(np.abs(values[middle] - values[middle - 1]).sum())
    st.markdown(
        f"Each bit changes half as often as the one above it, and together they name {2**n_bits} positions: the right "
        f"idea. But from {middle - 1} to {middle}, **{flipped} bits jump at once**, from 0 to 1 only one, and nothing "
        "lies in between. A sine and a cosine for each frequency are the same counter without jumps:"
    )
    show(
        figures.lines(
            [Line(name="bits", y=steps[0]), Line(name="sines and cosines", y=steps[1])],
            title="distance to the next position",
            y_range=(0, 1.08 * float(steps[0].max())),
            theme=theme(),
        ),
        key="bit_steps",
        alt=f"Bits: {steps[0].min():.2f} to {steps[0].max():.2f}; sines and cosines: always {steps[1][0]:.2f}.",
    )
