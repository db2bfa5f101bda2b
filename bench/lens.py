"""What a full record costs, against `run_with_cache` of TransformerLens 4 on the same weights.

    python -m bench.lens

TransformerLens is no dependency of this project, and its own would replace some of ours. So install it beside them:

    python -m venv lens
    python -c "import sysconfig; print(sysconfig.get_path('purelib'))" > lens/lib/python3.11/site-packages/project.pth
    lens/bin/pip install --no-deps transformer_lens einops fancy-einsum jaxtyping wadler-lindig beartype \
        "typeguard<5" accelerate psutil
    lens/bin/pip install datasets
    lens/bin/python -m bench.lens

The weights are random, of GPT-2 small's shape (12 layers × 12 heads × 768, 50,257 entries). One GPT-2 of transformers
becomes our model and a bridge of TransformerLens, whose logits are compared first. Then both run in turn, round after
round, on the same tokens; the ratios of the medians count. Time is the processor's own.

A record is `trace` as the pages call it: every value but the logits, whose rows are computed when a figure asks for
them. So it is also measured with one row of logits, as the explorer needs it, and with all rows.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import tokenizers
import torch
from tokenizers.models import BPE
from transformers import GPT2Config, GPT2LMHeadModel

from bench.interleaved import interleaved
from tfmviz.huggingface.families import config_of, family_of, module_of, open_source
from tfmviz.huggingface.source import Memory
from tfmviz.memory import keep_memory
from tfmviz.record.marks import Marks
from tfmviz.text.foreign import ForeignTokenizer
from tfmviz.zoo import ZooModel

LENGTHS = (64, 128)
CLOSE = 1e-4
"""Logits of random weights are below 2; rounding moves them by a millionth."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="of torch; the app uses one")
    args = parser.parse_args()
    try:
        from transformer_lens.model_bridge.sources._bridge_builder import build_bridge_from_module
    except ImportError as error:
        print(f"Nothing was measured: {error}. See `python -m bench.lens --help` for how to install TransformerLens.")
        return 0
    keep_memory()
    torch.manual_seed(0)
    theirs = GPT2LMHeadModel(GPT2Config()).eval()
    ours = converted(theirs)
    lens = build_bridge_from_module(deepcopy(theirs), "GPT2LMHeadModel", hf_config=theirs.config)
    for threads in args.threads:
        torch.set_num_threads(threads)
        for length in LENGTHS:
            report(ours, lens, length=length, rounds=args.rounds, threads=threads)
    return 0


def converted(theirs: GPT2LMHeadModel) -> ZooModel:
    """The same weights as our own transformer. It reads indices only, so an empty tokenizer will do."""
    family = family_of(theirs.config)
    source = open_source(Memory(theirs.state_dict()), family)
    config = config_of(theirs.config, source, family)
    tokenizer = ForeignTokenizer(tokenizers.Tokenizer(BPE()), marks=Marks(), vocab_size=config.vocab_size)
    module = module_of(source, theirs.config, config, family)
    return ZooModel(name="random", config=config, tokenizer=tokenizer, module=module)


def report(ours: ZooModel, lens: Any, *, length: int, rounds: int, threads: int) -> None:
    ids = torch.randint(1, ours.config.vocab_size, (1, length), generator=torch.Generator().manual_seed(length))
    listed = tuple(ids[0].tolist())
    runs: dict[str, Callable[[], Any]] = {
        "our forward": lambda: ours.module(ids),
        "our record": lambda: ours.trace(listed),
        "with one row": lambda: ours.trace(listed).row("logits", -1),
        "with all rows": lambda: ours.trace(listed)["logits"],
        "their forward": lambda: lens(ids),
        "their run_with_cache": lambda: lens.run_with_cache(ids),
    }
    with torch.inference_mode():
        apart = float((ours.module(ids) - lens(ids)).abs().max())
    assert apart < CLOSE, f"The logits differ by {apart:.1e}, so these are two different models."
    times = interleaved(runs, rounds=rounds, clock=time.process_time)
    own, theirs = times["our forward"], times["their run_with_cache"]
    print(f"{threads} threads, T = {length}; in brackets: × their run_with_cache, × our forward")
    print("; ".join(f"{name} {t * 1e3:.0f} ms ({t / theirs:.2f}, {t / own:.2f})" for name, t in times.items()))


if __name__ == "__main__":
    sys.exit(main())
