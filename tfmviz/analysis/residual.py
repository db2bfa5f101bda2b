"""The residual stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tfmviz.analysis.attention_layer import is_pre_norm, read_by
from tfmviz.record.trace import Array, Trace

Detail = Literal["layers", "steps"]

STEPS = {"resid_mid": "attention", "resid_cross": "cross-attention", "resid_post": "MLP"}
"""By site of the stream, the part of a block before it."""

SHORT = STEPS | {"resid_cross": "cross"}
"""The same, for narrow labels."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stream:
    """One stack's residual stream.

    Attributes:
        norms: (n_layers + 1, len), of each token's vector before the first layer and after each.
        attention: (n_layers, len), norm of each layer's attention output, with cross-attention.
        mlp: (n_layers, len), the same for the feed-forward layers.
        attention_share: (n_layers, len), attention's part a·w / w·w of the layer's whole write w = a + m. Outside [0,
            1], one wrote against the other. NaN if nothing was written.
    """

    norms: Array
    attention: Array
    mlp: Array
    attention_share: Array


def stream(trace: Trace, stack: str) -> Stream:
    """Measures the stream of "decoder" or "encoder".

    In a post-norm model w is the sum of the writes before their norms.
    """
    n_layers = depth(trace, stack)
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


def depth(trace: Trace, stack: str) -> int:
    return 1 + max((int(site.split(".")[1]) for site in trace.sites if _in_block(site, stack)), default=0)


def stages(trace: Trace, stack: str, detail: Detail) -> dict[str, str]:
    """The stages of the stream: name and site.

    Args:
        detail: "layers" has the stream before the first and after each layer; "steps" also after attention and
            cross-attention.
    """
    found = {"embedding": f"{stack}.0.resid_pre"}
    for layer in range(depth(trace, stack)):
        block = f"{stack}.{layer}"
        if detail == "layers":
            found[f"after layer {layer}"] = f"{block}.resid_post"
            continue
        has_mlp = f"{block}.mlp.out" in trace
        steps = {site: words for site, words in STEPS.items() if site != "resid_post" or has_mlp}
        found |= {f"layer {layer} {words}": f"{block}.{s}" for s, words in steps.items() if f"{block}.{s}" in trace}
    return found


def lengths(trace: Trace, sites: list[str]) -> Array:
    """Norm of each token's vector at each of the sites: (site, len)."""
    return np.linalg.norm(np.stack([trace[site] for site in sites]), axis=-1)


def outlier(norms: Array) -> tuple[int, float]:
    """The stage where the first token's norm stands out most, and its ratio to the median of the others'.

    See Sun et al. 2024, "Massive activations".

    Args:
        norms: (stage, len), at least two tokens.
    """
    ratios = norms[:, 0] / np.maximum(np.median(norms[:, 1:], axis=-1), 1e-12)
    return int(ratios.argmax()), float(ratios.max())


def normalisations(trace: Trace, stack: str) -> dict[str, tuple[Array, Array]]:
    """Input and output of every norm of a stack, both (len, d_model), by its layer ("0 attention", "0 MLP" … "last").

    In a post-norm model the output becomes the stream.
    """
    found: dict[str, tuple[Array, Array]] = {}
    for layer in range(depth(trace, stack)):
        block = f"{stack}.{layer}"
        x = trace[f"{block}.resid_pre"]
        for part, after in (("self_attn", "resid_mid"), ("cross_attn", "resid_cross"), ("mlp", "resid_post")):
            site = f"{block}.{part}"
            if f"{site}.norm" in trace:
                summed = read_by(trace, site) if is_pre_norm(trace) else x + trace[f"{site}.out"]
                found[f"{layer} {SHORT[after]}"] = (summed, trace[f"{site}.norm"])
                x = trace[f"{block}.{after}"]
    if f"{stack}.norm" in trace:
        found["last"] = (x, trace[f"{stack}.norm"])
    return found


def _in_block(site: str, stack: str) -> bool:
    """True for sites such as "decoder.3.mlp.out"."""
    parts = site.split(".")
    return parts[0] == stack and len(parts) > 2 and parts[1].isdecimal()


def _attention_write(trace: Trace, block: str) -> Array:
    write = trace[f"{block}.self_attn.out"]
    has_cross = any(site.startswith((f"{block}.cross_attn.", f"{block}.resid_cross")) for site in trace.sites)
    return write + trace[f"{block}.cross_attn.out"] if has_cross else write


def _mlp_write(trace: Trace, block: str) -> Array:
    """Zero in an attention-only model."""
    after = trace[f"{block}.resid_post"]
    if f"{block}.mlp.out" not in trace and np.array_equal(trace[f"{block}.resid_mid"], after):
        return np.zeros_like(after)
    return trace[f"{block}.mlp.out"]


@dataclass(frozen=True, kw_only=True, slots=True)
class InSpace:
    """Vectors of the stream along their three main directions.

    Attributes:
        places: (stage, len, 3), coordinates from the mean of all vectors.
        shares: (3,), of the variance, the largest first.
    """

    places: Array
    shares: Array


def in_space(trace: Trace, sites: list[str]) -> InSpace:
    """The first three principal components (Pearson 1901) of all tokens' vectors at all sites together.

    On each axis the coordinate of largest magnitude is positive.
    """
    vectors = np.stack([trace[site] for site in sites]).astype(np.float64)  # (stage, len, d_model)
    centred = vectors - vectors.mean(axis=(0, 1))
    flat = centred.reshape(-1, vectors.shape[-1])
    sizes, directions = np.linalg.eigh(flat.T @ flat)  # the smallest first
    places = np.zeros((*vectors.shape[:2], 3))
    n = min(3, vectors.shape[-1])
    places[..., :n] = centred @ directions[:, : -n - 1 : -1]
    flat = places.reshape(-1, 3)
    places *= np.where(flat[np.abs(flat).argmax(axis=0), np.arange(3)] < 0, -1, 1)
    shares = np.pad(sizes[::-1], (0, 3))[:3] / max(sizes.sum(), 1e-30)
    return InSpace(places=places, shares=np.maximum(shares, 0))


def nearest(vectors: Array, token: int) -> tuple[Array, Array]:
    """The other tokens by decreasing cosine, and the cosines.

    Args:
        vectors: (len, d_model).
    """
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-30)
    cosines = unit @ unit[token]
    order = np.argsort(-cosines, kind="stable")
    order = order[order != token]
    return order, cosines[order]


def closest(vectors: Array, token: int) -> tuple[int, float]:
    """The first of `nearest`, and its cosine."""
    order, cosines = nearest(vectors, token)
    return int(order[0]), float(cosines[0])


def likeness(trace: Trace, sites: Sequence[str]) -> Array:
    """The mean cosine between the vectors of two different tokens: (site,).

    Dong et al. 2021 bound how fast attention alone leads to 1.

    Args:
        sites: of a stream with at least two tokens.
    """
    vectors = np.stack([trace[site] for site in sites]).astype(np.float64)  # (site, len, d_model)
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-30)
    n = unit.shape[1]
    whole = (unit.sum(axis=1) ** 2).sum(axis=-1)  # the sum over all pairs, including each token with itself
    return (whole - (unit**2).sum(axis=(1, 2))) / (n * (n - 1))
