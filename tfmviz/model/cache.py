"""Keys and values of the tokens read so far, so that writing the next token means reading one token only."""

from __future__ import annotations

from copy import copy
from typing import Self

import torch
from torch import Tensor


class Cache:
    """A tap that joins the keys and values of earlier calls to those of this one.

    The model goes on with what a tap returns, so attention needs no second equation: queries are those of the tokens
    given now, keys and values those of all tokens given so far. The earlier ones need not be computed again, since
    nothing later can change them: that is causality. Keys are kept as they are before the position scheme turns them.

    Cross-attention works alike: the first call brings the memory, and every later call an empty one,
    (batch, 0, d_model).

    One cache serves one text, or a batch of texts of the same length.
    """

    def __init__(self) -> None:
        self._kept: dict[str, Tensor] = {}
        self._scopes: dict[str, Self] = {}  # each is asked for at every token
        self._prefix = ""

    def __call__(self, name: str, value: Tensor) -> Tensor:
        if name not in ("k", "v"):
            return value
        site = self._prefix + name
        if site in self._kept:
            kept = self._kept[site]
            # nothing new in cross-attention: no copy either
            value = (
                torch.cat((kept, value), dim=2) if value.shape[2] else kept
            )  # (batch, kv head, k_len so far, d_head)
        self._kept[site] = value
        return value

    def keep(self, rows: Tensor) -> None:
        """Goes on with some rows of the batch, in a new order: (new batch,), indices of the old rows."""
        for site, value in self._kept.items():
            self._kept[site] = value.index_select(0, rows)

    def branch(self) -> Self:
        """A second cache that goes on from here, while this one stays as it is."""
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
