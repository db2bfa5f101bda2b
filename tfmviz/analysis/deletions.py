"""Writes that a later part of the model cancels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfmviz.analysis.contributions import River

WRITERS = ("embedding", "position", "head", "MLP")


@dataclass(frozen=True, kw_only=True, slots=True)
class Deletion:
    """Two parts of a river, the later of which points against the earlier.

    Attributes:
        earlier, later: their indices.
        cosine: between their writes, below 0.
        share: −(a · b) / (a · a), the part of the earlier write that is cancelled.
    """

    earlier: int
    later: int
    cosine: float
    share: float


def strongest(river: River) -> Deletion | None:
    """The two writes with the most negative product; None if none is negative."""
    found = [n for n, part in enumerate(river.parts) if part.kind in WRITERS]
    writes = np.stack([river.parts[n].write for n in found])
    products = np.triu(writes @ writes.T, k=1)  # (earlier, later)
    row, column = np.unravel_index(int(products.argmin()), products.shape)
    product = float(products[row, column])
    if product >= 0:
        return None
    a, b = (float(np.linalg.norm(writes[n])) for n in (row, column))
    return Deletion(
        earlier=found[int(row)], later=found[int(column)], cosine=product / (a * b), share=-product / (a * a)
    )
