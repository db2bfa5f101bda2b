"""Trains pairs of small models that differ in one thing, for single tabs, and writes them into `assets/`.

    python -m scripts.train_pairs residuals --corpora CORPORA    # six minutes on one core for each of the two
    python -m scripts.train_pairs spaces --corpora CORPORA

`residuals`: twelve thin layers, with residual connections and without (page "Residual stream"). `spaces`: four layers
with attention, or with state spaces in its place (page "Efficient attention"). Both of a pair have the same seed, text,
tokens, order, steps and learning rate. A run that was stopped is continued.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
from pathlib import Path

from scripts.train_zoo import RUNS as ZOO
from scripts.train_zoo import Recipe, execute, prepare_data, thin_log
from tfmviz import zoo
from tfmviz.places import PROJECT
from tfmviz.training.files import replacing

TEXT = f"{ZOO}/data/english/tinystories.txt"
"""Simple sentences, which small models learn in few steps."""

SHARED = f"lm --data {TEXT} --vocab-size 1024 --batch-size 16 --repeated 0 --learning-rate 3e-3 --save-every 250 "
SHARED += "--device cpu --precision float32"

TWELVE_LAYERS = "--context 32 --layers 12 --heads 4 --width 40 --embedding-scale sqrt_d_model --steps 1500"
FOUR_LAYERS = "--context 64 --layers 4 --width 64 --steps 2000"

PAIRS = {
    "residuals": {
        "with": ("twelve thin layers, with residual connections", f"{TWELVE_LAYERS} --residual sequential"),
        "without": ("twelve thin layers, without residual connections", f"{TWELVE_LAYERS} --residual absent"),
    },
    "spaces": {
        "attention": ("four layers with attention", f"{FOUR_LAYERS} --heads 4 --embedding-scale sqrt_d_model"),
        "state-space": (
            "four layers with a diagonal state space in the place of attention, sixteen numbers for each channel (S4D)",
            f"{FOUR_LAYERS} --architecture ssm",
        ),
    },
}
"""The two of each pair by their names: what each is, and its options."""


def recipe(pair: str, name: str) -> Recipe:
    says, options = PAIRS[pair][name]
    return Recipe(
        says=f"One of two language models that differ in one thing only; this one: {says}.",
        about="stories.md",
        train=f"{SHARED} {options}",
        evaluate="",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pair", choices=tuple(PAIRS))
    parser.add_argument("--corpora", type=Path, required=True, help="the folder with english/, fra-eng/ and cmn-eng/")
    args = parser.parse_args()
    prepare_data(args.corpora)
    make(args.pair)


def make(pair: str) -> None:
    """Trains both models of a pair and ships them."""
    for name in PAIRS[pair]:
        found, out = recipe(pair, name), Path("runs") / pair / name
        if execute(found, found.train, out, minutes=None, steps=None):
            ship(out, PROJECT / "assets" / pair)
    write_measured(PROJECT / "assets" / pair, tuple(PAIRS[pair]))


def ship(run: Path, folder: Path) -> None:
    """Copies a finished model to where the page looks for it, with its log."""
    (target := folder / run.name).mkdir(parents=True, exist_ok=True)
    for file in (*zoo.FILES, "CARD.md"):
        shutil.copyfile(run / file, target / file)
    thin_log(run / "log.jsonl", folder / f"{run.name}.jsonl")


def write_measured(folder: Path, names: tuple[str, ...]) -> None:
    """The held-out loss of both models, and that of token frequencies on the same text, as their cards say."""
    found = {
        name: {"held_out": said(folder / name, "held-out loss"), "weights": zoo.weights_hash(name, folder)}
        for name in names
    }
    with replacing(folder / "measured.json") as (place,):
        measured = {"unigram": said(folder / names[0], "unigram cross-entropy on the same text"), **found}
        place.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")


def said(model: Path, what: str) -> float:
    """What the card of a model says in its table, in nats per token."""
    found = re.search(rf"{what} \| ([\d.]+) nats", (model / "CARD.md").read_text(encoding="utf-8"))
    assert found, f"the card of {model.name} says its {what}"
    return float(found[1])


if __name__ == "__main__":
    main()
