"""The cost of a model of GPT-2 small's shape: loading, memory, a pass, a full record.

    python -m bench.huggingface

The weights are random, 12 layers × 12 heads × 768 with 50,257 entries, written into a temporary folder in half
precision as a converted checkpoint would be. Passes run in turn, round after round, on the same 64 tokens; the ratios
of their medians count. GPT-2 of transformers has the same shape, eager attention, and returns attentions and hidden
states.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import GPT2Config, GPT2LMHeadModel

from bench.interleaved import interleaved
from tfmviz.memory import keep_memory
from tfmviz.model.config import ModelConfig
from tfmviz.model.transformer import build
from tfmviz.record.facts import AttentionFacts, FeedForwardFacts, PositionFacts
from tfmviz.record.tap import Recorder
from tfmviz.zoo.files import read_module

CONFIG = ModelConfig(
    vocab_size=50_257,
    max_len=256,
    d_model=768,
    n_layers=12,
    attention=AttentionFacts(n_heads=12, n_kv_heads=12),
    feed_forward=FeedForwardFacts(kind="gelu_tanh", d_ff=3072),
    positions=PositionFacts(kind="learned"),
)
LENGTH = 64


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1, help="of torch; the app uses one")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    keep_memory()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        writer = get_context("spawn").Process(target=write, args=(folder,))  # whose memory is not counted
        writer.start()
        writer.join()
        before, begin = resident(), time.perf_counter()
        module = read_module(folder, CONFIG)
        seconds, grown = time.perf_counter() - begin, resident() - before
    size = sum(value.numel() for value in module.parameters()) * 4 / 1e6
    print(f"loading: {seconds:.2f} s, {grown:,.0f} MB of memory for {size:,.0f} MB of weights ({grown / size:.2f} ×)")
    ids = torch.randint(1, CONFIG.vocab_size, (1, LENGTH), generator=torch.Generator().manual_seed(0))
    theirs = gpt2()
    runs: dict[str, Callable[[], object]] = {
        "forward": lambda: module(ids),
        "full record": lambda: module(ids, tap=Recorder()),
        "transformers": lambda: theirs(ids, output_attentions=True, output_hidden_states=True, use_cache=False),
    }
    times = interleaved(runs, rounds=args.rounds)
    base = times["forward"]
    print("  ".join(f"{name} {spent * 1e3:.0f} ms ({spent / base:.2f})" for name, spent in times.items()))


def write(folder: Path) -> None:
    """The weights in half precision, next to their configuration."""
    weights = {name: value.half().contiguous() for name, value in build(CONFIG).state_dict().items()}
    save_file(weights, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(CONFIG.to_dict()), encoding="utf-8")


def gpt2() -> GPT2LMHeadModel:
    shape = GPT2Config(n_positions=CONFIG.max_len)
    shape._attn_implementation = "eager"
    return GPT2LMHeadModel(shape).eval()


def resident() -> float:
    """Megabytes of this process in memory."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


if __name__ == "__main__":
    main()
