"""The reader's choices, the same on every page, all in the address: a link shows exactly what its sender saw.

Widgets that follow the address (`bind="query-params"`) drop an unusable value silently; `correct_address` first
replaces it by the nearest usable one and leaves a note. What only the explorer reads (several heads, filters …) is
the text `look`, which Python passes on unread.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import streamlit as st

from tfmviz.constants import ATTENTION_KINDS, LONGEST_LOOK, MOST_TYPED
from tfmviz.record.facts import Architecture, Facts
from tfmviz.record.marks import BARS
from tfmviz.record.trace import Encoding, kind_of
from tfmviz.ui import icons, inputs, menu, models, side, trained, url
from tfmviz.ui.router import goes_back
from tfmviz.ui.sentences import PAIR, Example, examples_for, in_one_line, nearest
from tfmviz.words.markdown import code

MENU = 100
"""In pixels."""

MAX_HEADS = 16
"""The most heads of a long text sent together."""

PINS = ("token", "to")
"""Pinned tokens by their names in the address: one, and one that it may attend to."""

LOOK = re.compile(rf"[a-z0-9:,. -]{{0,{LONGEST_LOOK}}}")

LOOKS = "choose its head"
"""The effect of a click on a map of heads; see `look_at`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """`layer`: path of an attention layer, such as "decoder.2.self_attn"."""

    model: str
    layer: str
    head: int

    @property
    def layer_index(self) -> int:
        return int(self.layer.split(".")[1])


def choose() -> None:
    """Draws the choice of model, attention, layer and head; stops the run if no model can be loaded."""
    configs = menu.loadable()
    correct_address(configs)
    model = menu.choose(configs)
    config = configs[model]
    kinds = kinds_of(config)
    name = kinds[-1]  # the attention nearest to the output
    if len(kinds) > 1:
        name = st.selectbox("Attention", kinds, key="kind", bind="query-params", index=len(kinds) - 1)
    start = examples_for(model)[0]
    index = int(start.layer.split(".")[1]) if start.layer else 0
    stack, part = next(kind for kind, shown in ATTENTION_KINDS.items() if shown == name).split(".")
    has_chosen_head()  # the steppers remove default values from the address
    layer = inputs.stepper("Layer", config.depth(stack), index, key="layer")
    head = inputs.stepper("Head", config.attention.n_heads, start.head, key="head")
    st.session_state["choice"] = Selection(model=model, layer=f"{stack}.{layer}.{part}", head=head)
    st.session_state["drawn"] = {key: st.session_state.get(key) for key in ("model", "kind", "layer", "head")}


def kinds_of(config: Facts) -> list[str]:
    return list(dict.fromkeys(ATTENTION_KINDS[kind_of(layer)] for layer in config.layers))


def are_outdated() -> bool:
    """The choices have changed since they were drawn."""
    drawn: dict[str, Any] = st.session_state["drawn"]
    return any(st.session_state.get(key) != value for key, value in drawn.items())


def choice() -> Selection:
    return st.session_state["choice"]


def sentence(model: str, *, opens: str = "") -> str:
    """Draws the sentence box and the menu of the lectures' sentences.

    Args:
        model: whose sentences the menu offers; "": no particular one.
        opens: the sentence to open with; "": the first of the menu.

    Returns:
        The text to show; while the box is empty, the last text.
    """
    first = (Example(opens),) if opens else ()
    reads_pairs = models.reads_pairs(model)
    examples = {example.text: example for example in (*first, *examples_for(model), *[PAIR] * reads_pairs)}
    _offer(examples)
    text = st.text_area(  # it wraps, so the whole sentence can be read; Enter ends it, see views/keys
        "Your sentence (press Enter)",
        next(iter(examples)),
        height="content",
        key="text",
        bind="query-params",
        max_chars=MOST_TYPED,
        on_change=forget_token,
        label_visibility="collapsed",
        placeholder=f"Type a sentence{f', or two with {BARS} between' * reads_pairs} and press Enter",
    )
    _menu(examples)
    if text and text.strip():
        text = in_one_line(text)
        st.session_state["last_text"] = text
        return text
    st.warning("Type a sentence. The figures still show the last one.")
    return st.session_state.get("last_text", next(iter(examples)))


