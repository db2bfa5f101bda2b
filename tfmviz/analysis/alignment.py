"""A context as a weighted sum: c_i = Σ_j α_ij h_j, term by term, from the record of a recurrent translator."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfmviz.record.trace import Array, Trace

CONTEXT, STATES = "decoder.context", "encoder.hidden"


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Sum:
    """One coordinate of one context, c_i[k] = Σ_j α_ij h_j[k].

    Attributes:
        scores, exponentials: (source,), score_ij, and exp(score_ij) over the largest of them.
        alpha: (source,), α_ij: the exponentials over their sum.
        states: (source,), h_j[k].
        total: the model's own c_i[k].
    """

    scores: Array
    exponentials: Array
    alpha: Array
    states: Array
    total: float

    @property
    def terms(self) -> Array:
        """(source,), α_ij h_j[k]."""
        return self.alpha * self.states


def has_attention(trace: Trace) -> bool:
    return "decoder.alpha" in trace


def context_sum(trace: Trace, *, word: int, coordinate: int) -> Sum:
    """The sum behind one coordinate of a target word's context.

    Raises:
        NotCaptured: the model has no attention.
    """
    scores = trace["decoder.scores"][word]
    return Sum(
        scores=scores,
        exponentials=np.exp(scores - scores.max()),
        alpha=trace["decoder.alpha"][word],
        states=trace[STATES][:, coordinate],
        total=float(trace[CONTEXT][word, coordinate]),
    )


def largest_number(trace: Trace, *, word: int) -> int:
    """The coordinate with the largest absolute value."""
    return int(np.abs(trace[CONTEXT][word]).argmax())
