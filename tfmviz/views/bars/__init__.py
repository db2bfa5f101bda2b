"""Probabilities of tokens as horizontal bars, the largest on top; two for each token where A and B are compared.

Streamlit rebuilds a Plotly chart for every sentence, which costs as much as drawing all heads of the explorer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tfmviz.words.numbers import per_cent


@dataclass(frozen=True, kw_only=True, slots=True)
class Bars:
    """`shares`: of each run, one for each token, 0 to 1. `names`: of the runs, where there are several."""

    labels: Sequence[str]
    shares: Sequence[Sequence[float]]
    names: Sequence[str] = ()

    def payload(self) -> Any:
        """Label, then length and number of each bar; a typed key changes nothing else."""
        columns = zip(self.labels, *self.shares, strict=True)
        rows = [[label, *(part for share in shares for part in (share, per_cent(share)))] for label, *shares in columns]
        return {"series": list(self.names), "rows": rows} if self.names else rows
