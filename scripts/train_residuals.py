"""Trains the pair of the page "Residual stream", tab "Without it", and writes it into `assets/residuals/`.

    python -m scripts.train_residuals --corpora CORPORA    # a quarter of an hour on one core, for each of the two

Twelve thin layers, with residual connections and without: the same seed, text, tokens, order, steps and learning rate.
A run that was stopped is continued.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from scripts.train_zoo import ENGLISH, Recipe, execute, prepare_data, thin_log
from tfmviz import zoo
from tfmviz.places import PROJECT

RUNS, SHIPPED = Path("runs/residuals"), PROJECT / "assets" / "residuals"

SHARED = f"lm --data {ENGLISH} --vocab-size 2048 --context 32 --batch-size 32 --repeated 0 --layers 12 --heads 4 "
SHARED += "--width 40 --embedding-scale sqrt_d_model --learning-rate 3e-3 --steps 3000 --save-every 250 --device cpu "
SHARED += "--precision float32"

KINDS = {"with": "sequential", "without": "absent"}


def recipe(name: str) -> Recipe:
    return Recipe(
        says=f"One of two language models of twelve thin layers, {name} residual connections, for the page “Residual "
        "stream”.\nThey differ in nothing else.",
        about="english.md",
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


def ship(name: str) -> None:
    """Copies a finished model to where the page looks for it, with its log."""
    (target := SHIPPED / name).mkdir(parents=True, exist_ok=True)
    for file in (*zoo.FILES, "CARD.md"):
        shutil.copyfile(RUNS / name / file, target / file)
    thin_log(RUNS / name / "log.jsonl", SHIPPED / f"{name}.jsonl")


if __name__ == "__main__":
    main()
