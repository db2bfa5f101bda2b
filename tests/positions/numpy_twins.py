"""A second, independent forward pass of the twins: every position scheme in plain numpy, from any first position.

It shares no code with the library; formulas are written as in the papers, position by position.
"""

import json
import math
from dataclasses import dataclass
from math import erf
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

from tests.model.numpy_model import layer_norm, linear

Array = np.ndarray

KNOWN = ("none", "learned", "sinusoidal", "rope", "alibi", "t5", "shaw")
"""The schemes that have a formula here."""


def known(scheme: str) -> str:
    """Raises: ValueError, since without its formula a scheme would be taken for none."""
    if scheme not in KNOWN:
        raise ValueError(f"{scheme} has no formula in tests/positions/numpy_twins.py.")
    return scheme


def scheme_of(folder: Path) -> str:
    return known(json.loads((folder / "config.json").read_text())["positions"])


@dataclass(frozen=True)
class Run:
    """Scores (layer, head, len, len) with −∞ where masked, patterns of the same shape, logits (len, vocab)."""

    scores: Array
    patterns: Array
    logits: Array


def weights(folder: Path) -> dict[str, Array]:
    return {name: value.astype(np.float64) for name, value in load_file(folder / "model.safetensors").items()}


def embedding(folder: Path, ids: tuple[int, ...]) -> Array:
    return weights(folder)["embedding.W_E"][list(ids)] * math.sqrt(128)


def added(folder: Path, length: int, *, first: int = 0) -> Array:
    """What the scheme adds to the embeddings, (len, 128)."""
    scheme = scheme_of(folder)
    table = np.zeros((length, 128))
    for i in range(length):
        for m in range(64):
            angle = (first + i) / 10000 ** (2 * m / 128)
            if scheme == "sinusoidal":
                table[i, 2 * m : 2 * m + 2] = math.sin(angle), math.cos(angle)
    return weights(folder)["decoder.positions.table"][first : first + length] if scheme == "learned" else table


def forward(folder: Path, ids: tuple[int, ...], *, first: int = 0) -> Run:
    scheme, w = scheme_of(folder), weights(folder)
    length, n_heads, d_head = len(ids), 4, 32
    x = embedding(folder, ids) + added(folder, length, first=first)
    places = range(first, first + length)
    bias = np.array([[[between(scheme, w, h, i - j) for j in places] for i in places] for h in range(n_heads)])
    future = np.triu(np.ones((length, length), dtype=bool), k=1)
    all_scores, patterns = [], []
    for layer in range(4):
        p = f"decoder.blocks.{layer}."
        h = layer_norm(x, w[p + "self_attn_residual.norm.weight"], w[p + "self_attn_residual.norm.bias"])
        q, k, v = (linear(h, w, f"{p}self_attn.W_{name}").reshape(length, n_heads, d_head) for name in "QKV")
        if scheme == "rope":
            q, k = (np.stack([turned(row, place) for row, place in zip(rows, places, strict=True)]) for rows in (q, k))
        scores = np.einsum("ihd,jhd->hij", q, k) / math.sqrt(d_head) + bias
        if scheme == "shaw":
            a = w["decoder.positions.table"]
            for i in range(length):
                for j in range(length):
                    scores[:, i, j] += q[i] @ a[16 + max(-16, min(16, j - i))] / math.sqrt(d_head)
        scores[:, future] = -np.inf
        pattern = np.exp(scores - scores.max(axis=-1, keepdims=True))
        pattern /= pattern.sum(axis=-1, keepdims=True)
        x = x + linear(np.einsum("hij,jhd->ihd", pattern, v).reshape(length, -1), w, p + "self_attn.W_O")
        h = layer_norm(x, w[p + "mlp_residual.norm.weight"], w[p + "mlp_residual.norm.bias"])
        h = linear(h, w, p + "mlp.W_in")
        x = x + linear(h * (1 + np.vectorize(erf)(h / np.sqrt(2))) / 2, w, p + "mlp.W_out")
        all_scores.append(scores)
        patterns.append(pattern)
    x = layer_norm(x, w["decoder.norm.weight"], w["decoder.norm.bias"])
    return Run(np.stack(all_scores), np.stack(patterns), x @ w["embedding.W_E"].T)


def between(scheme: str, w: dict[str, Array], head: int, distance: int) -> float:
    """What is added to a score at a distance that is at least 0; what lies ahead is masked anyway."""
    if known(scheme) == "alibi":
        return float(-(2.0 ** (-8 * (head + 1) / 4)) * abs(distance))
    if scheme == "t5":
        near = max(distance, 0)
        far = 16 + int(math.log(max(near, 16) / 16) / math.log(128 / 16) * 16)
        return float(w["decoder.positions.table"][near if near < 16 else min(far, 31), head])
    return 0.0


def turned(heads: Array, place: int) -> Array:
    """RoPE by complex numbers, (head, d_head)."""
    out = np.empty_like(heads)
    for m in range(heads.shape[-1] // 2):
        spin = np.exp(1j * place * 10000 ** (-2 * m / heads.shape[-1]))
        product = (heads[:, 2 * m] + 1j * heads[:, 2 * m + 1]) * spin
        out[:, 2 * m], out[:, 2 * m + 1] = product.real, product.imag
    return out
