from __future__ import annotations

import random
import re
from dataclasses import fields

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfmviz import zoo
from tfmviz.analysis import word_order
from tfmviz.record.edits import SetMask
from tfmviz.record.facts import Architecture, Facts
from tfmviz.record.model import Model
from tfmviz.record.trace import Array, Encoding
from tfmviz.ui import controls, icons, inputs, lesson, models, side, url
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import show_columns, show_pairs
from tfmviz.ui.lesson import PageContext
from tfmviz.words import markdown
from tfmviz.words.labels import visible
from tfmviz.words.numbers import tiny

SIGHTED = "twins-sinusoidal"

PAIRS = {SIGHTED: "twins-none", "chinese-sinusoidal": "chinese-none"}
"""Models with positions that the page may open on, and their twins without. Others can be chosen."""

MASKS: dict[Architecture, tuple[str, str]] = {
    "decoder-only": ("causal mask removed", "as trained"),
    "encoder-only": ("as trained", "causal mask added"),
}
"""Names of the masks under which every token sees all, and under which it sees the past."""

ORDER = re.compile(r"\d{1,3}(\.\d{1,3}){0,200}")

BLIND_WITHIN = 1e-3
"""Smaller differences are rounding: in float32 the same sum in another order differs by a few millionths."""


def order_blind(ctx: PageContext) -> None:
    """Moved words leave the vectors of a model without positions unchanged, but not those of its twin."""
    words, line = lesson.control_row("words"), lesson.control_row("order")
    with line:
        blind, sighted = _choose_twins(ctx.text)
    if blind is None or sighted is None:
        return
    encoding = blind.encode(ctx.text)
    controls.say_what_was_cut(encoding, "The twins read")
    parts = word_order.pieces(encoding)
    if len(parts) < 2:
        st.info("One word has no order. Type at least two.", icon=icons.INFO)
        return
    order = _ask_order(encoding, parts, words, line)
    moved = word_order.reordered(parts, order)
    texts = encoding.ids, tuple(encoding.ids[token] for token in moved)
    changes: dict[str, list[Array]] = {}
    for sees in ("everything", "the past"):
        both = [_last(model, texts, sees) for model in (blind, sighted)]
        changes[sees] = [word_order.largest_changes(before, after, moved) for before, after in both]
    for column, sees in zip(st.columns(2), changes, strict=True):
        with column:
            _changes(encoding, *changes[sees], pair=(blind, sighted), sees=sees)
    with st.expander("The numbers", key=side.key("order_numbers"), on_change="rerun") as unfolded:
        if unfolded.open:
            columns = {
                f"{model.name}, sees {sees}": [_size(value) for value in values]
                for sees, both in changes.items()
                for model, values in zip((blind, sighted), both, strict=True)
            }
            places = {"position": range(len(moved)), "new position": np.argsort(moved)}
            numbers = {
                "token": [visible(token) for token in encoding.tokens],
                **{name: list(map(str, values)) for name, values in places.items()},
                **columns,
            }
            show_columns("moves", numbers, caption="How far each token's output moves.", low=True)


def _choose_twins(text: str) -> tuple[Model | None, Model | None]:
    """Draws the choice, at first of the model with positions that cuts the text into the fewest tokens.

    Returns its twin without positions, and itself; None for a missing one.
    """
    configs = {entry.name: entry.config for entry in zoo.catalogue() if entry.config}
    twins = {
        name: blind
        for blind in PAIRS.values()
        for name, config in configs.items()
        if blind in configs and name != blind and _differ_in_positions_only(config, configs[blind])
    }
    if not twins:
        return models.needed(next(iter(PAIRS.values()))), models.needed(next(iter(PAIRS)))
    names = sorted(twins)
    opening = [name for name in PAIRS if name in twins] or names
    first = min(opening, key=lambda name: len(models.load(name).tokenizer.pieces(text)))
    name = inputs.selectbox("Its twin with positions", names, index=names.index(first), key="twin", width=400)
    chosen, blind = models.load(name), models.load(twins[name])
    if chosen.vocabulary != blind.vocabulary:
        st.info(f"{markdown.code(name)} splits text differently.")
        return blind, None
    return blind, chosen


