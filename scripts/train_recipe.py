"""Makes the measurements of the page "The recipe" that need training, and writes them into `assets/recipe/`.

    python -m scripts.train_recipe warm-up      # two minutes on one core: four logs
    python -m scripts.train_recipe smoothing    # four minutes: calibration.json
    python -m scripts.train_recipe translators --corpora CORPORA    # hours; on a GPU minutes: translators.json
    python -m scripts.train_recipe spans --corpora CORPORA    # half an hour: a model

The first two train on the text that comes with the app, so no corpus is needed. `warm-up` trains a pre-norm and a
post-norm model, each with and without warm-up, at one high learning rate. `smoothing` trains two models that differ in
label smoothing alone, on so little text that they memorise it, and measures their accuracy on held-out sentences. Their
weights stay in `runs/recipe/`: the page needs only the measurements. The same holds for `translators`: six of them, of
three seeds, with and without smoothing. `spans` trains the small encoder-decoder that restores gaps in a text. Both
read the corpora of the zoo's models (see docs/models.md).
"""

from __future__ import annotations

import argparse
import json
import math
import shlex
import shutil
from pathlib import Path

import numpy as np

from scripts import translating
from scripts.train_zoo import ENGLISH, PAIRS, Recipe, execute, prepare_data, run, thin_log
from tfmviz import zoo
from tfmviz.analysis.calibration import Reliability, log_softmax, reliability
from tfmviz.counting import shipped
from tfmviz.paths import PROJECT
from tfmviz.record.trace import Array
from tfmviz.text.corpora import is_held_out
from tfmviz.text.pairs import read_pairs, split_pairs
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.training.courses import encode_pairs, in_batches
from tfmviz.training.data import load_split, pack, windows
from tfmviz.training.files import replacing
from tfmviz.training.loop import evaluate
from tfmviz.zoo import ZooModel

RUNS, SHIPPED = Path("runs/recipe"), PROJECT / "assets" / "recipe"

SHARED = "--heads 4 --context 64 --repeated 0 --device cpu --precision float32"

HIGH = "--vocab-size 512 --layers 8 --width 64 --batch-size 16 --steps 500 --save-every 100 --optimizer adam "
HIGH += "--learning-rate 2e-3 --feed-forward relu --positions sinusoidal --embedding-scale sqrt_d_model"
"""The 2017 paper's model made small, at a learning rate that post-norm survives only with warm-up."""

WARM_UP = {
    f"{norm}-norm-{name}": f"{HIGH} --norm-position {norm} --warmup {steps}"
    for norm in ("post", "pre")
    for name, steps in (("warm-up", 100), ("none", 1))
}

BY_HEART = "--vocab-size 1024 --layers 3 --width 96 --batch-size 32 --steps 1500 --save-every 100"

SMOOTHING = {f"smoothing-{epsilon:g}": f"{BY_HEART} --smoothing {epsilon}" for epsilon in (0.0, 0.1)}

STEPS = 5500

TRANSLATOR = "--vocab-size 2048 --layers 2 --width 96 --heads 4 --context 48 --batch-tokens 2048 --warmup 200 "
TRANSLATOR += "--schedule cosine --learning-rate 3e-3 --dropout 0.1 --save-every 1000 --precision float32"

TRANSLATORS = {
    f"translator-{epsilon:g}-{seed}": f"{TRANSLATOR} --steps {STEPS} --smoothing {epsilon:g} --seed {seed}"
    for seed in range(3)
    for epsilon in (0.0, 0.1)
}

SPANS = Recipe(
    says="An encoder-decoder that writes the spans that were left out of a text, as T5 was trained (Raffel et al. "
    "2020), for the\npage “The recipe”.",
    about="english.md",
    train=f"spans --data {ENGLISH} --vocab-size 2048 --context 64 --layers 2 --heads 4 --width 96 --learning-rate 3e-3 "
    "--steps 5000 --save-every 500",
    evaluate="",
)

TEMPERATURES = [round(0.5 + 0.1 * i, 1) for i in range(36)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("warm-up", "smoothing", "translators", "spans"))
    parser.add_argument("--out", type=Path, default=SHIPPED)
    parser.add_argument(
        "--corpora", type=Path, help="the folder with english/ and fra-eng/, for `translators` and `spans`"
    )
    args = parser.parse_args()
    if args.what in ("translators", "spans") and args.corpora is None:
        parser.error(f"{args.what} needs --corpora")
    args.out.mkdir(parents=True, exist_ok=True)
    if args.what == "warm-up":
        text = write_text(RUNS / "eighth.txt", every=8)
        for name, options in WARM_UP.items():
            train(name, options, text)
            thin_log(RUNS / name / "log.jsonl", args.out / f"{name}.jsonl", n=250)
    elif args.what == "translators":
        prepare_data(args.corpora)
        for name, options in TRANSLATORS.items():
            run("tfmviz.training", "translate", "--data", PAIRS, "--out", str(RUNS / name), *shlex.split(options))
        write_translators(args.out / "translators.json")
    elif args.what == "spans":
        prepare_data(args.corpora)
        if execute(SPANS, SPANS.train, RUNS / "spans", minutes=None, steps=None):
            ship_spans(args.out / "spans")
    else:
        text = write_text(RUNS / "sixteenth.txt", every=16)
        for name, options in SMOOTHING.items():
            train(name, options, text)
        write_calibration(args.out / "calibration.json", text)


