"""Compare with …: a second sentence, model or head, or the same without a head, beside what the page shows.

What the page shows is A, the other one B. They differ in one thing, which the address names: `with=another sentence`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import streamlit as st

from tfmviz.constants import MOST_TYPED, PART_CODES
from tfmviz.record.edits import AblateHead
from tfmviz.record.facts import Architecture, Facts
from tfmviz.record.trace import kind_of
from tfmviz.ui import controls, icons, live, models
from tfmviz.ui.lesson import Lesson, line
from tfmviz.ui.named import name_of, named
from tfmviz.ui.sentences import changed, in_one_line
from tfmviz.words import markdown

What = Literal[
    "another sentence", "another model", "another head", "a head off", "another temperature", "another scheme"
]
"""What may differ between A and B."""

SENTENCES: tuple[What, ...] = ("another sentence",)
"""On a page without a model to choose."""

SENTENCES_AND_MODELS: tuple[What, ...] = ("another sentence", "another model")

SENTENCES_AND_HEADS_OFF: tuple[What, ...] = ("another sentence", "a head off")

WITHOUT_HEADS: tuple[What, ...] = ("another sentence", "another model", "a head off")
"""On a page on which one head is like another."""

WITH_HEADS: tuple[What, ...] = ("another sentence", "another model", "another head", "a head off")

SCHEMES: tuple[What, ...] = ("another scheme",)
"""On a page about position schemes."""

MENU, UNUSED = 215, 145
"""Pixels of the menu, and of one that nothing is chosen in: the sentence has the rest."""


def along(options: Sequence[What], *, of: Sequence[Architecture] = ()) -> Callable[[], None]:
    """What draws the choice in the line of the sentence.

    Args:
        of: the kinds of models that the page can compare; none: all.
    """

    def draw() -> None:
        if not of or _shapes()[controls.choice().model].architecture in of:
            st.selectbox(
                "Compare with",
                options,
                index=None,
                key="with",
                bind="query-params",
                placeholder="Compare…",
                label_visibility="collapsed",
                width=MENU if st.session_state.get("with", st.query_params.get("with")) else UNUSED,
            )

    return draw


def other(here: Lesson, options: Sequence[What], *, alike: bool = False, whole: bool = False) -> Lesson | None:
    """Asks in which way B differs, and gives B; None where the reader compares nothing, or B cannot be read.

    Args:
        options: those of `along`.
        alike: whether B's model must write as A's does: one of its architecture, with a head.
        whole: whether the page reads the whole text, however much the model does.
    """
    match asked if (asked := st.session_state.get("with")) in options else None:
        case "another sentence":
            return _sentence(here, whole=whole)
        case "another model":
            return _model(here, alike=alike)
        case "another head":
            layer, head = _head(here, "b", _unlike)
            return replace(here, choice=replace(here.choice, layer=layer, head=head))
        case "a head off":
            layer, head = _head(here, "without", _needed)
            return replace(here, edits=(AblateHead(layer=layer, head=head),))
        case "another temperature":
            line("b-temperature").slider(
                "Temperature of B", 0.1, 2.0, 1.5, 0.1, key="b_temperature", bind="query-params"
            )
            return replace(here)
    return None


def asks(options: Sequence[What]) -> bool:
    """Whether B differs in one of these ways, for a page that asks for the rest itself."""
    return st.session_state.get("with") in options


def follow(here: Lesson, there: Lesson) -> None:
    """Lets the pictures of a head of A and B follow each key in either's sentence, if one model computes both."""
    if here.model.name != there.model.name:
        return
    is_other = st.session_state.get("with") == "another sentence"
    off = [
        f"{PART_CODES[edit.layer.split('.')[0]]}{edit.layer.split('.')[1]}.{edit.head}"
        for edit in there.edits
        if isinstance(edit, AblateHead)
    ]
    live.follow_changes(
        here,
        "b" if is_other else "",
        there.text if is_other else ",".join(off),
        *live.PAIRED,
        "predictions",
        "predictions_b",
        factor=0.0,
        usual=(here.query, here.key),
        other={"layer": there.choice.layer, "head": there.choice.head},
    )


def temperature() -> float | None:
    """B's temperature, where it differs in that."""
    return st.session_state["b_temperature"] if st.session_state.get("with") == "another temperature" else None


def titles(here: Lesson, there: Lesson) -> tuple[str, str]:
    """What stands above A and B."""
    match st.session_state.get("with"):
        case "another model":
            return f"A, {name_of(here.model.name)}", f"B, {name_of(there.model.name)}"
        case "another head":
            a, b = (f"head {side.choice.layer_index}.{side.choice.head}" for side in (here, there))
            return f"A, {a}", f"B, {b}"
        case "a head off":
            (off,) = there.edits
            assert isinstance(off, AblateHead)
            return "A", f"B, without head {off.layer.split('.')[1]}.{off.head}"
        case "another temperature":
            return "A", f"B, temperature {temperature():g}"
    return "A", "B"


