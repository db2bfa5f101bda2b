"""The key-value cache, with which each next token needs a pass over one token only."""

from __future__ import annotations

from copy import copy
from typing import Self

import torch
from torch import Tensor


class Cache:
    """A tap that prepends the keys and values of earlier calls to those of this one.

    Causality guarantees that later tokens do not change them. Keys are stored before the position scheme rotates them.

    In cross-attention the first call brings the memory, later calls an empty one, (batch, 0, d_model).

    Texts of a batch have equal length.
    """

    def __init__(self) -> None:
        self._kept: dict[str, Tensor] = {}
        self._scopes: dict[str, Self] = {}  # each is used at every token
        self._prefix = ""

    def __call__(self, name: str, value: Tensor) -> Tensor:
        if name not in ("k", "v"):
            return value
        site = self._prefix + name
        if site in self._kept:
            kept = self._kept[site]
            # cross-attention adds nothing, so no copy is needed
            value = (
                torch.cat((kept, value), dim=2) if value.shape[2] else kept
            )  # (batch, kv head, k_len so far, d_head)
        self._kept[site] = value
        return value

    def keep(self, rows: Tensor) -> None:
        """rows: (new batch,), indices of old rows."""
        for site, value in self._kept.items():
            self._kept[site] = value.index_select(0, rows)

    def branch(self) -> Self:
        """A copy that continues separately."""
        other = copy(self)
        other._kept, other._scopes = dict(self._kept), {}  # no call changes a kept tensor
        return other

    def scope(self, name: str) -> Self:
        if name not in self._scopes:
            inner = copy(self)  # shallow: all scopes share one store
            inner._prefix, inner._scopes = f"{self._prefix}{name}.", {}
            self._scopes[name] = inner
        return self._scopes[name]

    def at(self, position: int, *, length: int) -> Self:
        return self

    def watches(self, *names: str) -> bool:
        return False
