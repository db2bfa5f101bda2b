"""The words on which each neuron fires most, in a small file next to the model."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from tfmviz.record.trace import Array, Trace
from tfmviz.record.weights import ModelWeights

FILE = "neurons.npz"

KEPT = 4
"""Words kept per neuron, each from another text."""


class NoPeaks(ValueError):
    """A model's peaks are missing or belong to other weights; the message says which."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Peaks:
    """The strongest activations of a layer's neurons, (d_ff, KEPT), the strongest first.

    Attributes:
        token: position in it.
        value: the activation, after the function and the gate.
    """

    text: Array
    token: Array
    value: Array


def layers_of(weights: ModelWeights) -> tuple[str, ...]:
    return tuple(site for stack in weights.stacks.values() for site in stack.feed_forward)


def find(traces: Iterable[Trace], layers: Iterable[str]) -> dict[str, Peaks]:
    """Each neuron's largest activations by absolute value, at most one per text.

    Args:
        traces: of at least `KEPT` texts, with the sites "*.mlp.post".
    """
    found: dict[str, list[tuple[Array, Array]]] = {layer: [] for layer in layers}
    for trace in traces:
        for layer, rows in found.items():
            post = trace[f"{layer}.post"]  # (len, d_ff)
            token = np.abs(post).argmax(axis=0)
            rows.append((token, np.take_along_axis(post, token[None], axis=0)[0]))
    return {layer: _largest(rows) for layer, rows in found.items()}


def _largest(rows: list[tuple[Array, Array]]) -> Peaks:
    """rows: token and value of every neuron's peak in each text, (d_ff,)."""
    token, value = (np.stack(column, axis=-1) for column in zip(*rows, strict=True))  # (d_ff, text)
    text = np.argsort(-np.abs(value), axis=-1, kind="stable")[:, :KEPT]
    token, value = (np.take_along_axis(array, text, axis=-1) for array in (token, value))
    return Peaks(text=text.astype(np.uint16), token=token.astype(np.uint16), value=value.astype(np.float16))


def save(file: IO[bytes], peaks: Mapping[str, Peaks], *, texts: str, weights: ModelWeights) -> None:
    """Writes the file; `texts` names the file of the texts, one per line."""
    arrays = {f"{layer}.{name}": getattr(found, name) for layer, found in peaks.items() for name in Peaks.__slots__}
    np.savez_compressed(
        file, allow_pickle=False, texts=np.array(texts), weights=np.array(fingerprint(weights)), **arrays
    )


def load(path: Path, weights: ModelWeights) -> tuple[str, dict[str, Peaks]]:
    """The name of the texts' file, and the peaks by layer.

    Raises:
        NoPeaks: the file is missing or damaged, or was made with other weights.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
        texts, made_with = str(arrays.pop("texts")), str(arrays.pop("weights"))
        layers = layers_of(weights)
        peaks = {layer: Peaks(**{name: arrays[f"{layer}.{name}"] for name in Peaks.__slots__}) for layer in layers}
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise NoPeaks(f"{path.name} is missing or cannot be read.") from error
    if made_with != fingerprint(weights):
        raise NoPeaks(f"{path.name} was made with other weights.")
    return texts, peaks


def fingerprint(weights: ModelWeights) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for stack in weights.stacks.values():
        for layer in stack.feed_forward.values():
            digest.update(np.ascontiguousarray(layer.b_in, dtype="<f4").tobytes())
    return digest.hexdigest()
