"""Training speed: our loop against Hugging Face's GPT-2 of the same shape in a plain, well-written loop.

    python -m bench.training

Both have the same batch size, optimiser (fused AdamW, clipped gradients) and precision (bfloat16 autocast where it is
fast), random weights and random tokens. Each runs in its own process with its own memory. They take turns, one step at
a time, and the ratio of the medians counts. Ours is the loop of `tfmviz.training` as its command sets it up.

On a GPU it measures two shapes, 6 × 256 and 6 × 384, and the share of the GPU's arithmetic that each uses (model FLOP
utilisation; Chowdhery et al. 2022, appendix B): 6 FLOPs per weight and token, and 12 · layers · d_model · len per token
for attention, over the peak of `--peak-tflops`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, get_args

import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from tfmviz.memory import keep_memory
from tfmviz.model.config import ModelConfig
from tfmviz.model.transformer import build
from tfmviz.record.facts import AttentionFacts, FeedForwardFacts
from tfmviz.training.data import TextBatches
from tfmviz.training.loop import Precision, Settings, build_optimizer, train
from tfmviz.training.options import best_device, best_precision

WARM_UP = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Setup:
    width: int
    batch_size: int
    threads: int
    device: str
    precision: Precision
    length: int = 256
    vocab_size: int = 6144
    n_layers: int = 6

    @property
    def config(self) -> ModelConfig:
        return ModelConfig(
            vocab_size=self.vocab_size,
            max_len=self.length,
            d_model=self.width,
            n_layers=self.n_layers,
            attention=AttentionFacts(n_heads=8, n_kv_heads=8),
            feed_forward=FeedForwardFacts(d_ff=4 * self.width),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--batch-size", type=int, help="default: 16; on a GPU 256")
    parser.add_argument("--device", default=best_device())
    parser.add_argument(
        "--precision", choices=get_args(Precision), help="default: the faster of the two on this device"
    )
    parser.add_argument("--peak-tflops", type=float, default=989.0, help="of the GPU in bfloat16; an H100's or H200's")
    args = parser.parse_args()
    for width in (256,) if args.device == "cpu" else (256, 384):
        setup = Setup(
            width=width,
            batch_size=args.batch_size or (16 if args.device == "cpu" else 256),
            threads=args.threads,
            device=args.device,
            precision=args.precision or best_precision(args.device),
        )
        report(setup, rounds=args.rounds, peak_tflops=args.peak_tflops)


def report(setup: Setup, *, rounds: int, peak_tflops: float) -> None:
    seconds, memory = take_turns(setup, rounds=rounds)
    print(
        f"6 × {setup.width}, {setup.batch_size} × {setup.length} tokens, {setup.device}, {setup.threads} threads, "
        f"{setup.precision}, {rounds} rounds"
    )
    for name, median in seconds.items():
        rate = setup.batch_size * setup.length / median
        used = (
            "" if setup.device == "cpu" else f", {rate * flops_per_token(setup) / peak_tflops / 1e12:.1%} of the peak"
        )
        print(f"    {name}: {rate:,.0f} tokens/s{used}, {memory[name] / 2**20:,.0f} MiB at most")
    print(f"    speed ours / Hugging Face = {seconds['Hugging Face'] / seconds['ours']:.2f}")
    print(f"    memory ours / Hugging Face = {memory['ours'] / memory['Hugging Face']:.2f}")


def flops_per_token(setup: Setup) -> float:
    """Of the forward and the backward pass. The embedding table counts once, as the output matrix."""
    return 6 * setup.config.n_parameters + 12 * setup.n_layers * setup.width * setup.length


def take_turns(setup: Setup, *, rounds: int) -> tuple[dict[str, float], dict[str, int]]:
    """Median seconds of a step, and peak memory in bytes, of each contestant."""
    context = multiprocessing.get_context("spawn")
    contestants: dict[str, tuple[Connection, Any]] = {}
    for name in ("ours", "Hugging Face"):
        here, there = context.Pipe()
        process = context.Process(target=contestant, args=(name, setup, there))
        process.start()
        contestants[name] = here, process
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for round_number in range(WARM_UP + rounds):
        for name, (connection, _) in contestants.items():
            connection.send("step")
            seconds = connection.recv()
            if round_number >= WARM_UP:
                times[name].append(seconds)
    memory = {}
    for name, (connection, process) in contestants.items():
        connection.send("stop")
        memory[name] = connection.recv()
        process.join()
    return {name: statistics.median(values) for name, values in times.items()}, memory


def contestant(name: str, setup: Setup, connection: Connection) -> None:
    """Takes a step whenever it is told to."""
    torch.set_num_threads(setup.threads)
    steps = ours(setup) if name == "ours" else theirs(setup)
    while connection.recv() == "step":
        begin = time.perf_counter()
        next(steps)
        connection.send(time.perf_counter() - begin)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    connection.send(peak if setup.device == "cpu" else torch.cuda.max_memory_allocated())


def stream(setup: Setup) -> np.ndarray:
    return np.random.default_rng(0).integers(1, setup.vocab_size, size=1_000_000).astype(np.int32)


def ours(setup: Setup) -> Iterator[object]:
    keep_memory()  # as the command does
    model = build(setup.config).to(setup.device)
    settings = Settings(steps=10**9, precision=setup.precision)
    batches = TextBatches(
        stream=stream(setup), batch_size=setup.batch_size, length=setup.length, vocab_size=setup.vocab_size
    )
    return train(model, build_optimizer(model, settings), batches, settings)


def theirs(setup: Setup) -> Iterator[object]:
    """GPT-2 with its own loss, without dropout as in ours, with torch's fused attention."""
    config = GPT2Config(
        vocab_size=setup.vocab_size,
        n_positions=setup.length,
        n_embd=setup.width,
        n_layer=setup.n_layers,
        n_head=8,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=0,
        eos_token_id=0,
    )
    model: Any = GPT2LMHeadModel(config)
    model.to(setup.device).train()
    model.set_attn_implementation("sdpa")
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
    tokens, rng = stream(setup), np.random.default_rng(0)
    while True:
        starts = rng.integers(len(tokens) - setup.length, size=setup.batch_size)
        rows = np.stack([tokens[start : start + setup.length] for start in starts]).astype(np.int64)
        ids = torch.from_numpy(rows).to(setup.device)
        with torch.autocast(setup.device, dtype=torch.bfloat16, enabled=setup.precision == "bfloat16"):
            loss = model(ids, labels=ids, use_cache=False).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        yield loss.item()


if __name__ == "__main__":
    main()
