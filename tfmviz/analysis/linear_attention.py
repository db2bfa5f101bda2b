"""Linear attention, computed over all pairs and by running sums (Katharopoulos et al. 2020).

Position schemes must act on q and k separately.
"""

from __future__ import annotations

import numpy as np

from tfmviz.analysis.numpy_attention import turn
from tfmviz.record.trace import Array
from tfmviz.record.weights import feature


def over_pairs(q: Array, k: Array, v: Array, *, angles: Array | None, bias: Array | None) -> Array:
    """Σ_j s_ij v_j / Σ_j n_ij over j ≤ i, pair by pair, for any scheme: (head, len, d_head).

    s_ij and n_ij are φ(q_i) · φ(k_j). RoPE rotates φ(q) and φ(k) in s_ij but not in n_ij, which could become 0 (Su et
    al. 2021, section 3.3). A bias multiplies both by exp(bias_ij), as in softmax attention.

    Args:
        q, k, v: (head, len, d_head).
        angles: (len, d_head / 2), RoPE's.
        bias: (head, len, len).
    """
    return shares(q, k, angles=angles, bias=bias) @ v


def shares(q: Array, k: Array, *, angles: Array | None, bias: Array | None = None) -> Array:
    """The weight of each value, s_ij / Σ_j n_ij: (head, query, key), 0 for later keys.

    With RoPE a share may be negative, and a row need not sum to 1.
    """
    plain, turned = _features(q, k, angles)
    allowed = np.tri(q.shape[1]) * (1.0 if bias is None else np.exp(bias.astype(np.float64)))
    below = (plain[0] @ plain[1].swapaxes(1, 2) * allowed).sum(axis=-1, keepdims=True)
    return turned[0] @ turned[1].swapaxes(1, 2) * allowed / below


def running(q: Array, k: Array, v: Array, *, angles: Array | None) -> Array:
    """The same from running sums, Σ φ(k_j) v_jᵀ and Σ φ(k_j), which allow no bias."""
    (q_plain, k_plain), (q_turned, k_turned) = _features(q, k, angles)
    state = np.zeros((len(q), q.shape[-1], v.shape[-1]))  # (head, d_head, d_head)
    total = np.zeros((len(q), q.shape[-1]))  # (head, d_head)
    out = []
    for i in range(q.shape[1]):
        state = state + k_turned[:, i, :, None] * v[:, i, None, :]
        total = total + k_plain[:, i]
        below = (q_plain[:, i] * total).sum(axis=-1, keepdims=True)
        out.append((q_turned[:, i, None, :] @ state)[:, 0] / below)
    return np.stack(out, axis=1)


def _features(q: Array, k: Array, angles: Array | None) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """φ(q) and φ(k), without and with RoPE."""
    plain = feature(q), feature(k)
    if angles is None:
        return plain, plain
    return plain, (turn(plain[0], angles), turn(plain[1], angles))  # type: ignore[no-untyped-call]
