"""Attention that somebody else computed, as a record and as a page: `tfmviz.show` and `tfmviz.trace_of`.

Nothing here runs a model or needs torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tfmviz.external import arrays, files, texts
from tfmviz.external.arrays import Layers, check_length
from tfmviz.external.page import Page as Page
from tfmviz.record.trace import Array, Trace, may_look

MOST_WEIGHTS = 40_000_000
"""Weights of the largest page, 1.7 bytes each."""

SOURCE, TARGET = ("source", "source_tokens"), ("tokens", "target")
"""Entries of a file or a mapping with the tokens."""


def trace_of(
    attentions: Any, tokens: Any = None, *, source: Any = None, tokenizer: Any = None, segments: Any = None
) -> Trace:
    """See `tfmviz.trace_of`."""
    if isinstance(attentions, Trace):
        return attentions
    if isinstance(attentions, str | Path):
        attentions = files.read_file(Path(attentions))
    if isinstance(attentions, Mapping):
        tokens = texts.first_given(tokens, attentions, TARGET)
        source = texts.first_given(source, attentions, SOURCE)
        segments = texts.first_given(segments, attentions, ("segments",))
    if tokens is None and tokenizer is not None:
        tokens = getattr(attentions, "sequences", None)
    given = arrays.read_layers(attentions)
    found = given.kinds
    if source is not None and list(found) == ["self_attn"]:  # a tuple alone, between two texts
        found = {"decoder.cross_attn": found["self_attn"]}
    sizes = _sizes(found)
    target = texts.encoding(tokens, tokenizer, sizes["target"], name="tokens", may_end_later=given.is_written)
    target = replace(target, segments=texts.segments(segments, tokens, tokenizer, target.tokens))
    other = texts.encoding(source, tokenizer, sizes["source"], name="source") if "source" in sizes else None
    values: dict[str, Array] = {}
    for kind, layers in found.items():
        mask = may_look(*layers)
        stack, _, part = _named(kind, mask).partition(".")
        for n, pattern in enumerate(layers):
            values[f"{stack}.{n}.{part}.mask"] = mask
            values[f"{stack}.{n}.{part}.pattern"] = pattern
    for array in values.values():
        array.flags.writeable = False
    return Trace(target=target, source=other, values=values)


def show(
    attentions: Any,
    tokens: Any = None,
    *,
    source: Any = None,
    tokenizer: Any = None,
    segments: Any = None,
    title: str = "",
    words: bool = False,
) -> Page:
    """See `tfmviz.show`."""
    if isinstance(attentions, str | Path):
        attentions = files.read_file(Path(attentions))
    if not title and isinstance(attentions, Mapping) and isinstance(attentions.get("title"), str):
        title = attentions["title"]
    trace = trace_of(attentions, tokens, source=source, tokenizer=tokenizer, segments=segments)
    return Page(trace=merged(trace) if words else trace, title=texts.sound(title))


def merged(trace: Trace) -> Trace:
    """Words in place of their pieces: the attention to a word is the sum over its pieces, its own their mean. Holds
    patterns and masks alone.
    """
    target, starts = texts.in_words(trace.target)
    source, of_source = (None, starts) if trace.source is None else texts.in_words(trace.source)
    values: dict[str, Array] = {}
    for layer in trace.layers:
        queries, keys = (of_source if text is trace.source else starts for text in trace.axes(layer))
        pattern = trace[f"{layer}.pattern"]
        pattern = np.add.reduceat(np.add.reduceat(pattern, keys, axis=2), queries, axis=1)
        sizes = np.diff(np.append(queries, len(trace.axes(layer)[0])))
        values[f"{layer}.pattern"] = pattern = (pattern / sizes[:, None]).astype(np.float32).clip(0, 1)
        values[f"{layer}.mask"] = may_look(pattern)
    return replace(trace, target=target, source=source, values=values, later={})


def _named(kind: str, mask: Array) -> str:
    """A text that looks at itself is a decoder's if its mask lets no token look ahead."""
    return kind if kind != "self_attn" else f"{'encoder' if np.triu(mask, 1).any() else 'decoder'}.self_attn"


def _axes(kind: str, *, has_two: bool) -> tuple[str, str]:
    """Texts of rows and columns, as in `Trace.axes`."""
    own = "source" if has_two and kind.startswith("encoder") else "target"
    return own, "source" if kind.endswith("cross_attn") else own


def _sizes(found: Mapping[str, Layers]) -> dict[str, int]:
    """The number of tokens of "target" and, if any, "source".

    Raises:
        ValueError: kinds contradict one another, or are too much for a page.
    """
    has_two = len(found) > 1 or "decoder.cross_attn" in found
    sizes: dict[str, int] = {}
    for kind, layers in found.items():
        axes, lengths = _axes(kind, has_two=has_two), layers[0].shape[1:]
        if axes[0] == axes[1] and lengths[0] != lengths[1]:
            raise ValueError(
                f"There are {lengths[0]} queries and {lengths[1]} keys, so this is attention between two texts: "
                "give the tokens of its keys, too, as source=."
            )
        for axis, size in zip(axes, lengths, strict=True):
            if sizes.setdefault(axis, size) != size:
                raise ValueError(f"{kind} has {size} tokens where the attention before it has {sizes[axis]}.")
    check_length(sizes.values())
    n_weights = sum(int(may_look(*layers).sum()) * sum(map(len, layers)) for layers in found.values())
    if n_weights > MOST_WEIGHTS:
        raise ValueError(
            f"{n_weights / 1e6:,.0f} million weights are more than the {MOST_WEIGHTS / 1e6:.0f} million that a page "
            "holds. Show fewer layers, attentions[:6], or fewer tokens."
        )
    return sizes