def opens_with(own: str, usual: str, *, row: str, tab: str) -> str:
    """The sentence of the open tab, `own` in `tab` and else `usual`, until the reader or the address has another."""
    chosen = url.chosen(row)
    before, st.session_state[f"{row}_before"] = st.session_state.get(f"{row}_before"), chosen
    fits, other = (own, usual) if chosen == tab else (usual, own)
    if before != chosen and st.session_state.get("text") == other and not url.has("text"):
        st.session_state["text"] = fits
    return fits


def _menu(examples: Mapping[str, Example]) -> None:
    st.selectbox(
        "Example sentences",
        list(examples),
        index=None,
        key="example",
        placeholder="Try…",
        on_change=_take_example,
        args=(examples,),
        label_visibility="collapsed",
        width=MENU,
    )


def say_what_was_corrected() -> None:
    """Notes on values in the address that do not exist, until the next choice."""
    notes = st.session_state.get("notes", {})
    if current := [note for key, (value, note) in notes.items() if st.session_state.get(key, value) == value]:
        st.info(" ".join(current), icon=icons.INFO)


def say_what_was_cut(text: Encoding, reader: str) -> None:
    """A note if the text is longer than the model reads. `reader`: with a verb, "The twins read"."""
    if text.n_dropped:
        yours = "your two sentences" if "B" in text.segments else "your text"
        last = f"token of {yours} was" if text.n_dropped == 1 else f"{text.n_dropped} tokens of {yours} were"
        st.info(f"{reader} {len(text)} tokens at a time. The last {last} left out.", icon=icons.CUT)


def token(tokens: Sequence[str], *, text: str = "", first: int | None = None) -> int:
    """Position of the chosen token; until there is one, `first`, or else the default of a sentence of the lectures."""
    return nearest(tokens, pinned(), model=choice().model, text=text, first=first)


def pinned(key: str = "token") -> int | None:
    """Position of the pinned token, None without one; at first the one in the address, as in `url.chosen`.

    On side B of a comparison it is that of the same token there.

    Args:
        key: of `PINS`.
    """
    if key not in st.session_state or goes_back():
        asked = url.number(key)
        st.session_state[key] = None if asked is None else min(asked, MOST_TYPED)
    position = st.session_state[key]
    return None if position is None else side.partner(key, position)


def keep_in_address() -> None:
    """A link to another page leaves the pins out: writes them into the address again."""
    trained.keep_in_address()
    for key in PINS:
        pin(pinned(key), key)


def token_box(labels: Sequence[str], position: int, *, label: str = "Token", key: str = "token") -> None:
    if side.is_b():
        return
    box = f"chosen_{key}"
    st.session_state[box] = position
    st.selectbox(
        label,
        range(len(labels)),
        format_func=lambda n: f"{n}  {labels[n]}",
        key=box,
        on_change=_take_token,
        args=(box, key),
        width=260,
    )


def _take_token(box: str, key: str) -> None:
    """Ignores a label that no longer exists: the list is the last text's while a new one arrives."""
    if isinstance(chosen := st.session_state[box], int):
        pin(chosen, key)


def other_box(labels: Sequence[str], position: int, *, label: str) -> None:
    token_box(labels, position, label=label, key="to")


def has_chosen_head() -> bool:
    """The reader has chosen a head, here or in the address; until then a tab may open with a different one."""
    chosen = st.session_state.get("has_chosen_head") or url.has("layer", "head")
    st.session_state["has_chosen_head"] = chosen
    return chosen


def look_at(layer: str, head: int) -> None:
    """Chooses a head; a model with one layer, one head or one kind of attention has no widget for it."""
    st.session_state["has_chosen_head"] = True
    place = {"kind": ATTENTION_KINDS[kind_of(layer)], "layer": int(layer.split(".")[1]), "head": head}
    for key, value in place.items():
        if key in st.session_state:
            st.session_state[key] = value


def selection() -> dict[str, Any]:
    chosen = choice()
    return {
        "kind": kind_of(chosen.layer),
        "layer": chosen.layer_index,
        "head": chosen.head,
        "token": pinned(),
        "to": pinned("to"),
        "look": url.text("look", LOOK),
    }


def wanted() -> tuple[str, ...]:
    return st.session_state.get("wanted", ())


def follow(selection: Mapping[str, Any]) -> None:
    """Handles the explorer's reports."""
    if selection["kind"] in ATTENTION_KINDS:
        stack, part = selection["kind"].split(".")
        look_at(f"{stack}.{int(selection['layer'])}.{part}", int(selection["head"]))
    pin(selection["token"])
    pin(selection["to"], "to")
    url.put({"look": selection["look"]})
    st.session_state["wanted"] = tuple(selection["wanted"])[:MAX_HEADS]


