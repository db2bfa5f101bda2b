"""The finished model put back into training: what dropout does to its predictions, and how long its gradients are."""

from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.plots import dots
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.ui import icons, inputs, lesson
from tfmviz.ui.cache import shared
from tfmviz.ui.figures import result, show, theme
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.recipe import forcing
from tfmviz.words import markdown
from tfmviz.words.labels import quoted
from tfmviz.words.numbers import decimal, rounded

RUNS = 10

MOST = 60
"""Tokens that the dropout picture shows."""

LARGEST = 60_000_000
"""Parameters of a model whose gradients are computed: they take as much memory as its weights."""


def dropout(here: Lesson) -> None:
    with lesson.line("dropout"):
        rate = inputs.slider("p", 0.0, 0.5, 0.1, 0.05, key="p")
        seed = inputs.slider("Random seed", 0, 50, 0, key="dropout_draw")
    found = forcing.forced(here)
    if found is None:
        return
    model = found.model
    runs = _dropped(model, here.text, rate, seed)
    n = min(len(found.ids), MOST)
    tokens = found.targets[:n]
    names = quoted(tokens, first=1)
    show("dropped", dots.dropped(tokens, names, runs[:, :n], found.losses[:n], theme=theme()))
    most = int(runs.std(axis=0).argmax())
    used = model.config.dropout
    if model.config.training_mask == "none":
        st.info("In training this model also sees the next token, so its losses are near 0.", icon=icons.INFO)
    changes = "With p = 0 nothing is dropped."
    if rate:
        changes = (
            f"The loss varies most on {markdown.plain(quoted(found.targets, first=1)[most])} "
            f"(from {decimal(float(runs[:, most].min()))} to {decimal(float(runs[:, most].max()))} nats)."
        )
    result(
        f"Mean loss: **{decimal(float(found.losses.mean()))}** without, **{decimal(float(runs.mean()))}** with "
        f"dropout. {changes} Embeddings, attention weights and layer outputs are set to 0 with probability "
        f"p = {rate:g}; the others are divided by 1 − p. "
        + (f"This model was trained with p = {used:g}." if used else "This model was trained without dropout.")
    )


@shared
def _dropped(model: Model, text: str, rate: float, seed: int) -> Array:
    return zoo.experiments.losses_with_dropout(model, text, dropout=rate, runs=RUNS, seed=seed)[1]


def gradients(here: Lesson) -> None:
    """Length of the gradient in each layer for the typed text: before training and now."""
    with lesson.line("gradients"):
        seed = inputs.slider("Seed of the random weights", 0, 20, 0, key="gradient_seed")
    found = forcing.forced(here)
    if found is None:
        return
    model = found.model
    if model.weights.n_parameters > LARGEST:
        st.info(
            f"This model has {model.weights.n_parameters:,} parameters; gradients are computed up to {LARGEST:,}.",
            icon=icons.INFO,
        )
        return
    trained, random = _lengths(model, here.text, None), _lengths(model, here.text, seed)
    layers = list(trained)
    lengths = {
        "random weights": np.array([random.get(layer, 0.0) for layer in layers]),
        "trained": np.array([trained[layer] for layer in layers]),
    }
    show("gradient_lengths", dots.gradients([_name(layer) for layer in layers], lengths, theme=theme()))
    whole = {kind: float(np.sqrt((values**2).sum())) for kind, values in lengths.items()}
    result(
        f"The norm of the whole gradient is **{rounded(whole['random weights'])}** with random weights and "
        f"**{rounded(whole['trained'])}** after training."
    )


def _name(layer: str) -> str:
    """ "3 attention" for "decoder.3.self_attn"."""
    if layer == "embedding":
        return "W_E"
    stack, number, part = layer.split(".")
    said = {"self_attn": "attention", "cross_attn": "cross-attention", "mlp": "MLP"}[part]
    return f"{'' if stack == 'decoder' else 'encoder '}{number} {said}"


@shared
def _lengths(model: Model, text: str, untrained: int | None) -> dict[str, float]:
    return zoo.experiments.gradient_lengths(model, text, untrained=untrained)
