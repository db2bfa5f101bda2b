"""A query and a key of a RoPE head as arrows that turn with their positions.

The browser gets the vectors before and after the model turned them, and turns the former itself, in double precision.
"""

from __future__ import annotations

from tfmviz.analysis.attention_layer import grouped
from tfmviz.constants import FEWEST_TURNS, MOST_TURNS
from tfmviz.record.trace import Array, Trace
from tfmviz.views.shared import pack
from tfmviz.words.labels import visible


def payload(trace: Trace, layer: str, head: int, theta: Array, *, max_len: int) -> bytes:
    """q, k, rot_q and rot_k of one head, each (len, d_head); see `shared.pack`.

    Args:
        theta: (d_head / 2,), radians per position. In the header, where numbers keep all their digits.
        max_len: of the model; the sliders end at its last position, see `FEWEST_TURNS` and `MOST_TURNS`.

    Raises:
        NotCaptured: the layer does not turn queries and keys.
    """
    n_heads = len(trace[f"{layer}.q"])
    names = ("q", "k", "rot_q", "rot_k")
    arrays = {name: grouped(trace[f"{layer}.{name}"], n_heads)[head] for name in names}
    tokens = trace.axes(layer)[0].tokens
    header = {
        "layer": layer,
        "head": head,
        "tokens": [visible(token) for token in tokens],
        "theta": theta.tolist(),
        "last": max(FEWEST_TURNS, len(tokens), min(max_len, MOST_TURNS)) - 1,
    }
    return pack(header, arrays)
