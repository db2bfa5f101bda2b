"""The card of a converted model: its origin, its shape, its distance from the original."""

from __future__ import annotations

from collections.abc import Mapping

from tfmviz.huggingface.check import LIMITS, TIMES, Site
from tfmviz.model.config import ModelConfig


def facts_of(config: ModelConfig, *, kind: str, n_parameters: int, tokenizer: str, licence: str) -> dict[str, str]:
    """The facts for readers, by their labels."""
    depth = " + ".join(str(config.depth(stack)) for stack in config.stacks)
    trained = f", trained on up to {config.trained_len:,}" if config.trained_len else ""
    window = f", of which each token sees the last {config.attention.window:,}" if config.attention.window else ""
    if everywhere := config.attention.global_layers:
        window += f" in {config.n_layers - len(everywhere)} of {config.n_layers} layers"
    return {
        "type": f"{kind}, {config.architecture}",
        "layers × heads × width": f"{depth} × {config.attention.n_heads} × {config.d_model:,}",
        "parameters": f"{n_parameters / 1e6:,.1f} million",
        "context": f"{config.max_len:,} tokens here{trained}{window}",
        "tokenizer": tokenizer,
        "licence": licence,
    }


def summary_text(largest: Mapping[str, Site]) -> list[str]:
    """The largest differences from the original, one line for each kind of value."""
    return [
        f"{kind}: {largest[kind].difference:.1e} at {largest[kind].name} ({_rule(kind, largest[kind].difference)})"
        for kind in LIMITS
        if kind in largest
    ]


def _rule(kind: str, difference: float) -> str:
    if difference <= LIMITS[kind]:
        return f"allowed: {LIMITS[kind]:.0e}"
    return (
        f"more than {LIMITS[kind]:.0e}, so both were compared with the original in double precision: ours is at most "
        f"{TIMES} times as far from it as the original's own rounding"
    )


def write_card(name: str, *, origin: str, facts: Mapping[str, str], largest: Mapping[str, Site]) -> str:
    rows = "\n".join(f"| {key} | {value} |" for key, value in facts.items())
    differences = "\n".join(f"- {line}" for line in summary_text(largest))
    return (
        f"# {name}\n\nConverted from {origin}.\n\n| what | value |\n|---|---|\n{rows}\n\n"
        "## Measured against the original\n\nThe largest differences between this model and the original in "
        "transformers, both in float32, over all layers on several sentences. Those of streams and logits are in units "
        f"of the largest number there.\n\n{differences}\n"
    )
