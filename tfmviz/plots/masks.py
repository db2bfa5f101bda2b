"""Figures of the mask page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfmviz.plots.cells import Axis, Cells, Form, Scale, amounts, of_tokens, written
from tfmviz.record.trace import Array


def small(mask: Array, *, title: str, k_tokens: Sequence[str]) -> Cells:
    """A mask, blue where a query may look, grey where not; rows are queries, columns keys.

    Args:
        mask: (q_len, k_len).
    """
    return Cells(
        matrices=np.where(mask, 1.0, np.nan)[None],
        rows=Axis(title="query", names=()),
        columns=of_tokens("key", k_tokens),
        scale=Scale(colours="open", low=0, high=1),
        form=Form(words=("may look", "may not look")),
        titles=(title,),
        square=True,
    )


def reach(steps: Array, *, tokens: Sequence[str], n_layers: int) -> Cells:
    """After how many layers a token can influence a position; grey: not within these layers.

    Args:
        steps: (len, len), 0 on the diagonal, negative where out of reach.
        n_layers: of the model.
    """
    shown = np.where(steps >= 0, steps, np.nan)
    return Cells(
        matrices=shown[None],
        rows=of_tokens("query", tokens),
        columns=of_tokens("key", tokens),
        scale=Scale(
            colours="norms",
            low=0,
            high=max(n_layers, 1),
            title="layers until the key can influence the query",
            ticks="whole",
        ),
        form=Form(name="after ", digits=0, unit=" layers"),
        texts=written(shown, ".0f"),
        square=True,
    )


def change(values: Array, *, tokens: Sequence[str]) -> Cells:
    """How far every token's vector has moved after each layer.

    Args:
        values: (n_layers, len), relative lengths, at least 0.
    """
    return Cells(
        matrices=values[None],
        rows=Axis(title="after layer"),
        columns=of_tokens("token", tokens),
        scale=amounts(values, "change of the vector, as a share of its length", ticks="per cent"),
        form=Form(name="moved by ", digits=1, percent=True, unit=" of its length"),
    )
