"""Exporting a trained model as a folder like those of `assets/models/`, and starting from one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from tfmviz.model.build import Model
from tfmviz.model.earlier import read_config
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.training.files import replacing


def export(folder: Path, model: Model, tokenizer: Tokenizer, *, card: str) -> None:
    """Writes `model.safetensors` (float16), `config.json`, `tokenizer.json` and `CARD.md`.

    Raises:
        OSError: there is no room; the previous model remains intact.
    """
    folder.mkdir(parents=True, exist_ok=True)
    weights = {name: value.detach().to("cpu", torch.float16).contiguous() for name, value in model.state_dict().items()}
    names = ("model.safetensors", "config.json", "tokenizer.json", "CARD.md")
    with replacing(*(folder / name for name in names)) as (weights_file, config_file, tokenizer_file, card_file):
        save_file(weights, weights_file)
        config_file.write_text(json.dumps(model.config.to_dict(), indent=2) + "\n", encoding="utf-8")
        tokenizer.save(tokenizer_file)
        card_file.write_text(card, encoding="utf-8")


def start_from(folder: Path, model: Model) -> None:
    """Copies the weights of an exported model into `model`.

    Raises:
        ValueError: the folder holds no readable model, or one of another shape.
    """
    try:
        theirs = read_config(json.loads((folder / "config.json").read_text(encoding="utf-8"))).to_dict()
        weights = load_file(folder / "model.safetensors")
    except (OSError, ValueError, SafetensorError) as error:
        raise ValueError(f"{folder} holds no model to start from ({error}).") from error
    ours = model.config.to_dict()
    in_training = ("dropout", "training_mask")
    if differing := [key for key in ours if key not in in_training and ours[key] != theirs.get(key)]:
        details = "; ".join(f"{key}: {theirs.get(key)} there, {ours[key]} asked for" for key in differing)
        raise ValueError(f"{folder} has another shape ({details}).")
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        raise ValueError(f"The weights in {folder} do not fit its config.json.") from error


def write_card(*, name: str, about: str, facts: Mapping[str, str], samples: Mapping[str, str]) -> str:
    """The model card in Markdown."""
    rows = "\n".join(f"| {key} | {value} |" for key, value in facts.items())
    shown = "\n".join(f"- **{text}**{_shown_after(text, answer)}" for text, answer in samples.items())
    return (
        f"# {name}\n\n{about.strip()}\n\n## Measured\n\n| what | value |\n|---|---|\n{rows}\n\n"
        f"## What it writes\n\n{shown}\n"
    )


def _shown_after(text: str, answer: str) -> str:
    line = " ".join(answer.split("\n"))
    return line.removeprefix(text) if line.startswith(text) else f" → {line}"
