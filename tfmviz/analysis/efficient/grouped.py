"""Grouped and multi-query attention: heads share keys and values (Shazeer 2019; Ainslie et al. 2023).

A trained model is converted by averaging each group's key and value heads (section 2.1), without the paper's further
training.
"""

from __future__ import annotations

import numpy as np

from tfmviz.record.trace import Array


def shared(x: Array, n_groups: int) -> Array:
    """Each head's keys or values replaced by its group's mean: (head, len, d).

    Raises:
        ValueError: the heads cannot be split evenly.
    """
    if len(x) % n_groups:
        raise ValueError(f"{len(x)} heads cannot form {n_groups} groups evenly.")
    means = x.reshape(n_groups, -1, *x.shape[1:]).mean(axis=1)
    return np.repeat(means, len(x) // n_groups, axis=0)
