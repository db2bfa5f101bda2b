"""A sentence and one head that does something striking with it, alive at once."""

from __future__ import annotations

import streamlit as st

from tfmviz.ui import models, turns
from tfmviz.ui.figures import show_plain_view
from tfmviz.ui.router import address
from tfmviz.ui.sentences import examples_for, opening
from tfmviz.views import home as view
from tfmviz.words import markdown
from tfmviz.words.labels import visible


def first_look() -> None:
    """What the head of the first example does with its sentence; only a warning if there is no model."""
    if not (names := models.names()):
        st.warning("There is no model to show. Restore the folder `assets/models/`, or train one (README.md).")
        return
    name = models.usual(names)
    example = examples_for(name)[0]
    model = models.load(name)
    turns.take(name, example.text)
    trace = models.trace(model, example.text)
    layer = example.layer or model.config.layers[0]
    tokens = trace.axes(layer)[0].tokens
    if trace.axes(layer)[1].tokens != tokens:  # arcs link the words of one text
        layer = model.config.layers[0]
        tokens = trace.axes(layer)[0].tokens
    index, word = int(layer.split(".")[1]), opening(tokens, example.word)
    st.markdown(
        "To read a word, a transformer asks which *other* words matter to it. This is one of its heads at "
        f"work: layer {index}, head {example.head} of {markdown.code(name)}. Point at a word."
    )
    show_plain_view(
        "home",
        js=view.JS,
        css=view.CSS,
        data={
            "labels": [visible(token) for token in tokens],
            "weights": trace[f"{layer}.pattern"][example.head].astype(float).round(4).tolist(),
            "word": word,
            "text": example.text,
            "explorer": address("explorer"),
        },
    )
