"""Which query may attend to which key.

Masks are boolean, True = may attend, and are combined with `&`. In the pictures rows are queries, columns
are keys, 1 is True.
"""

from __future__ import annotations

import torch
from torch import Tensor


def full(q_len: int, k_len: int, *, device: torch.device | None = None) -> Tensor:
    """Every query sees every key: encoders and cross-attention.

        1 1 1
        1 1 1

    Returns:
        (q_len, k_len), bool.
    """
    return torch.ones(q_len, k_len, dtype=torch.bool, device=device)


def causal(length: int, *, past: int = 0, device: torch.device | None = None) -> Tensor:
    """Query i sees keys j ≤ i, itself included: decoders.

        1 0 0
        1 1 0
        1 1 1

    Some lectures print j < i. Taken literally, the first row then has nothing to attend to.

    When a text is written token by token, only its last queries are asked. Two queries after one past token:

        1 1 0
        1 1 1

    Args:
        length: queries.
        past: keys before that of the first query.

    Returns:
        (q_len, k_len) with q_len = length and k_len = past + length, bool.
    """
    return full(length, past + length, device=device).tril(past)


def padding(lengths: Tensor, k_len: int) -> Tensor:
    """Every query sees the keys that hold a token, not those that fill up the batch.

    Lengths 3 and 2 in a batch of width 4:

        1 1 1 0
        1 1 0 0

    Args:
        lengths: (batch,), tokens in each sentence.
        k_len: width of the batch.

    Returns:
        (batch, 1, 1, k_len), bool: the same for every head and query.
    """
    return (torch.arange(k_len, device=lengths.device) < lengths[:, None])[:, None, None, :]
