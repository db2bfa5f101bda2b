"""What all families of models share: a recipe from a checkpoint to our own transformer, and its ingredients.

Whatever folds into the weights without loss is folded here, so that the transformer needs few choices of its own: see
each family. The order of a head's coordinates is one example: the library's RoPE pairs coordinate m with m + d/2, ours
pairs neighbours, which is the same model with its rows in another order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from tfmviz.huggingface.source import Refused, Source
from tfmviz.model.config import ModelConfig
from tfmviz.positions.rope import frequencies
from tfmviz.record.facts import FeedForwardKind

Weights = Iterator[tuple[str, Tensor]]
"""Names of our parameters, and their numbers."""

Reference = Literal["AutoModel", "AutoModelForCausalLM", "AutoModelForMaskedLM", "AutoModelForSeq2SeqLM"]
"""The class of transformers that runs a model; the first for models without a head."""

MAX_LEN = 512
"""The most tokens that a converted model reads: what the pages can draw."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Family:
    """How models of one `model_type` become ours.

    Attributes:
        shape: the configuration, from theirs and from what the checkpoint holds.
        weights: our parameters one after another. Read lazily, so one tensor at a time is in memory.
        context: the longest text their configuration allows.
        reference: the class of transformers with the head that goes with `shape`.
        prefix: see `Source`.
        left_out: see `Source`.
    """

    shape: Callable[[Any, Source], dict[str, Any]]
    weights: Callable[[Source, Any, ModelConfig], Weights]
    context: Callable[[Any], int]
    reference: Reference
    prefix: str = ""
    left_out: tuple[str, ...] = ()


FUNCTIONS: dict[str, FeedForwardKind] = {
    "relu": "relu",
    "gelu": "gelu",
    "gelu_python": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_accurate": "gelu_tanh",
    "silu": "silu",
    "swish": "silu",
}
"""The library's names of functions, and ours."""

GATED: dict[FeedForwardKind, FeedForwardKind] = {
    "relu": "reglu",
    "gelu": "geglu",
    "gelu_tanh": "geglu_tanh",
    "silu": "swiglu",
}


def function(name: str, *, gated: bool = False) -> FeedForwardKind:
    """Raises: Refused, naming a function that is not known here."""
    if name not in FUNCTIONS:
        raise Refused(f"Its layers use the function {name!r}, which is not known here. Known: {', '.join(FUNCTIONS)}.")
    return GATED[FUNCTIONS[name]] if gated else FUNCTIONS[name]


def embeddings(source: Source, theirs: Any, *, W_E: str, W_U: str) -> dict[str, Any]:
    """Whether the output layer is the embedding, told by the tensors themselves where both are stored."""
    if W_U in source:
        return {"embeddings": "tied" if source.same(W_E, W_U) else "untied"}
    return {"embeddings": "tied"} if theirs.tie_word_embeddings is not False else {"embeddings": "tied", "head": "none"}


def linear(source: Source, theirs: str, ours: str) -> Weights:
    """x W + b; a model without b gets b = 0."""
    weight = source[f"{theirs}.weight"]
    yield f"{ours}.weight", weight
    yield f"{ours}.bias", bias_of(source, theirs, len(weight))


def bias_of(source: Source, theirs: str, width: int) -> Tensor:
    return source[f"{theirs}.bias"] if f"{theirs}.bias" in source else torch.zeros(width)


def norm(source: Source, theirs: str, ours: str) -> Weights:
    """γ and, in LayerNorm, β."""
    yield f"{ours}.weight", source[f"{theirs}.weight"]
    if f"{theirs}.bias" in source:
        yield f"{ours}.bias", source[f"{theirs}.bias"]


def projection(source: Source, theirs: str, ours: str, *, order: Tensor, d_head: int) -> Weights:
    """W_Q or W_K with the coordinates of each head in another order; see `pairs`."""
    weight = source[f"{theirs}.weight"]
    yield f"{ours}.weight", reordered(weight, order, d_head)
    yield f"{ours}.bias", reordered(bias_of(source, theirs, len(weight)), order, d_head)


def reordered(rows: Tensor, order: Tensor, d_head: int) -> Tensor:
    """The rows of every head, (heads × d_head, …), in another order."""
    return rows.unflatten(0, (-1, d_head))[:, order].flatten(0, 1)


def pairs(d_head: int, turned: int | None = None) -> Tensor:
    """Puts coordinates m and m + turned / 2 side by side, and leaves those that do not turn at the end: (d_head,)."""
    turned = d_head if turned is None else turned
    return torch.cat((torch.arange(turned).unflatten(0, (2, -1)).T.flatten(), torch.arange(turned, d_head)))


def theta(theirs: Any, d_head: int) -> tuple[float, ...]:
    """Radians per position of each pair, with base, scaling and the share of coordinates that turn.

    Raises:
        Refused: another scaling, such as YaRN, which also scales the scores, or LongRoPE, which has two sets of turns.
    """
    rope = theirs.rope_parameters
    turned = turned_width(theirs, d_head)
    turning = frequencies(turned, base=rope["rope_theta"])  # float64, as in the models trained here
    match rope.get("rope_type", "default"):
        case "default" | "dynamic":  # dynamic: as trained, up to the trained length, where max_len ends
            pass
        case "linear":
            turning = turning / rope["factor"]
        case "llama3":
            turning = _llama3(turning, rope)
        case kind:
            raise Refused(f"Its RoPE is stretched by {kind!r}, which is not known here.")
    return (*turning.tolist(), *[0.0] * ((d_head - turned) // 2))


def turned_width(theirs: Any, d_head: int) -> int:
    """How many coordinates of a head turn."""
    return int(d_head * theirs.rope_parameters.get("partial_rotary_factor", 1.0))


def _llama3(turning: Tensor, rope: Any) -> Tensor:
    """Slow pairs are slowed down by `factor`, fast ones kept, those between blended (Llama 3.1)."""
    turns = rope["original_max_position_embeddings"] * turning / (2 * math.pi)
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    kept = ((turns - low) / (high - low)).clamp(0, 1)
    return (1 - kept) * turning / rope["factor"] + kept * turning


def plain_context(theirs: Any) -> int:
    """The longest text that a model was trained on."""
    rope = getattr(theirs, "rope_parameters", None) or {}
    if rope.get("rope_type") == "dynamic" and (original := rope.get("original_max_position_embeddings")):
        return min(theirs.max_position_embeddings, original)
    return theirs.max_position_embeddings


def window_of_all(theirs: Any) -> int | None:
    """How many keys a query sees at most, its own included, if that is so in every layer (Mistral); None: all."""
    return theirs.sliding_window if _kinds_of_layers(theirs) == {"sliding_attention"} else None


def window_of_some(theirs: Any) -> int | None:
    """The same where other layers see all keys (Gemma 2). Ours share one mask, so a text must fit the window."""
    return theirs.sliding_window if len(_kinds_of_layers(theirs)) > 1 else None


def _kinds_of_layers(theirs: Any) -> set[str]:
    if getattr(theirs, "sliding_window", None) is None or not getattr(theirs, "use_sliding_window", True):
        return {"full_attention"}
    return set(getattr(theirs, "layer_types", None) or ["sliding_attention"])
