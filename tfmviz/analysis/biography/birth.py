"""The formation of a circuit of two heads, over the weights kept during training."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfmviz.analysis.why.composition import compositions
from tfmviz.record.weights import StackWeights

FIFTH, FIFTIETH = 3, 48
"""Indices of the losses of a window's 5th and 50th token: loss 0 is the 2nd token's."""

Head = tuple[str, int]
"""Layer and head."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Birth:
    """Two heads and their model after `step` steps.

    Attributes:
        composition: K-composition of the two, see `why.composition`.
        previous: the earlier head's attention to the previous token, on random tokens that come twice.
        induction: the later head's attention there to the token that followed the same token before.
        fifth, fiftieth: loss of the 5th and the 50th token of windows of stories, in nats.
        first, again: loss of random tokens, and of their repetition.
    """

    step: int
    composition: float
    previous: float
    induction: float
    fifth: float
    fiftieth: float
    first: float
    again: float


def strongest(weights: StackWeights) -> tuple[Head, Head]:
    """The earlier and the later head with the largest K-composition."""
    found = compositions(weights, "K")
    row, column = np.unravel_index(np.nan_to_num(found.values).argmax(), found.values.shape)
    return found.heads[int(row)], found.heads[int(column)]


def composition_of(weights: StackWeights, pair: tuple[Head, Head]) -> float:
    found = compositions(weights, "K")
    return float(found.values[found.heads.index(pair[0]), found.heads.index(pair[1])])
