"""A text at later positions: the effect of a shift on each position scheme."""

from __future__ import annotations

from copy import copy
from typing import Self

import torch
import torch.nn.functional as F
from torch import Tensor

from tfmviz.model.transformer import DecoderOnly
from tfmviz.record.tap import Recorder, Tap


class Later:
    """A tap under which a text begins at position `by`, as if `by` masked tokens preceded it.

    Like `Cache` it prepends keys and values: zeros.
    """

    def __init__(self, by: int, inner: Tap) -> None:
        self._by = by
        self._inner = inner

    def __call__(self, name: str, value: Tensor) -> Tensor:
        if name in ("k", "v"):
            value = F.pad(value, (0, 0, self._by, 0))  # (batch, kv head, by + len, d_head)
        elif name == "mask":
            value = value & (torch.arange(value.shape[-1], device=value.device) >= self._by)  # (len, by + len)
        return self._inner(name, value)

    def scope(self, name: str) -> Self:
        within = copy(self)
        within._inner = self._inner.scope(name)
        return within

    def at(self, position: int, *, length: int) -> Self:
        within = copy(self)
        within._inner = self._inner.at(position, length=length)
        return within

    def watches(self, *names: str) -> bool:
        return self._inner.watches(*names)


@torch.inference_mode()
def scores_from(model: DecoderOnly, ids: Tensor, *, first: int) -> Tensor:
    """The masked scores of all layers for the text at positions `first`, `first` + 1 …: (layer, head, len, len).

    Raises:
        ValueError: learned positions end before the text does.
    """
    recorder = Recorder(sites=("*.scores",))
    model.stream(ids[None], Later(first, recorder), past=first)
    return torch.stack([scores[0, ..., first:] for scores in recorder.values.values()])


@torch.inference_mode()
def streams_from(model: DecoderOnly, ids: Tensor, *, first: int) -> Tensor:
    """The residual stream before the first layer and after each, for the same text: (1 + layer, len, d_model)."""
    recorder = Recorder(sites=("decoder.0.resid_pre", "*.resid_post"))
    model.stream(ids[None], Later(first, recorder), past=first)
    return torch.stack([value[0] for value in recorder.values.values()])
