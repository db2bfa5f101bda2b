"""The cost of switching off every part of a model in turn.

    python -m bench.ablation

There are two ways to the same map: one forward pass for each layer, with the parts as rows of the batch (`tap.Fork`,
what the page does), and one forward pass for each part. A single forward pass is the unit. All three run in turn, round
after round, in one process. The ratios of their medians count, not the milliseconds.
"""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np
import torch

from bench.capture import interleaved
from tfmviz import zoo
from tfmviz.analysis import ablation
from tfmviz.memory import keep_memory
from tfmviz.record.trace import Array, Trace
from tfmviz.zoo import ZooModel

LENGTHS = (8, 24, 64)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="tiny-english")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1, help="of torch; the app uses one")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    keep_memory()  # as the app does
    model = zoo.load(args.model)
    print(f"{args.model}, {args.threads} threads, {args.rounds} rounds, medians in ms; in brackets: × one forward")
    for length in LENGTHS:
        ids = np.random.default_rng(length).integers(1, model.config.vocab_size, length).tolist()
        trace = model.trace(ids)
        difference = np.nanmax(np.abs(batched(model, trace) - one_by_one(model, trace)))
        times = interleaved(
            {
                "one forward": partial(model.trace, ids, sites=("logits",)),
                "map, batched": partial(batched, model, trace),
                "map, one by one": partial(one_by_one, model, trace),
            },
            rounds=args.rounds,
            warm_up=1,
        )
        base = times["one forward"]
        print(f"T = {length}: " + "  ".join(f"{name} {t:.0f} ({t / base:.1f})" for name, t in times.items()))
        print(f"    one by one / batched = {times['map, one by one'] / times['map, batched']:.1f}; ", end="")
        print(f"largest difference of the two maps {difference:.1e} nats")


def batched(model: ZooModel, trace: Trace) -> Array:
    """One run for each layer, as on the page."""
    return ablation.damage(
        trace,
        ablation.whole_text(trace.target.ids),
        partial(zoo.experiments.logits_under, model, trace.target.ids),
        lambda part: part.scaled(0.0),
    )


def one_by_one(model: ZooModel, trace: Trace) -> Array:
    """One run for each part."""
    return ablation.damage(
        trace,
        ablation.whole_text(trace.target.ids),
        lambda variants, positions: np.stack(
            [model.trace(trace.target.ids, tuple(edits), ("logits",)).rows("logits", positions) for edits in variants]
        ),
        lambda part: part.scaled(0.0),
    )


if __name__ == "__main__":
    main()
