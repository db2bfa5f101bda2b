"""Models' names, lines and groups, from `assets/models.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from tfmviz.paths import PROJECT
from tfmviz.record.facts import Architecture, Facts
from tfmviz.words.numbers import counted, in_words

NAMES = PROJECT / "assets" / "models.toml"

YOURS = "Yours"
"""The group of converted models and of readers' runs."""

READS: Mapping[Architecture, str] = {
    "decoder-only": "Writes on, like GPT.",
    "encoder-only": "Reads both ways and fills in words, like BERT.",
    "encoder-decoder": "Reads one text and writes another, like T5.",
}
"""The line of a model that the file does not name."""


@dataclass(frozen=True, slots=True)
class ModelLabel:
    """`model`: its name in an address. `line`: its special feature. `size`: layers, heads and parameters."""

    model: str
    group: str
    name: str
    line: str
    size: str


def named(models: Mapping[str, Facts]) -> list[ModelLabel]:
    """Models in the order of the menu; those that the file does not name come last."""
    listed = {model: label for model, label in _listed().items() if model in models}
    own = {
        model: {"group": YOURS, "name": model, "line": READS[config.architecture]}
        for model, config in models.items()
        if model not in listed
    }
    return [ModelLabel(model=model, size=size(models[model]), **label) for model, label in (listed | own).items()]


def name_of(model: str) -> str:
    """A reader's model has the name of its address."""
    return _listed().get(model, {"name": model})["name"]


def size(config: Facts) -> str:
    """6 layers × 8 heads, 6.3 million parameters; 3 + 3 layers where there are two stacks."""
    depths = [config.depth(stack) for stack in config.stacks]
    layers = counted(depths[0], "layer") if len(depths) == 1 else f"{' + '.join(map(str, depths))} layers"
    return f"{layers} × {counted(config.attention.n_heads, 'head')}, {in_words(config.n_parameters)} parameters"


@cache
def _listed() -> dict[str, dict[str, str]]:
    return {label.pop("model"): label for label in tomllib.loads(NAMES.read_text(encoding="utf-8"))["models"]}
