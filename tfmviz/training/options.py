"""The options of `python -m tfmviz.training`."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import torch

from tfmviz.model.earlier import Alignment, Directions
from tfmviz.positions.schemes import SCHEMES
from tfmviz.record import facts
from tfmviz.record.facts import AttentionKind, FeedForwardKind, NormPosition, TrainingMask
from tfmviz.text.mixed import Texts
from tfmviz.text.tasks import ANSWERS
from tfmviz.training.loop import OptimizerName, Precision, ScheduleName
from tfmviz.training.shapes import LanguageModel, Translator


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tfmviz.training",
        description="Train one of the app's models. Started by torchrun, several processes train one model together.",
    )
    courses = parser.add_subparsers(dest="course", required=True)

    add_language_model(courses.add_parser("lm", help="a language model on plain text"))

    mlm = courses.add_parser("mlm", help="an encoder-only model that fills in masked words")
    add_text(mlm, help="files or folders; PATH:3 repeats a source three times", vocab_size=4096, context=128)
    mlm.add_argument("--batch-tokens", type=positive, default=4096, help="tokens per step, padding included")
    mlm.add_argument("--characters", action="store_true", help="no token is longer than a character, as for Chinese")
    add_common(mlm, layers=4, positions="learned")

    spans = courses.add_parser("spans", help="an encoder-decoder that writes the spans left out of a text")
    add_text(spans, help="files or folders; PATH:3 repeats a source three times", vocab_size=2048, context=64)
    spans.add_argument("--batch-tokens", type=positive, default=4096, help="tokens of both sides per step, padding too")
    add_common(spans, layers=2, width=96, heads=4)

    add_translator(courses.add_parser("translate", help="an encoder-decoder on pairs of sentences"))

    task = courses.add_parser("task", help="a task that needs no data")
    task.add_argument("name", choices=(*ANSWERS, "induction"))
    task.add_argument("--size", type=positive, help="most letters (12), or most digits of each number (3)")
    task.add_argument("--context", type=positive, default=64, help="the model's longest input, in tokens")
    task.add_argument("--batch-size", type=positive, default=64, help="questions per step")
    add_common(task, layers=1, width=128, positions="sinusoidal", embedding_scale="sqrt_d_model", steps=2000)

    add_labeller(courses.add_parser("label", help="a recurrent network that says in which language each token is"))
    return parser.parse_args()


def add_language_model(lm: argparse.ArgumentParser) -> None:
    add_text(lm, help="files or folders; PATH:3 repeats a source three times", vocab_size=6144, context=256)
    lm.add_argument("--batch-size", type=positive, default=16, help="windows per step")
    lm.add_argument("--repeated", type=whole(least=0), default=1, help="how many of them are repeated random tokens")
    lm.add_argument(
        "--architecture",
        choices=get_args(LanguageModel),
        default="transformer",
        help="window: a network that sees the last few tokens; rnn: a recurrent network; ssm: a state space (default: "
        "%(default)s)",
    )
    lm.add_argument("--window", type=positive, default=8, help="how many tokens a window has (default: %(default)s)")
    lm.add_argument("--state", type=positive, default=16, help="numbers that a channel of ssm keeps (default: 16)")
    lm.add_argument(
        "--training-mask",
        choices=get_args(TrainingMask),
        default="causal",
        help="none lets the model see the token that it has to predict, in training only (default: %(default)s)",
    )
    lm.add_argument(
        "--attention-kind",
        choices=get_args(AttentionKind),
        default="softmax",
        help="linear: φ(q) · φ(k) in place of exp(q · k) (default: %(default)s)",
    )
    lm.add_argument(
        "--sink",
        choices=("absent", "present"),
        default="absent",
        help="present: a trained logit of each head, of no key",
    )
    lm.add_argument("--experts", type=positive, default=1, help="feed-forward layers, of which each token passes one")
    lm.add_argument("--attention-window", type=positive, metavar="N", help="attend to the last N tokens only")
    add_common(lm)


def add_translator(translate: argparse.ArgumentParser) -> None:
    add_text(translate, help=".tsv files or folders of them: source, tab, target", vocab_size=6144, context=64)
    translate.add_argument(
        "--batch-tokens", type=positive, default=4096, help="tokens of both sides per step, padding included"
    )
    translate.add_argument(
        "--architecture",
        choices=get_args(Translator),
        default="transformer",
        help="seq2seq: a recurrent encoder and decoder of one layer each, without dropout (default: %(default)s)",
    )
    translate.add_argument(
        "--attention", choices=get_args(Alignment), default="additive", help="of seq2seq (default: %(default)s)"
    )
    translate.add_argument(
        "--joined",
        type=whole(least=0),
        default=0,
        metavar="WORDS",
        help="read every pair once more, joined with others to sources of at most so many words (default: no)",
    )
    translate.add_argument(
        "--variants",
        choices=("once", "often"),
        help="French: add each source as people type it (no final mark, small letters, no accents, capitals), and "
        "phrases cut from the pairs; often adds short ones several times",
    )
    translate.add_argument(
        "--words",
        nargs="+",
        default=[],
        metavar="FILE",
        help="more pairs, read as they are and never held out; FILE:3 repeats them three times",
    )
    paper = {"optimizer": "adam", "schedule": "noam", "smoothing": 0.1, "dropout": 0.1}
    add_common(translate, layers=3, positions="sinusoidal", embedding_scale="sqrt_d_model", **paper)


def add_labeller(label: argparse.ArgumentParser) -> None:
    add_text(label, help=".tsv files or folders of them: two languages, tab between", vocab_size=2048, context=64)
    label.add_argument("--batch-size", type=positive, default=64, help="texts per step")
    label.add_argument(
        "--directions",
        choices=get_args(Directions),
        default="both",
        help="forward: a token's label depends on the text up to it, as in a classifier (default: %(default)s)",
    )
    label.add_argument(
        "--texts",
        choices=get_args(Texts),
        default="mixed",
        help="single: each text is in one language; mixed: they change between both (default: %(default)s)",
    )
    add_common(label, architecture="labeller", layers=2, width=48, steps=3000)


def add_text(parser: argparse.ArgumentParser, *, help: str, vocab_size: int, context: int) -> None:
    parser.add_argument("--data", nargs="+", required=True, help=help)
    parser.add_argument("--vocab-size", type=positive, default=vocab_size)
    parser.add_argument("--context", type=positive, default=context, help="the model's longest input, in tokens")


def add_common(parser: argparse.ArgumentParser, **defaults: Any) -> None:
    """The options of all subcommands. `defaults` replace those of `lm`."""
    add_model(parser)
    add_steps(parser)
    add_machine(parser)
    parser.set_defaults(**defaults)


def add_model(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--out", type=Path, required=True, help="folder for the model; an interrupted run there is continued")
    add("--about", type=Path, help="Markdown about the data and its licence, for the model card")
    add("--start-from", type=Path, help="folder of a finished model of this shape to start with: tokens and weights")

    add("--layers", type=positive, default=6, help="blocks per stack")
    add("--heads", type=positive, default=8)
    add("--kv-heads", type=positive, help="heads with keys and values of their own (default: all)")
    add(
        "--width",
        type=positive,
        default=256,
        help="d_model; a feed-forward layer is four times as wide, the hidden layer of a window twice",
    )
    add("--positions", choices=tuple(SCHEMES), default="rope", help="how order enters (default: %(default)s)")
    add("--norm-position", choices=get_args(NormPosition), default="pre")
    add("--residual", choices=get_args(facts.Residual), default="sequential", help="absent: layers without x + …")
    add("--feed-forward", choices=get_args(FeedForwardKind), default="gelu")
    add(
        "--shared-layers",
        choices=("absent", "present"),
        default="absent",
        help="present: all layers of a stack are one",
    )
    add("--embedding-scale", choices=("one", "sqrt_d_model"), default="one")
    add("--dropout", type=number(below=1), default=0.0)


def add_steps(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--steps", type=positive, default=4000)
    add("--optimizer", choices=get_args(OptimizerName), default="adamw", help="adam is the 2017 paper's")
    add("--schedule", choices=get_args(ScheduleName), default="cosine", help="noam is the 2017 paper's")
    add(
        "--learning-rate",
        type=number(above=0),
        help="the highest learning rate (default: 2e-3; with noam the paper's for 4000 steps of warmup)",
    )
    add(
        "--warmup",
        type=positive,
        help="steps until it is reached (default: a tenth of all, at most 200; with noam a fifth, at most 4000)",
    )
    add(
        "--change-rate",
        type=change_of_rate,
        nargs="+",
        default=[],
        metavar="UPDATES:RATE",
        help="after so many updates this is the highest learning rate; a number written into OUT/rate while the run "
        "goes on does the same at once",
    )
    add("--smoothing", type=number(below=1), default=0.0, help="ε of label smoothing")
    add("--clip", type=number(above=0), default=1.0, help="largest norm of the gradient")
    add("--seed", type=whole(least=0, most=2**32 - 1), default=0)


def add_machine(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--device", default=best_device(), help="cpu, cuda or mps (default: %(default)s)")
    add("--precision", choices=get_args(Precision), help="default: the faster of the two on this device")
    add("--compile", action="store_true", help="compile the model with torch.compile first")
    add("--save-every", type=positive, default=250, help="steps between checkpoints and evaluations")
    add(
        "--snapshots",
        type=whole(least=0, most=1000),
        default=0,
        help="number of steps at which the weights are kept, evenly spaced on a logarithmic scale",
    )
    add(
        "--average",
        type=positive,
        default=1,
        metavar="N",
        help="export the mean of the weights at the last N checkpoints (default: the last weights)",
    )
    add("--minutes", type=number(), help="stop after this many; the same command continues the run")


def whole(*, least: int, most: int = 2**31 - 1) -> Callable[[str], int]:
    """An argparse type: an integer from `least` to `most`."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"must be a whole number from {least} to {most:,}, but is {text!r}")
        return value

    return read


