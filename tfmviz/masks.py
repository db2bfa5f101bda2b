"""Attention masks.

Masks are boolean, True = may attend, and are combined with `&`. In the diagrams rows are queries, columns are keys, 1
is True.
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

    In token-by-token decoding, two queries after one past token:

        1 1 0
        1 1 1

    Args:
        past: keys before that of the first query.

    Returns:
        (length, past + length), bool.
    """
    return full(length, past + length, device=device).tril(past)


def near(q_len: int, k_len: int, window: int, *, device: torch.device | None = None) -> Tensor:
    """Query i sees keys fewer than `window` positions away, itself included: |i − j| < w.

    With `causal` that is the last w keys (Jiang et al. 2023, section 2). Three queries, window 2, alone and with it:

        1 1 0      1 0 0
        1 1 1      1 1 0
        0 1 1      0 1 1

    If there are more keys than queries, the queries are at the last positions.

    Returns:
        (q_len, k_len), bool.
    """
    past = k_len - q_len
    return full(q_len, k_len, device=device).triu(past - window + 1).tril(past + window - 1)


def padding(lengths: Tensor, k_len: int) -> Tensor:
    """Every query sees the keys that are not padding.

    Lengths 3 and 2 in a batch of width 4:

        1 1 1 0
        1 1 0 0

    Returns:
        (batch, 1, 1, k_len), bool, from `lengths` (batch,).
    """
    return (torch.arange(k_len, device=lengths.device) < lengths[:, None])[:, None, None, :]


def strictly_causal(length: int) -> Tensor:
    """Query i sees keys j < i only, as some lectures print.

        0 0 0
        1 0 0
        1 1 0

    The softmax of the empty row is 0/0. Not for use in a model.

    Returns:
        (length, length), bool, and so below.
    """
    return full(length, length).tril(-1)


def prefix(length: int, n_prefix: int) -> Tensor:
    """Every query sees the first `n_prefix` tokens and the past: prefix-LM (Raffel et al. 2020, figure 4).

    Length 4, prefix 2:

        1 1 0 0
        1 1 0 0
        1 1 1 0
        1 1 1 1
    """
    return causal(length) | (torch.arange(length) < n_prefix)


def window(length: int, radius: int) -> Tensor:
    """Query i sees the keys at most `radius` positions away (Beltagy et al. 2020, section 3.1).

    Length 4, radius 1:

        1 1 0 0
        1 1 1 0
        0 1 1 1
        0 0 1 1
    """
    return distances(length) <= radius


def dilated(length: int, radius: int, step: int) -> Tensor:
    """A window with gaps: query i sees itself and every `step`-th key, `radius` on either side.

    Length 5, radius 1, step 2:

        1 0 1 0 0
        0 1 0 1 0
        1 0 1 0 1
        0 1 0 1 0
        0 0 1 0 1
    """
    apart = distances(length)
    return (apart % step == 0) & (apart <= radius * step)


def blocks(length: int, size: int) -> Tensor:
    """Each token sees only its own block of `size` tokens.

    Length 4, size 2:

        1 1 0 0
        1 1 0 0
        0 0 1 1
        0 0 1 1
    """
    piece = torch.arange(length) // size
    return piece[:, None] == piece


def global_tokens(length: int, n_global: int) -> Tensor:
    """Every query sees itself and the first `n_global` tokens, and these see every key.

    Length 4, one global token:

        1 1 1 1
        1 1 0 0
        1 0 1 0
        1 0 0 1
    """
    is_global = torch.arange(length) < n_global
    return is_global | is_global[:, None] | window(length, 0)


def random(length: int, n_random: int, seed: int) -> Tensor:
    """Query i sees itself and `n_random` random keys, reproducible by `seed`.

    Length 4, one random key, seed 0:

        1 1 0 0
        0 1 0 1
        0 1 1 0
        0 0 1 1
    """
    draws = torch.rand(length, length, generator=torch.Generator().manual_seed(seed))
    draws.fill_diagonal_(-1.0)  # query i sees itself in any case
    drawn = draws.argsort(dim=-1, descending=True)[:, : min(n_random, length - 1)]
    return window(length, 0).scatter(1, drawn, True)


def bigbird(length: int, radius: int, n_global: int, n_random: int, seed: int) -> Tensor:
    """A window, global tokens and random keys together (Zaheer et al. 2020, section 2).

    Length 6, radius 1, one global token, one random key, seed 0:

        1 1 1 1 1 1
        1 1 1 1 0 0
        1 1 1 1 0 1
        1 0 1 1 1 1
        1 0 1 1 1 1
        1 1 0 0 1 1

    The cost is linear in the length.
    """
    return window(length, radius) | global_tokens(length, n_global) | random(length, n_random, seed)


def distances(length: int) -> Tensor:
    """|i − j|, (length, length)."""
    position = torch.arange(length)
    return (position[:, None] - position).abs()
