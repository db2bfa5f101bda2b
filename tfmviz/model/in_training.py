"""A finished model as it was in training: with dropout, and with gradients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from functools import lru_cache
from threading import Lock

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tfmviz.model.config import ModelConfig
from tfmviz.model.device import device_of, ids_for
from tfmviz.model.reading_out import stream_of
from tfmviz.model.transformer import Transformer, build
from tfmviz.record.tap import NO_TAP

_one_at_a_time = Lock()
"""PyTorch's generator is shared by all threads."""


@contextmanager
def seeded(seed: int, *, module: nn.Module | None = None) -> Iterator[None]:
    device = torch.device("cpu") if module is None else device_of(module)
    with _one_at_a_time, torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield


def in_training_mode(module: Transformer, *, dropout: float) -> Transformer:
    """A copy with dropout that shares the weights."""
    copy = deepcopy(module, memo={id(weight): weight for weight in module.parameters()})
    for part in copy.modules():
        if isinstance(part, nn.Dropout):
            part.p = dropout
    return copy.train()


@torch.inference_mode()
def losses_with_dropout(
    module: Transformer, texts: Sequence[Sequence[int]], *, dropout: float, runs: int, seed: int
) -> Tensor:
    """−ln P of each next token of the last text, in `runs` with different dropout: (run, len − 1).

    Args:
        texts: one text, or source and target.
    """
    inputs = [ids_for(module, [text]) for text in texts]
    dropping, found = in_training_mode(module, dropout=dropout), []
    with seeded(seed, module=module):
        for _ in range(runs):  # sequentially: the logits of all runs may be gigabytes
            x = stream_of(dropping, inputs)  # (1, len, d_model)
            logits = module.head(x, module.embedding, tap=NO_TAP)[:, :-1]  # (1, len − 1, vocab)
            found.append(F.cross_entropy(logits.mT, inputs[-1][:, 1:], reduction="none"))
    return torch.cat(found)


def gradient_lengths(module: Transformer, texts: Sequence[Sequence[int]]) -> dict[str, float]:
    """‖∂ loss / ∂ weights‖ of all parameters of each layer, for one text.

    The loss is the mean −ln P of the last text's next tokens.

    Returns:
        By layer, such as "decoder.0.self_attn" or "embedding".
    """
    # A copy: torch.func.functional_call would swap the weights of a module that other threads are reading.
    copy = deepcopy(module, memo={id(weight): nn.Parameter(weight.detach()) for weight in module.parameters()})
    weights = dict(copy.named_parameters())
    inputs = tuple(ids_for(module, [text]) for text in texts)
    logits = copy(*inputs)  # (1, len, vocab)
    loss = F.cross_entropy(logits[0, :-1], inputs[-1][0, 1:])
    gradients = torch.autograd.grad(loss, list(weights.values()), allow_unused=True)
    squares: dict[str, float] = {}
    for name, gradient in zip(weights, gradients, strict=True):
        if gradient is not None and (layer := layer_of(name)):
            norm = torch.linalg.vector_norm(gradient, dtype=torch.float64)
            squares[layer] = squares.get(layer, 0.0) + float(norm**2)
    return {layer: square**0.5 for layer, square in squares.items()}


def layer_of(name: str) -> str:
    """The layer of a parameter, to whose self-attention a block's position bias belongs; "" for those of no layer."""
    parts = name.split(".")
    if parts[0] == "embedding":
        return "embedding"
    if "blocks" not in parts:
        return ""
    part = "self_attn" if parts[3] == "positions" else parts[3].removesuffix("_residual")
    return f"{parts[0]}.{parts[2]}.{part}"


@lru_cache(maxsize=1)
def untrained(config: ModelConfig, *, seed: int) -> Transformer:
    """A model with the weights at the start of its training. Cached: do not modify."""
    with seeded(seed):
        return build(config).eval()
