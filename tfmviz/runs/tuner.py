"""Tunes a shipped model on questions and statements: `python -m tfmviz.runs.tuner tiny-english lora 64 4`.

The app runs it as a separate process (`ui.background`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, cast

import torch

from tfmviz import zoo
from tfmviz.counting import shipped
from tfmviz.measuring import report
from tfmviz.model.transformer import DecoderOnly, EncoderOnly
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.training.tuning import Method, Tuning, examples, tune

HELD_OUT = 560
"""Held-out sentences, half of them questions: nearly all questions in the shipped text."""


def tuned(name: str, settings: Tuning, n: int) -> Iterator[dict[str, Any]]:
    """The records of `tune` for a shipped model on `n` examples."""
    model = zoo.load(name)
    assert isinstance(model.module, DecoderOnly | EncoderOnly)
    assert isinstance(model.tokenizer, Tokenizer)
    counted, others = (shipped.read_corpus(part).split("\n") for part in shipped.NAMES)
    known, held_out = examples(counted, n, seed=settings.seed), examples(others, HELD_OUT, seed=0)
    return tune(model.module, model.tokenizer, settings, known=known, held_out=held_out)


def main() -> None:
    torch.set_num_threads(1)
    name, method, n, rank = sys.argv[1:]
    report(tuned(name, Tuning(method=cast(Method, method), rank=int(rank), seed=9), int(n)))


if __name__ == "__main__":
    main()
