"""The end of a forward pass: logits, of a long vocabulary only the rows asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import torch
from torch import Tensor

from tfmviz.model.device import ids_for, to_array
from tfmviz.model.reading_out import read_out, reads_rows, stream_of
from tfmviz.model.transformer import Headless, Transformer
from tfmviz.record.edits import Edit
from tfmviz.record.tap import NO_TAP, Fork, Recorder
from tfmviz.record.trace import Array, Later

MOST_NUMBERS = 2**26
"""Most values of a feed-forward layer when several variants of a text are run: 256 MB."""


def read_out_later(module: Transformer, x: Tensor, recorder: Recorder) -> Mapping[str, Later]:
    """The head's part of a trace, if it is wanted; a long vocabulary's logits are computed on demand.

    Args:
        x: (1, len, d_model), from `stream_of`.
    """
    if isinstance(module.head, Headless) or not recorder.watches("head", "logits"):
        return {}
    if not reads_rows(module.config) or recorder.edits("logits"):
        module.head(x, module.embedding, tap=recorder)
        return {}
    x = module.head.before(x, tap=recorder)
    if not recorder.leaves("logits"):
        return {}
    return {"logits": Later(shape=(x.shape[1], module.config.vocab_size), compute=partial(_rows, module, x[0]))}


@torch.inference_mode()
def _rows(module: Transformer, x: Tensor, positions: Sequence[int]) -> Array:
    """Logits of some positions, (position, vocab), from the input of W_U, (len, d_model)."""
    assert not isinstance(module.head, Headless)
    rows = to_array(module.head.read(x[list(positions)], module.embedding, tap=NO_TAP))
    rows.flags.writeable = False
    return rows


@torch.inference_mode()
def logits_after(module: Transformer, texts: Sequence[Sequence[int]]) -> Array:
    """The last logits of several texts of the same length, (text, vocab)."""
    assert not isinstance(module.head, Headless)
    last = stream_of(module, [ids_for(module, texts)])[:, -1]
    return to_array(module.head(last, module.embedding, tap=NO_TAP))


@torch.inference_mode()
def fork_in_parts(
    module: Transformer,
    texts: Sequence[Sequence[int]],
    variants: Sequence[Sequence[Edit]],
    positions: Sequence[int] | slice,
) -> Array:
    """Logits of some positions under each of several sets of edits: (variant, position, vocab)."""
    inputs = [ids_for(module, [ids]) for ids in texts]
    asked = positions if isinstance(positions, slice) else list(positions)
    at_once = max(1, MOST_NUMBERS // (len(texts[-1]) * module.config.feed_forward.d_ff))
    found = []
    for first in range(0, len(variants), at_once):
        fork = Fork(variants[first : first + at_once])
        x = stream_of(module, inputs, tap=fork)
        found.append(read_out(module, x, asked, tap=fork))
        fork.check()
    return to_array(found[0] if len(found) == 1 else torch.cat(found))
