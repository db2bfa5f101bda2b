"""The cost of recording: a full trace against the bare forward pass and against Hugging Face's GPT-2.

    python -m bench.capture

All contestants run in turn, round after round, in one process, on the same random tokens. The ratios of their medians
count, not the milliseconds. GPT-2 has the same shape (6 layers × 8 heads × 256, the same vocabulary) and eager
attention. It returns attentions and hidden states, which is less than a trace keeps.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import torch
from transformers import GPT2Config, GPT2LMHeadModel

from tfmviz import zoo
from tfmviz.memory import keep_memory
from tfmviz.model.config import ModelConfig
from tfmviz.model.linear import ready_to_read
from tfmviz.model.transformer import build
from tfmviz.record.facts import AttentionFacts, FeedForwardFacts
from tfmviz.record.tap import STEPWISE
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.zoo import ZooModel

LENGTHS = (16, 64, 256)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--threads", type=int, default=1, help="of torch; the app uses one")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    keep_memory()  # as the app does
    tokenizer = Tokenizer.load(zoo.MODELS / "tiny-english" / "tokenizer.json")
    config = ModelConfig(
        vocab_size=tokenizer.vocab_size,
        max_len=256,
        d_model=256,
        n_layers=6,
        attention=AttentionFacts(n_heads=8, n_kv_heads=8),
        feed_forward=FeedForwardFacts(d_ff=1024),
    )
    ours = ZooModel(name="random", config=config, tokenizer=tokenizer, module=ready_to_read(build(config)))
    theirs = gpt2(config)
    print(f"{args.threads} threads, {args.rounds} rounds, medians in ms; in brackets: × the bare forward")
    for length in LENGTHS:
        times = interleaved(contestants(ours, theirs, length), rounds=args.rounds)
        base = times["forward"]
        print(f"T = {length}: " + "  ".join(f"{name} {t:.2f} ({t / base:.2f})" for name, t in times.items()))
        print(f"    trace / Hugging Face = {times['trace, everything'] / times['Hugging Face']:.2f}")


def contestants(ours: ZooModel, theirs: GPT2LMHeadModel, length: int) -> dict[str, Callable[[], object]]:
    """The runs to compare, all on the same tokens."""
    ids = torch.randint(1, ours.config.vocab_size, (1, length), generator=torch.Generator().manual_seed(length))
    listed = tuple(ids[0].tolist())
    return {
        "forward": lambda: ours.module(ids),
        "forward, stepwise": lambda: ours.module(ids, tap=STEPWISE),
        "trace, everything": lambda: ours.trace(listed),
        "trace, patterns only": lambda: ours.trace(listed, sites=("*.pattern",)),
        "Hugging Face": lambda: theirs(ids, output_attentions=True, output_hidden_states=True, use_cache=False),
    }


def gpt2(config: ModelConfig) -> GPT2LMHeadModel:
    """A GPT-2 of the same shape with random weights."""
    shape = GPT2Config(
        vocab_size=config.vocab_size,
        n_positions=config.max_len,
        n_embd=config.d_model,
        n_layer=config.n_layers,
        n_head=config.attention.n_heads,
        bos_token_id=0,
        eos_token_id=0,
    )
    model = GPT2LMHeadModel(shape)
    model.set_attn_implementation("eager")
    return model.requires_grad_(False).train(False)


@torch.inference_mode()
def interleaved(runs: dict[str, Callable[[], object]], *, rounds: int, warm_up: int = 5) -> dict[str, float]:
    """Median milliseconds of each. Every round runs each once, so a slow moment of the machine hits all equally."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for round_number in range(warm_up + rounds):
        for name, run in runs.items():
            begin = time.perf_counter()
            run()
            if round_number >= warm_up:
                times[name].append((time.perf_counter() - begin) * 1e3)
    return {name: statistics.median(values) for name, values in times.items()}


if __name__ == "__main__":
    main()
