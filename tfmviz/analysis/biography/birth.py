"""How a circuit of two heads is born: the weights kept during a training, one after the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfmviz.analysis.why.composition import compositions
from tfmviz.record.weights import StackWeights

FIFTH, FIFTIETH = 3, 48
"""Places of the losses of the 5th and the 50th token of a window: the first loss is that of the 2nd."""

Head = tuple[str, int]
"""Layer and head."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Birth:
    """What two heads and their model do after so many steps.

    Attributes:
        composition: how far the later head's keys read what the earlier one writes, see `why.composition`.
        previous: the earlier head's attention to the token before, on random tokens that come twice.
        induction: the later head's attention there to what followed the same token before.
        fifth, fiftieth: loss of the 5th and the 50th token of windows of stories, in nats: the model profits from what
            it has read as far as the second is lower.
        first, again: loss of random tokens, and of the same ones when they come again.
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
    """The earlier and the later head that compose most by the later one's keys."""
    found = compositions(weights, "K")
    row, column = np.unravel_index(np.nan_to_num(found.values).argmax(), found.values.shape)
    return found.heads[int(row)], found.heads[int(column)]


def composition_of(weights: StackWeights, pair: tuple[Head, Head]) -> float:
    """That of one pair of heads."""
    found = compositions(weights, "K")
    return float(found.values[found.heads.index(pair[0]), found.heads.index(pair[1])])
