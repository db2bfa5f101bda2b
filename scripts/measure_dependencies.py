"""The distance at which the models of the page "From windows to attention" still see what the next word depends on.

    python -m scripts.measure_dependencies

Agreement of subject and verb, closing quotation marks and repeated names, each over more and more words between the two
ends: 250 generated pairs, so 500 sentences, for each length. The sentences are those of `tfmviz.analysis.dependencies`.
`assets/ladder/dependencies.json` gets the shares that are right, with 95% bootstrap intervals over the pairs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shlex
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from scripts.measure_bottleneck import DRAWS, interval
from tfmviz import zoo
from tfmviz.analysis import dependencies
from tfmviz.analysis.dependencies import Pair
from tfmviz.analysis.predictions import softmax
from tfmviz.analysis.reach import Predict
from tfmviz.counting import pruned
from tfmviz.paths import PROJECT
from tfmviz.record.model import AnyModel
from tfmviz.record.trace import Array
from tfmviz.training.files import replacing

FOLDER = PROJECT / "assets" / "ladder"

COUNTS = "5-gram"

NETWORKS = ("ladder-window", "ladder-rnn", "twins-rope")

PHRASES = (0, 1, 2, 3, 4, 6, 8)
"""Phrases of three words between the two ends."""

AT_ONCE = 128


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=FOLDER / "dependencies.json")
    parser.add_argument("--pairs", type=int, default=250, help="of each kind and length")
    parser.add_argument("--seed", type=int, default=0, help="of sentences and draws")
    args = parser.parse_args()
    found = {
        "command": shlex.join(["python", "-m", "scripts.measure_dependencies", *sys.argv[1:]]),
        "seed": args.seed,
        "sentences": 2 * args.pairs,
        "counts": hashlib.sha256((FOLDER / "5-gram.npz").read_bytes()).hexdigest(),
        "weights": {name: zoo.weights_hash(name) for name in NETWORKS},
        "kinds": {kind: of_kind(kind, args.pairs, seed=args.seed) for kind in dependencies.MAKERS},
    }
    with replacing(args.out) as (place,):
        place.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def of_kind(kind: str, count: int, *, seed: int) -> list[dict[str, Any]]:
    """A row for each length: an example, and the share in which each model is right, with its interval."""
    rows = []
    models = predictors()
    for phrases in PHRASES:
        pairs = dependencies.pairs(kind, phrases, count, seed=seed)
        draws = np.random.default_rng((seed, phrases)).integers(count, size=(DRAWS, count))
        row: dict[str, Any] = {"n": pairs[0].n, "example": pairs[0].texts[0], "leans": {}, "prefers": {}}
        for name, predict in models.items():
            for measure, points in points_of(predict, pairs).items():
                row[measure][name] = interval(np.array([points.mean(), *dependencies.resampled(points, draws)]))
        rows.append(row)
        print(kind, rows[-1], flush=True)
    return rows


@cache
def predictors() -> dict[str, Predict]:
    """Each model's prediction after texts of one length."""
    found: dict[str, Predict] = {COUNTS: partial(pruned.after, pruned.load(FOLDER / "5-gram.npz"))}
    for name in NETWORKS:
        model = zoo.load(name, kind=zoo.EarlierModel if name.startswith("ladder") else zoo.ZooModel)
        found[name] = partial(_after, model)
    return found


def _after(model: AnyModel, texts: Array) -> Array:
    return softmax(zoo.experiments.logits_after(model, texts.tolist()))


def points_of(predict: Predict, pairs: Sequence[Pair]) -> dict[str, Array]:
    """The contribution of each pair to both measures: (pair,); see `dependencies.leans` and `dependencies.prefers`."""
    tokenizer = zoo.load(NETWORKS[0], kind=zoo.EarlierModel).tokenizer
    texts = [text for pair in pairs for text in pair.texts]
    by_length: dict[int, list[tuple[int, tuple[int, ...]]]] = defaultdict(list)
    for place, text in enumerate(texts):
        ids = tokenizer.encode(text, max_len=64).ids
        by_length[len(ids)].append((place, ids))
    p: list[Mapping[str, float]] = [{}] * len(texts)
    asked = sorted({token for pair in pairs for token in (*pair.right, *pair.wrong)})
    columns = [tokenizer.encode(token, max_len=64).ids for token in asked]
    assert all(len(column) == 1 for column in columns), asked
    for rows in by_length.values():
        for first in range(0, len(rows), AT_ONCE):
            part = rows[first : first + AT_ONCE]
            after = predict(np.array([ids for _, ids in part]))[:, [column[0] for column in columns]]
            for (place, _), row in zip(part, after.tolist(), strict=True):
                p[place] = dict(zip(asked, row, strict=True))
    both = [(pair, p[2 * n : 2 * n + 2]) for n, pair in enumerate(pairs)]
    measures = (dependencies.leans, dependencies.prefers)
    return {one.__name__: np.array([one(pair, after) for pair, after in both]) for one in measures}


if __name__ == "__main__":
    main()
