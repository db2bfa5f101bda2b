"""Trains and measures the variants of the page "Size", tab "Which changes help?", and writes the data of its figures.

    python -m scripts.train_variants --corpora CORPORA                    # all runs
    python -m scripts.train_variants --corpora CORPORA --minutes 30       # as far as it gets; repeat to go on

Each variant differs from the baseline in one thing. All read the same text, each token once, in the order of their
seed, in as many steps, with the optimizer, schedule and held-out windows of `train_scaling`. Each has the learning
rate, of two, at which it learns best with seed 0; the runs with that seed are not among those that are compared.
Finished runs are kept in the folder `--runs` and skipped; the weights are thrown away.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode

from scripts.train_scaling import BATCH, CONTEXT, VOCABULARY, M, finish, learning_rate, prepare_text
from tfmviz.model.config import ModelConfig
from tfmviz.model.synthesizer import Synthesis, synthesize
from tfmviz.model.transformer import DecoderOnly
from tfmviz.paths import PROJECT
from tfmviz.record.facts import AttentionFacts, EmbeddingFacts, FeedForwardFacts
from tfmviz.record.tap import STEPWISE
from tfmviz.training.files import replacing, sole_use_of
from tfmviz.training.loop import Settings

SHIPPED = PROJECT / "assets" / "variants"

BASELINE = ModelConfig(
    vocab_size=VOCABULARY,
    max_len=CONTEXT,
    d_model=96,
    n_layers=4,
    attention=AttentionFacts(n_heads=4, n_kv_heads=4),
    feed_forward=FeedForwardFacts(d_ff=4 * 96),
    embeddings=EmbeddingFacts(scaled=True),
)
"""Pre-norm, LayerNorm, GELU, RoPE, tied embeddings."""

TOKENS = M

RATES = tuple(learning_rate(BASELINE.d_model) * factor for factor in (1, 2))

SEEDS = (1, 2, 3, 4, 5)
"""Of the runs that are compared; seed 0 chooses the learning rate."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Variant:
    """Its differences from the baseline: entries of its file, or attention without comparing tokens."""

    changes: Mapping[str, Any] = field(default_factory=dict)
    synthesis: Synthesis | None = None

    @property
    def config(self) -> ModelConfig:
        return ModelConfig.from_dict(BASELINE.to_dict() | dict(self.changes))

    def build(self) -> DecoderOnly:
        """The model with freshly drawn weights."""
        model = DecoderOnly(self.config)
        return synthesize(model, self.synthesis) if self.synthesis else model


TWO_THIRDS = BASELINE.feed_forward.d_ff * 2 // 3
"""The width at which three matrices hold as many numbers as two of the baseline's (Shazeer 2020)."""

