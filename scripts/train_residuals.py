"""Trains the pair of the page "Residual stream", tab "Without it", and writes it into `assets/residuals/`.

    python -m scripts.train_residuals --corpora CORPORA    # some minutes on one core, for each of the two

Twelve thin layers, with residual connections and without: the same seed, text, tokens, order, steps and learning rate.
A run that was stopped is continued.
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

RUNS, SHIPPED = Path("runs/residuals"), PROJECT / "assets" / "residuals"

TEXT = f"{ZOO}/data/english/tinystories.txt"
"""Simple sentences, which small models learn in few steps."""

SHARED = f"lm --data {TEXT} --vocab-size 1024 --context 32 --batch-size 16 --repeated 0 --layers 12 --heads 4 "
SHARED += "--width 40 --embedding-scale sqrt_d_model --learning-rate 3e-3 --steps 1500 --save-every 250 --device cpu "
SHARED += "--precision float32"

KINDS = {"with": "sequential", "without": "absent"}


def recipe(name: str) -> Recipe:
    return Recipe(
        says=f"One of two language models of twelve thin layers, {name} residual connections, for the page “Residual "
        "stream”.\nThey differ in nothing else.",
        about="stories.md",
        train=f"{SHARED} --residual {KINDS[name]}",
        evaluate="",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, required=True, help="the folder with english/ and fra-eng/")
    args = parser.parse_args()
    prepare_data(args.corpora)
    for name in KINDS:
        found = recipe(name)
        if execute(found, found.train, RUNS / name, minutes=None, steps=None):
            ship(name)
    write_measured()


def ship(name: str) -> None:
    """Copies a finished model to where the page looks for it, with its log."""
    (target := SHIPPED / name).mkdir(parents=True, exist_ok=True)
    for file in (*zoo.FILES, "CARD.md"):
        shutil.copyfile(RUNS / name / file, target / file)
    thin_log(RUNS / name / "log.jsonl", SHIPPED / f"{name}.jsonl")


def write_measured() -> None:
    """The held-out loss of both models, and that of token frequencies on the same text, as their cards say."""
    found = {
        name: {"held_out": said(name, "held-out loss"), "weights": zoo.weights_hash(name, SHIPPED)} for name in KINDS
    }
    with replacing(SHIPPED / "measured.json") as (place,):
        measured = {"unigram": said("with", "unigram cross-entropy on the same text"), **found}
        place.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")


def said(name: str, what: str) -> float:
    """What the card of a model says in its table, in nats per token."""
    card = (SHIPPED / name / "CARD.md").read_text(encoding="utf-8")
    found = re.search(rf"{what} \| ([\d.]+) nats", card)
    assert found, f"the card of {name} says its {what}"
    return float(found[1])


if __name__ == "__main__":
    main()
