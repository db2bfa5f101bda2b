"""A head's output as an average of the values, which stays within their convex hull."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfmviz.analysis.position_table import principal_components
from tfmviz.record.trace import Array


@dataclass(frozen=True, slots=True, eq=False)
class Average:
    """The values that one token attends to, and their average, in the plane in which they differ most.

    Attributes:
        places: (k, 2), the values. If the head's weights sum to less than 1, the last one is zero and takes the rest.
        weights: (k,), at least 0; they sum to 1.
        middle: (2,), Σ weights · places, the average.
        around: indices of the corners of the convex hull, in order.
        seen: share of the values' variance within the plane.
    """

    places: Array
    weights: Array
    middle: Array
    around: tuple[int, ...]
    seen: float


def in_a_plane(values: Array, weights: Array) -> Average:
    """Projects values onto their two principal components.

    Args:
        values: (k, d), at least one.
        weights: (k,), at least 0, with a sum of at most 1.
    """
    if (rest := 1 - float(weights.sum())) > 1e-4:
        values, weights = np.vstack((values, np.zeros_like(values[:1]))), np.append(weights, rest)
    found = principal_components(values, n=2)
    places = np.zeros((len(values), 2))
    places[:, : found.scores.shape[1]] = found.scores
    return Average(
        places=places, weights=weights, middle=weights @ places, around=hull(places), seen=float(found.shares.sum())
    )


def hull(points: Array) -> tuple[int, ...]:
    """Indices of the convex hull's corners, counter-clockwise, by Andrew's monotone chain (1979), from (n, 2)."""
    order = np.lexsort((points[:, 1], points[:, 0])).tolist()
    if len(order) < 3:
        return tuple(order)
    lower, upper = _chain(points, order), _chain(points, order[::-1])
    return (*lower[:-1], *upper[:-1])


def _chain(points: Array, order: list[int]) -> list[int]:
    corners: list[int] = []
    for new in order:
        while len(corners) > 1 and _turn(points[corners[-2]], points[corners[-1]], points[new]) <= 0:
            corners.pop()
        corners.append(new)
    return corners


def _turn(a: Array, b: Array, c: Array) -> float:
    """Positive if a → b → c turns left."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
