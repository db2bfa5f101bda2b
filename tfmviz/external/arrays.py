"""Attention weights in any of the common forms, as (head, q_len, k_len) for each layer.

The axes are layer, batch (of one, or left out), head, query, key. The output of `generate` has steps before them: the
first with a row for each token of the prompt, later ones with one row.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfmviz.record.trace import Array

Layers = list[Array]
"""(head, q_len, k_len) for each layer, from the first to the last."""

MOST_TOKENS = 1024
"""The longest text that the explorer draws."""

KINDS = {
    "attention": "self_attn",
    "encoder_attention": "encoder.self_attn",
    "decoder_attention": "decoder.self_attn",
    "cross_attention": "decoder.cross_attn",
}
"""The names in transformers' outputs, and ours."""

HOOK = re.compile(
    r"(?:(?P<stack>encoder|decoder)|blocks)\.(?P<layer>\d+)\.(?P<part>attn|self_attn|cross_attn)\.(?:hook_)?pattern"
)
"""A site of TransformerLens, or one of ours."""

ASK = (
    'Ask the model for it: model.set_attn_implementation("eager"), then model(**inputs, output_attentions=True); '
    "faster kernels keep none."
)

STEPS = 6
"""Axes of what was written step by step."""

LARGEST = 1 + 1e-3
"""A share and what half precision adds to it."""


@dataclass(frozen=True, slots=True)
class Read:
    """Attention as given.

    Attributes:
        kinds: layers by kind of attention: "self_attn" where nothing names the stack, else as in sites.
        is_written: the text was written step by step, and its last token never read.
    """

    kinds: dict[str, Layers]
    is_written: bool = False


def read_layers(given: Any) -> Read:
    """All attention in the input.

    Raises:
        ValueError: there is none; the message says what to do.
    """
    if not hasattr(given, "keys"):
        return Read({"self_attn": _layers(given, "attentions")}, _axes(given) == STEPS)
    names = [name for name in list(given.keys()) if isinstance(name, str)]
    if found := _by_hooks(given, names):
        return Read(found)
    is_written = False
    for name in names:
        if (kind := KINDS.get(name.removesuffix("s"))) and not _is_empty(given[name]):
            found[kind] = _layers(given[name], name)
            is_written |= _axes(given[name]) == STEPS
    if not found:
        raise ValueError(f"There is no attention in this. {ASK}")
    if "decoder.cross_attn" in found and "self_attn" in found:
        found["decoder.self_attn"] = found.pop("self_attn")
    return Read({kind: found[kind] for kind in KINDS.values() if kind in found}, is_written)


def _by_hooks(given: Any, names: Sequence[str]) -> dict[str, Layers]:
    parts: dict[str, dict[int, Any]] = {}
    for match in filter(None, map(HOOK.fullmatch, names)):
        part = "cross_attn" if match["part"] == "cross_attn" else "self_attn"
        kind = f"{match['stack']}.{part}" if match["stack"] else part
        parts.setdefault(kind, {})[int(match["layer"])] = given[match[0]]
    return {kind: _layers([layers[n] for n in sorted(layers)], kind) for kind, layers in parts.items()}


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, list | tuple) and not [layer for layer in value if layer is not None])


def _layers(given: Any, name: str) -> Layers:
    """The layers of one kind, checked. Raises: ValueError."""
    if _is_empty(given):
        raise ValueError(f"{name} holds no layer. {ASK}")
    axes = _axes(given)
    if axes == STEPS:
        layers = _written(given, name)
    elif axes in (4, 5):
        layers = [_heads(layer, f"layer {n} of {name}") for n, layer in enumerate(given)]
    elif axes in (2, 3):
        layers = [_heads(given if axes == 3 else [given], f"layer 0 of {name}")]
    else:
        raise ValueError(f"{name} has {axes} axes, not 2 to 6. Attention has layer, batch, head, query, key.")
    for n, layer in enumerate(layers):
        _check(layer, layers[0], f"layer {n} of {name}")
    return layers


def _axes(given: Any) -> int:
    """The number of axes of an array, or of nested lists."""
    if (shape := getattr(given, "shape", None)) is not None:
        return len(shape)
    if not isinstance(given, list | tuple):
        return 0
    return 1 + next((_axes(part) for part in given if part is not None), 0)


