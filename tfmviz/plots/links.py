"""Which head links two words, as a map of all heads."""

from __future__ import annotations

from tfmviz.plots.cells import Axis, Cells, chosen_cell, share, written
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
