"""Attention in plain numpy, which the pages print."""

import numpy as np


def attention(x_q, x_kv, mask, W_Q, b_Q, W_K, b_K, W_V, b_V, W_O, b_O, divisor, angles=None, bias=0.0, sink=-np.inf):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    q = x_q @ W_Q + b_Q[:, None]  # (head, q_len, d_head)
    k = x_kv @ W_K + b_K[:, None]  # (kv head, k_len, d_head)
    v = x_kv @ W_V + b_V[:, None]
    if angles is not None:  # RoPE: pairs of coordinates turn with the position
        q, k = turn(q, angles), turn(k, angles)  # type: ignore[no-untyped-call]
    k = k.repeat(len(q) // len(k), axis=0)  # heads that share keys and values
    v = v.repeat(len(q) // len(v), axis=0)
    scores = q @ k.swapaxes(1, 2) / divisor + bias  # (head, q_len, k_len)
    scores = np.where(mask, scores, -np.inf)
    largest = scores.max(axis=-1, keepdims=True)
    exp, rest = np.exp(scores - largest), np.exp(np.reshape(sink, (-1, 1, 1)) - largest)
    pattern = exp / (exp.sum(axis=-1, keepdims=True) + rest)  # rows sum to 1, if no learned sink takes the rest
    z = pattern @ v  # (head, q_len, d_head)
    out = (z @ W_O).sum(axis=0) + b_O  # (q_len, d_model)
    return scores, pattern, z, out


def turn(x, angles):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    even, odd = x[..., ::2], x[..., 1::2]
    pairs = even * np.cos(angles) - odd * np.sin(angles), even * np.sin(angles) + odd * np.cos(angles)
    return np.stack(pairs, axis=-1).reshape(x.shape)
