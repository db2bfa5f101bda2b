"""Makes the data of the page "From windows to attention" besides its models, and writes them into `assets/ladder/`.

    python -m scripts.make_ladder --data runs/zoo/data/english/tatoeba.txt …          # counts, then measures
    python -m scripts.make_ladder --measure-only --data …                             # measures again

`5-gram.npz` is a 5-gram model of the training text (each source once) without its rare grams, so that it has about as
many counts as the other models have parameters. `measured.json` has each model's bits per byte on held-out text, and
its loss and prediction when earlier text is changed, cut off, shuffled or thinned.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from tfmviz import zoo
from tfmviz.analysis import reach
from tfmviz.analysis.predictions import softmax
from tfmviz.counting import grams, kneser_ney, pruned
from tfmviz.counting.kneser_ney import NGramModel
from tfmviz.paths import PROJECT
from tfmviz.record.trace import Array
from tfmviz.text.tokenizer import END, Tokenizer
from tfmviz.training.courses import parse_source
from tfmviz.training.data import load_split, pack, windows
from tfmviz.training.evaluation import bits_per_byte
from tfmviz.training.files import replacing

FOLDER = PROJECT / "assets" / "ladder"

TRANSFORMER, EARLIER = "twins-rope", ("ladder-window", "ladder-rnn")

LEAST = (1, 2, 4, 5, 6)
"""Least number of occurrences of a gram of 1 to 5 tokens that stays. Chosen so that about a million counts remain."""

WINDOW = 64
"""Tokens of a window of held-out text; all models predict the same tokens from the same ones before them."""

KEPT = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 62)
"""Tokens that stay as they were when a text is cut, shuffled or thinned."""

LENGTH, N_TEXTS, N_WORDS = 63, 240, 2
"""Tokens of a text before the one that is predicted, how many texts there are, and words that replace a token."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", required=True, help="as in training; each source counts once here")
    parser.add_argument("--measure-only", action="store_true")
    args = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    transformer = zoo.load(TRANSFORMER)
    assert isinstance(transformer.tokenizer, Tokenizer)
    split = load_split((parse_source(source)[0], 1) for source in args.data)
    held_out = pack(split.held_out, transformer.tokenizer, seed=0)
    n_bytes = sum(len(document.encode()) for document in split.held_out)
    if not args.measure_only:
        stream = pack(split.train, transformer.tokenizer, seed=0)
        write_counts(stream, held_out, vocab_size=transformer.config.vocab_size, n_bytes=n_bytes)
    measured = measure(held_out, n_bytes=n_bytes)
    with replacing(FOLDER / "measured.json") as (place,):
        place.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")


def write_counts(stream: Array, held_out: Array, *, vocab_size: int, n_bytes: int) -> None:
    """Counts the grams of the training text, leaves the rare ones out and writes the others."""
    counted = grams.count(stream, vocab_size=vocab_size, n=len(LEAST))
    whole = kneser_ney.smoothed(counted, vocab_size=vocab_size)[-1]
    model = pruned.pruned(whole, counted, least=LEAST)
    facts = {
        "made_by": "python -m scripts.make_ladder",
        "training_text": f"{len(stream):,} tokens, each source once",
        "least": list(LEAST),
        "grams": [len(order.keys) for order in model.orders],
        "all_numbers": pruned.n_numbers(whole),
        "all_bits_per_byte": round(bits_per_byte(whole.cross_entropy(held_out), stream=held_out, n_bytes=n_bytes), 4),
    }
    with replacing(FOLDER / "5-gram.npz", FOLDER / "counted.json") as (counts, about):
        pruned.save(counts, model)
        about.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    print(facts)


def measure(held_out: Array, *, n_bytes: int) -> dict[str, Any]:
    """All figures of all models, with what they were measured on."""
    counted = pruned.load(FOLDER / "5-gram.npz")
    texts, answers = texts_of(held_out)
    words = reach.replacements(zoo.load(TRANSFORMER).vocabulary, N_WORDS + 1)
    about = {
        "made_by": "python -m scripts.make_ladder",
        "held_out": f"{len(held_out):,} tokens, {n_bytes:,} bytes, in windows of {WINDOW}, for all models the same",
        "texts": f"{len(texts)} passages of {LENGTH} tokens from within documents; the next token is predicted",
        "kept": list(KEPT),
    }
    found = {}
    for name, (predict, losses, n_parameters) in models(counted).items():
        bits = bits_per_byte(losses(held_out), stream=held_out, n_bytes=n_bytes)
        found[name] = {"n_parameters": n_parameters, "bits_per_byte": round(bits, 4)}
        found[name] |= further_back(predict, texts, answers, words)
        print(name, found[name], flush=True)
    return about | {"models": found}


