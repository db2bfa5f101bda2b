from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis import contributions, heads, lens, residual
from tfmviz.constants import FOLLOWED_SITES
from tfmviz.record.edits import SetMask
from tfmviz.record.model import Model
from tfmviz.record.trace import Array, Trace
from tfmviz.ui import models, url
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import show_plain_view
from tfmviz.ui.router import PAGES, Page, address
from tfmviz.words.labels import quoted, visible
from tfmviz.words.numbers import counted

MOST_TOKENS = 16
"""Tokens of a text whose attention is drawn; with the mask of a decoder these rows and columns are complete."""

MASKED, HIDDEN = 255, 254
"""Codes of a masked cell, and of one hidden by hand; one less is all of the attention."""

LAST = 12
"""Words after which the logit lens is tried."""

SURE = 0.5
"""The probability above which an answer is worth showing."""

FORMING = "induction"
STEPS = 145, 438, 761, 4000
"""Updates after which a head that learns to copy is drawn."""

PERIOD = 12
"""Random tokens, repeated once."""

Miniature = tuple[str, dict[str, str], dict[str, Any]]
"""A page, the choices that it opens with, and the picture: title, question, description, and one kind of drawing."""


@cached_for_all
def miniatures_of(model: Model, text: str, layer: str, head: int, word: int) -> tuple[Miniature, ...]:
    """The pictures available: all six for a decoder. `word`: position of the token that attends."""
    trace = models.trace(model, text)
    names = quoted(trace.tokens)
    layers = [(trace[f"{layer}.pattern"], trace[f"{layer}.mask"]) for layer in trace.layers]
    cells = [_cells(one, mask) for pattern, mask in layers for one in pattern]
    says = f"{counted(len(cells), 'head')}, one row per layer."
    picture = _grids("All heads", "Where does every head look?", says, cells, across=len(layers[0][0]))
    found = [("explorer", {"token": str(word)}, picture)]
    if model.config.architecture == "decoder-only" and model.config.attention.kind == "softmax":
        if model.config.positions.kind == "rope":
            from tfmviz.positions.rope import own_frequencies

            key = int(trace[f"{layer}.pattern"][head, word].argmax())
            theta = own_frequencies(model.config, layer).numpy()
            angles = [[round(float(turn * at) % (2 * np.pi), 3) for at in (word, key)] for turn in theta]
            says = f"Hands for {names[word]} (blue) and {names[key]}: the angle between them gives their distance."
            asks = "How does a head know how far apart two words are?"
            found.append(
                ("positions_rope", {}, {"title": "RoPE's clocks", "asks": asks, "says": says, "clocks": angles})
            )
        parts = contributions.river(trace, "decoder", word, model.weights.stacks["decoder"])
        steps: dict[str, float] = {}
        for part, along in zip(parts.parts, parts.along.tolist(), strict=True):
            steps[part.step] = steps.get(part.step, 0) + along
        river = [["MLP" if step.endswith("MLP") else "attention", round(along, 3)] for step, along in steps.items()]
        says = f"What each layer adds to {names[word]}: attention blue, MLP orange."
        picture = {"title": "The river", "asks": "How is a word's vector built?", "says": says, "river": river}
        found += [
            ("residual_stream", {"stream": "The river"}, picture),
            *_mask(model, text, layer, head, word),
            _lens(model, trace),
        ]
    return (*found, *_forming())


def _mask(model: Model, text: str, layer: str, head: int, word: int) -> Iterator[Miniature]:
    trace = models.trace(model, text)
    before, mask = trace[f"{layer}.pattern"][head], trace[f"{layer}.mask"]
    key = int(before[word].argmax())
    drawn = mask.copy()
    drawn[word, key] = False
    if not drawn[word].any():  # a single token leaves nothing to show
        return
    edit = SetMask(layer=layer, mask=tuple(map(tuple, drawn.tolist())))
    after = models.trace(model, text, (edit,))[f"{layer}.pattern"][head]
    names = quoted(trace.tokens)
    says = f"Hide {names[key]}, and {names[word]} gives {names[after[word].argmax()]} {after[word].max():.0%}."
    cells = [_cells(before, mask), _cells(after, mask)]
    cells[1][word : word + 1, key : key + 1] = HIDDEN  # an empty part, where a long text has been cut off
    yield "masks", {}, _grids("A mask being painted", "What if it could not look there?", says, cells, across=2)


