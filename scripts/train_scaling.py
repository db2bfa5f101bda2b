"""Trains and measures the models of the scaling laws on the page "Size", and writes the data of its figures.

    python -m scripts.train_scaling --corpora CORPORA                    # the whole grid
    python -m scripts.train_scaling --corpora CORPORA --minutes 30       # as far as it gets; repeat to go on

Every model reads each of its tokens once; a smaller amount of text is the beginning of a larger one. All have one
tokenizer, context and batch size, one rule for the learning rate, one schedule that is stretched to the length of the
run, and the same held-out windows. They differ in width, depth, amount of text and seed alone. Finished runs are kept
in the folder `--runs` and skipped; the weights are thrown away.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

from scripts.train_zoo import run as command
from tfmviz.model.build import Model, build
from tfmviz.model.config import ModelConfig
from tfmviz.paths import PROJECT
from tfmviz.record.facts import AttentionFacts, EmbeddingFacts, FeedForwardFacts
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.training.data import Batch, TextBatches, load_split, pack, windows
from tfmviz.training.evaluation import unigram_cross_entropy
from tfmviz.training.files import replacing, sole_use_of
from tfmviz.training.loop import Settings, build_optimizer, evaluate, train

SHIPPED = PROJECT / "assets" / "scaling"

VOCABULARY, CONTEXT, BATCH = 512, 128, 8
"""Entries; tokens of a window; windows of a step. A vocabulary of thousands would outweigh the smallest models."""

HELD_OUT = 512
"""Windows of held-out text on which every model is measured."""

SIZES = ((32, 3), (48, 3), (64, 3), (80, 4), (96, 4), (112, 4), (144, 4), (176, 5), (224, 5))
"""Width and depth, from 54 thousand parameters to 3.1 million."""

LARGEST = (288, 5)
"""5.1 million parameters; no fit sees them."""

K, M = 2**10, 2**20


class Run(Protocol):
    """The interface of a run for training and measuring."""

    @property
    def name(self) -> str:
        """Of its file."""
        ...

    @property
    def tokens(self) -> int:
        """To read, from the beginning of the text."""
        ...

    @property
    def seed(self) -> int:
        """Of weights and order."""
        ...

    @property
    def settings(self) -> Settings: ...

    @property
    def says(self) -> dict[str, Any]:
        """Its file's entries besides the measurements."""
        ...

    def build(self) -> Model:
        """The model with freshly drawn weights."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """One run: a size, an amount of text in tokens, a seed of weights and order."""

    width: int
    depth: int
    tokens: int
    seed: int = 0

    @property
    def name(self) -> str:
        return f"width{self.width}-depth{self.depth}-tokens{self.tokens}-seed{self.seed}"

    @property
    def says(self) -> dict[str, Any]:
        return asdict(self) | {"embeddings": VOCABULARY * self.width}

    def build(self) -> Model:
        return build(self.config)

    @property
    def config(self) -> ModelConfig:
        n_heads = self.width // 16
        return ModelConfig(
            vocab_size=VOCABULARY,
            max_len=CONTEXT,
            d_model=self.width,
            n_layers=self.depth,
            attention=AttentionFacts(n_heads=n_heads, n_kv_heads=n_heads),
            feed_forward=FeedForwardFacts(d_ff=4 * self.width),
            embeddings=EmbeddingFacts(scaled=True),
        )

    @property
    def settings(self) -> Settings:
        steps = self.tokens // (BATCH * CONTEXT)
        return Settings(
            steps=steps,
            warmup=steps // 10,
            learning_rate=learning_rate(self.width),
            precision="bfloat16",
            seed=self.seed,
        )


def learning_rate(width: int) -> float:
    """The highest of a run. In trials on the smallest amount, models 48 wide learnt best at 8e-3, 176 wide at 4e-3."""
    return 4e-3 * (128 / width) ** 0.5


def grid() -> list[Cell]:
    """All runs, the cheapest amounts first, so that an unfinished grid is still a grid."""

    def row(tokens: int, *sizes: tuple[int, int], seed: int = 0) -> list[Cell]:
        return [Cell(width=width, depth=depth, tokens=tokens, seed=seed) for width, depth in sizes]

    return [
        *row(256 * K, *SIZES),
        *row(512 * K, *SIZES),
        *row(M, *SIZES[:8]),
        *row(2 * M, *SIZES[:7]),
        *row(4 * M, *SIZES[:4]),
        *row(512 * K, LARGEST),
        *row(M, LARGEST),
        *row(256 * K, *SIZES[:5], seed=1),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, required=True, help="the folder with english/")
    parser.add_argument("--runs", type=Path, default=Path("runs/scaling"))
    parser.add_argument("--out", type=Path, default=SHIPPED)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no run after this many")
    args = parser.parse_args()
    with sole_use_of(args.runs):
        text, begin = prepare_text(args.corpora, args.runs), time.monotonic()
        for cell in grid():
            if time.monotonic() - begin < 60 * args.minutes:
                finish(cell, text, args.runs)
        ship(text, args.runs, args.out)


@dataclass(frozen=True, kw_only=True, slots=True)
class Text:
    """All tokens to train on, in the order of every run, and those held out: (tokens,), int32."""

    train: np.ndarray
    held_out: np.ndarray

    @property
    def test(self) -> list[Batch]:
        return windows(self.held_out, length=CONTEXT, max_windows=HELD_OUT)


def prepare_text(corpora: Path, runs: Path) -> Text:
    """Filters the corpora, learns a tokenizer and packs the text; once."""
    if not (path := runs / "tokens.npz").exists():
        command("scripts.prepare_english", str(corpora / "english"), str(runs / "english"))
        split = load_split([(runs / "english", 1)])
        tokenizer = Tokenizer.train(split.train, vocab_size=VOCABULARY)
        tokenizer.save(runs / "tokenizer.json")
        train, held_out = (pack(side, tokenizer, seed=0) for side in (split.train, split.held_out))
        with replacing(path) as (place,), place.open("wb") as file:
            np.savez(file, train=train, held_out=held_out)
    with np.load(path) as arrays:
        return Text(train=arrays["train"], held_out=arrays["held_out"])


def finish(run: Run, text: Text, runs: Path) -> None:
    """Trains and measures the model of a run, unless that has been done."""
    if (path := runs / f"{run.name}.json").exists():
        return
    begin = time.process_time()
    found = run.says | measure(run, text)
    with replacing(path) as (place,):
        place.write_text(json.dumps(found) + "\n", encoding="utf-8")
    print(f"{run.name}: {found['loss']:.4f} nats, {time.process_time() - begin:.0f} s of one core", flush=True)


def measure(run: Run, text: Text) -> dict[str, Any]:
    """The results of training: the model's parameters, its loss on the held-out windows, and the way there."""
    torch.manual_seed(run.seed)
    model = run.build()
    records = train(model, build_optimizer(model, run.settings), batches_of(run, text), run.settings)
    losses = [record.loss for record in records]
    return {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "loss": evaluate(model, text.test),
        "curve": [[tokens, round(loss, 4)] for tokens, loss in thinned(losses)],
    }


