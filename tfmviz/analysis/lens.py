"""The logit lens: predictions read from the stream after every layer (nostalgebraist 2020)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfmviz.record.trace import Array, Trace
from tfmviz.record.weights import Readout


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Lens:
    """The stream of every token, read out at every stage; all arrays are (stage, len).

    The answer at a token is its most probable word after the last stage. p is the softmax of a stage's logits, p_end
    that of the last stage.

    Attributes:
        top: index of the most probable word.
        top_probability: its p.
        answer_probability: p of the answer.
        answer_rank: 1 = most probable; ties share the better rank.
        entropy: −Σ p log p in nats, in [0, log vocab].
        divergence: KL(p_end ‖ p) = Σ p_end (log p_end − log p) in nats.
    """

    top: Array
    top_probability: Array
    answer_probability: Array
    answer_rank: Array
    entropy: Array
    divergence: Array

    @property
    def answer(self) -> Array:
        return self.top[-1]

    @property
    def step(self) -> Array:
        """(stage, len): 1 where the answer's rank is better than at the stage before, −1 where it is worse, else 0."""
        moved = np.sign(self.answer_rank[:-1] - self.answer_rank[1:])
        return np.vstack((np.zeros_like(moved[:1]), moved)) if len(moved) else np.zeros_like(self.answer_rank)

    @property
    def settled(self) -> Array:
        """(len,), the first stage from which the answer stays on top."""
        elsewhere = self.answer_rank[::-1] > 1  # from the last stage back
        return np.where(elsewhere.any(axis=0), len(elsewhere) - elsewhere.argmax(axis=0), 0)


def read_stages(trace: Trace, sites: Sequence[str], readout: Readout) -> Lens:
    """Reads the stream out at `sites`, the last of which ends the stack, with the model's own logits there."""
    end = log_softmax(trace["logits"])
    p_end = np.exp(end)
    rows = [_measure(log_softmax(readout.logits(trace[site])), end, p_end) for site in sites[:-1]]
    rows.append(_measure(end, end, p_end))
    return Lens(**{name: np.stack([row[name] for row in rows]) for name in rows[0]})


def read_token(trace: Trace, sites: Sequence[str], readout: Readout, token: int) -> Lens:
    """`read_stages` for one token: (stage, 1)."""
    early = [readout.logits(np.stack([trace[site][token] for site in sites[:-1]]))] if len(sites) > 1 else []
    log_p = log_softmax(np.concatenate([*early, trace.rows("logits", [token])]))  # (stage, vocab)
    end = np.broadcast_to(log_p[-1], log_p.shape)
    return Lens(**{name: values[:, None] for name, values in _measure(log_p, end, np.exp(end)).items()})


def log_softmax(logits: Array) -> Array:
    """x_i − log Σ exp(x_j) over the last axis, in the precision of the model (float32)."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def _measure(log_p: Array, end: Array, p_end: Array) -> dict[str, Array]:
    p = np.exp(log_p)
    tokens, answer = np.arange(len(p)), end.argmax(axis=-1)
    of_answer = log_p[tokens, answer]
    top = log_p.argmax(axis=-1)
    return {
        "top": top,
        "top_probability": p[tokens, top],
        "answer_probability": p[tokens, answer],
        "answer_rank": 1 + (log_p > of_answer[:, None]).sum(axis=-1),
        "entropy": -np.einsum("nv,nv->n", p, log_p),
        "divergence": np.maximum(np.einsum("nv,nv->n", p_end, end - log_p), 0),
    }