def _sentence(here: Lesson, *, whole: bool) -> Lesson | None:
    """Asks for B's sentence. It opens with A's, a word of it changed: who compares it with itself sees nothing."""
    text = st.text_area(
        "The other sentence (press Enter)",
        changed(here.text),
        height="content",
        key="b",
        bind="query-params",
        max_chars=MOST_TYPED,
        label_visibility="collapsed",
        placeholder="The other sentence: type it and press Enter",
    )
    text = in_one_line(text or "")
    if not text.strip():
        return replace(here)
    encoded = here.model.encode(text)
    if not encoded.ids:
        st.warning("The other sentence contains nothing that the model reads. Type at least one visible character.")
        return None
    if not whole:
        controls.say_what_was_cut(encoded, f"In the other sentence, {markdown.code(here.model.name)} reads")
    return replace(here, text=text)


def _model(here: Lesson, *, alike: bool) -> Lesson | None:
    own = here.model.config
    shapes = {
        name: other
        for name, other in _shapes().items()
        if name != here.model.name and (not alike or (other.architecture == own.architecture and other.head != "none"))
    }
    if not shapes:
        st.info("There is no other model here.", icon=icons.INFO)
        return None
    fitting = [one.model for one in named(shapes)]
    first = next((name for name in fitting if shapes[name].architecture == own.architecture), fitting[0])
    asked = st.query_params.get("b_model", first)
    st.session_state["b_model"] = asked if asked in fitting else first  # the address holds no name of the menu
    name = line("b-model").selectbox(
        "The other model",
        fitting,
        key="b_model",
        on_change=lambda: controls.put({"b_model": st.session_state["b_model"]}),
        format_func=name_of,
        width=260,
    )
    called = markdown.plain(name_of(name))
    if asked not in fitting:
        st.info(f"There is no other model {markdown.code(asked)} here. B is {called}.", icon=icons.INFO)
    model = models.load(name)
    kind = kind_of(here.choice.layer)
    layers = [layer for layer in model.config.layers if kind_of(layer) == kind] or list(model.config.layers)
    layer = layers[min(here.choice.layer_index, len(layers) - 1)]
    choice = controls.Choice(model=name, layer=layer, head=min(here.choice.head, model.config.attention.n_heads - 1))
    a, b = (f"{one.layer_index}.{one.head}" for one in (here.choice, choice))
    if a != b:
        st.info(f"{called} has no head {a}: B shows head {b}.", icon=icons.INFO)
    return replace(here, model=model, choice=choice)


def _shapes() -> dict[str, Facts]:
    return {entry.name: entry.config for entry in models.entries() if entry.config is not None}


def _head(here: Lesson, name: str, opens: Callable[[Lesson], tuple[int, int]]) -> tuple[str, int]:
    """Asks for another head of the same kind of attention: the path of its layer, and its index.

    Args:
        name: what its keys in the address begin with.
        opens: gives layer and head of the one that B opens with.
    """
    keys = f"{name}_layer", f"{name}_head"
    is_known = any(key in st.session_state or key in st.query_params for key in keys)
    first = (here.choice.layer_index, here.choice.head) if is_known else opens(here)
    layers, n_heads = _layers(here), here.model.config.attention.n_heads
    with line(f"{name}-head"):
        layer = _number("Layer", len(layers), first[0], key=keys[0])
        head = _number("Head", n_heads, first[1], key=keys[1])
    return layers[layer], head


def _unlike(here: Lesson) -> tuple[int, int]:
    """The head whose attention on the text differs most from the chosen one's."""
    patterns = np.stack([here.trace[f"{layer}.pattern"] for layer in _layers(here)])  # (layer, head, query, key)
    own = patterns[here.choice.layer_index, here.choice.head]
    layer, head = divmod(int(np.abs(patterns - own).sum(axis=(-2, -1)).argmax()), patterns.shape[1])
    return layer, head


MOST_TRIED = 8
"""Heads that are switched off in turn, a pass for each, before the reader has chosen one."""


def _needed(here: Lesson) -> tuple[int, int]:
    """The head of the layer before without which the chosen one's attention moves most; in the first layer, itself.

    Of a layer with more heads than `MOST_TRIED` the first ones are tried: a large model may take a second for a pass.
    """
    before, site = here.choice.layer_index - 1, f"{here.choice.layer}.pattern"
    if before < 0:
        return 0, here.choice.head
    n_heads = min(here.model.config.attention.n_heads, MOST_TRIED)
    off = [AblateHead(layer=_layers(here)[before], head=n) for n in range(n_heads)]
    runs = [models.run(here.model, here.text, (edit,), sites=(site,))[site] for edit in off]
    return before, int(np.abs(np.stack(runs) - here.trace[site])[:, here.choice.head].sum(axis=(-2, -1)).argmax())


def _layers(here: Lesson) -> list[str]:
    """The attention layers of the chosen kind."""
    return [layer for layer in here.model.config.layers if kind_of(layer) == kind_of(here.choice.layer)]


def _number(label: str, count: int, first: int, *, key: str) -> int:
    if count == 1:
        return 0
    controls.at_most(key, count - 1)
    return int(st.selectbox(label, range(count), min(first, count - 1), key=key, bind="query-params", width=110))