def _heads(layer: Any, where: str) -> Array:
    """One layer without its batch: (head, q_len, k_len), float32. Raises: ValueError."""
    if layer is None:
        raise ValueError(f"There is no {where}. {ASK}")
    check_length(getattr(layer, "shape", ())[-2:-1])  # before it is copied; a cache may have more columns than tokens
    array = _array(layer, where)
    if array.ndim == 4:
        if len(array) != 1:
            raise ValueError(
                f"The batch of {where} holds {len(array)} texts, and a page shows one: "
                "give [layer[:1] for layer in attentions] for the first."
            )
        array = array[0]
    if array.ndim != 3 or 0 in array.shape:
        raise ValueError(f"The shape of {where} is {array.shape}, not (head, query, key).")
    return array


def check_length(lengths: Iterable[int]) -> None:
    """Raises: ValueError, if a text is longer than the explorer draws."""
    if (longest := max(lengths, default=0)) > MOST_TOKENS:
        raise ValueError(
            f"{longest:,} tokens are more than the {MOST_TOKENS:,} that a page draws. Show a part of them: "
            f"[layer[..., :{MOST_TOKENS}, :{MOST_TOKENS}] for layer in attentions], tokens[:{MOST_TOKENS}]."
        )


def _array(given: Any, where: str) -> Array:
    """A float32 copy."""
    if hasattr(given, "detach"):  # torch's, which is not imported here
        given = given.detach().float().cpu().numpy()
    try:
        return np.array(given, dtype=np.float32)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{where[0].upper()}{where[1:]} is no array of numbers with rows of one length.") from error


def _check(layer: Array, first: Array, where: str) -> None:
    """Raises: ValueError, if a layer holds no shares, or has another size than the first."""
    if layer.shape != first.shape:
        raise ValueError(f"The shape of {where} is {layer.shape}, but that of the first layer is {first.shape}.")
    smallest, largest = float(layer.min()), float(layer.max())  # NaN if there is one
    if np.isnan(smallest):
        raise ValueError(f"There is NaN in {where}: the model overflowed, or a row was masked as a whole.")
    if smallest < 0 or largest > LARGEST:
        raise ValueError(
            f"The values in {where} go from {smallest:.3g} to {largest:.3g}. Shares of attention lie between 0 and 1: "
            "give what the softmax gives, of a model that no longer trains (model.eval())."
        )
    np.minimum(layer, 1, out=layer)


def _written(given: Any, name: str) -> Layers:
    """The layers of a text written step by step: rows one below the other. Raises: ValueError."""
    steps = [
        [_heads(layer, f"layer {n} in step {step} of {name}") for n, layer in enumerate(layers)]
        for step, layers in enumerate(given)
    ]
    if len({len(layers) for layers in steps}) > 1:
        raise ValueError(f"The steps of {name} have different numbers of layers.")
    if len(steps) > 1 and steps[1][0].shape[1] > 1:
        return steps[-1]  # without a cache each step holds all rows
    join = _below if name.startswith("cross") else _below_and_longer
    return [join([layers[n] for layers in steps], f"layer {n} of {name}") for n in range(len(steps[0]))]


def _below(parts: Sequence[Array], where: str) -> Array:
    if len({part.shape[::2] for part in parts}) > 1:
        raise ValueError(f"The steps of {where} do not have the same heads and keys.")
    return np.concatenate(parts, axis=1)


def _below_and_longer(parts: Sequence[Array], where: str) -> Array:
    """Rows that see one token more each, (head, len, len)."""
    n = sum(part.shape[1] for part in parts)
    check_length([n])
    whole = np.zeros((len(parts[0]), n, n), dtype=np.float32)
    for part, (begin, end) in zip(parts, _places(parts), strict=True):
        n_keys = part.shape[2]
        if len(part) != len(whole) or part[..., end:].any():
            raise ValueError(f"A step of {where} has {len(part)} heads and {n_keys} keys; it can see {end} tokens.")
        whole[:, begin:end, max(0, end - n_keys) : end] = part[..., :end]
    return whole


def _places(parts: Sequence[Array]) -> Iterator[tuple[int, int]]:
    """First row of each step, and the one after its last."""
    end = 0
    for part in parts:
        begin, end = end, end + part.shape[1]
        yield begin, end
