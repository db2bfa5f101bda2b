"""Small models and data for the tests of training."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from tests.model.helpers import flat
from tfmviz.model.config import ModelConfig
from tfmviz.model.transformer import DecoderOnly
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.training.data import TextBatches
from tfmviz.training.loop import Settings, StepRecord

NOUNS = ("cat", "dog", "bird", "house", "river", "garden", "window", "letter", "morning", "ship", "stone")

VERBS = ("sees", "likes", "finds", "takes", "hears", "leaves", "wants")


def sentences(n: int, *, seed: int = 0) -> list[str]:
    """Different sentences of one simple grammar."""
    rng = np.random.default_rng(seed)
    n_kinds = len(NOUNS) ** 2 * len(VERBS) * 2
    kinds = [np.unravel_index(kind, (len(NOUNS), len(VERBS), len(NOUNS), 2)) for kind in rng.permutation(n_kinds)[:n]]
    return [f"The {NOUNS[a]} {VERBS[b]} {('the', 'no')[d]} {NOUNS[c]}." for a, b, c, d in kinds]


SENTENCES = sentences(1300)
VOCAB = 23

BYTES = Tokenizer.train((), vocab_size=257)


def write_lines(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


CONFIG = flat(vocab_size=23, max_len=13, d_model=20, n_layers=2, n_heads=2, n_kv_heads=1, d_ff=29, dropout=0.1)
SETTINGS = Settings(steps=7, learning_rate=3e-3, warmup=2, seed=5)


def tiny_model(config: ModelConfig = CONFIG, *, seed: int = 0) -> DecoderOnly:
    torch.manual_seed(seed)
    return DecoderOnly(config)


def tiny_batches(stream: np.ndarray | None = None, *, n_repeated: int = 1, seed: int = 0) -> TextBatches:
    if stream is None:
        stream = np.random.default_rng(0).integers(1, 23, size=997).astype(np.uint16)
    return TextBatches(stream=stream, batch_size=3, length=11, vocab_size=23, n_repeated=n_repeated, seed=seed)


def losses(records: Iterator[StepRecord]) -> list[float]:
    return [record.loss for record in records]


def sequences(n: int, *, seed: int, longest: int = 13) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    return [rng.integers(2, VOCAB, size=rng.integers(1, longest + 1)).tolist() for _ in range(n)]


def read(batches: TextBatches, step: int) -> tuple[np.ndarray, np.ndarray]:
    inputs, targets = batches.batch(step)
    assert list(inputs) == ["ids"]
    return inputs["ids"], targets


def write_corpus(folder: Path) -> Path:
    """A folder with sentences for the language models, and pairs."""
    write_lines(folder / "lines.txt", SENTENCES)
    write_lines(folder / "pairs.tsv", [f"Phrase {i} {i % 7}.\tSentence {i} {i % 5}." for i in range(700)])
    return folder
