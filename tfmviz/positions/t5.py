"""T5's relative position bias (Raffel et al. 2020, section 2.1)."""

from __future__ import annotations

import math
from typing import Self

import torch
from torch import Tensor, nn

from tfmviz.constants import MAX_DISTANCE, N_BUCKETS
from tfmviz.positions.base import Positions, distances
from tfmviz.record.facts import Facts


def buckets(distance: Tensor, *, bidirectional: bool) -> Tensor:
    """Sorts distances into `N_BUCKETS` buckets, each with one bias: [0, N_BUCKETS), shape kept.

    The first half of the buckets hold one distance each. The others widen evenly on a logarithmic scale that ends at
    `MAX_DISTANCE`; the last takes everything from 113 on. An encoder splits the buckets between keys to the left and
    keys to the right; there the last ones begin at 91.

    Args:
        distance: query position minus key position, any shape, int.
    """
    n_buckets, offset = N_BUCKETS, torch.zeros_like(distance)
    if bidirectional:
        n_buckets //= 2
        offset = (distance < 0) * n_buckets
        distance = distance.abs()
    distance = distance.clamp(min=0)
    n_exact = n_buckets // 2
    ratio = torch.log(distance.clamp(min=1) / n_exact) / math.log(MAX_DISTANCE / n_exact)
    far = (n_exact + ratio * (n_buckets - n_exact)).long().clamp(max=n_buckets - 1)
    return offset + torch.where(distance < n_exact, distance, far)


class T5Relative(Positions):
    """scores_ij + b_h[bucket(i - j)], with one trained value b for each head and bucket."""

    def __init__(self, *, n_heads: int, bidirectional: bool) -> None:
        super().__init__()
        self.bidirectional = bidirectional
        self.table = nn.Parameter(torch.empty(N_BUCKETS, n_heads).normal_(std=0.02))

    @classmethod
    def of(cls, facts: Facts, *, bidirectional: bool) -> Self:
        return cls(n_heads=facts.attention.n_heads, bidirectional=bidirectional)

    def bias(self, q_len: int, k_len: int) -> Tensor:
        distance = distances(q_len, k_len, device=self.table.device)
        return self.table[buckets(distance, bidirectional=self.bidirectional)].permute(2, 0, 1)  # (head, q_len, k_len)
