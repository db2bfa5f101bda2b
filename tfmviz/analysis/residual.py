"""The residual stream: how long each token's vector is after every layer, and who lengthened it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfmviz.trace import Array, Trace


@dataclass(frozen=True, kw_only=True, slots=True)
class Stream:
    """One stack's residual stream.

    Attributes:
        norms: (n_layers + 1, len), the Euclidean length of each token's vector before the first layer and after
            each one.
        attention: (n_layers, len), the length of what the attention of each layer wrote (cross-attention included).
        mlp: (n_layers, len), the same for the feed-forward layers.
        attention_share: (n_layers, len), attention's part a·w / w·w of the whole write w = a + m of its layer.
            The feed-forward part is 1 minus that. A part above 1 or below 0 means that one wrote against the other.
            NaN where nothing was written.
    """

    norms: Array
    attention: Array
    mlp: Array
    attention_share: Array


def stream(trace: Trace, stack: str) -> Stream:
    """Measures the stream of "decoder" or "encoder".

    In a pre-norm model w is exactly what the layer adds to the stream. In a post-norm model each write is followed
    by a norm, so w is what was offered to it.

    Raises:
        NotCaptured: the trace lacks the stack, or one of its `resid_*`, `self_attn.out` or `mlp.out`.
    """
    n_layers = 1 + max((int(site.split(".")[1]) for site in trace.sites if _in_block(site, stack)), default=0)
    before = trace[f"{stack}.0.resid_pre"]  # (len, d_model)
    after = [trace[f"{stack}.{i}.resid_post"] for i in range(n_layers)]
    attention = np.stack([_attention_write(trace, f"{stack}.{i}") for i in range(n_layers)])  # (layer, len, d_model)
    mlp = np.stack([_mlp_write(trace, f"{stack}.{i}") for i in range(n_layers)])
    write = attention + mlp
    squared = (write**2).sum(axis=-1)
    share = np.divide((attention * write).sum(axis=-1), squared, where=squared > 0, out=np.full(squared.shape, np.nan))
    return Stream(
        norms=np.linalg.norm(np.stack([before, *after]), axis=-1),
        attention=np.linalg.norm(attention, axis=-1),
        mlp=np.linalg.norm(mlp, axis=-1),
        attention_share=share,
    )


def _in_block(site: str, stack: str) -> bool:
    """Whether a site lies in one of the stack's blocks, as "decoder.3.mlp.out" does."""
    parts = site.split(".")
    return parts[0] == stack and len(parts) > 2 and parts[1].isdecimal()


def _attention_write(trace: Trace, block: str) -> Array:
    write = trace[f"{block}.self_attn.out"]
    has_cross = any(site.startswith((f"{block}.cross_attn.", f"{block}.resid_cross")) for site in trace.sites)
    return write + trace[f"{block}.cross_attn.out"] if has_cross else write


def _mlp_write(trace: Trace, block: str) -> Array:
    """What the block's feed-forward layer writes: nothing in an attention-only model, whose stream stays as it is."""
    after = trace[f"{block}.resid_post"]
    if f"{block}.mlp.out" not in trace and np.array_equal(trace[f"{block}.resid_mid"], after):
        return np.zeros_like(after)
    return trace[f"{block}.mlp.out"]
