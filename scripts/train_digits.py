"""Trains the two readers of digits of the page "Positions", tab "Not only words", and measures them.

    python -m scripts.train_digits --digits digits.csv.gz    # some minutes on one core

`digits.csv.gz` is the file that scikit-learn ships as `sklearn/datasets/data/digits.csv.gz`. The two models differ in
their positions alone: trained vectors, or none. They read the same digits in the same order, moved by up to one cell
and, one in three, in black and white, as people draw on the page. Every fifth digit is held out.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import Tensor

from tfmviz.model.pictures import SIDE, PictureReader, config, patches
from tfmviz.paths import PROJECT
from tfmviz.training.files import replacing
from tfmviz.training.loop import Settings, build_optimizer
from tfmviz.zoo import pictures

SHIPPED = PROJECT / "assets" / "digits"

SETTINGS = Settings(steps=4000, learning_rate=2e-3, warmup=200)
BATCH = 64


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--digits", type=Path, required=True, help="scikit-learn's digits.csv.gz")
    parser.add_argument("--out", type=Path, default=SHIPPED)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    write_digits(args.digits, args.out)
    digits = pictures.digits(args.out)
    found = {}
    for positions in pictures.POSITIONS:
        model = train(positions, digits)
        weights = {name: value.detach().half().contiguous() for name, value in model.state_dict().items()}
        with replacing(args.out / f"{positions}.safetensors") as (place,):
            save_file(weights, place)
        found[positions] = pictures.measure(pictures.load(positions, args.out), digits) | {
            "weights": pictures.weights_hash(positions, args.out)
        }
        print(positions, found[positions], flush=True)
    with replacing(args.out / "measured.json") as (place,):
        place.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def write_digits(source: Path, out: Path) -> None:
    """The pictures as bytes, which take half the room of numbers with commas."""
    rows = np.loadtxt(source, delimiter=",", dtype=np.uint8)
    with replacing(out / "digits.npz") as (place,), place.open("wb") as file:
        np.savez_compressed(file, pictures=rows[:, :-1].reshape(-1, SIDE, SIDE), labels=rows[:, -1])


def train(positions: str, digits: pictures.Digits) -> PictureReader:
    """All random numbers depend on the number of the step alone, so that both models read the same."""
    torch.manual_seed(0)
    model = PictureReader(config(positions)).train()
    optimizer = build_optimizer(model, SETTINGS)
    read, labels = (torch.from_numpy(array) for array in digits.train)
    for step in range(SETTINGS.steps):
        generator = torch.Generator().manual_seed(step)
        chosen = torch.randint(len(labels), (BATCH,), generator=generator)
        logits = model(patches(changed(read[chosen], generator)))
        F.cross_entropy(logits, labels[chosen].long(), label_smoothing=0.05).backward()
        for group in optimizer.param_groups:
            group["lr"] = SETTINGS.learning_rate_at(step)
        optimizer.step()
        optimizer.zero_grad()
    return model.eval()


def changed(read: Tensor, generator: torch.Generator) -> Tensor:
    """(batch, side, side) in [0, 1]: each moved by up to one cell, one in three in black and white."""
    wide = F.pad(read, (1, 1, 1, 1))
    moves = torch.randint(3, (len(read), 2), generator=generator).tolist()
    moved = torch.stack([one[y : y + SIDE, x : x + SIDE] for one, (y, x) in zip(wide, moves, strict=True)])
    levels = 0.3 + 0.3 * torch.rand(len(read), 1, 1, generator=generator)
    drawn = torch.rand(len(read), 1, 1, generator=generator) < 1 / 3
    return torch.where(drawn, (moved > levels).float(), moved)


if __name__ == "__main__":
    main()
