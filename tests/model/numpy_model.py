"""A second, independent forward pass: the shipped decoder-only model in plain numpy, float64, straight from its files.

It shares no code with the library, so agreement means that what a page shows is what the weights say.
"""

import json
from math import erf
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

Array = np.ndarray


def forward(folder: Path, ids: tuple[int, ...]) -> tuple[Array, Array, Array]:
    """Patterns (layer, head, len, len), streams (layer + 1, len, d_model) and logits (len, vocab)."""
    config = json.loads((folder / "config.json").read_text())
    assert (config["positions"], config["norm"], config["norm_position"]) == ("rope", "layer", "pre")
    w = {name: value.astype(np.float64) for name, value in load_file(folder / "model.safetensors").items()}
    n_heads, length = config["n_heads"], len(ids)
    d_head = config["d_model"] // n_heads
    scale = np.sqrt(config["d_model"]) if config["embedding_scale"] == "sqrt_d_model" else 1.0
    x = scale * w["embedding.W_E"][list(ids)]
    streams, patterns = [x], []
    for layer in range(config["n_layers"]):
        p = f"decoder.blocks.{layer}."
        h = layer_norm(x, w[p + "self_attn_residual.norm.weight"], w[p + "self_attn_residual.norm.bias"])
        q, k, v = (linear(h, w, f"{p}self_attn.W_{name}").reshape(length, n_heads, d_head) for name in "QKV")
        q, k = rotate(q), rotate(k)
        z = np.zeros((length, n_heads, d_head))
        pattern = np.zeros((n_heads, length, length))
        for head in range(n_heads):
            for i in range(length):
                scores = np.array([q[i, head] @ k[j, head] for j in range(i + 1)]) / np.sqrt(d_head)
                weights = np.exp(scores - scores.max())
                pattern[head, i, : i + 1] = weights / weights.sum()
            z[:, head] = pattern[head] @ v[:, head]
        patterns.append(pattern)
        x = x + linear(z.reshape(length, -1), w, p + "self_attn.W_O")
        h = layer_norm(x, w[p + "mlp_residual.norm.weight"], w[p + "mlp_residual.norm.bias"])
        h = linear(h, w, p + "mlp.W_in")
        h = h * (1 + np.vectorize(erf)(h / np.sqrt(2))) / 2
        x = x + linear(h, w, p + "mlp.W_out")
        streams.append(x)
    x = layer_norm(x, w["decoder.norm.weight"], w["decoder.norm.bias"])
    return np.stack(patterns), np.stack(streams), x @ w["embedding.W_E"].T


def linear(x: Array, w: dict[str, Array], name: str) -> Array:
    return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]


def layer_norm(x: Array, gamma: Array, beta: Array) -> Array:
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5) * gamma + beta


def rotate(x: Array) -> Array:
    """RoPE by a 2 × 2 rotation matrix per position and pair, as the paper writes it. x: (len, head, d_head)."""
    turned = np.empty_like(x)
    for position in range(x.shape[0]):
        for pair in range(x.shape[-1] // 2):
            angle = position * 10000 ** (-2 * pair / x.shape[-1])
            matrix = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            turned[position, :, 2 * pair : 2 * pair + 2] = x[position, :, 2 * pair : 2 * pair + 2] @ matrix.T
    return turned