def _lens(model: Model, trace: Trace) -> Miniature:
    sites = list(residual.stages(trace, "decoder", "layers").values())
    readout, length = model.weights.stacks["decoder"].readout, len(trace.target)
    found = {word: lens.read_token(trace, sites, readout, word) for word in range(max(0, length - LAST), length)}
    ends = {word: one.top_probability[-1, 0] for word, one in found.items()}
    word = max(found, key=lambda word: (ends[word] > SURE, found[word].settled[0], ends[word]))
    tops, shares = (values[1:, 0].tolist() for values in (found[word].top, found[word].top_probability))
    lines = [[visible(model.vocabulary[top]), round(p, 3)] for top, p in zip(tops, shares, strict=True)]
    says = f"The most probable word after {quoted(trace.tokens)[word]}, layer by layer."
    picture = {"title": "The logit lens", "asks": "When does it know what comes next?", "says": says, "lens": lines}
    return "residual_stream", {"stream": "Logit lens", "token": str(word)}, picture


@cached_for_all
def _forming() -> tuple[Miniature, ...]:
    folder = zoo.MODELS / FORMING
    try:
        found = [zoo.snapshots.load(folder, step) for step in STEPS]
    except zoo.ModelUnavailable:
        return ()
    ids = heads.random_repeats(vocab_size=found[0].config.vocab_size, max_len=2 * PERIOD)
    traces = [model.trace(ids, sites=FOLLOWED_SITES["explorer"]) for model in found]
    best = {layer: scores["induction"] for layer, scores in heads.layer_scores(traces[-1]).items()}
    layer = max(best, key=lambda one: best[one].max())
    head = int(best[layer].argmax())
    shares = [heads.layer_scores(trace)[layer]["induction"][head] for trace in traces]
    says = f"{' → '.join(f'{share:.0%}' for share in shares)} of its attention, as it learns."
    cells = [_cells(trace[f"{layer}.pattern"][head], trace[f"{layer}.mask"], most=2 * PERIOD) for trace in traces]
    picture = _grids("A head being born", "When does a head learn to copy?", says, cells, across=2) | {"own": True}
    return (("training", {"learned": "How a head forms"}, picture),)


def _grids(title: str, asks: str, says: str, cells: Sequence[Array], *, across: int) -> dict[str, Any]:
    data = base64.b64encode(np.stack(cells).tobytes()).decode()
    size = len(cells[0])
    return {
        "title": title,
        "asks": asks,
        "says": says,
        "grids": {"cells": data, "size": size, "across": across, "masked": MASKED, "hidden": HIDDEN},
    }


def _cells(pattern: Array, mask: Array, most: int = MOST_TOKENS) -> Array:
    shares = np.where(mask, np.round(pattern * (HIDDEN - 1)), MASKED)
    return shares[:most, :most].astype(np.uint8)


def lead_on() -> None:
    """Redirects a session that begins with an address such as `/?text=…`, once the explorer's, to the explorer."""
    begins = "at_home" not in st.session_state and "choice" not in st.session_state
    st.session_state["at_home"] = True
    if begins and url.everything().keys() - {"projector"}:
        st.switch_page(_page("explorer").file, query_params=url.everything())


def quiet() -> None:
    course = next(page for page in PAGES if page.group)
    st.page_link(_page("lectures").file, label="Give a lecture")
    st.page_link(course.file, label="Learn step by step")


def doors(model: Model, text: str, layer: str, head: int, word: int) -> None:
    """Six pictures of the sentence, each a link to its page."""
    at = {"layer": layer.split(".")[1], "head": str(head)}
    behind = [
        {**picture, "address": address(page, at | choices)}
        for page, choices, picture in miniatures_of(model, text, layer, head, word)
    ]
    # The view puts the sentence into each address: a long one travels once.
    data = {"text": text, "doors": json.dumps(behind)}
    show_plain_view("doors", data=data)


def _page(name: str) -> Page:
    return next(page for page in PAGES if page.name == name)
