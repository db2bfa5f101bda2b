"""Connectivity by gradient: the effect of each token on a language model's prediction (Madsen 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import torch
from torch import Tensor

from tfmviz.model.build import Earlier
from tfmviz.model.device import ids_for, to_array
from tfmviz.model.transformer import DecoderOnly
from tfmviz.record.trace import Array


class Source:
    """A tap that makes the embeddings the variable of differentiation."""

    def __init__(self) -> None:
        self.embed: Tensor | None = None

    def __call__(self, name: str, value: Tensor) -> Tensor:
        if name != "embed":
            return value
        self.embed = value.detach().requires_grad_()
        return self.embed

    def scope(self, name: str) -> Self:
        return self

    def at(self, position: int, *, length: int) -> Self:
        return self

    def watches(self, *names: str) -> bool:
        return False


def pull(model: DecoderOnly | Earlier, ids: Sequence[int]) -> Array:
    """‖∂ log p(w) / ∂ e_j‖ for each token's vector e_j, where w is the most probable next token: (len,)."""
    source = Source()
    with torch.enable_grad():
        log_p = model(ids_for(model, [ids]), tap=source)[0, -1].log_softmax(dim=-1)
        assert source.embed is not None
        (gradient,) = torch.autograd.grad(log_p.max(), source.embed)  # (1, len, d_model)
    return to_array(gradient[0].norm(dim=-1))