def _differ_in_positions_only(one: Facts, other: Facts) -> bool:
    return all(
        getattr(one, field.name) == getattr(other, field.name) for field in fields(one) if field.name != "positions"
    )


@cached_for_all
def _last(model: Model, texts: tuple[tuple[int, ...], ...], sees: str) -> Array:
    """(text, len, d_model), after the last layer; `sees` names the mask."""
    n = len(texts[0])
    mask = tuple(tuple(sees == "everything" or key <= query for key in range(n)) for query in range(n))
    edits = tuple(SetMask(layer=layer, mask=mask) for layer in model.config.layers)
    return zoo.experiments.values_at(
        model, f"{model.config.stacks[0]}.{model.config.n_layers - 1}.resid_post", texts, edits
    )


def _ask_order(encoding: Encoding, parts: list[tuple[int, ...]], *lines: DeltaGenerator) -> list[int]:
    """Draws the words to be moved and returns their order."""
    n = len(parts)
    ends = [(encoding.offsets[part[0]][0], encoding.offsets[part[-1]][1]) for part in parts]
    names = [visible(encoding.text[start:end]) for start, end in ends]
    order = _requested_order(names)
    words, buttons = lines
    inputs.pills(
        "Click two words to swap them",
        range(n),
        selection_mode="multi",
        format_func=lambda place: markdown.plain(names[order[place]]),
        key="swap",
        on_change=lambda: _swap(order),
        bind=None,
        line=words,
    )
    new = {
        "Shuffle": random.sample(range(n), n),
        "Reverse": list(range(n))[::-1],
        "First ⇄ last": _first_and_last(names),
        "As typed": list(range(n)),
    }
    for label, places in new.items():
        inputs.button(label, on_click=_put_order, args=(places,), line=buttons)
    if order == list(range(n)):
        st.markdown("Nothing has moved.")
    return order


def _requested_order(names: list[str]) -> list[int]:
    asked, n = url.text("order"), len(names)
    if not asked:
        return _first_and_last(names)
    order = [int(place) for place in asked.split(".")] if ORDER.fullmatch(asked) else []
    if word_order.is_order(order, n):
        return order
    st.info(f"The address has no order of {n} words; the first and last are swapped.", icon=icons.INFO)
    return _first_and_last(names)


def _first_and_last(names: list[str]) -> list[int]:
    """The order with the first and the last word swapped; a final full stop or the like stays."""
    last = len(names) - 1
    if last > 1 and not any(map(str.isalnum, names[last])):
        last -= 1
    order = list(range(len(names)))
    order[0], order[last] = order[last], order[0]
    return order


def _swap(order: list[int]) -> None:
    clicked = st.session_state["swap"]
    if len(clicked) == 2:
        one, other = clicked
        order[one], order[other] = order[other], order[one]
        st.session_state["swap"] = []
        _put_order(order)


def _put_order(order: list[int]) -> None:
    st.session_state["swap"] = []
    url.put({"order": ".".join(map(str, order))})


def _changes(encoding: Encoding, blind: Array, sighted: Array, *, pair: tuple[Model, Model], sees: str) -> None:
    names, schemes = [model.name for model in pair], ("no positions", pair[1].config.positions.kind)
    free = sees == "everything"
    removed, kept = MASKS[pair[0].config.architecture]
    show_pairs(
        f"order_{sees.split()[-1]}",
        encoding.tokens,
        blind,
        sighted,
        series=schemes,
        title="largest change in any coordinate",
        token_title="token, as typed",
        heading=f"Every token sees all ({removed})" if free else f"Every token sees the past ({kept})",
    )
    largest = f"{markdown.code(names[0])}: **{_size(blind)}** at most. {markdown.code(names[1])}: **{_size(sighted)}**."
    if free and blind.max() < BLIND_WITHIN:
        why = "A sum has no order."
    elif free:
        why = "It sees the order."
    else:
        why = "**The causal mask reveals the order**: the first token sees one token, the second two."
    st.markdown(f"{largest} {why if sighted.any() else ''}")


def _size(changes: Array) -> str:
    largest = float(changes.max())
    return tiny(largest) if largest < BLIND_WITHIN else f"{largest:.2f}"
