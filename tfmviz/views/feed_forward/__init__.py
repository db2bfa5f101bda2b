"""One token on its way through a feed-forward layer: its vectors, and the terms of a sum once its result is clicked."""

from __future__ import annotations

from typing import Any
from zlib import crc32

import numpy as np

from tfmviz.analysis.attention_layer import is_pre_norm
from tfmviz.analysis.feed_forward import Part, Sum, name_of, parts
from tfmviz.record.trace import Array, Trace
from tfmviz.record.weights import FeedForwardWeights
from tfmviz.views.shared import pack


def payload(
    trace: Trace, site: str, token: int, weights: FeedForwardWeights, *, label: str = "", title: str = ""
) -> bytes:
    """The vectors of one token by the names of `analysis.feed_forward.Part`; see `shared.pack`.

    Raises:
        NotCaptured: the trace lacks what the layer computed.
        ValueError: a number is not finite.
    """
    vectors: dict[str, Array] = {name: values[token] for name, values in parts(trace, site).items()}
    for name, vector in vectors.items():
        if not np.isfinite(vector).all():
            raise ValueError(f"{site}, {name}: there are numbers that are not finite.")
    return pack(
        {
            "title": title,
            "of": _of(trace, site, token, title),
            "layer": site,
            "f": name_of(weights),
            "gated": weights.W_gate is not None,
            "preNorm": is_pre_norm(trace),
            "token": label,
        },
        vectors,
    )


def answer(trace: Trace, site: str, token: int, found: Sum | None, *, title: str) -> dict[str, Any] | None:
    """A sum; None stays None."""
    if found is None:
        return None
    return {
        "of": _of(trace, site, token, title),
        "indices": found.indices.tolist(),
        "a": found.a.tolist(),
        "b": found.b.tolist(),
        "others": found.n_others,
        "rest": found.others,
        "total": found.total,
        "bias": found.bias,
    }


def _of(trace: Trace, site: str, token: int, title: str) -> str:
    """Shared by vectors and sums, which travel separately."""
    ids = (trace.source.ids if trace.source else (), trace.target.ids)
    return f"{title} {site} {token} {crc32(repr(ids).encode())}"


def place(part: Part, index: int) -> str:
    """A coordinate's name in the view: "pre.117"."""
    return f"{part}.{index}"