def batches_of(run: Run, text: Text) -> TextBatches:
    """One epoch of the beginning of the text: as many tokens as the run has, each once."""
    return TextBatches(
        stream=text.train[: run.tokens + CONTEXT + 1],
        batch_size=BATCH,
        length=CONTEXT,
        vocab_size=VOCABULARY,
        seed=run.seed,
    )


def thinned(losses: list[float], *, n: int = 24) -> list[tuple[int, float]]:
    """Means of the training loss over `n` equal parts of a run, each with the tokens read at its end."""
    parts = np.array_split(np.array(losses), min(n, len(losses)))
    ends = np.cumsum([len(part) for part in parts]) * BATCH * CONTEXT
    return [(int(end), float(part.mean())) for end, part in zip(ends, parts, strict=True)]


def ship(text: Text, runs: Path, out: Path) -> None:
    """Writes the results of all finished runs, and their curves next to them."""
    found = [json.loads(path.read_text()) for cell in grid() if (path := runs / f"{cell.name}.json").exists()]
    curves = {Cell(**{key: run[key] for key in CELL}).name: run.pop("curve") for run in found}
    about = {
        "command": "python -m scripts.train_scaling --corpora CORPORA",
        "vocabulary": VOCABULARY,
        "context": CONTEXT,
        "batch": BATCH,
        "learning_rate": "4e-3 · √(128 / width)",
        "held_out_tokens": sum(targets.size for _, targets in text.test),
        "unigram_loss": unigram_cross_entropy(text.train, text.held_out, vocab_size=VOCABULARY),
        "largest": list(LARGEST),
    }
    out.mkdir(parents=True, exist_ok=True)
    with replacing(out / "runs.json", out / "curves.json") as (results, ways):
        rows = ",\n  ".join(json.dumps(run) for run in found)
        results.write_text(json.dumps(about, indent=1)[:-2] + f',\n "runs": [\n  {rows}\n ]\n}}\n', encoding="utf-8")
        ways.write_text("{\n" + ",\n".join(f'"{k}": {json.dumps(v)}' for k, v in curves.items()) + "\n}\n")


CELL = ("width", "depth", "tokens", "seed")


if __name__ == "__main__":
    main()
