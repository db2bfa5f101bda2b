"""The recurrent translators in plain numpy, one number after the other, to compare the models with."""

from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

from tfmviz.record.trace import Array

Weights = dict[str, Array]


def read(folder: Path) -> Weights:
    return load_file(folder / "model.safetensors")


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def gru(weights: Weights, layer: str, x: Array, h: Array) -> Array:
    W_x, W_h, b_x, b_h = (
        weights[f"{layer}.gru.{name}_l0"] for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    (x_r, x_z, x_n), (h_r, h_z, h_n) = np.split(W_x @ x + b_x, 3), np.split(W_h @ h + b_h, 3)
    r, z = sigmoid(x_r + h_r), sigmoid(x_z + h_z)
    return (1 - z) * np.tanh(x_n + r * h_n) + z * h


def score(weights: Weights, attention: str, h: Array, state: Array) -> float:
    match attention:
        case "dot":
            return float(h @ state)
        case "bilinear":
            return float(h @ weights["scores.W_s.weight"] @ state)
        case _:
            v, W_h, W_e = (weights[f"scores.{name}.weight"] for name in ("v", "W_h", "W_e"))
            return float(v[0] @ np.tanh(W_h @ h + W_e @ state))


def encode(weights: Weights, src: list[int]) -> list[Array]:
    table, states = weights["W_E"], []
    h = np.zeros(table.shape[1])
    for token in src:
        h = gru(weights, "encoder", np.sqrt(len(h)) * table[token], h)
        states.append(h)
    return states


def forward(weights: Weights, attention: str, src: list[int], tgt: list[int]) -> dict[str, Array]:
    """Every value that the trace of a source and a target has, in double precision."""
    weights = {name: value.astype(np.float64) for name, value in weights.items()}
    states, table = encode(weights, src), weights["W_E"]
    h = states[-1]
    found: dict[str, list[Array]] = {name: [] for name in ("scores", "alpha", "context", "hidden", "logits")}
    for token in tgt:
        c = states[-1]
        if attention != "none":
            scores = np.array([score(weights, attention, h, state) for state in states])
            alpha = np.exp(scores) / np.exp(scores).sum()
            c = alpha @ np.array(states)
            found["scores"].append(scores)
            found["alpha"].append(alpha)
        h = gru(weights, "decoder", np.concatenate((np.sqrt(len(h)) * table[token], c)), h)
        out = np.tanh(weights["W_O.weight"] @ np.concatenate((h, c)) + weights["W_O.bias"])
        found["context"].append(c)
        found["hidden"].append(h)
        found["logits"].append(table @ out)
    decoder = {f"decoder.{name}": np.array(rows) for name, rows in found.items() if rows and name != "logits"}
    return {"encoder.hidden": np.array(states), "logits": np.array(found["logits"])} | decoder


def translate(weights: Weights, attention: str, src: list[int], *, mark: int, most: int) -> list[int]:
    """The greedy translation: the whole text is read anew for every token."""
    written: list[int] = []
    while len(written) < most:
        best = int(forward(weights, attention, src, [mark, *written])["logits"][-1].argmax())
        if best == mark:
            break
        written.append(best)
    return written
