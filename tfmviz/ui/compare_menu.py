"""Compare with …: B differs from A, the page itself, in one thing, named in the address: `with=another sentence`."""

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
from tfmviz.ui import controls, icons, inputs, live, models, url
from tfmviz.ui.lesson import PageContext, control_row
from tfmviz.ui.model_names import name_of, named
from tfmviz.ui.sentences import changed, in_one_line
from tfmviz.words import markdown

What = Literal[
    "another sentence", "another model", "another head", "a head off", "another temperature", "another scheme"
]

SENTENCES: tuple[What, ...] = ("another sentence",)

SENTENCES_AND_MODELS: tuple[What, ...] = ("another sentence", "another model")

SENTENCES_AND_HEADS_OFF: tuple[What, ...] = ("another sentence", "a head off")

WITHOUT_HEADS: tuple[What, ...] = ("another sentence", "another model", "a head off")
"""For a page where the choice of head makes no difference."""

WITH_HEADS: tuple[What, ...] = ("another sentence", "another model", "another head", "a head off")

SCHEMES: tuple[What, ...] = ("another scheme",)

MENU, UNUSED = 215, 145
"""Pixels of the menu, open and unused; the sentence takes the rest."""


def toolbar(options: Sequence[What], *, of: Sequence[Architecture] = ()) -> Callable[[], None]:
    """Draws the choice in the sentence's line.

    Args:
        of: the architectures that the page can compare; none: all.
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
                width=MENU if url.chosen("with") else UNUSED,
            )

    return draw


def other(ctx: PageContext, options: Sequence[What], *, alike: bool = False, whole: bool = False) -> PageContext | None:
    """Draws the choice of B; None where nothing is compared, or B cannot be read.

    Args:
        alike: B's model must have A's architecture and a head that writes.
        whole: the page reads the whole text, even beyond the model's limit.
    """
    match asked if (asked := st.session_state.get("with")) in options else None:
        case "another sentence":
            return _sentence(ctx, whole=whole)
        case "another model":
            return _model(ctx, alike=alike)
        case "another head":
            layer, head = _head(ctx, "b", _unlike)
            return replace(ctx, choice=replace(ctx.choice, layer=layer, head=head))
        case "a head off":
            layer, head = _head(ctx, "without", _needed)
            return replace(ctx, edits=(AblateHead(layer=layer, head=head),))
        case "another temperature":
            control_row("b-temperature").slider(
                "Temperature of B", 0.1, 2.0, 1.5, 0.1, key="b_temperature", bind="query-params"
            )
            return replace(ctx)
    return None


def is_requested(options: Sequence[What]) -> bool:
    """True for one of these ways; for a page that draws the controls itself."""
    return st.session_state.get("with") in options


def follow(ctx: PageContext, ctx_b: PageContext) -> None:
    """Lets the pictures of A's and B's head follow each key in either sentence, if one model computes both."""
    if ctx.model.name != ctx_b.model.name:
        return
    is_other = st.session_state.get("with") == "another sentence"
    off = [
        f"{PART_CODES[edit.layer.split('.')[0]]}{edit.layer.split('.')[1]}.{edit.head}"
        for edit in ctx_b.edits
        if isinstance(edit, AblateHead)
    ]
    live.follow_changes(
        ctx,
        "b" if is_other else "",
        ctx_b.text if is_other else ",".join(off),
        *live.PAIRED,
        "predictions",
        "predictions_b",
        factor=0.0,
        usual=(ctx.query, ctx.key),
        other={"layer": ctx_b.choice.layer, "head": ctx_b.choice.head},
    )


def temperature() -> float | None:
    """B's temperature; None where something else differs."""
    return st.session_state["b_temperature"] if st.session_state.get("with") == "another temperature" else None


def titles(ctx: PageContext, ctx_b: PageContext) -> tuple[str, str]:
    match st.session_state.get("with"):
        case "another model":
            return f"A, {name_of(ctx.model.name)}", f"B, {name_of(ctx_b.model.name)}"
        case "another head":
            a, b = (f"head {side.choice.layer_index}.{side.choice.head}" for side in (ctx, ctx_b))
            return f"A, {a}", f"B, {b}"
        case "a head off":
            (off,) = ctx_b.edits
            assert isinstance(off, AblateHead)
            return "A", f"B, without head {off.layer.split('.')[1]}.{off.head}"
        case "another temperature":
            return "A", f"B, temperature {temperature():g}"
    return "A", "B"


