"""Keys and values of tokens that were read before, so that writing the next token reads one token only."""

from __future__ import annotations

from copy import copy
from typing import Self

import torch
from torch import Tensor


class Cache:
    """A tap that joins the keys and values of earlier calls to those of this one.

    What a tap returns is what the model goes on with, so attention needs no second equation: the queries are those of
    the tokens given now, the keys and values those of all tokens given so far. That the earlier ones need not be
    computed again is causality: nothing later can change them. Keys are kept as they are before RoPE turns them.

    Cross-attention works alike: its memory is given with the first call, and an empty one, (batch, 0, d_model), with
    the others.

    One cache serves one text.
    """

    def __init__(self) -> None:
        self._kept: dict[str, Tensor] = {}
        self._prefix = ""

    def __call__(self, name: str, value: Tensor) -> Tensor:
        if name not in ("k", "v"):
            return value
        site = self._prefix + name
        if site in self._kept:
            value = torch.cat((self._kept[site], value), dim=2)  # (batch, kv head, k_len so far, d_head)
        self._kept[site] = value
        return value

    def scope(self, name: str) -> Self:
        inner = copy(self)  # shallow: all scopes keep in the same place
        inner._prefix = f"{self._prefix}{name}."
        return inner

    def watches(self, *names: str) -> bool:
        return False
