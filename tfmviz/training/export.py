"""Turning a trained model into a folder of `assets/models/`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

from tfmviz.model.transformer import Transformer
from tfmviz.text.tokenizer import Tokenizer


def export(folder: Path, model: Transformer, tokenizer: Tokenizer, *, card: str) -> None:
    """Writes `model.safetensors` (float16), `config.json`, `tokenizer.json` and `CARD.md`."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = {name: value.detach().to("cpu", torch.float16).contiguous() for name, value in model.state_dict().items()}
    save_file(weights, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(model.config.to_dict(), indent=2) + "\n", encoding="utf-8")
    tokenizer.save(folder / "tokenizer.json")
    (folder / "CARD.md").write_text(card, encoding="utf-8")


def unigram_cross_entropy(train: np.ndarray, held_out: np.ndarray, *, vocab_size: int) -> float:
    """What a model reaches that knows how frequent each token is and nothing else, nats per token.

    Probabilities are the training counts plus one, over their sum.
    """
    counts = np.bincount(train, minlength=vocab_size) + 1.0
    return float(-np.log(counts / counts.sum())[held_out].mean())


def write_card(*, name: str, about: str, facts: Mapping[str, str], samples: Mapping[str, str]) -> str:
    """The model card as Markdown: what the caller says about the data, then what was measured."""
    rows = "\n".join(f"| {key} | {value} |" for key, value in facts.items())
    continuations = "\n".join(
        f"- **{prompt}**{' '.join(text.removeprefix(prompt).split(chr(10)))}" for prompt, text in samples.items()
    )
    return (
        f"# {name}\n\n{about.strip()}\n\n## Measured\n\n| what | value |\n|---|---|\n{rows}\n\n"
        f"## Greedy continuations\n\n{continuations}\n"
    )
