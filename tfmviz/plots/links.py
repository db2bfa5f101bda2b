"""A number of every head, as a map of all heads."""

from __future__ import annotations

from tfmviz.plots.cells import Axis, Cells, Form, Scale, Texts, chosen_cell, share, written
from tfmviz.record.trace import Array


def weights(values: Array, *, chosen: tuple[int, int]) -> Cells:
    """Every head's attention from one token to another.

    Args:
        values: (layer, head), in [0, 1] or NaN.
        chosen: layer and head to mark.
    """
    return of_heads(values, scale=share(), texts=written(values, ".2f", absent="–"), chosen=chosen)


def of_heads(
    values: Array, *, scale: Scale, texts: Texts | None, chosen: tuple[int, int], form: Form | None = None
) -> Cells:
    """A number of every head, (layer, head)."""
    return Cells(
        matrices=values[None],
        rows=Axis(title="layer"),
        columns=Axis(title="head"),
        scale=scale,
        form=form or Form(),
        texts=texts,
        frames=chosen_cell(chosen),
    )
