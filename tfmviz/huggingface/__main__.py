"""The command line: `python -m tfmviz.huggingface FOLDER` converts a checkpoint for the app."""

from __future__ import annotations

import argparse
import math
import os
import re
import signal
import sys
from pathlib import Path

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

OF_A_RUN = "run-"
"""The app's names for models of training runs in addresses."""


def main() -> int:
    args = arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that no half-made folder is left
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")  # what matters is said here
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    try:
        return run(args)
    except KeyboardInterrupt:
        print("\nStopped. Nothing was written; files that were fetched are kept for the next time.", file=sys.stderr)
        return 130


def run(args: argparse.Namespace) -> int:
    """Converts, or prints why not. Returns the exit status."""
    from safetensors import SafetensorError

    from tfmviz.huggingface.source import Refused, in_one_line
    from tfmviz.text.library import without_panics

    try:
        with without_panics():
            convert(args)
    except (Refused, OSError, SafetensorError) as error:
        print(f"Cannot convert {args.model}: {error}", file=sys.stderr)
        return 1
    except MemoryError:
        print(f"Cannot convert {args.model}: there is not enough memory to compare it.", file=sys.stderr)
        return 1
    except Exception as error:  # a checkpoint is somebody's file: what it breaks is said, not shown as a traceback
        what = f"{type(error).__name__}: {in_one_line(error)}"
        print(f"Cannot convert {args.model}: it holds what this command did not expect ({what}).", file=sys.stderr)
        return 1
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tfmviz.huggingface",
        description="Converts a checkpoint of GPT-2, Pythia, OPT, Llama, Mistral, Qwen, Gemma, BLOOM, BERT, RoBERTa, "
        "DistilBERT, BART, Marian or T5 so that the app shows it.",
    )
    parser.add_argument("model", help="a folder with a checkpoint, or the name of a model on the Hub, such as gpt2")
    parser.add_argument("--name", help="what the app calls it (the last part of the folder or name)")
    parser.add_argument("--max-len", type=int, default=256, help="most tokens that it reads, up to 512 (256)")
    parser.add_argument(
        "--chat", action="store_true", help="read a text as a user's message, in the model's chat template"
    )
    parser.add_argument("--most", type=float, default=math.inf, metavar="MB", help="refuse a model with more weights")
    parser.add_argument(
        "--look", action="store_true", help="say what it is, with size and licence, and convert nothing"
    )
    parser.add_argument("--count", action="store_true", help="count tensors in lines, though nobody reads a terminal")
    return parser.parse_args()


def convert(args: argparse.Namespace) -> None:
    """Raises: Refused or OSError, with the reason in a sentence."""
    from tfmviz.huggingface.checkpoint import open_checkpoint
    from tfmviz.huggingface.conversion import convert_folder
    from tfmviz.paths import own_models

    place = own_models()
    name = name_of(args, place)
    checkpoint = open_checkpoint(args.model, say=say, most=args.most * 1e6, is_look=args.look)
    if args.look:
        return
    count = in_lines if args.count else progress
    choices = {"max_len": args.max_len, "is_chat": args.chat}
    convert_folder(checkpoint, place, name, say=say, progress=count, **choices)
    say(f"Done: {place / name}. The app lists it as {name}.")


def name_of(args: argparse.Namespace, place: Path) -> str:
    """The name of the new model.

    Raises:
        Refused: it is taken or invalid, or the length is out of range.
    """
    from tfmviz.huggingface.family import MAX_LEN
    from tfmviz.huggingface.source import Refused
    from tfmviz.zoo import MODELS

    if not 2 <= args.max_len <= MAX_LEN:
        raise Refused(f"--max-len {args.max_len} is not between 2 and {MAX_LEN}.")
    name = args.name or Path(args.model).expanduser().resolve().name
    if not NAME.fullmatch(name):
        raise Refused(f"{name!r} is not a valid name. Use letters, digits, dots, hyphens: --name my-model.")
    if name.startswith(OF_A_RUN):
        raise Refused(
            f"{name} would be taken for a model that is being trained here. Choose another: --name my-{name}."
        )
    if (MODELS / name).exists():
        raise Refused(f"A shipped model is called {name}. Choose another name: --name my-{name}.")
    if (place / name).exists():
        raise Refused(f"There is {place / name} already. Remove it, or choose another name: --name {name}-2.")
    return name


def progress(n_done: int, n_all: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{n_done} of {n_all} tensors", end="\n" if n_done == n_all else "", file=sys.stderr, flush=True)


def in_lines(n_done: int, n_all: int) -> None:
    """The same for a program that reads along."""
    print(f"{n_done} of {n_all} tensors", flush=True)


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
