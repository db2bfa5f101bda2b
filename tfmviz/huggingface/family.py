"""The recipe from a checkpoint to our own transformer.

Whatever folds into the weights without loss is folded, so that the transformer needs few choices: the library's RoPE,
for example, pairs coordinate m with m + d/2, ours pairs neighbours, which only reorders rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from tfmviz.huggingface.source import Refused, Source
from tfmviz.model.config import ModelConfig
from tfmviz.record.facts import FeedForwardKind

Weights = Iterator[tuple[str, Tensor]]
"""Names of our parameters, and their values."""

Reference = Literal["AutoModel", "AutoModelForCausalLM", "AutoModelForMaskedLM", "AutoModelForSeq2SeqLM"]
"""The class that runs a model; the first has no head."""

MAX_LEN = 512
"""The most tokens that pages can draw."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Family:
    """The recipe for models of one `model_type`.

    Attributes:
        shape: our configuration, from theirs and from the tensors.
        weights: our parameters, one at a time.
        context: the longest text their configuration allows.
        reference: with the head that goes with `shape`.
        prefix, left_out, stacked: see `Source`.
        last: our last stream in units of theirs: some divide logits, ours in the last norm.
    """

    shape: Callable[[Any, Source], dict[str, Any]]
    weights: Callable[[Source, Any, ModelConfig], Weights]
    context: Callable[[Any], int]
    reference: Reference
    prefix: str = ""
    left_out: tuple[str, ...] = ()
    stacked: tuple[str, ...] = ()
    last: Callable[[Any], float] = lambda theirs: 1.0


FUNCTIONS: dict[str, FeedForwardKind] = {
    "relu": "relu",
    "relu2": "relu2",
    "gelu": "gelu",
    "gelu_python": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_accurate": "gelu_tanh",
    "silu": "silu",
    "swish": "silu",
}
"""Functions by the library's names."""

GATED: dict[FeedForwardKind, FeedForwardKind] = {
    "relu": "reglu",
    "gelu": "geglu",
    "gelu_tanh": "geglu_tanh",
    "silu": "swiglu",
}


def function(name: str, *, gated: bool = False) -> FeedForwardKind:
    if name not in FUNCTIONS:
        raise Refused(f"Its layers use the function {name!r}, which is not known here. Known: {', '.join(FUNCTIONS)}.")
    kind = FUNCTIONS[name]
    if gated and kind not in GATED:
        raise Refused(f"Its gates use the function {name!r}, which is not known here.")
    return GATED[kind] if gated else kind


def embeddings(source: Source, theirs: Any, *, W_E: str, W_U: str) -> dict[str, Any]:
    """Our entries `embeddings` and `head`; equal matrices are tied."""
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
