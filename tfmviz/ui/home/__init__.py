"""A sentence and three heads that treat it differently, live."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import streamlit as st

from tfmviz.analysis.heads import IN_WORDS, Kind, layer_scores
from tfmviz.constants import MOST_TYPED
from tfmviz.record.model import Model
from tfmviz.record.trace import Trace
from tfmviz.text.library import Unreadable
from tfmviz.ui import models, run_queue, url
from tfmviz.ui.figures import show_plain_view
from tfmviz.ui.sentences import examples_for, in_one_line, nearest
from tfmviz.ui.weights import parcel
from tfmviz.words import markdown
from tfmviz.words.labels import visible

KINDS: tuple[Kind, ...] = ("previous token", "first token")
"""The roles of two of the heads; the third finds a word further away."""


def stage() -> tuple[Model, str, str, int, int] | None:
    """Draws the heads at work; gives model, text, layer and head of the first, and the position of its token.

    Draws only a warning if there is no model.
    """
    if not (names := models.names()):
        st.warning("There is no model to show. Restore the folder `assets/models/`, or train one (README.md).")
        return None
    model = models.load(name := models.usual(names))
    text = _text(model)
    run_queue.take(name, text)
    trace = models.trace(model, text)
    layer = model.config.layers[0]
    tokens = trace.axes(layer)[0]
    word = nearest(tokens.tokens, None, model=name, text=text)
    labels = [visible(token) for token in tokens.tokens]
    heads = heads_of(trace, word, labels)
    data = {
        "text": text,
        "labels": labels,
        "offsets": tokens.offsets,
        "word": word,
        "heads": json.dumps(  # for records Streamlit would import pandas
            [_drawn(trace, *head) for head in heads], separators=(",", ":")
        ),
        "parcel": parcel(name),
    }
    show_plain_view("home", data=data)
    return model, text, *heads[0][:2], word


def _text(model: Model) -> str:
    """The reader's sentence, which the address keeps, if it is meant for this model; else the model's first example."""
    asked = in_one_line(url.text("text", "(?s).*")).strip()[:MOST_TYPED]
    is_own = url.text("model", default=model.name) == model.name
    try:
        if is_own and asked and model.encode(asked).ids:
            return asked
    except Unreadable as error:
        st.warning(markdown.plain(str(error)))
    return examples_for(model.name)[0].text


def heads_of(trace: Trace, word: int, labels: list[str]) -> list[tuple[str, int, str]]:
    """Up to three heads with different roles on this text: layer, head, and the role in words.

    The first gives most of the word's attention to a token other than the word, the one before and the text's first.
    The others are those that attend most to the token before and to the first one.
    """
    found: list[tuple[str, int, str]] = []
    if word > 2:  # there is such a token
        far = np.stack([trace[f"{layer}.pattern"][:, word, 1 : word - 1] for layer in trace.layers])
        at, head, key = np.unravel_index(far.argmax(), far.shape)
        found.append((trace.layers[at], int(head), f"links “{labels[word]}” to “{labels[1 + key]}”"))
    by_layer = layer_scores(trace)
    for kind in KINDS:
        scores = {
            (layer, head): score
            for layer, kinds in by_layer.items()
            for head, score in enumerate(kinds[kind].tolist())
            if score == score and (layer, head) not in [one[:2] for one in found]  # NaN: one token alone
        }
        if scores:
            found.append((*max(scores, key=lambda head: scores[head]), IN_WORDS[kind]))
    return found or [(trace.layers[0], 0, "looks at the token itself")]


def _drawn(trace: Trace, layer: str, head: int, does: str) -> dict[str, Any]:
    """Rows of attention are in ten-thousandths and end with their last one above 0."""
    rows = np.rint(10_000 * trace[f"{layer}.pattern"][head]).astype(int)
    weights = [np.trim_zeros(row, "b").tolist() for row in rows]
    return {"layer": layer, "head": head, "name": f"{layer.split('.')[1]}.{head}", "does": does, "weights": weights}