def remember(token: int, parts: Mapping[str, str]) -> None:
    """Handles the reports of other views: pins a token and puts their values into the address."""
    pin(token)
    url.put(parts)


def need(architecture: Architecture) -> None:
    """Replaces a model of another architecture, with a note if the reader had chosen it."""
    configs = {entry.name: entry.config for entry in models.entries() if entry.config is not None}
    fitting = [name for name, config in configs.items() if config.architecture == architecture]
    model = url.chosen("model")
    if not fitting or model in fitting:
        return
    usual = "french-english" if "french-english" in fitting else fitting[0]
    if not model:
        _set("model", usual)
        if goes_back():
            st.rerun()  # otherwise the widget would take its default in this run
    elif model in configs:
        _replace(
            "model",
            usual,
            models.instead(model, f"{'a' if architecture == 'decoder-only' else 'an'} {architecture} model", usual),
        )
    else:
        _replace("model", *models.nearest(model, fitting, usual))


def correct_address(configs: Mapping[str, Facts]) -> None:
    """Replaces values that do not exist by the nearest that do, and leaves a note; so too a layer or head that a newly
    chosen model lacks.
    """
    names = list(configs)
    model = url.chosen("model") or models.usual(names)
    if model not in configs:
        model, note = models.nearest(model, names, models.usual(names))
        _replace("model", model, note)
    if model != st.session_state.get("drawn", {}).get("model", model):
        st.session_state["notes"] = {"model": st.session_state.get("notes", {}).get("model", ("", ""))}
    config = configs[model]
    kinds, kind = kinds_of(config), url.chosen("kind")
    if kind is not None and kind not in kinds:
        nearest = (get_close_matches(kind, kinds, n=1, cutoff=0.4) or kinds[-1:])[0]
        _replace("kind", nearest, f"{code(model)} has no attention {code(kind)}; showing {code(nearest)}.")
    asked_kind = url.chosen("kind")
    stack = next(
        kind for kind, shown in ATTENTION_KINDS.items() if shown == (asked_kind if asked_kind in kinds else kinds[-1])
    )
    for key, count in (("layer", config.depth(stack.split(".")[0])), ("head", config.attention.n_heads)):
        asked = url.chosen(key)
        if asked is not None and asked != str(number := nearest_index(asked, count)):
            _replace(key, number, f"This model has {_there_are(count, key)}; showing {key} {number}.")
    if st.session_state.pop("address_corrected", False):
        st.rerun()


def nearest_index(text: str, count: int) -> int:
    """The nearest of 0 … count - 1; 0 where the text is no number."""
    try:
        return min(max(round(float(text)), 0), count - 1)
    except (ValueError, OverflowError):
        return 0


def _there_are(count: int, name: str) -> str:
    """One layer (0); two layers (0 and 1); 6 layers (0 to 5)."""
    if count <= 2:
        return f"one {name} (0)" if count == 1 else f"two {name}s (0 and 1)"
    return f"{count} {name}s (0 to {count - 1})"


def _replace(key: str, value: str | int, note: str) -> None:
    st.session_state.setdefault("notes", {})[key] = (value, note)
    _set(key, value)


def _set(key: str, value: str | int) -> None:
    if key in st.session_state:
        st.session_state[key] = value
    else:  # the session begins, and widgets read the address at the beginning of a run: `correct_address` starts again
        url.put({key: str(value)})
        st.session_state["address_corrected"] = True


def _offer(examples: Mapping[str, Example]) -> None:
    first = next(iter(examples))
    before = st.session_state.get("offered", tuple(examples))
    st.session_state["offered"] = tuple(examples)
    if (text := st.session_state.get("text", before[0])) in before and text not in examples:
        st.session_state["text"] = first
        forget_token()


def _take_example(examples: Mapping[str, Example]) -> None:
    """Opens the sentence's head, too; the menu then offers all of them again."""
    if text := st.session_state["example"]:
        st.session_state["text"] = text
        st.session_state["example"] = None
        forget_token()
        if layer := examples[text].layer:
            look_at(layer, examples[text].head)


def forget_token() -> None:
    for key in PINS:
        pin(None, key)


def pin(position: int | None, key: str = "token") -> None:
    st.session_state[key] = position
    url.put({key: "" if position is None else str(position)})