positive = whole(least=1)


def number(*, above: float | None = None, below: float = math.inf) -> Callable[[str], float]:
    """An argparse type: a number greater than `above`, or else at least 0, and less than `below`."""
    lowest = "0 or more" if above is None else f"more than {above}"
    highest = f" and less than {below}" if below < math.inf else ""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not (value >= 0 if above is None else value > above) or not value < below:
            raise argparse.ArgumentTypeError(f"must be a number, {lowest}{highest}, but is {text!r}")
        return value

    return read


def change_of_rate(text: str) -> tuple[int, float]:
    """An argparse type, see `Settings.changes`."""
    updates, _, rate = text.partition(":")
    return whole(least=0)(updates), number(above=0)(rate)


def check_device(name: str) -> None:
    """Raises ValueError if there is no such device."""
    try:
        torch.empty(1, device=name)
    except (RuntimeError, AssertionError) as error:  # the error depends on PyTorch's build
        raise ValueError(f"There is no device {name!r} here. Choose another --device.") from error


def best_device() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def best_precision(device: str) -> Precision:
    """bfloat16 if the device multiplies it natively, else float32."""
    if device.startswith("cuda"):
        return "bfloat16" if torch.cuda.is_bf16_supported() else "float32"
    capabilities = torch.cpu.get_capabilities()
    native = capabilities.get("amx_bf16") or capabilities.get("avx512_bf16")
    return "bfloat16" if device == "cpu" and native else "float32"
