"""How a language model comes to copy, as a chart: for the shipped model and for the reader's runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tfmviz.analysis.forming import Copying
from tfmviz.plots import learning
from tfmviz.plots.charts import Chart
from tfmviz.record.trace import Array
from tfmviz.ui.figures import theme

ABOUT = "**Induction score**: attention to what followed the same token before."
"""What the panels show; their own titles have to fit a narrow column."""


def chart(steps: Sequence[int], found: Sequence[Copying], *, vocab_size: int, now: int) -> Chart:
    """Losses on random tokens that come twice, and what each head does there.

    Args:
        found: what was measured at each of the steps.
        now: the step that is shown beside the chart.
    """
    chance = math.log(vocab_size)

    def of_heads(values: Sequence[Array]) -> dict[str, Array]:
        return dict(zip([f"head {name}" for name in found[0].heads], np.stack(values, axis=1), strict=True))

    return learning.forming(
        np.array(steps, dtype=float),
        losses={
            "first time": np.array([one.first for one in found]),
            "second time": np.array([one.second for one in found]),
        },
        heads={
            "induction score": of_heads([one.scores["induction"] for one in found]),
            "attention on the token before": of_heads([one.scores["previous token"] for one in found]),
            "loss added if switched off, nats": of_heads([one.damage for one in found]),
        },
        level=(chance, f"pure chance, log V = {chance:.2f}"),
        now=now,
        theme=theme(),
    )
