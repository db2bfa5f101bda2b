"""A position scheme that the library does not have, as somebody would add it: a class and an entry for the table."""

from typing import Self

import torch
from torch import Tensor

from tfmviz.positions.base import Positions
from tfmviz.positions.rope import rotate_pairs
from tfmviz.positions.schemes import Scheme
from tfmviz.record.facts import Facts
from tfmviz.record.tap import Tap

STEP = 0.3


class Clocks(Positions):
    """Pair m turns by 0.3 (m + 1) from one position to the next: no frequencies of RoPE."""

    def __init__(self, *, d_head: int) -> None:
        super().__init__()
        self.pairs = d_head // 2

    @classmethod
    def of(cls, facts: Facts, *, bidirectional: bool) -> Self:
        return cls(d_head=facts.d_head)

    def turns(self, length: int) -> Tensor:
        return STEP * torch.arange(length)[:, None] * torch.arange(1, self.pairs + 1)

    def rotate(self, q: Tensor, k: Tensor, tap: Tap) -> tuple[Tensor, Tensor]:
        angles = self.turns(k.shape[-2])
        turns = torch.stack((angles.cos(), angles.sin()), dim=-1)
        return tap("rot_q", rotate_pairs(q, turns[-q.shape[-2] :])), tap("rot_k", rotate_pairs(k, turns))


ENTRY = Scheme(
    name="Clocks",
    formula="pair m turns by 0.3 (m + 1) i",
    idea="Hands that turn at whole multiples of one rate.",
    acts="rotate",
    code=f"{__name__}:Clocks",
    pairs="d_head",
)
