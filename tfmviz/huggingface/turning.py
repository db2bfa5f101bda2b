"""Differences between layers, in rotations and windows."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import torch
from torch import Tensor

from tfmviz.huggingface.source import Refused
from tfmviz.positions.rope import frequencies


def pairs(d_head: int, turned: int | None = None) -> Tensor:
    """An order with coordinates m and m + turned / 2 side by side, those that do not turn at the end: (d_head,)."""
    turned = d_head if turned is None else turned
    return torch.cat((torch.arange(turned).unflatten(0, (2, -1)).T.flatten(), torch.arange(turned, d_head)))


def rope_in(theirs: Any, layer: int) -> dict[str, Any]:
    """Their settings of RoPE in a layer."""
    rope: dict[str, Any] | None = getattr(theirs, "rope_parameters", None)
    if rope is None:
        return {"rope_theta": 10_000.0}
    return rope if "rope_theta" in rope else rope[theirs.layer_types[layer]]


def turned_width(theirs: Any, d_head: int, layer: int = 0) -> int:
    """Coordinates of a head that turn."""
    if turned := getattr(theirs, "rotary_dim", None):  # GPT-J
        return turned
    return int(d_head * rope_in(theirs, layer).get("partial_rotary_factor", 1.0))


def theta(theirs: Any, d_head: int, layer: int = 0) -> tuple[float, ...]:
    """Radians per position of each pair.

    Raises:
        Refused: the scaling is unknown.
    """
    rope, turned = rope_in(theirs, layer), turned_width(theirs, d_head, layer)
    turning = frequencies(turned, base=rope["rope_theta"])  # float64, as in the models trained here
    match rope.get("rope_type", "default"):
        case "default" | "dynamic":  # dynamic: as trained, up to the trained length, where max_len ends
            pass
        case "linear":
            turning = turning / rope["factor"]
        case "llama3":
            turning = _llama3(turning, rope)
        case "yarn":
            turning = _yarn(turning, rope, _stretch(theirs, rope))
        case "longrope":  # has other factors for longer texts
            turning = turning / torch.tensor(rope["short_factor"], dtype=torch.float64)
        case kind:
            raise Refused(f"Its RoPE is stretched by {kind!r}, which is not known here.")
    return (*turning.tolist(), *[0.0] * ((d_head - turned) // 2))


def _llama3(turning: Tensor, rope: Any) -> Tensor:
    """Slow pairs are slowed down by `factor`, those in between partly (Llama 3.1)."""
    turns = rope["original_max_position_embeddings"] * turning / (2 * math.pi)
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    kept = ((turns - low) / (high - low)).clamp(0, 1)
    return (1 - kept) * turning / rope["factor"] + kept * turning


def _yarn(turning: Tensor, rope: Any, factor: float) -> Tensor:
    """The same, blended between two pairs: those that turn β times within the original length (Peng et al. 2023)."""
    n, original = 2 * len(turning), rope["original_max_position_embeddings"]

    def pair(turns: float) -> float:
        return n * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(rope["rope_theta"]))

    low, high = pair(rope.get("beta_fast") or 32), pair(rope.get("beta_slow") or 1)
    if rope.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, n - 1)
    high += 0.001 if low == high else 0
    slowed = ((torch.arange(n // 2, dtype=torch.float64) - low) / (high - low)).clamp(0, 1)
    return slowed * turning / factor + (1 - slowed) * turning


def _stretch(theirs: Any, rope: Any) -> float:
    """The ratio of the longest text to that first trained on."""
    return rope.get("factor") or theirs.max_position_embeddings / rope["original_max_position_embeddings"]


def longer(theirs: Any, layer: int) -> float:
    """YaRN's and LongRoPE's factor of turned queries and keys."""
    rope = rope_in(theirs, layer)
    kind, given = rope.get("rope_type"), rope.get("attention_factor")
    if kind not in ("yarn", "longrope"):
        return 1.0
    if given is not None:
        return float(given)
    if (factor := _stretch(theirs, rope)) <= 1:
        return 1.0
    if kind == "longrope":
        return math.sqrt(1 + math.log(factor) / math.log(rope["original_max_position_embeddings"]))
    one, other = rope.get("mscale"), rope.get("mscale_all_dim")
    one, other = (one, other) if one and other else (1, 0)
    return (0.1 * one * math.log(factor) + 1) / (0.1 * other * math.log(factor) + 1)


def turns(theirs: Any, d_head: int, *, still: Collection[int] = ()) -> dict[str, Any]:
    """The settings of all layers' rotations.

    Args:
        still: layers without positions.

    Raises:
        Refused: there are more than two ways.
    """
    nothing = (0.0,) * (d_head // 2)
    ways = [nothing if n in still else theta(theirs, d_head, n) for n in range(theirs.num_hidden_layers)]
    usual = next((way for way in ways if any(way)), nothing)
    others = set(ways) - {usual}
    if len(others) > 1:
        raise Refused(f"Its layers turn queries in {len(others) + 1} ways (rope_parameters); two are known here.")
    found: dict[str, Any] = {"positions": "rope", "rope_theta": usual}
    for other in others:
        found |= {"other_theta": other, "other_layers": [n for n, way in enumerate(ways) if way == other]}
    return found


def plain_context(theirs: Any) -> int:
    """The longest text that a model was trained on."""
    rope = getattr(theirs, "rope_parameters", None) or {}
    is_longer = rope.get("rope_type") in ("dynamic", "longrope") or "llama_4_scaling_beta" in rope
    if is_longer and (original := rope.get("original_max_position_embeddings")):
        return min(theirs.max_position_embeddings, original)
    return theirs.max_position_embeddings


def windows(theirs: Any, *, more: int = 0) -> dict[str, Any]:
    """The settings of windows.

    Args:
        more: keys that their number omits.

    Raises:
        Refused: some layers are of another kind.
    """
    kinds = kinds_of_layers(theirs)
    if unknown := set(kinds) - {"sliding_attention", "full_attention"}:
        raise Refused(f"Some of its layers are of the kind {min(unknown)!r} (layer_types), which is not known here.")
    if "sliding_attention" not in kinds:
        return {}
    everywhere = [n for n, kind in enumerate(kinds) if kind == "full_attention"]
    return {"window": theirs.sliding_window + more, "global_layers": everywhere or None}


def kinds_of_layers(theirs: Any) -> list[str]:
    usual = ["sliding_attention" if getattr(theirs, "sliding_window", None) else "full_attention"]
    if not getattr(theirs, "use_sliding_window", True):
        return ["full_attention"] * theirs.num_hidden_layers
    kinds = list(getattr(theirs, "layer_types", None) or usual * theirs.num_hidden_layers)
    return kinds if getattr(theirs, "sliding_window", None) else [k.replace("sliding", "full") for k in kinds]
