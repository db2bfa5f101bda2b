"""Which head links two words, as a map of all heads."""

from __future__ import annotations

from tfmviz.plots.cells import Axis, Cells, Form, amounts, chosen_cell, share, written
from tfmviz.record.trace import Array


def weights(values: Array, *, chosen: tuple[int, int]) -> Cells:
    """Every head's attention from one token to another.

    Args:
        values: (layer, head), in [0, 1] or NaN.
        chosen: layer and head to mark.
    """
    return Cells(
        matrices=values[None],
        rows=Axis(title="layer"),
        columns=Axis(title="head"),
        scale=share(),
        texts=written(values, ".2f", absent="–"),
        frames=chosen_cell(chosen),
    )


def effects(values: Array, *, chosen: tuple[int, int]) -> Cells:
    """How much every head's look from one token at another adds, as a part of what it is added to.

    Args:
        values: (layer, head), at least 0 or NaN.
        chosen: layer and head to mark.
    """
    return Cells(
        matrices=values[None],
        rows=Axis(title="layer"),
        columns=Axis(title="head"),
        scale=amounts(values, "length added, of the vector's own", ticks="per cent"),
        form=Form(percent=True, digits=1),
        texts=written(values, ".0%", absent="–"),
        frames=chosen_cell(chosen),
    )
