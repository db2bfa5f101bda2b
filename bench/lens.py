"""The cost of a full record, against `run_with_cache` of TransformerLens 4 on the same weights.

    python -m bench.lens

TransformerLens is no dependency of this project, and its own would replace some of ours. So install it separately:

    python -m venv lens
    python -c "import sysconfig; print(sysconfig.get_path('purelib'))" > lens/lib/python3.11/site-packages/project.pth
    lens/bin/pip install --no-deps transformer_lens einops fancy-einsum jaxtyping wadler-lindig beartype \
        "typeguard<5" accelerate psutil
    lens/bin/pip install datasets
    lens/bin/python -m bench.lens

The weights are random, in the shape of GPT-2 small (12 layers × 12 heads × 768, 50,257 entries) or of `--models`. One
model of transformers becomes ours and a bridge of TransformerLens, whose logits are compared first. Then both run in
turn, round after round, on the same tokens; the ratios of the medians count. Time is the processor's own. Of more than
300 million parameters ours holds its matrices in bfloat16, as the app does, and makes them float32 at every run.

A record is `trace` as the pages call it: every value but the logits, whose rows are computed when a figure asks for
them. So it is also measured with one row of logits, as the explorer needs it, and with all rows.

A record with one row took, in units of theirs at T = 16, 64 and 128, one thread, on a busy machine (November 2026):
SmolLM2-135M 0.43, 0.41, 0.44; Gemma 3 270M 0.37, 0.24, 0.21; Qwen 3 0.6B 0.47, 0.44, 0.44; Llama 3.2 1B 0.53, 0.41,
0.40.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import tokenizers
import torch
from tokenizers.models import BPE
from transformers import (
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from bench.interleaved import interleaved
from tfmviz.huggingface.families import config_of, family_of, module_of, open_source
from tfmviz.huggingface.source import Memory
from tfmviz.memory import keep_memory
from tfmviz.record.marks import Marks
from tfmviz.text.foreign import ForeignTokenizer
from tfmviz.zoo import ZooModel
from tfmviz.zoo.files import IN_MEMORY


def shape(*sizes: int) -> dict[str, Any]:
    """Layers, width, inner width, query heads, heads of keys and values, width of a head, entries of the vocabulary."""
    names = ("num_hidden_layers", "hidden_size", "intermediate_size", "num_attention_heads", "num_key_value_heads")
    tied = {"tie_word_embeddings": True, "max_position_embeddings": 2048}
    return dict(zip((*names, "head_dim", "vocab_size"), sizes, strict=True)) | tied


MODELS: dict[str, tuple[Any, Callable[[], Any]]] = {
    "gpt2": (GPT2LMHeadModel, GPT2Config),
    "smollm2-135m": (LlamaForCausalLM, partial(LlamaConfig, **shape(30, 576, 1536, 9, 3, 64, 49_152))),
    "gemma-3-270m": (Gemma3ForCausalLM, partial(Gemma3TextConfig, **shape(18, 640, 2048, 4, 1, 256, 262_144))),
    "qwen3-0.6b": (Qwen3ForCausalLM, partial(Qwen3Config, **shape(28, 1024, 3072, 16, 8, 128, 151_936))),
    "llama-3.2-1b": (LlamaForCausalLM, partial(LlamaConfig, **shape(16, 2048, 8192, 32, 8, 64, 128_256))),
}

LENGTHS = (16, 64, 128)
CLOSE = 1e-4
"""Logits of random weights are below 2; rounding moves them by a millionth."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=["gpt2"])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="of torch; the app uses one")
    args = parser.parse_args()
    try:
        from transformer_lens.model_bridge.sources._bridge_builder import build_bridge_from_module
    except ImportError as error:
        print(f"Nothing was measured: {error}. See `python -m bench.lens --help` for how to install TransformerLens.")
        return 0
    keep_memory()
    for name in args.models:
        torch.manual_seed(0)
        kind, config = MODELS[name]
        theirs = kind(config()).eval()
        ours = converted(theirs)
        lens = build_bridge_from_module(theirs, kind.__name__, hf_config=theirs.config)
        for threads in args.threads:
            torch.set_num_threads(threads)
            for length in LENGTHS:
                print(f"{name}, ", end="")
                report(ours, lens, length=length, rounds=args.rounds, threads=threads)
        del theirs, ours, lens
        gc.collect()
    return 0


def converted(theirs: Any) -> ZooModel:
    """The same weights as our own transformer. It reads indices only, so an empty tokenizer will do.

    The matrices of a large one are bfloat16, as in its file in the app; the original gets the same numbers.
    """
    is_large = sum(value.numel() for value in theirs.parameters()) > IN_MEMORY
    for value in theirs.parameters() if is_large else ():
        value.data = value.data.bfloat16().float() if value.ndim == 2 else value.data
    family = family_of(theirs.config)
    source = open_source(Memory(theirs.state_dict()), family)
    config = config_of(theirs.config, source, family)
    tokenizer = ForeignTokenizer(tokenizers.Tokenizer(BPE()), marks=Marks(), vocab_size=config.vocab_size)
    module = module_of(source, theirs.config, config, family)
    for value in module.parameters() if is_large else ():
        value.data = value.data.bfloat16() if value.ndim == 2 else value.data
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
