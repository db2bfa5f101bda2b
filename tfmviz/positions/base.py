"""The interface of all position schemes, four methods that by default do nothing."""

from __future__ import annotations

from typing import Self

import torch
from torch import Tensor, nn

from tfmviz.record.facts import Facts
from tfmviz.record.tap import Tap


class Positions(nn.Module):
    """No positions: attention sees a bag of tokens and cannot tell their order.

    Positions count from 0. If there are more keys than queries, the queries are at the last positions.
    """

    @classmethod
    def of(cls, facts: Facts, *, bidirectional: bool) -> Self:
        """The scheme for one stack of a model."""
        return cls()

    def embed(self, x: Tensor, tap: Tap, *, past: int = 0) -> Tensor:
        """Adds position vectors to the token embeddings.

        Args:
            x: (batch, len, d_embed), returned in the same shape.
            past: position of the first token.
        """
        return x

    def rotate(self, q: Tensor, k: Tensor, tap: Tap) -> tuple[Tensor, Tensor]:
        """Rotates queries (batch, head, q_len, d_head) and keys (batch, head, k_len, d_head), shapes kept.

        Neighbouring coordinates (2m, 2m + 1) rotate in their plane, by `turns`.
        """
        return q, k

    def turns(self, length: int) -> Tensor | None:
        """The angles by which `rotate` turns each pair of coordinates, if any.

        Returns:
            (length, d_head / 2), radians.
        """
        return None

    def relate(self, q: Tensor, k_len: int) -> Tensor | None:
        """The products of queries (batch, head, q_len, d_head) with a vector for each distance.

        Returns:
            (batch, head, q_len, k_len), added to q · k before the division by √d_head.
        """
        return None

    def vectors(self, length: int) -> Tensor | None:
        """The vectors of `relate`.

        Returns:
            (2 · length - 1, d_head), for key position minus query position from 1 - length to length - 1.
        """
        return None

    def bias(self, q_len: int, k_len: int) -> Tensor | None:
        """The bias added to the scaled scores, (head, q_len, k_len) on any device."""
        return None


def distances(q_len: int, k_len: int, *, device: torch.device | None = None) -> Tensor:
    """Query position minus key position, (q_len, k_len)."""
    k_position = torch.arange(k_len, device=device)
    return k_position[k_len - q_len :, None] - k_position
