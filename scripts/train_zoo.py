"""Trains, measures and exports the models of `assets/models/`, each by the public commands.

    python -m scripts.train_zoo --corpora CORPORA                          # all, one after the other
    python -m scripts.train_zoo twins-rope --corpora CORPORA --minutes 10  # one, for ten minutes; repeat to go on

Each model is one command line in `RECIPES`. A finished model is copied from `runs/zoo/` to `assets/models/`,
`scripts.evaluate` puts its figures into its card, and about 200 lines of its log go to `assets/training/`. Run it in
the project's root. It continues a run that was stopped, and only measures a finished model again.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, fields
from pathlib import Path

from safetensors import safe_open

from tfmviz import zoo
from tfmviz.positions.schemes import SCHEMES
from tfmviz.training.files import replacing
from tfmviz.training.log import read_log as read_log
from tfmviz.training.loop import Settings
from tfmviz.zoo import FILES

RUNS = Path("runs/zoo")
SHIPPED, CURVES = Path("assets/models"), Path("assets/training")
ABOUT = Path(__file__).parent / "about"

SOURCES = ("tatoeba.txt:2", "common_voice.txt", "storybooks.txt:2", "tinystories.txt:2", "books.txt")
ENGLISH = " ".join(f"{RUNS}/data/english/{source}" for source in SOURCES)
PAIRS = f"{RUNS}/data/fra-eng.tsv"
WORDS = f"{RUNS}/data/words.tsv"
CHINESE = f"{RUNS}/data/chinese.txt"
WRITER = "--vocab-size 6144 --context 256 --layers 6 --heads 8 --width 256"
TRANSLATOR = "--vocab-size 6144 --context 64 --layers 3 --heads 8 --width 256"


@dataclass(frozen=True, kw_only=True, slots=True)
class Recipe:
    """How one model is made.

    Attributes:
        says: a sentence for its card.
        about: the file in `scripts/about/` that describes its data.
        train: subcommand and options of `tfmviz.training`.
        before: the same for runs before it, each in a separate folder. Each run starts from the model of the last.
        evaluate: options of `scripts.evaluate`.
    """

    says: str
    about: str
    train: str
    evaluate: str
    before: tuple[str, ...] = ()


LIKE_THE_TWINS = (
    f"lm --data {ENGLISH} --vocab-size 2048 --context 64 --batch-size 64 --repeated 4 --steps 3000 --save-every 500"
)
"""Data, tokens, batches and their order."""


def twin(says: str, options: str) -> Recipe:
    """One of the models that differ in `options` and in nothing else: same seed, data, steps and order."""
    shape = "--layers 4 --heads 4 --width 128 --embedding-scale sqrt_d_model"
    return Recipe(
        says=f"One of the small language models that differ in one thing only; this one: {says}.",
        about="english.md",
        train=f"{LIKE_THE_TWINS} {shape} {options}",
        evaluate=f"--data {ENGLISH} --by-position {CURVES}/{{name}}-by-position.json",
    )


def rung(says: str, options: str) -> Recipe:
    """One of the models from before the transformer, to be compared with `twins-rope`."""
    return Recipe(
        says="One of the language models on the page “From windows to attention”, trained on the text of `twins-rope` "
        f"in the same order and for as long, with about as many parameters; this one: {says}.",
        about="english.md",
        train=f"{LIKE_THE_TWINS} {options}",
        evaluate=f"--data {ENGLISH}",
    )


ATTENTION = {
    "none": "without attention: the decoder sees the source only through one vector, the encoder's last state",
    "dot": "with dot-product attention: score = h · h_j",
    "bilinear": "with bilinear attention: score = h W_s h_j",
    "additive": "with additive attention: score = v · tanh(h W_h + h_j W_e)",
}


def bottleneck(attention: str, says: str) -> Recipe:
    """One of the recurrent translators, which differ in their attention alone."""
    return Recipe(
        says=f"A recurrent encoder-decoder (GRUs) that translates French sentences into English, {says}.\nOne of "
        f"{len(ATTENTION)} models that differ in nothing else.",
        about="seq2seq.md",
        train=f"translate --data {PAIRS} --architecture seq2seq --attention {attention} --joined 40 --vocab-size 2048 "
        "--context 96 --width 128 --optimizer adamw --schedule cosine --smoothing 0 --learning-rate 3e-3 "
        "--batch-tokens 2048 --steps 3000 --save-every 500",
        evaluate=f"--data {PAIRS}",
    )


def language(says: str, *, directions: str, texts: str) -> Recipe:
    """One of the networks that tell French from English. They have one size."""
    return Recipe(
        says=f"A small recurrent network (two layers of GRUs) that tells French from English, {says}.",
        about="labels.md",
        train=f"label --data {PAIRS} --directions {directions} --texts {texts} --vocab-size 2048 --context 64 "
        "--layers 2 --width 48 --learning-rate 4e-3 --batch-size 64 --steps 3000 --save-every 500",
        evaluate=f"--data {PAIRS} --texts {texts} --by-position {CURVES}/{{name}}-by-position.json",
    )


ORDERS = {"none": "without positions", "sinusoidal": "with sinusoidal positions"}


def characters(positions: str, says: str) -> Recipe:
    """One of the two encoders of Chinese characters. They differ in their positions alone."""
    return Recipe(
        says=f"A small encoder that fills in hidden Chinese characters, {says}.\nOne of two models that differ in "
        "nothing else, for the page on word order: without positions it cannot know who did what to whom.",
        about="chinese.md",
        train=f"mlm --characters --data {CHINESE} --vocab-size 3600 --context 64 --layers 2 --heads 4 --width 64 "
        f"--embedding-scale sqrt_d_model --positions {positions} --batch-tokens 2048 --steps 1000 --save-every 500",
        evaluate=f"--data {CHINESE}",
    )


RECIPES = {
    "tiny-english": Recipe(
        says="A small decoder-only language model of modern and children's English, for looking inside.",
        about="english.md",
        before=(
            f"lm --data {ENGLISH} {WRITER} --batch-size 16 --repeated 3 --steps 4400",
            f"lm --data {ENGLISH} {WRITER} --batch-size 16 --repeated 1 --steps 1500 --learning-rate 1e-3",
        ),
        train=f"lm --data {ENGLISH} {WRITER} --batch-size 64 --repeated 4 --dropout 0.1 --seed 1 --steps 7000",
        evaluate=f"--data {ENGLISH}",
    ),
    **{f"twins-{name}": twin(scheme.title, f"--positions {name}") for name, scheme in SCHEMES.items()},
    "twins-postnorm": twin("RoPE, and norms after the sum (post-norm)", "--positions rope --norm-position post"),
    "twins-attention-only": twin(
        "RoPE, and no feed-forward layers. They take 527,872 of the other twins' 1,055,488 parameters with them, and "
        "nothing was added in their place: it has 527,616",
        "--positions rope --feed-forward none",
    ),
    "twins-unmasked": twin(
        "RoPE, and no causal mask in training. It could look up each token that it had to predict. As a writer, which "
        "sees nothing of what comes next, it fails: its losses are measured with the mask on",
        "--positions rope --training-mask none",
    ),
    "twins-gqa": twin(
        "RoPE, and two heads with keys and values of their own; each serves two of the four query heads (grouped-query "
        "attention). This saves 66,048 of the other twins' 1,055,488 parameters",
        "--positions rope --kv-heads 2",
    ),
    "twins-window": twin(
        "RoPE, and attention to the last eight tokens only, which is what ladder-window sees. From layer to layer it "
        "sees seven tokens further back",
        "--positions rope --attention-window 8",
    ),
    "twins-sink": twin(
        "RoPE, and in every head's softmax one more logit, a trained number that belongs to no key: a head that finds "
        "nothing can leave its attention unused (a learned sink, as in gpt-oss). It has 16 parameters more",
        "--positions rope --sink present",
    ),
    "twins-linear": twin(
        "sinusoidal positions, and linear attention, φ(q) · φ(k) in place of exp(q · k). RoPE would not go with it, so "
        "it is to be compared with twins-sinusoidal",
        "--positions sinusoidal --attention-kind linear",
    ),
    "experts": Recipe(
        says="A small language model in which each feed-forward layer is a mixture of four experts: a router chooses "
        "one of them for each token (Switch Transformer, Fedus et al. 2021). It was trained on the text of the twins, "
        "for half as many steps.",
        about="english.md",
        train=f"{LIKE_THE_TWINS} --layers 3 --heads 4 --width 96 --embedding-scale sqrt_d_model --experts 4 "
        "--steps 1500",
        evaluate=f"--data {ENGLISH}",
    ),
    "ladder-window": rung("a network that sees the last eight tokens", "--architecture window --window 8 --width 128"),
    "ladder-rnn": rung(
        "a recurrent network, two layers of gated recurrent units", "--architecture rnn --layers 2 --width 224"
    ),
    "fill-in": Recipe(
        says="An encoder-only model that fills in masked words, for looking inside.",
        about="english.md",
        train=f"mlm --data {ENGLISH} --vocab-size 4096 --context 128 --layers 4 --heads 8 --width 256 --steps 5000 "
        "--save-every 500",
        evaluate=f"--data {ENGLISH}",
    ),
    "french-english": Recipe(
        says="A small encoder-decoder that translates French sentences into English, with sinusoidal positions, "
        "pre-norm and GELU.",
        about="pairs.md",
        before=(
            f"translate --data {PAIRS} {TRANSLATOR} --steps 4000 --warmup 1000 --save-every 500",
            f"translate --data {PAIRS} --variants once {TRANSLATOR} --seed 1 "
            "--schedule cosine --learning-rate 6e-4 --steps 3200 --warmup 100 --save-every 400",
            f"translate --data {PAIRS} --variants often {TRANSLATOR} --seed 2 "
            "--schedule cosine --learning-rate 2.5e-4 --steps 750 --warmup 50 --save-every 250",
            f"translate --data {PAIRS} --variants once --words {WORDS}:3 {TRANSLATOR} --seed 4 "
            "--schedule cosine --learning-rate 4e-4 --steps 1500 --warmup 50 --save-every 150",
            f"translate --data {PAIRS} --variants once --words {WORDS}:3 {TRANSLATOR} --seed 5 "
            "--schedule cosine --learning-rate 4e-4 --steps 1800 --warmup 50 --save-every 150",
        ),
        train=f"translate --data {PAIRS} --variants once --words {WORDS}:3 {TRANSLATOR} --seed 7 "
        "--schedule cosine --learning-rate 4e-4 --steps 1500 --warmup 50 --save-every 150",
        evaluate=f"--data {PAIRS}",
    ),
    **{f"chinese-{name}": characters(name, says) for name, says in ORDERS.items()},
    **{f"seq2seq-{attention}": bottleneck(attention, says) for attention, says in ATTENTION.items()},
    "label-text": language(
        "of a whole text: a classifier, which says after every token how probable French is",
        directions="forward",
        texts="single",
    ),
    "label-forward": language(
        "token by token, from what stands before: a labeller in one direction", directions="forward", texts="mixed"
    ),
    "label-both": language(
        "token by token, from what stands before and after: a labeller in both directions",
        directions="both",
        texts="mixed",
    ),
    "induction": Recipe(
        says="Two layers of attention and nothing else, trained on text and on repeated random tokens, with its "
        "weights at sixteen steps on the way (`snapshots/`): the induction heads form in between.",
        about="english.md",
        train=f"lm --data {ENGLISH} --vocab-size 1024 --context 64 --layers 2 --heads 4 --width 128 "
        "--feed-forward none --batch-size 64 --repeated 32 --steps 4000 --snapshots 16 --save-every 500",
        evaluate=f"--data {ENGLISH}",
    ),
    "reverse": Recipe(
        says="A one-layer encoder and a one-layer decoder that write a string of letters backwards.",
        about="task.md",
        train="task reverse --layers 1 --heads 4 --width 128 --positions learned --steps 4000 --save-every 500",
        evaluate="--task reverse",
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(RECIPES)}; none means all")
    parser.add_argument("--corpora", type=Path, required=True, help="the folder with english/, fra-eng/ and cmn-eng/")
    parser.add_argument("--minutes", type=float, help="stop training each model after this many")
    parser.add_argument("--steps", type=int, help="another number of training steps")
    args = parser.parse_args()
    if unknown := set(args.names) - set(RECIPES):
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    prepare_data(args.corpora)
    for name in args.names or RECIPES:
        if train(name, minutes=args.minutes, steps=args.steps):
            ship(name)
    check_twins()


def prepare_data(corpora: Path) -> None:
    """Filters the corpora, once."""
    english = RUNS / "data" / "english"
    if not all((english / source.partition(":")[0]).exists() for source in SOURCES):
        run("scripts.prepare_english", str(corpora / "english"), str(english))
    if not Path(PAIRS).exists():
        run("scripts.prepare_pairs", str(corpora / "fra-eng" / "fra.txt"), PAIRS)
    if not Path(WORDS).exists():
        run("scripts.prepare_words", PAIRS, str(corpora / "english" / "common_voice.txt"), WORDS)
    if not Path(CHINESE).exists():
        run("scripts.prepare_chinese", str(corpora / "cmn-eng" / "cmn.txt"), CHINESE)


def train(name: str, *, minutes: float | None, steps: int | None) -> bool:
    """Starts or continues the runs of a model, one after the other. Returns whether the last one is finished."""
    recipe, start = RECIPES[name], ""
    for number, training in enumerate((*recipe.before, recipe.train), start=1):
        out = RUNS / (name if number > len(recipe.before) else f"{name}-{number}")
        if not execute(recipe, training + start, out, minutes=minutes, steps=steps):
            return False
        start = f" --start-from {out}"
    return True


def execute(recipe: Recipe, training: str, out: Path, *, minutes: float | None, steps: int | None) -> bool:
    """One run of `tfmviz.training` in its folder. Returns whether it is finished."""
    out.mkdir(parents=True, exist_ok=True)
    about = (ABOUT / recipe.about).read_text(encoding="utf-8")
    (out / "about.md").write_text(f"{recipe.says}\n\n{about}", encoding="utf-8")
    options = [*shlex.split(training), "--out", str(out), "--about", str(out / "about.md")]
    options += ["--minutes", str(minutes)] if minutes else []
    options += ["--steps", str(steps)] if steps else []
    run("tfmviz.training", *options)
    return (out / "CARD.md").exists()


def ship(name: str) -> None:
    """Copies a finished model to the others, measures it there, and keeps its curves."""
    source, target = RUNS / name, SHIPPED / name
    target.mkdir(parents=True, exist_ok=True)
    names = (*FILES, "CARD.md")
    with replacing(*(target / file for file in names)) as places:
        for file, place in zip(names, places, strict=True):
            shutil.copyfile(source / file, place)
    if (source / "snapshots").exists():
        shutil.copytree(source / "snapshots", target / "snapshots", dirs_exist_ok=True)
    CURVES.mkdir(exist_ok=True)
    thin_log(source / "log.jsonl", CURVES / f"{name}.jsonl")
    run("scripts.evaluate", str(target), *shlex.split(RECIPES[name].evaluate.format(name=name)))
    if name in zoo.available():  # the others are no transformers and have no feed-forward layers
        run("scripts.find_neurons", name)
        run("scripts.find_heads", name, "--corpora", str(RUNS / "data"))


def thin_log(log: Path, thinned: Path, *, n: int = 200) -> None:
    """Keeps about `n` steps, evenly spaced, with the first, the last and all that have an evaluation."""
    if not (entries := read_log(log)):
        return  # the log is lost; what was kept of it earlier stays
    every = max(1, len(entries) // n)
    kept = [
        {key: float(f"{value:.6g}") if isinstance(value, float) else value for key, value in entry.items()}
        for index, entry in enumerate(entries)
        if index % every == 0 or index == len(entries) - 1 or "held_out_loss" in entry
    ]
    with replacing(thinned) as (place,):
        place.write_text("".join(json.dumps(entry) + "\n" for entry in kept), encoding="utf-8")


TRAINED_BY = {"text", "batch_size", "length", "n_repeated", "batch_seed"} | {f.name for f in fields(Settings)}
"""The settings of a run that do not describe its model."""


TWINS_DIFFER_IN = {
    *("positions", "norm_position", "feed_forward", "training_mask"),
    *("n_kv_heads", "attention", "sink", "window", "shared_layers", "n_experts"),
}


def check_twins() -> None:
    """Raises: SystemExit, when two twins, or the models they are compared with, were not trained alike."""
    check_alike("twins-", "ladder-", may_differ=TWINS_DIFFER_IN)
    check_alike("seq2seq-", may_differ={"attention"})
    check_alike("chinese-", may_differ={"positions"})
    check_alike("label-", may_differ={"directions", "texts"})


def check_alike(*prefixes: str, may_differ: set[str]) -> None:
    """Raises: SystemExit, when two models with such names differ in another setting."""
    first: dict[str, object] = {}
    for name in (name for name in RECIPES if name.startswith(prefixes)):
        if not (path := RUNS / name / "checkpoint.safetensors").exists():
            continue
        with safe_open(path, framework="numpy") as file:
            settings = {k: v for k, v in json.loads(file.metadata()["run"]).items() if k not in may_differ}
        if name.startswith("ladder-"):  # they have other shapes
            settings = {k: v for k, v in settings.items() if k in TRAINED_BY}
        first = first or settings
        if differing := sorted(key for key in settings if settings[key] != first.get(key)):
            raise SystemExit(f"{name} was not trained like the others: {', '.join(differing)} differ.")


def run(module: str, *arguments: str) -> None:
    """Runs one of the project's commands. Ends the script when it fails."""
    words = ["-m", module, *arguments]
    print(f"$ python {shlex.join(words)}", flush=True)
    if subprocess.run([sys.executable, *words], check=False).returncode:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
