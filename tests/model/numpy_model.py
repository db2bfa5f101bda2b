"""A second, independent forward pass: pre-norm writers in plain numpy, float64, straight from their files.

It shares no code with the library, so agreement means that what a page shows is what the weights say. It knows every
position scheme, from any first position; formulas are written as in the papers.
"""

import json
import math
from dataclasses import dataclass
from math import erf
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

Array = np.ndarray

KNOWN = ("none", "learned", "sinusoidal", "rope", "alibi", "t5", "shaw")
"""The schemes that have a formula here."""


@dataclass(frozen=True)
class Run:
    """Scores (layer, head, len, len) with −∞ where masked, patterns alike, streams (layer + 1, …), logits."""

    scores: Array
    patterns: Array
    streams: Array
    logits: Array


def known(scheme: str) -> str:
    """Raises: ValueError, since without its formula a scheme would be taken for none."""
    if scheme not in KNOWN:
        raise ValueError(f"{scheme} has no formula in tests/model/numpy_model.py.")
    return scheme


def config_of(folder: Path) -> dict[str, int | str]:
    config: dict[str, int | str] = json.loads((folder / "config.json").read_text())
    known(str(config["positions"]))
    return config


def weights(folder: Path) -> dict[str, Array]:
    """In float64, by their names in the file."""
    return {name: value.astype(np.float64) for name, value in load_file(folder / "model.safetensors").items()}


def embedding(folder: Path, ids: tuple[int, ...]) -> Array:
    W_E = weights(folder)["embedding.W_E"]
    return W_E[list(ids)] * (math.sqrt(W_E.shape[1]) if config_of(folder)["embedding_scale"] == "sqrt_d_model" else 1)


def added(folder: Path, length: int, *, first: int = 0) -> Array:
    """What the scheme adds to the embeddings, (len, d_model)."""
    config = config_of(folder)
    if config["positions"] == "learned":
        return weights(folder)["decoder.positions.table"][first : first + length]
    table = np.zeros((length, int(config["d_model"])))
    if config["positions"] == "sinusoidal":
        pairs = np.arange(table.shape[1] // 2)
        angles = (first + np.arange(length))[:, None] / 10000 ** (2 * pairs / table.shape[1])
        table[:, ::2], table[:, 1::2] = np.sin(angles), np.cos(angles)
    return table


def forward(folder: Path, ids: tuple[int, ...], *, first: int = 0) -> Run:
    config, w = config_of(folder), weights(folder)
    assert (config["norm"], config["norm_position"], config["feed_forward"]) == ("layer", "pre", "gelu")
    scheme, length, n_heads = str(config["positions"]), len(ids), int(config["n_heads"])
    x = embedding(folder, ids) + added(folder, length, first=first)
    away = [[i - j for j in range(length)] for i in range(length)]
    bias = np.array([[[between(scheme, w, head, far) for far in row] for row in away] for head in range(n_heads)])
    all_scores, patterns, streams = [], [], [x]
    for layer in range(int(config["n_layers"])):
        p = f"decoder.blocks.{layer}."
        h = layer_norm(x, w[p + "self_attn_residual.norm.weight"], w[p + "self_attn_residual.norm.bias"])
        q, k, v = (linear(h, w, f"{p}self_attn.W_{name}").reshape(length, n_heads, -1) for name in "QKV")
        if scheme == "rope":
            q, k = rotate(q, first), rotate(k, first)
        scores = np.einsum("ihd,jhd->hij", q, k) / math.sqrt(q.shape[-1]) + bias
        if scheme == "shaw":
            a = w["decoder.positions.table"]
            for i, j in np.ndindex(length, length):
                scores[:, i, j] += q[i] @ a[16 + max(-16, min(16, j - i))] / math.sqrt(q.shape[-1])
        scores[:, np.triu(np.ones((length, length), dtype=bool), k=1)] = -np.inf
        pattern = np.exp(scores - scores.max(axis=-1, keepdims=True))
        pattern /= pattern.sum(axis=-1, keepdims=True)
        x = x + linear(np.einsum("hij,jhd->ihd", pattern, v).reshape(length, -1), w, p + "self_attn.W_O")
        h = layer_norm(x, w[p + "mlp_residual.norm.weight"], w[p + "mlp_residual.norm.bias"])
        h = linear(h, w, p + "mlp.W_in")
        x = x + linear(h * (1 + np.vectorize(erf)(h / np.sqrt(2))) / 2, w, p + "mlp.W_out")
        all_scores.append(scores)
        patterns.append(pattern)
        streams.append(x)
    x = layer_norm(x, w["decoder.norm.weight"], w["decoder.norm.bias"])
    return Run(np.stack(all_scores), np.stack(patterns), np.stack(streams), x @ w["embedding.W_E"].T)


def linear(x: Array, w: dict[str, Array], name: str) -> Array:
    return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]


def layer_norm(x: Array, gamma: Array, beta: Array) -> Array:
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5) * gamma + beta


def between(scheme: str, w: dict[str, Array], head: int, distance: int) -> float:
    """What is added to a score of a twin at a distance that is at least 0; what lies ahead is masked anyway."""
    if known(scheme) == "alibi":
        return float(-(2.0 ** (-8 * (head + 1) / 4)) * abs(distance))
    if scheme == "t5":
        near = max(distance, 0)
        far = 16 + int(math.log(max(near, 16) / 16) / math.log(128 / 16) * 16)
        return float(w["decoder.positions.table"][near if near < 16 else min(far, 31), head])
    return 0.0


def rotate(x: Array, first: int = 0) -> Array:
    """RoPE by complex numbers. x: (len, head, d_head)."""
    rates = 10000.0 ** (-2 * np.arange(x.shape[-1] // 2) / x.shape[-1])
    turns = np.exp(1j * (first + np.arange(len(x)))[:, None, None] * rates)
    product = (x[..., ::2] + 1j * x[..., 1::2]) * turns
    return np.stack((product.real, product.imag), axis=-1).reshape(x.shape)
