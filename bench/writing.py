"""The cost of writing: a step with the cache and without, beam 4 and greedy, and Hugging Face's `generate`.

    python -m bench.writing

All contestants run in turn, round after round, in one process. The ratios of their medians count, not the milliseconds.
The models have random weights in the shape of tiny-english (6 layers × 8 heads × 256); Hugging Face's is a GPT-2.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import torch

from bench.capture import gpt2, interleaved
from tfmviz.memory import keep_memory
from tfmviz.model.beam import beam_steps
from tfmviz.model.cache import Cache
from tfmviz.model.config import ModelConfig
from tfmviz.model.generate import steps
from tfmviz.model.linear import ready_to_read
from tfmviz.model.readers import TextReader
from tfmviz.model.transformer import DecoderOnly
from tfmviz.record.decoding import Rules
from tfmviz.record.facts import AttentionFacts, FeedForwardFacts

PROMPT, WRITTEN, LENGTH = 16, 40, 128

Runs = dict[str, Callable[[], object]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--threads", type=int, default=1, help="of torch; the app uses one")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    keep_memory()  # as the app does
    heads, wide = AttentionFacts(n_heads=8, n_kv_heads=8), FeedForwardFacts(d_ff=1024)
    shape = ModelConfig(vocab_size=4096, max_len=256, d_model=256, n_layers=6, attention=heads, feed_forward=wide)
    model = DecoderOnly(shape)
    ready_to_read(model)
    one = interleaved(steps_of(model), rounds=args.rounds)
    print(f"a step at T = {LENGTH}, ms: " + "  ".join(f"{name} {t:.2f}" for name, t in one.items()))
    print(f"    with / without cache = {one['with cache'] / one['without']:.2f}")
    texts = interleaved(texts_of(model), rounds=args.rounds)
    print(f"{WRITTEN} tokens after {PROMPT}, ms: " + "  ".join(f"{name} {t:.1f}" for name, t in texts.items()))
    print(f"    beam 4 / greedy = {texts['beam 4'] / texts['greedy']:.2f}")
    for name in ("greedy", "beam 4"):
        rate = WRITTEN / texts[name] * 1e3
        print(f"    {name}: {rate:.0f} tokens/s, × Hugging Face = {texts[f'HF {name}'] / texts[name]:.2f}")


def text_of(length: int) -> torch.Tensor:
    return torch.randint(1, 4096, (1, length), generator=torch.Generator().manual_seed(length))


def steps_of(model: DecoderOnly) -> Runs:
    """One more token after LENGTH - 1: read alone, or with all others."""
    text, cache = text_of(LENGTH), Cache()
    with torch.inference_mode():
        model(text[:, :-1], cache)
    return {"without": lambda: model(text), "with cache": lambda: model(text[:, -1:], cache.branch(), past=LENGTH - 1)}


def texts_of(model: DecoderOnly) -> Runs:
    """Whole continuations; no mark ends one."""
    prompt = text_of(PROMPT)
    listed = prompt[0].tolist()
    theirs: Any = gpt2(model.config)
    how: dict[str, Any] = {"max_new_tokens": WRITTEN, "min_new_tokens": WRITTEN, "do_sample": False, "pad_token_id": 0}
    mask = torch.ones_like(prompt)
    drawn = Rules(temperature=0.9, top_k=50, top_p=0.95)
    return {
        "greedy": lambda: list(steps(TextReader(model), listed, max_new_tokens=WRITTEN)),
        "beam 4": lambda: list(beam_steps(TextReader(model), listed, width=4, max_new_tokens=WRITTEN)),
        "drawn": lambda: list(steps(TextReader(model), listed, rules=drawn, max_new_tokens=WRITTEN)),
        "HF greedy": lambda: theirs.generate(prompt, attention_mask=mask, **how),
        "HF beam 4": lambda: theirs.generate(prompt, attention_mask=mask, num_beams=4, **how),
    }


if __name__ == "__main__":
    main()