def _sentence(ctx: PageContext, *, whole: bool) -> PageContext | None:
    """Opens with A's sentence, one word changed: two equal ones would show no difference."""
    text = st.text_area(
        "The other sentence (press Enter)",
        changed(ctx.text),
        height="content",
        key="b",
        bind="query-params",
        max_chars=MOST_TYPED,
        label_visibility="collapsed",
        placeholder="The other sentence: type it and press Enter",
    )
    text = in_one_line(text or "")
    if not text.strip():
        return replace(ctx)
    encoded = ctx.model.encode(text)
    if not encoded.ids:
        st.warning("The other sentence contains nothing that the model reads. Type at least one visible character.")
        return None
    if not whole:
        controls.say_what_was_cut(encoded, f"In the other sentence, {markdown.code(ctx.model.name)} reads")
    return replace(ctx, text=text)


def _model(ctx: PageContext, *, alike: bool) -> PageContext | None:
    own = ctx.model.config
    shapes = {
        name: other
        for name, other in _shapes().items()
        if name != ctx.model.name and (not alike or (other.architecture == own.architecture and other.head != "none"))
    }
    if not shapes:
        st.info("There is no other model here.", icon=icons.INFO)
        return None
    fitting = [one.model for one in named(shapes)]
    first = next((name for name in fitting if shapes[name].architecture == own.architecture), fitting[0])
    asked = url.text("b_model", default=first)
    st.session_state["b_model"] = asked if asked in fitting else first  # the address holds no name of the menu
    name = control_row("b-model").selectbox(
        "The other model",
        fitting,
        key="b_model",
        on_change=lambda: url.put({"b_model": st.session_state["b_model"]}),
        format_func=name_of,
        width=260,
    )
    called = markdown.plain(name_of(name))
    if asked not in fitting:
        st.info(f"There is no other model {markdown.code(asked)} here. B is {called}.", icon=icons.INFO)
    model = models.load(name)
    kind = kind_of(ctx.choice.layer)
    layers = [layer for layer in model.config.layers if kind_of(layer) == kind] or list(model.config.layers)
    layer = layers[min(ctx.choice.layer_index, len(layers) - 1)]
    choice = controls.Selection(model=name, layer=layer, head=min(ctx.choice.head, model.config.attention.n_heads - 1))
    a, b = (f"{one.layer_index}.{one.head}" for one in (ctx.choice, choice))
    if a != b:
        st.info(f"{called} has no head {a}: B shows head {b}.", icon=icons.INFO)
    return replace(ctx, model=model, choice=choice)


def _shapes() -> dict[str, Facts]:
    return {entry.name: entry.config for entry in models.entries() if entry.config is not None}


def _head(ctx: PageContext, name: str, opens: Callable[[PageContext], tuple[int, int]]) -> tuple[str, int]:
    keys = f"{name}_layer", f"{name}_head"
    is_known = url.has(*keys) or any(key in st.session_state for key in keys)
    first = (ctx.choice.layer_index, ctx.choice.head) if is_known else opens(ctx)
    layers, n_heads = _layers(ctx), ctx.model.config.attention.n_heads
    with control_row(f"{name}-head"):
        layer = _number("Layer", len(layers), first[0], key=keys[0])
        head = _number("Head", n_heads, first[1], key=keys[1])
    return layers[layer], head


def _unlike(ctx: PageContext) -> tuple[int, int]:
    """The head whose attention differs most from the chosen one's."""
    patterns = np.stack([ctx.trace[f"{layer}.pattern"] for layer in _layers(ctx)])  # (layer, head, query, key)
    own = patterns[ctx.choice.layer_index, ctx.choice.head]
    layer, head = divmod(int(np.abs(patterns - own).sum(axis=(-2, -1)).argmax()), patterns.shape[1])
    return layer, head


MOST_TRIED = 8
"""Heads that are switched off in turn, one pass each, before the reader has chosen one."""


def _needed(ctx: PageContext) -> tuple[int, int]:
    """The head of the previous layer that most affects the chosen one's attention; in the first layer, the head itself.

    Only the first `MOST_TRIED` are tried: a large model may take a second per pass.
    """
    before, site = ctx.choice.layer_index - 1, f"{ctx.choice.layer}.pattern"
    if before < 0:
        return 0, ctx.choice.head
    n_heads = min(ctx.model.config.attention.n_heads, MOST_TRIED)
    off = [AblateHead(layer=_layers(ctx)[before], head=n) for n in range(n_heads)]
    runs = [models.run(ctx.model, ctx.text, (edit,), sites=(site,))[site] for edit in off]
    return before, int(np.abs(np.stack(runs) - ctx.trace[site])[:, ctx.choice.head].sum(axis=(-2, -1)).argmax())


def _layers(ctx: PageContext) -> list[str]:
    return [layer for layer in ctx.model.config.layers if kind_of(layer) == kind_of(ctx.choice.layer)]


def _number(label: str, count: int, first: int, *, key: str) -> int:
    if count == 1:
        return 0
    inputs.at_most(key, count - 1)
    return int(st.selectbox(label, range(count), min(first, count - 1), key=key, bind="query-params", width=110))
