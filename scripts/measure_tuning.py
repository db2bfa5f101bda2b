"""Tunes the shipped models from few and from many examples, for the figures of the page "Training".

    python -m scripts.measure_tuning    # half an hour on one core

Three seeds draw the examples, their order and the new parameters. Finished runs are kept in `--runs` and skipped.
"""

from __future__ import annotations

import argparse
import json
from itertools import product
from pathlib import Path
from typing import get_args

import torch

from tfmviz.paths import PROJECT
from tfmviz.runs.tuner import tuned
from tfmviz.training.files import replacing
from tfmviz.training.tuning import Method, Tuning

SHIPPED = PROJECT / "assets" / "training" / "tuning.json"

MODELS = ("tiny-english", "fill-in")

SIZES = (16, 64, 256, 1024)

SEEDS = (0, 1, 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=Path, default=Path("runs/tuning"))
    parser.add_argument("--out", type=Path, default=SHIPPED)
    args = parser.parse_args()
    args.runs.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    methods: tuple[Method, ...] = get_args(Method)
    found: dict[str, dict[str, list[list[float]]]] = {name: {method: [] for method in methods} for name in MODELS}
    for name, method, n in product(MODELS, methods, SIZES):
        found[name][method].append([accuracy(args.runs, name, method, n, seed) for seed in SEEDS])
    with replacing(args.out) as (place,):
        place.write_text(json.dumps({"sizes": SIZES, "seeds": SEEDS, "accuracy": found}) + "\n", encoding="utf-8")


def accuracy(runs: Path, name: str, method: Method, n: int, seed: int) -> float:
    """The share of right answers of one run, kept in a file."""
    kept = runs / f"{name}-{method}-{n}-{seed}.json"
    if not kept.exists():
        *_, last = tuned(name, Tuning(method=method, seed=seed), n)
        kept.write_text(json.dumps(last["accuracy"]), encoding="utf-8")
        print(kept.stem, last["accuracy"], flush=True)
    return round(float(json.loads(kept.read_text(encoding="utf-8"))), 4)


if __name__ == "__main__":
    main()