def models(counted: NGramModel) -> dict[str, tuple[reach.Predict, Callable[[Array], float], int]]:
    """For each model its prediction after texts, its mean loss on a stream in nats per token, and its size."""
    found: dict[str, tuple[reach.Predict, Callable[[Array], float], int]] = {
        "5-gram": (partial(pruned.after, counted), partial(_in_windows, counted), pruned.n_numbers(counted))
    }
    for name in (*EARLIER, TRANSFORMER):
        model = zoo.load(name) if name == TRANSFORMER else zoo.load(name, kind=zoo.EarlierModel)
        at = partial(zoo.experiments.values_at, model)
        size = sum(parameter.numel() for parameter in model.module.parameters())
        found[name] = (by_network(at), partial(loss_of, at), size)
    return found


def _in_windows(counted: NGramModel, stream: Array) -> float:
    """The 5-gram model's loss on the tokens that the networks predict, with the same context."""
    rows = [
        np.concatenate((inputs["ids"], targets[:, -1:]), axis=1) for inputs, targets in windows(stream, length=WINDOW)
    ]
    p = [counted.probabilities(row)[1:] for row in np.concatenate(rows)]
    return float(-np.log(p).mean())


def by_network(values_at: Callable[[str, Any], Array]) -> reach.Predict:
    def predict(texts: Array) -> Array:
        parts = np.array_split(texts, -(-len(texts) // 64))
        return np.concatenate([softmax(values_at("logits", part.tolist())[:, -1]) for part in parts])

    return predict


def loss_of(values_at: Callable[[str, Any], Array], stream: Array) -> float:
    parts = []
    for inputs, targets in windows(stream, length=WINDOW):
        p = softmax(values_at("logits", inputs["ids"].tolist()))
        parts.append(-np.log(np.take_along_axis(p, targets[..., None], axis=-1)).ravel())
    return float(np.concatenate(parts).mean())


def texts_of(held_out: Array) -> tuple[Array, Array]:
    """Passages from within one document, evenly spread, and the token after each."""
    marks = np.concatenate(([0], (held_out == END).cumsum()))
    starts = np.arange(0, len(held_out) - LENGTH - 1, 8)
    starts = starts[marks[starts + LENGTH + 1] == marks[starts]]
    starts = starts[np.linspace(0, len(starts) - 1, min(N_TEXTS, len(starts))).astype(int)]
    rows = held_out[starts[:, None] + np.arange(LENGTH + 1)].astype(np.int64)
    return rows[:, :-1], rows[:, -1]


def further_back(predict: reach.Predict, texts: Array, answers: Array, words: Sequence[int]) -> dict[str, Any]:
    """The shift of the prediction when one token is replaced, and the rise of the loss otherwise."""
    distances = np.mean([reach.by_distance(predict, text, words=words) for text in texts[::4]], axis=0)
    whole = nats(predict(texts), answers)
    rises: dict[str, list[float]] = {"cut": [], "shuffled": [], "thinned": []}
    for keep in KEPT:
        rng = np.random.default_rng(keep)
        for name, other in (
            ("cut", np.array([reach.cut(text, keep=keep) for text in texts])),
            ("shuffled", np.array([reach.shuffled(text, keep=keep, rng=rng) for text in texts])),
            ("thinned", np.array([reach.thinned(text, keep=keep, rng=rng) for text in texts])),
        ):
            rises[name].append(round(nats(predict(other), answers) - whole, 5))
    return {"loss": round(whole, 4), "changed": [round(share, 5) for share in distances.tolist()], **rises}


def nats(p: Array, answers: Array) -> float:
    return float(-np.log(p[np.arange(len(p)), answers]).mean())


if __name__ == "__main__":
    main()