def write_text(path: Path, *, every: int) -> Path:
    """Each so many sentences of the counted text to train on, and of the other text those that training holds out."""
    counted, others = (shipped.read_corpus(name).split("\n") for name in shipped.NAMES)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*counted[::every], *filter(is_held_out, others)]) + "\n", encoding="utf-8")
    return path


def train(name: str, options: str, text: Path) -> None:
    run("tfmviz.training", "lm", "--data", str(text), "--out", str(RUNS / name), *shlex.split(f"{SHARED} {options}"))


def ship_spans(target: Path) -> None:
    """Copies the finished model to where the page looks for it."""
    target.mkdir(exist_ok=True)
    for name in (*zoo.FILES, "CARD.md"):
        shutil.copyfile(RUNS / "spans" / name, target / name)


def write_calibration(path: Path, text: Path) -> None:
    """Measures all models on the same held-out tokens, for the page."""
    found = {name: measured(zoo.load(name, folder=RUNS), text) for name in SMOOTHING}
    with replacing(path) as (place,):
        place.write_text(json.dumps({"temperatures": TEMPERATURES, "models": found}) + "\n", encoding="utf-8")


def measured(model: ZooModel, text: Path) -> dict[str, object]:
    """Loss and guesses at every temperature.

    The even windows are there to choose a temperature by, the odd ones to measure what it does (Guo et al. 2017).
    """
    logits, targets = held_out_logits(model, text)
    chosen_by, measured_on = slice(0, None, 2), slice(1, None, 2)
    best, bins = [], []
    for temperature in TEMPERATURES:
        log_p = log_softmax(logits, temperature=temperature)
        best.append(round(loss(log_p[chosen_by], targets[chosen_by]), 5))
        log_p, wanted = log_p[measured_on], targets[measured_on]
        guesses = reliability(np.exp(log_p.max(axis=-1)).ravel(), (log_p.argmax(axis=-1) == wanted).ravel())
        bins.append({"loss": round(loss(log_p, wanted), 5), **columns(guesses)})
    return {"loss_to_choose_by": best, "measured": bins}


def write_translators(path: Path) -> None:
    """Perplexity and BLEU of all translators on the same held-out pairs."""
    _, held_out = split_pairs(list(read_pairs(Path(PAIRS))))
    found = {}
    for name in TRANSLATORS:
        model = zoo.load(name, folder=RUNS)
        assert isinstance(model.tokenizer, Tokenizer)
        pairs = encode_pairs(held_out, model.tokenizer, max_len=model.config.max_len)
        written = translating.greedy(model, list(dict.fromkeys(source for source, _ in held_out)))
        perplexity = math.exp(evaluate(model.module, in_batches(pairs)))
        found[name] = {"perplexity": round(perplexity, 4), "bleu": float(translating.score(held_out, written))}
    with replacing(path) as (place,):
        place.write_text(
            json.dumps({"pairs": len(held_out), "steps": STEPS, "models": found}, indent=1) + "\n", encoding="utf-8"
        )


def held_out_logits(model: ZooModel, text: Path) -> tuple[Array, Array]:
    """Logits (window, len, vocab) and targets (window, len) of the held-out sentences, as training cuts them."""
    assert isinstance(model.tokenizer, Tokenizer)
    stream = pack(load_split([(text, 1)]).held_out, model.tokenizer, seed=0)
    parts = windows(stream, length=model.config.max_len)
    rows = [row for inputs, _ in parts for row in inputs["ids"].tolist()]
    return np.stack([zoo.experiments.logits(model, row) for row in rows]), np.concatenate(
        [targets for _, targets in parts]
    )


def loss(log_p: Array, targets: Array) -> float:
    """Mean cross-entropy in nats per token."""
    return float(-np.take_along_axis(log_p, targets[..., None], axis=-1).mean())


def columns(guesses: Reliability) -> dict[str, list[float | None]]:
    """The bins as JSON holds them; the means of an empty bin are null."""
    means = {"confidence": guesses.confidence, "accuracy": guesses.accuracy}
    rounded = {name: [None if np.isnan(v) else round(float(v), 5) for v in values] for name, values in means.items()}
    return {"count": guesses.count.tolist(), **rounded}


if __name__ == "__main__":
    main()
