"""Traces with attention we know, and a reader of payloads that shares no code with their writer."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfmviz.record.trace import Array, Encoding, Trace

# What breaks pages: markup, quotes, right-to-left, a combining mark, a part of a character, white space, a repeat.
ODD_TOKENS = (
    *("</script>", '"', "'", "<!--", "👩‍👧", "שלום", "e\u0301"),
    *("[byte 1/3]", "\t", "\x00", "the", "the", "\ud7ff"),
)

FORMULAS = ('=HYPERLINK("http://x")', "=1+1", "+1", "-2", "@x", "\t=1", "\r=1", "\n=1", " =1", "＝1", "＋1")
"""What a spreadsheet may take for a formula."""


def encoding(tokens: Sequence[str]) -> Encoding:
    ids = {token: n for n, token in enumerate(dict.fromkeys(tokens))}
    offsets = tuple((n, n + 1) for n in range(len(tokens)))
    return Encoding(text=" ".join(tokens), ids=tuple(ids[t] for t in tokens), tokens=tuple(tokens), offsets=offsets)


def words(length: int) -> tuple[str, ...]:
    return tuple(f" w{n % 11}" for n in range(length))


def pattern(heads: int, mask: Array, *, sharpness: float = 2.0, seed: int = 0) -> Array:
    """(head, q_len, k_len) float32: rows sum to 1 over what the mask allows, a row that may not look is 0."""
    scores = sharpness * np.random.default_rng(seed).standard_normal((heads, *mask.shape))
    weights = np.where(mask, np.exp(scores), 0)
    sums = weights.sum(axis=-1, keepdims=True)
    return np.divide(weights, sums, where=sums > 0, out=weights).astype(np.float32)


def causal(length: int) -> Array:
    return np.tri(length, dtype=bool)


def decoder(tokens: Sequence[str], *, layers: int = 2, heads: int = 3, seed: int = 0) -> Trace:
    """A trace of a decoder-only model, with causal attention of every sharpness."""
    values: dict[str, Array] = {}
    mask = causal(len(tokens))
    for layer in range(layers):
        values[f"decoder.{layer}.self_attn.mask"] = mask
        values[f"decoder.{layer}.self_attn.pattern"] = pattern(heads, mask, sharpness=layer + 0.5, seed=seed + layer)
    return Trace(target=encoding(tokens), edits=(), values=values)


def translation(source: Sequence[str], target: Sequence[str], *, layers: int = 2, heads: int = 3) -> Trace:
    """A trace of an encoder-decoder, with attention of all three kinds."""
    q, k = len(target), len(source)
    masks = {
        "encoder.{}.self_attn": np.ones((k, k), dtype=bool),
        "decoder.{}.self_attn": causal(q),
        "decoder.{}.cross_attn": np.ones((q, k), dtype=bool),
    }
    values: dict[str, Array] = {}
    for n, (name, mask) in enumerate(masks.items()):
        for layer in range(layers):
            values[f"{name.format(layer)}.mask"] = mask
            values[f"{name.format(layer)}.pattern"] = pattern(heads, mask, seed=10 * n + layer)
    return Trace(target=encoding(target), source=encoding(source), edits=(), values=values)


def read_blob(blob: bytes) -> tuple[dict[str, Any], bytes]:
    """Header and data of a blob, as views/payload.py describes it."""
    length = int.from_bytes(blob[:4], "little")
    return json.loads(blob[4 : 4 + length]), blob[4 + length :]


def read_arrays(blob: bytes) -> tuple[dict[str, Any], dict[str, Array]]:
    """Header and named arrays of a blob, as views/shared packs them."""
    header, data = read_blob(blob)
    return header, {
        name: np.frombuffer(data, "<f4", count=int(np.prod(entry["shape"])), offset=entry["at"]).reshape(entry["shape"])
        for name, entry in header["arrays"].items()
    }


def read_mask(entry: Mapping[str, Any], data: bytes) -> Array:
    rows, columns = entry["shape"]
    bits = np.unpackbits(np.frombuffer(data, np.uint8, offset=entry["at"], count=-(-rows * columns // 8)))
    return bits[: rows * columns].reshape(rows, columns).astype(bool)


def read_weights(at: int, mask: Array, data: bytes) -> Array:
    """(rows, columns): scale per row, then 10 bits for every allowed cell."""
    rows, columns = mask.shape
    weights = np.zeros((rows, columns))
    n = int(mask.sum())
    upper, lower = at + rows, at + rows + n
    for cell, (i, j) in enumerate(np.argwhere(mask)):
        code = data[upper + cell] * 4 + (data[lower + cell // 4] >> 2 * (cell % 4)) % 4
        weights[i, j] = code / 1023 * data[at + i] / 255
    return weights


def read_payload(blob: bytes) -> tuple[dict[str, Any], dict[str, Array], dict[str, Array]]:
    """Header; per layer its mask; per layer (head, rows, columns) its weights where all travelled."""
    header, data = read_blob(blob)
    layers = [layer for kind in header["kinds"] for layer in kind["layers"]]
    masks = {layer["name"]: read_mask(header["masks"][layer["mask"]], data) for layer in layers}
    weights = {
        layer["name"]: np.array([read_weights(at, masks[layer["name"]], data) for at in layer["heads"]])
        for layer in layers
        if "heads" in layer
    }
    return header, masks, weights
