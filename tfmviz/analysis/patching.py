"""Activation patching: the vectors that carry the difference between two sentences.

One vector replaces that of another, equally long sentence; if the answer follows, the vector carried the difference
(causal tracing, Meng et al. 2022, section 2; path patching, Wang et al. 2022, section 3).
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from tfmviz.analysis.ablation import Run
from tfmviz.analysis.predictions import softmax
from tfmviz.record.edits import Patch
from tfmviz.record.trace import Array, Trace

Copied = Literal["resid_pre", "self_attn.out", "cross_attn.out", "mlp.out"]

N_CANDIDATES = 10
"""Words of each run to consider if both have the same favourite."""


def favourites(first: Array, second: Array) -> tuple[int, int]:
    """The most probable word of each run's logits, (vocab,)."""
    return int(first.argmax()), int(second.argmax())


def answers(first: Array, second: Array) -> tuple[int, int]:
    """The words to compare: each run's favourite, from its logits (vocab,).

    If both have the same favourite, the likely word that each run prefers most over the other run.
    """
    best = favourites(first, second)
    if best[0] != best[1]:
        return best
    likely = np.union1d(np.argsort(-first)[:N_CANDIDATES], np.argsort(-second)[:N_CANDIDATES])
    gain = (np.log(softmax(second)) - np.log(softmax(first)))[likely]
    return int(likely[gain.argmin()]), int(likely[gain.argmax()])


def difference(logits: Array, words: tuple[int, int]) -> Array:
    """The second word's logit minus the first's: (…), from logits (…, vocab)."""
    return logits[..., words[1]].astype(np.float64) - logits[..., words[0]].astype(np.float64)


def patches(second: Trace, site: str) -> tuple[tuple[Patch], ...]:
    """For every token, the edit that copies its vector from the second run."""
    return tuple((Patch(site=site, vector=tuple(row), position=i),) for i, row in enumerate(second[site].tolist()))


def recovered(first: Trace, second: Trace, sites: tuple[str, ...], run: Run, *, position: int) -> Array:
    """Share of the answer's change that copying one vector achieves.

    With d the `difference` of the answers' logits, (d(patched) − d(first)) / (d(second) − d(first)).

    Args:
        run: runs the first sentence.
        position: of the answer.

    Returns:
        (site, len); NaN if both runs answer alike.
    """
    rows = [one.row("logits", position) for one in (first, second)]
    words = answers(*rows)
    begin, end = (difference(row, words) for row in rows)
    copied = [run(patches(second, site), [position])[:, 0] for site in sites]  # each (len, vocab)
    moved = difference(np.stack(copied), words) - begin
    return moved / (end - begin if end != begin else np.nan)


def sites_of(trace: Trace, stack: str, copied: Copied) -> tuple[str, ...]:
    """The sites of one kind of value in all layers; none if the model has no such value."""
    sites: list[str] = []
    while f"{stack}.{len(sites)}.resid_pre" in trace:
        sites.append(f"{stack}.{len(sites)}.{copied}")
    return tuple(site for site in sites if site in trace)
