"""Reformer's second saving: layers whose input is computed again, tried with the model's own feed-forward layers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import streamlit as st

from tfmviz.analysis import feed_forward
from tfmviz.analysis.efficient.reversible import backward, forward, kept
from tfmviz.plots.lines import Axes, growth
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.record.weights import FeedForwardWeights
from tfmviz.ui.cache import shared
from tfmviz.ui.figures import show, theme
from tfmviz.ui.lesson import Lesson
from tfmviz.words.numbers import counted, in_bytes, tiny

MOST = 8
"""Tokens of the trial: enough to see the rounding, few enough for the largest model that a reader may bring."""

DEPTHS = tuple(2**p for p in range(8))


def reversible(here: Lesson) -> None:
    """What waits for the way back as a stack gets deeper, and how well the input comes back."""
    n, d = len(here.trace.target), here.model.config.d_model
    depths = np.array(DEPTHS, float)
    lines = {
        name: (depths, np.array([4.0 * kept(n, d, depth, reversible=way) for depth in DEPTHS]))
        for name, way in (("every input kept", False), ("reversible", True))
    }
    show(
        "reversible",
        growth(lines, Axes(f"blocks, for {n} tokens", "bytes stored", 240), in_bytes, theme=theme()),
        title="Reversible layers: what training must store of the streams, in 32 bits",
    )
    st.markdown(
        "Each half changes by a function of the other: y₁ = x₁ + f(x₂), y₂ = x₂ + g(y₁). Subtraction recovers both "
        f"inputs. {_tried(here)}"
    )


def _tried(here: Lesson) -> str:
    stack = here.choice.layer.split(".")[0]
    if not (depth := len(here.model.weights.stacks[stack].feed_forward)):
        return ""
    error = round_trip(here.model, stack, here.trace.target.ids[:MOST])
    return (
        f"With this model's {counted(depth, 'feed-forward layer')}, the input is recovered with an error of "
        f"**{tiny(error)}**."
    )


@shared
def round_trip(model: Model, stack: str, ids: tuple[int, ...]) -> float:
    """How far the input is from what is computed from the output, over its length."""
    layers = [_function(weights) for weights in model.weights.stacks[stack].feed_forward.values()]
    blocks = list(zip(layers, [*layers[1:], layers[0]], strict=True))
    x = model.weights.W_E[list(ids)].astype(np.float32)
    back, _ = backward(*forward(x, x, blocks), blocks)
    return float(np.linalg.norm(back - x) / np.linalg.norm(x))


def _function(weights: FeedForwardWeights) -> Callable[[Array], Array]:
    """The layer on vectors of length √d, as after a norm."""
    return lambda x: feed_forward.run(weights, x / (np.sqrt((x**2).mean(axis=-1, keepdims=True)) + np.float32(1e-5)))
