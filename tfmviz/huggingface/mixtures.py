"""Language models built like Llama whose feed-forward layers are mixtures of experts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from torch import Tensor

from tfmviz.huggingface.family import Family, function
from tfmviz.huggingface.layout import Layout
from tfmviz.huggingface.llamas import (
    ATTENTION,
    LLAMA,
    NORMS,
    QK_NORMS,
    Settings,
    all_turn,
    family,
    fixed,
    granite,
    turning,
    with_multipliers,
)
from tfmviz.huggingface.source import Refused, Source
from tfmviz.model.config import ModelConfig

STACKED = tuple(f"experts.{name}{bias}" for name in ("gate_up_proj", "down_proj") for bias in ("", "_bias"))
"""All experts' matrices in one tensor, as in memory."""


def _experts(router: str, gate: str, up: str, down: str, **more: Any) -> Layout:
    """A layout by the names of router and expert's matrices."""
    names = {"W_gate": gate, "W_in": up, "W_out": down}
    mlp = {"mlp.W_R": router} | {f"mlp.experts.{{e}}.{ours}": theirs for ours, theirs in names.items()}
    return replace(LLAMA, layer=ATTENTION | NORMS | mlp, **more)


def _stacked(block: str, router: str, both: str = "experts.gate_up_proj", down: str = "experts.down_proj") -> Layout:
    return _experts(f"{block}.{router}", *2 * (f"{block}.{both}.{{e}}",), f"{block}.{down}.{{e}}")


def _apart(block: str, names: tuple[str, str, str]) -> Layout:
    """As files have them."""
    return _experts(f"{block}.gate", *(f"{block}.experts.{{e}}.{name}" for name in names))


LAYOUTS = (
    _stacked("mlp", "gate"),
    _apart("mlp", ("gate_proj", "up_proj", "down_proj")),  # Qwen, OLMoE
    _apart("block_sparse_moe", ("w1", "w3", "w2")),  # Mixtral
    _stacked("mlp", "router"),  # gpt-oss
    _stacked("block_sparse_moe", "router"),  # Granite
    _stacked("block_sparse_moe", "router.layer", "input_linear", "output_linear"),  # the same in files
)
"""Layouts of experts, told apart by the tensors."""

SHARED = {"W_S": "mlp.shared_expert_gate"} | {
    f"shared.{ours}": f"mlp.shared_expert.{theirs}"
    for ours, theirs in (("W_gate", "gate_proj"), ("W_in", "up_proj"), ("W_out", "down_proj"))
}


def mixture(*settings: Settings, names: Mapping[str, str] | None = None, layout: Any = None, **more: Any) -> Family:
    """A family of mixtures.

    Args:
        names: of a layer's parts, besides the usual ones.
        layout: settings of the layout.
    """

    def layout_of(theirs: Any, source: Source) -> Layout:
        stored = next((one for one in LAYOUTS if _fits(one, source)), LAYOUTS[0])
        return replace(stored, layer=dict(stored.layer) | dict(names or {}), **layout or {})

    usual = replace(LLAMA, **layout or {})
    return family(usual, routed, *settings, layout_of=layout_of, stacked=(*STACKED, "_linear.weight"), **more)


def _fits(layout: Layout, source: Source) -> bool:
    """True if the first layer's router and expert are where a layout says."""
    parts = (layout.layer[part].format(e=0) for part in ("mlp.W_R", "mlp.experts.{e}.W_out"))
    return all(f"layers.0.{part}.weight" in source for part in parts)


def routed(theirs: Any) -> dict[str, Any]:
    """The settings of experts.

    Raises:
        Refused: some layers have no experts.
    """
    n_layers, every = theirs.num_hidden_layers, getattr(theirs, "decoder_sparse_step", 1)
    without = set(getattr(theirs, "mlp_only_layers", ())) | {n for n in range(n_layers) if (n + 1) % every}
    if without:
        raise Refused(
            f"{len(without)} of its {n_layers} layers have no experts (mlp_only_layers, decoder_sparse_step); only "
            "models in which all have some are known here."
        )
    return {
        "feed_forward": function(theirs.hidden_act, gated=True),
        "d_ff": getattr(theirs, "moe_intermediate_size", None) or theirs.intermediate_size,
        "n_experts": theirs.num_experts if hasattr(theirs, "num_experts") else theirs.num_local_experts,
        "n_chosen": theirs.num_experts_per_tok,
        "expert_weights": "shares" if getattr(theirs, "norm_topk_prob", True) else "probabilities",
        "d_shared": getattr(theirs, "shared_expert_intermediate_size", None),
    }


def _interleaved(rows: Tensor, ours: ModelConfig, part: str) -> Tensor:
    """gpt-oss: rows of gate and input alternate; 1 is added to the gate's factor."""
    found = rows[part == "W_in" :: 2]
    return found.float() + 1 if part == "W_in" and found.ndim == 1 else found


def _gpt_oss(theirs: Any) -> dict[str, Any]:
    """g · σ(α g) is SiLU of α g, divided by α; so the limit of g is α times as high."""
    limit = theirs.swiglu_limit
    return {"sink": "present", "limits": (theirs.swiglu_alpha * limit, 1.0 - limit, 1.0 + limit)}


def _alpha(theirs: Any, name: str) -> float:
    return theirs.swiglu_alpha if ".W_gate." in name else 1 / theirs.swiglu_alpha if ".W_out.weight" in name else 1.0


FAMILIES = {
    "mixtral": mixture(all_turn),
    "qwen2_moe": mixture(all_turn, names={f"mlp.{ours}": theirs for ours, theirs in SHARED.items()}),
    "qwen3_moe": mixture(all_turn, fixed(qk_norm="present"), names=QK_NORMS),
    "olmoe": mixture(all_turn, fixed(qk_norm="all heads"), names=QK_NORMS, refused={"clip_qkv": None}),
    "granitemoe": mixture(all_turn, granite, layout={"factor": with_multipliers}),
    "gpt_oss": mixture(
        turning,
        _gpt_oss,
        names={"self_attn.sink": "self_attn.sinks"},
        layout={"cut": _interleaved, "transposed": ("mlp.experts.*",), "factor": _alpha},
    ),
}
"""By `model_type`."""
