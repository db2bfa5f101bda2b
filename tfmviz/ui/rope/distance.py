from __future__ import annotations

from itertools import pairwise

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis.attention_layer import grouped
from tfmviz.plots.lines import Axes, over
from tfmviz.record.trace import Array, Trace
from tfmviz.record.weights import ModelWeights
from tfmviz.ui import icons, inputs, lesson, models
from tfmviz.ui.figures import result, show, show_columns, theme
from tfmviz.ui.lesson import PageContext
from tfmviz.words import markdown
from tfmviz.words.labels import visible
from tfmviz.words.numbers import decimal, tiny

SINUSOIDAL = "twins-sinusoidal"
"""The model compared with RoPE's."""


ONE, OTHER = "of course we know", "we know that"


def same_distance(shown: PageContext) -> None:
    line = lesson.control_row("same_distance")
    texts = [
        inputs.text_input(label, first, key=key, max_chars=200, placeholder=first, line=line).strip() or first
        for label, first, key in (("One text", ONE, "phrase"), ("Another", OTHER, "other_phrase"))
    ]
    runs = [models.trace(shown.model, f" {text}") for text in texts]
    tokens = [run.axes(shown.choice.layer)[0].tokens for run in runs]
    shared = [token for token in dict.fromkeys(tokens[0]) if token in tokens[1]]
    if not shared:
        st.info("Type two texts that share at least two words.", icon=icons.INFO)
        return
    with line:
        words = _choose_words(tokens, shared)
    stack = shown.choice.layer.split(".")[0]
    scores = [_scores(run, words, stack, shown.model.weights) for run in runs]
    _compare(shown, [found[0, shown.choice.head] for found in scores], tokens, words)
    both = {f"RoPE: {shown.model.name}": scores}
    if SINUSOIDAL in zoo.available():
        sinusoidal = models.load(SINUSOIDAL)
        others = [models.trace(sinusoidal, f" {text}") for text in texts]
        if all(word in run.tokens for word in words for run in others):
            both[f"sinusoidal: {SINUSOIDAL}"] = [_scores(run, words, "decoder", sinusoidal.weights) for run in others]
    differences = {  # over the heads of each layer; an axis of powers has no 0
        name: np.maximum(np.abs(one - other).max(axis=-1), 1e-8) for name, (one, other) in both.items()
    }
    layers, axes = np.arange(max(map(len, differences.values()))), Axes("layer", "difference of the scores", log=True)
    show("same_distance", over(layers, differences, axes, theme=theme()))
    st.markdown("The largest difference over all heads; above layer 0, the other words matter too.")
    st.caption(f"{markdown.code(shown.model.name)}, head {shown.choice.head}. {shown.note}")


def _choose_words(texts: list[tuple[str, ...]], shared: list[str]) -> tuple[str, str]:
    """Positions of two words, at first neighbours in both texts."""
    neighbours = [{(b, a) for a, b in pairwise(tokens)} for tokens in texts]
    both = [pair for pair in ((b, a) for a in shared for b in shared) if all(pair in found for found in neighbours)]
    first = both[0] if both else (shared[-1], shared[0])
    menus = (("Query", "asks", first[0]), ("Key", "asked", first[1]))
    return tuple(  # type: ignore[return-value]
        inputs.selectbox(label, shared, index=shared.index(word), key=key, format_func=visible)
        for label, key, word in menus
    )


def _scores(run: Trace, words: tuple[str, str], stack: str, weights: ModelWeights) -> Array:
    """(layer, head), of the first occurrences of two words, before any mask."""
    layers = [layer for layer in run.layers if layer.startswith(stack) and layer.endswith("self_attn")]
    tokens = run.axes(layers[0])[0].tokens
    i, j = (tokens.index(word) for word in words)
    found = []
    for layer in layers:
        turned = "rot_" if f"{layer}.rot_q" in run else ""
        q = run[f"{layer}.{turned}q"].astype(np.float64)
        k = grouped(run[f"{layer}.{turned}k"], len(q)).astype(np.float64)
        found.append(weights.attention(layer).scores(q[:, i : i + 1], k[:, j : j + 1])[:, 0, 0])
    return np.array(found)


def _compare(shown: PageContext, scores: list[float], texts: list[tuple[str, ...]], words: tuple[str, str]) -> None:
    i, j = ([text.index(word) for text in texts] for word in words)
    distances = [query - key for query, key in zip(i, j, strict=True)]
    first, second = distances
    query, key = map(visible, words)
    show_columns(
        "phrases",
        {
            "text": [" ".join(map(visible, text)) for text in texts],
            f"query “{query}” at": list(map(str, i)),
            f"key “{key}” at": list(map(str, j)),
            "distance i − j": [decimal(distance, ".0f") for distance in distances],
            f"q · k / √d, layer 0, head {shown.choice.head}": [decimal(score, ".6f") for score in scores],
        },
        caption="The two words and their score.",
    )
    apart = abs(scores[0] - scores[1])
    result(
        f"The distance is {first} in both, so layer 0 gives the same score: the difference is **{tiny(apart)}**."
        if first == second
        else f"The distances differ ({first} and {second}), and so do the scores of layer 0, by **{apart:.3f}**."
    )
