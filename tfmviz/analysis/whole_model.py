"""The whole model at a glance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

import numpy as np

from tfmviz.record.trace import Array
from tfmviz.record.weights import (
    AttentionWeights,
    ExpertsWeights,
    FeedForwardWeights,
    ModelWeights,
    Norm,
)

Layer = AttentionWeights | FeedForwardWeights | ExpertsWeights


def parameters(weights: ModelWeights) -> dict[str, int]:
    """Parameters of each part of a model.

    Returns:
        Per part: "embed" (W_E), "unembed" (0 if it is W_E itself), "head" (the steps around W_U), and for each stack
        "decoder.positions", "decoder.0.self_attn", "decoder.0.self_attn.norm", "decoder.0.mlp" … and "decoder.norm",
        its last norm. Shared weights count in the first layer.
    """
    tied = weights.W_U is weights.W_E
    segment = 0 if weights.segment is None else weights.segment.size
    found = {"embed": weights.W_E.size + segment, "unembed": 0 if tied else weights.W_U.size}
    if weights.n_head_parameters:
        found["head"] = weights.n_head_parameters
    for name, stack in weights.stacks.items():
        found[f"{name}.positions"] = stack.n_position_parameters
        if stack.embed_norm is not None:
            found[f"{name}.embed.norm"] = numbers_in(stack.embed_norm)
        if stack.n_widening_parameters:
            found[f"{name}.widening"] = stack.n_widening_parameters
        parts: dict[str, Layer] = {**stack.attention, **stack.feed_forward, **stack.experts}
        layers = {site: numbers_in(layer) for site, layer in parts.items()}
        layers |= {f"{site}.norm": numbers_in(norm) for site, norm in stack.norms.items()}
        found |= {site: 0 if stack.is_shared and site.split(".")[1] != "0" else n for site, n in layers.items()}
        if stack.readout.norm is not None:
            found[f"{name}.norm"] = numbers_in(stack.readout.norm)
    return found


def share_of_parts(weights: ModelWeights) -> dict[str, float]:
    """Share of the parameters in each kind of part, the largest first."""
    kinds = {"embed": "W_E", "unembed": "W_U", "positions": "positions", "mlp": "feed-forward", "norm": "norms"}
    kinds |= {"head": "head", "widening": "W_E"}
    found: dict[str, int] = {}
    for part, count in parameters(weights).items():
        kind = kinds.get(part.rsplit(".", 1)[-1], "attention")
        found[kind] = found.get(kind, 0) + count
    ordered = sorted(found.items(), key=lambda entry: -entry[1])
    return {kind: count / weights.n_parameters for kind, count in ordered if count}


def numbers_in(part: Layer | Norm) -> int:
    """Parameters of one layer, with its biases."""
    if isinstance(part, ExpertsWeights):
        layers = part.experts if part.shared is None else (*part.experts, part.shared)
        return sum(array.size for array in _arrays(part)) + sum(map(numbers_in, layers))
    if isinstance(part, Norm):
        return {"layer": 2, "rms": 1, "none": 0}[part.kind] * part.gain.size
    return sum(array.size for array in _arrays(part))


def below(counts: dict[str, int], block: str) -> int:
    """Parameters of all parts of a block such as "decoder.0"."""
    return sum(count for part, count in counts.items() if part.startswith(f"{block}."))


def block_means(x: Array, *, at_most: int) -> Array:
    """Shorter vectors, (len, min(width, at_most)): means of runs of neighbours, as equally long as possible.

    Args:
        x: (len, width).
    """
    width = x.shape[-1]
    size = min(width, at_most)
    if width == size:
        return x
    starts = np.arange(size) * width // size
    counts = np.diff(np.append(starts, width))
    return np.add.reduceat(x, starts, axis=-1) / counts


def lengths(x: Array) -> Array:
    """Norms: (…, width) to (…)."""
    return np.sqrt(np.einsum("...d,...d->...", x, x))


def best_words(logits: Array) -> tuple[Array, Array]:
    """Index and probability of the most probable word of each token.

    Args:
        logits: (len, vocab).
    """
    best = logits.argmax(axis=-1)
    largest = logits.max(axis=-1, keepdims=True)
    return best, 1 / np.exp(logits - largest).sum(axis=-1)


def scale_of_embedding(embedded: Array, rows: Array) -> float:
    """The factor between the rows of W_E and the model's input: √d_model in the 2017 paper, else 1."""
    return float(np.linalg.norm(embedded) / max(float(np.linalg.norm(rows)), 1e-30))


def _arrays(part: Layer) -> Iterator[Array]:
    for value in (getattr(part, field.name) for field in fields(part)):
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, Norm):
            yield value.gain
            yield from [value.bias] if value.kind == "layer" else []
