"""Trains pairs of small models that differ in one thing, for single tabs, and writes them into `assets/`.

    python -m scripts.train_pairs residuals --corpora CORPORA    # six minutes on one core for each of the two
    python -m scripts.train_pairs spaces --corpora CORPORA
    python -m scripts.train_pairs duplicates --corpora CORPORA

`residuals`: twelve thin layers, with residual connections and without (page "Residual stream"). `spaces`: four layers
with attention, or with state spaces in its place (page "Efficient attention"). `duplicates`: the same model on every
story once, or on a tenth of them ten times (page "Training"); only what was measured is shipped. All else is the same
for both of a pair: seed, tokens, order, steps and learning rate. A run that was stopped is continued.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
from pathlib import Path

import numpy as np

from scripts.train_zoo import RUNS as ZOO
from scripts.train_zoo import Recipe, execute, prepare_data, thin_log
from tfmviz import zoo
from tfmviz.paths import PROJECT
from tfmviz.text.corpora import is_held_out, read_documents
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.training.data import pack, windows
from tfmviz.training.evaluation import bits_per_byte
from tfmviz.training.files import replacing
from tfmviz.training.log import read_log as read_log
from tfmviz.training.loop import evaluate

TEXT = f"{ZOO}/data/english/tinystories.txt"
"""Simple sentences, which small models learn in few steps."""

SHARED = f"lm --data {TEXT} --vocab-size 1024 --batch-size 16 --repeated 0 --learning-rate 3e-3 --save-every 250 "
SHARED += "--device cpu --precision float32"

TWELVE_LAYERS = "--context 32 --layers 12 --heads 4 --width 40 --embedding-scale sqrt_d_model --steps 1500"
FOUR_LAYERS = "--context 64 --layers 4 --width 64 --steps 2000"

TENTH = Path("runs") / "duplicates" / "tenth.txt"
"""One in ten of the stories to train on, and all that are held out."""

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
    "duplicates": {
        "once": ("trained on every story once", f"{FOUR_LAYERS} --heads 4 --embedding-scale sqrt_d_model --steps 1400"),
        "ten-times": (
            "trained on a tenth of the stories, ten times",
            f"{FOUR_LAYERS} --heads 4 --embedding-scale sqrt_d_model --steps 1400 --data {TENTH}:10",
        ),
    },
}
"""The two of each pair by their names: a description, and options."""


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
    if args.pair == "duplicates":
        repeat()
    else:
        make(args.pair)


def repeat() -> None:
    """Trains the pair of `duplicates` and writes the measurements."""
    documents = list(read_documents(Path(TEXT)))
    seen = [story for story in documents if not is_held_out(story)][::10]
    held_out = [story for story in documents if is_held_out(story)]
    TENTH.parent.mkdir(parents=True, exist_ok=True)
    TENTH.write_text("\n<|endoftext|>\n".join(seen + held_out), encoding="utf-8")
    found = {}
    for name in PAIRS["duplicates"]:
        made, out = recipe("duplicates", name), Path("runs") / "duplicates" / name
        if not execute(made, made.train, out, minutes=None, steps=None):
            return
        found[name] = {"seen": bits(out, seen), "held_out": bits(out, held_out), "curve": curve(out, held_out)}
    (folder := PROJECT / "assets" / "duplicates").mkdir(exist_ok=True)
    with replacing(folder / "measured.json") as (place,):
        place.write_text(json.dumps({"stories": len(seen), **found}) + "\n", encoding="utf-8")


def bits(run: Path, stories: list[str]) -> float:
    """Bits per byte of a finished model, which can be compared across tokenizers."""
    model = zoo.load(run.name, run.parent)
    stream = packed(run, stories)
    loss = evaluate(model.module, windows(stream, length=model.config.max_len))
    return round(bits_per_byte(loss, stream=stream, n_bytes=sum(len(one.encode()) for one in stories)), 4)


def packed(run: Path, stories: list[str]) -> np.ndarray:
    return pack(stories, Tokenizer.load(run / "tokenizer.json"), seed=0)


def curve(run: Path, held_out: list[str]) -> dict[str, list[list[float]]]:
    """Loss in training, in means of 50 steps, and on held-out text, both in bits per byte, by step."""
    stream = packed(run, held_out)
    one = bits_per_byte(1.0, stream=stream, n_bytes=sum(len(story.encode()) for story in held_out))
    entries = read_log(run / "log.jsonl")
    parts = [entries[first : first + 50] for first in range(0, len(entries), 50)]
    return {
        "training": [[p[-1]["step"] + 1, round(one * sum(e["loss"] for e in p) / len(p), 4)] for p in parts],
        "held out": [[e["step"] + 1, round(one * e["held_out_loss"], 4)] for e in entries if "held_out_loss" in e],
    }


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
    """An entry of the table on a model's card, in nats per token."""
    found = re.search(rf"{what} \| ([\d.]+) nats", (model / "CARD.md").read_text(encoding="utf-8"))
    assert found, f"the card of {model.name} says its {what}"
    return float(found[1])


if __name__ == "__main__":
    main()