VARIANTS = {
    "baseline": Variant(),
    "relu": Variant(changes={"feed_forward": "relu"}),
    "swiglu": Variant(changes={"feed_forward": "swiglu", "d_ff": TWO_THIRDS}),
    "geglu": Variant(changes={"feed_forward": "geglu", "d_ff": TWO_THIRDS}),
    "rmsnorm": Variant(changes={"norm": "rms"}),
    "postnorm": Variant(changes={"norm_position": "post"}),
    "untied": Variant(changes={"embeddings": "untied"}),
    "shared": Variant(changes={"shared_layers": "present"}),
    "experts": Variant(changes={"n_experts": 4}),
    "random": Variant(synthesis="random"),
    "dense": Variant(synthesis="dense"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """One run of a variant."""

    variant: str
    rate: float
    seed: int
    tokens: int = TOKENS

    @property
    def name(self) -> str:
        return f"{self.variant}-rate{self.rate:.2e}-seed{self.seed}"

    @property
    def settings(self) -> Settings:
        steps = self.tokens // (BATCH * CONTEXT)
        return Settings(steps=steps, warmup=steps // 10, learning_rate=self.rate, precision="bfloat16", seed=self.seed)

    @property
    def says(self) -> dict[str, Any]:
        return {"variant": self.variant, "rate": self.rate, "seed": self.seed}

    def build(self) -> DecoderOnly:
        """The model with freshly drawn weights."""
        return VARIANTS[self.variant].build()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, required=True, help="the folder with english/")
    parser.add_argument("--runs", type=Path, default=Path("runs/variants"))
    parser.add_argument("--out", type=Path, default=SHIPPED)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no run after this many")
    args = parser.parse_args()
    with sole_use_of(args.runs):
        text, begin = prepare_text(args.corpora, args.runs), time.monotonic()
        for trial in trials(args.runs):
            if time.monotonic() - begin > 60 * args.minutes:
                break
            finish(trial, text, args.runs)
        ship(args.runs, args.out)


def trials(runs: Path) -> Iterator[Trial]:
    """All runs: first those that choose the rates, then seed by seed, so that an unfinished comparison is still one."""
    for rate in RATES:
        yield from (Trial(variant=variant, rate=rate, seed=0) for variant in VARIANTS)
    best = {variant: best_rate(variant, runs) for variant in VARIANTS}
    for seed in SEEDS:
        yield from (Trial(variant=variant, rate=best[variant], seed=seed) for variant in VARIANTS)


def best_rate(variant: str, runs: Path) -> float:
    """The learning rate at which a variant learnt best with seed 0."""
    return min(RATES, key=lambda rate: read(Trial(variant=variant, rate=rate, seed=0), runs)["loss"])


def read(trial: Trial, runs: Path) -> dict[str, Any]:
    """The results of a finished run."""
    return json.loads((runs / f"{trial.name}.json").read_text(encoding="utf-8"))


def all_finished(runs: Path, rates: Mapping[str, float], *, seed: int) -> bool:
    """True if every variant has been trained with a seed, at its rate."""
    trials = [Trial(variant=variant, rate=rate, seed=seed) for variant, rate in rates.items()]
    return all((runs / f"{trial.name}.json").exists() for trial in trials)


def multiplications(model: DecoderOnly) -> int:
    """Of numbers, for each token of a text as long as the context; masked products count, as they are computed."""
    counter = FlopCounterMode(display=False)
    with counter, torch.inference_mode():
        model.eval().requires_grad_(False)(torch.zeros(1, CONTEXT, dtype=torch.long), STEPWISE)
    return counter.get_total_flops() // 2 // CONTEXT  # it counts a multiplication and an addition for each


def ship(runs: Path, out: Path) -> None:
    """Writes for each variant its size, its rate and its losses with the seeds that all variants have finished."""
    if not all(all_finished(runs, dict.fromkeys(VARIANTS, rate), seed=0) for rate in RATES):
        return print("Not all learning rates have been tried, so there is nothing to compare yet.")
    best = {variant: best_rate(variant, runs) for variant in VARIANTS}
    seeds = [seed for seed in SEEDS if all_finished(runs, best, seed=seed)]
    if len(seeds) < 2:
        return print("Fewer than two seeds are finished, so there is nothing to compare yet.")
    rows = [summary(variant, rate, seeds, runs) for variant, rate in best.items()]
    about = {
        "command": "python -m scripts.train_variants --corpora CORPORA",
        "config": BASELINE.to_dict(),
        "tokens": TOKENS,
        "batch": BATCH,
        "rates": RATES,
        "seeds": seeds,
    }
    out.mkdir(parents=True, exist_ok=True)
    with replacing(out / "runs.json") as (place,):
        written = ",\n  ".join(json.dumps(row) for row in rows)
        place.write_text(
            json.dumps(about, indent=1)[:-2] + f',\n "variants": [\n  {written}\n ]\n}}\n', encoding="utf-8"
        )


def summary(variant: str, rate: float, seeds: Sequence[int], runs: Path) -> dict[str, Any]:
    """The results of one variant's runs with these seeds, and with every rate."""
    found = [read(Trial(variant=variant, rate=rate, seed=seed), runs) for seed in seeds]
    tried = [read(Trial(variant=variant, rate=rate, seed=0), runs) for rate in RATES]
    return {
        "variant": variant,
        "parameters": tried[0]["parameters"],
        "multiplications": multiplications(VARIANTS[variant].build()),
        "rate": rate,
        "tried": [run["loss"] for run in tried],
        "loss": [run["loss"] for run in found],
        "curve": found[0]["curve"],
    }


if __name__ == "__main__":
    main()
