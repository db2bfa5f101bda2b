"""What the reader chooses, the same on every page: sentence, model, layer, head, token.

All but the token are in the address, so a link shows exactly what its sender saw. Widgets keep themselves in step
with the address (`bind="query-params"`) but drop an unusable value silently; `correct_address` looks at it before
them, takes the nearest usable value and says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import streamlit as st

from tfmviz import zoo
from tfmviz.model.config import ModelConfig
from tfmviz.trace import Trace
from tfmviz.ui.sentences import SENTENCES

MAX_CHARACTERS = 5_000

SHOWN = "decoder-only"
"""The architecture that the pages know how to show."""

FIRST_LOOK = {"layer": 1, "head": 2}
"""What the page opens with: in tiny-english a previous-token head, whose picture is understood at a glance."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """What the sidebar says.

    Attributes:
        model: name of an available model.
        layer: path of one of its attention layers, such as "decoder.2.self_attn".
        head: index of one of its heads.
    """

    model: str
    layer: str
    head: int


def sidebar() -> None:
    """Draws the shared sidebar; `app.py` does this once for all pages, which then ask for `choice()`.

    Stops the run with an explanation if no model can be loaded.
    """
    entries = zoo.catalogue()
    intact = {entry.name: entry.config for entry in entries if entry.config is not None}
    configs = {name: config for name, config in intact.items() if config.architecture == SHOWN}
    with st.sidebar:
        for entry in entries:
            if entry.problem:
                st.warning(f"The model {code(entry.name)} is unavailable. {plain(entry.problem)}", icon="⚠️")
        for name in sorted(intact.keys() - configs.keys()):
            st.caption(f"{code(name)} is {intact[name].architecture}; the pages show {SHOWN} models.")
    if not configs:
        st.error("There is no model to show. Restore the folder `assets/models/`, or train one: see README.md.")
        st.stop()
    correct_address(configs)
    names = list(configs)
    with st.sidebar:
        model = st.selectbox("Model", names, key="model", bind="query-params", index=default_model(names))
        config = configs[model]
        layer = _number("Layer", "layer", len(config.layers), help="Counted from 0, the one that reads the text first.")
        head = _number("Head", "head", config.n_heads, help="Counted from 0. Every head looks in a way of its own.")
    st.session_state["choice"] = Choice(model=model, layer=config.layers[layer], head=head)


def choice() -> Choice:
    """What the sidebar says in this run."""
    return st.session_state["choice"]


def sentence() -> str:
    """Draws the sentence box with the menu of the lectures' sentences.

    Returns:
        The text to show. When the box is empty this is the last text that was not.
    """
    notes = st.session_state.get("notes", {})
    if current := [note for key, (value, note) in notes.items() if st.session_state.get(key, value) == value]:
        st.info(" ".join(current), icon="ℹ️")  # until the reader has chosen something else
    box, menu = st.columns([5, 2], vertical_alignment="bottom")
    text = box.text_input(
        "Your sentence (press Enter)",
        SENTENCES[0],
        key="text",
        bind="query-params",
        max_chars=MAX_CHARACTERS,
        on_change=_forget_token,
    )
    menu.selectbox(
        "Sentences to start from",
        SENTENCES,
        index=None,
        key="example",
        placeholder="From the lectures",
        on_change=_take_example,
        label_visibility="collapsed",
    )
    if text and text.strip():
        st.session_state["last_text"] = text
        return text
    st.warning("Type a sentence: there is nothing to look at in an empty one. The pictures below still show the last.")
    return st.session_state.get("last_text", SENTENCES[0])


def say_what_was_cut(trace: Trace) -> None:
    """A note when the text is longer than the model reads."""
    if trace.target.n_dropped:
        st.info(
            f"The model reads {len(trace.tokens)} tokens at a time. The last {trace.target.n_dropped} tokens of your "
            "text were left out.",
            icon="✂️",
        )


def token(length: int) -> int:
    """Position of the token the reader has chosen; the last one until they choose."""
    chosen = st.session_state.get("token")
    return length - 1 if chosen is None else min(chosen, length - 1)


def choose_token(position: int) -> None:
    st.session_state["token"] = position


def choose_head(layer: int, head: int) -> None:
    """For callbacks of pictures: makes the sidebar follow a click."""
    st.session_state["layer"], st.session_state["head"] = layer, head


def correct_address(configs: dict[str, ModelConfig]) -> None:
    """Replaces what the address asks for and there is not by the nearest there is, and leaves a note.

    The same happens to a layer or head that a newly chosen model lacks.
    """
    names = list(configs)
    model = _asked("model") or names[default_model(names)]
    if model not in configs:
        nearest = (get_close_matches(model, names, n=1, cutoff=0.4) or [names[default_model(names)]])[0]
        _replace("model", nearest, f"There is no model {code(model)} here. This is {code(nearest)}.")
        model = nearest
    for key, count in (("layer", len(configs[model].layers)), ("head", configs[model].n_heads)):
        asked = _asked(key)
        if asked is not None and asked != str(number := nearest_index(asked, count)):
            _replace(
                key, number, f"There is no {key} {code(asked)}: they count from 0 to {count - 1}. This is {number}."
            )


def nearest_index(text: str, count: int) -> int:
    """The number from 0 to count - 1 that is nearest to what `text` says; 0 if that is no number."""
    try:
        return min(max(round(float(text)), 0), count - 1)
    except (ValueError, OverflowError):
        return 0


def default_model(names: Sequence[str]) -> int:
    return names.index("tiny-english") if "tiny-english" in names else 0


def plain(text: str) -> str:
    """Text that Streamlit's Markdown shows as it stands."""
    return "".join(f"\\{character}" if character in MARKDOWN else character for character in text)


def code(text: str) -> str:
    """A short text in a code span, whatever it contains."""
    return f"`` {text.replace('`', 'ˋ')[:80]} ``"


MARKDOWN = set("\\`*_{}[]()<>#+-.!|~$:&")


def _number(label: str, key: str, count: int, *, help: str) -> int:
    if count == 1:
        return 0
    first = min(FIRST_LOOK[key], count - 1)
    return st.slider(label, 0, count - 1, first, key=key, bind="query-params", help=help)


def _asked(key: str) -> str | None:
    """What the session or, at its start, the address says."""
    value = st.session_state.get(key, st.query_params.get(key))
    return None if value is None else str(value)


def _replace(key: str, value: str | int, note: str) -> None:
    st.session_state.setdefault("notes", {})[key] = (value, note)
    if key in st.session_state:
        st.session_state[key] = value
    else:  # the session begins: no widget has read the address yet
        st.query_params[key] = str(value)
        st.rerun()


def _take_example() -> None:
    """Puts the chosen sentence into the box; the menu then offers all of them again."""
    if example := st.session_state["example"]:
        st.session_state["text"] = example
        st.session_state["example"] = None
        _forget_token()


def _forget_token() -> None:
    st.session_state["token"] = None
