"""Figures of the page on complexity."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tfmviz.plots.bars import bar_chart
from tfmviz.plots.charts import Chart
from tfmviz.plots.theme import Theme
from tfmviz.words.numbers import in_words, per_cent

ROLES = {
    "projections": "attention",
    "scores": "attention",
    "values": "attention",
    "feed-forward": "mlp",
    "vocabulary": "other",
}


def parts(counts: Mapping[str, int], *, theme: Theme) -> Chart:
    """Multiplications by part of the model, with their shares."""
    total = max(sum(counts.values()), 1)
    return bar_chart(
        list(counts),
        np.array(list(counts.values()), float) / 1e6,
        roles=[ROLES[part] for part in counts],
        colours=(("attention", theme.attention), ("mlp", theme.mlp), ("other", theme.text)),
        words=[f"{in_words(count)} ({per_cent(count / total)})" for count in counts.values()],
        said=[f"{part}: {in_words(count)} multiplications" for part, count in counts.items()],
        title="million multiplications",
        room=1.5,
        theme=theme,
    )
