"""The attention of one trace as bytes for the browser. This docstring describes the format.

A *blob* is a header followed by arrays; the header gives the offset of each array from its own end. `shared.framed`
puts the two together. `payload` makes the blob of a whole trace, `details` the blob of a few heads of a long one.

**Weights.** A head's weights are those of its allowed cells, row by row, in 10 bits each. Each row has its own scale,
so that an even spread over 500 tokens is as exact as a single peak:

    scale s = ⌈255 · largest weight of the row⌉ in 1 … 255       (one byte a row)
    code  c = round(1023 · weight · 255 / s)                     (10 bits a cell)
    weight  = c/1023 · s/255,   wrong by at most s/255/2046, so by less than 0.0005

At a head's offset stand first its scales, then the upper 8 bits of every code, then the lower 2 bits, four codes to a
byte with the first cell in the lowest bits: 1.25 bytes a weight.

**Header of a payload**

    title       name of the model
    id          differs between traces
    words       what each kind of verdict means, as part of a sentence
    texts       {"target": {"labels": […], "tokens": […]}, "source": …}: per token a short visible label, and itself,
                and in "segments" the part that it belongs to, where the text has parts;
                "rows" is the target as cross-attention's queries: labels with the word that is read and the one that is
                about to be written, and both in words ("said")
    kinds       one per kind of attention ("decoder.self_attn", "decoder.cross_attn" …):
      name, queries, keys        which texts its rows and columns stand for
      heads                      number of heads
      layers                     per layer {"name", "mask": index in masks, "heads": offset of each head's weights}
      thumbnails                 in place of "heads" in long texts: offset of a picture of every head, layer by layer
      scores                     {"induction": […]}: per layer, per head, 0 to 1; null where it is undefined
      verdicts                   per layer, per head [kind, score]: of its biography, else of this text
      repeats                    the same on random tokens that repeat, if that is known and there are no biographies
      unused                     per layer, per head, per row what goes to no token, where rows sum to less than 1
      said                       per layer, per head its biography in words, if there is one
      between                    {"parts": ["A", "B"], "shares"}: where a text has parts, per layer, per head, from, to
                                 the share of one part's attention that goes to another
    masks       {"shape": [rows, columns], "at": offset}: one bit a cell, row by row, highest bit first; 1 = may attend

**Long texts.** With more than `WHOLE` weights in all, only thumbnails travel: 64 × 64 bytes a head, each the largest of
the weights it stands for as round(254 √weight), 255 where all are masked. The weights of the heads that are looked at
follow as `details`: {"id", "heads": [{"key", "mask": {"shape", "at"}, "at"}]}. A key is a layer's name, a slash, and
the number of a head, "mean" (over the layer's heads), "all" (mean over all layers and heads of the kind) or "rollout"
(up to that layer). A page without a server gets all weights, however many there are.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tfmviz.analysis.biography import words
from tfmviz.analysis.biography.file import HeadCatalog
from tfmviz.analysis.heads import IN_WORDS, Kind, allowed, confirmed, layer_scores, verdicts
from tfmviz.analysis.rollout import rollout
from tfmviz.analysis.segments import between, parts
from tfmviz.constants import CODE_STEPS, SCALE_STEPS, TILE_MASKED, TILE_STEPS
from tfmviz.record.trace import Array, Encoding, Trace, kind_of
from tfmviz.views.shared import framed
from tfmviz.words.labels import of_queries, said_of_queries, visible

WHOLE = 1_200_000
"""The most weights that all travel: 144 heads at 128 causal tokens."""

ROUNDING = 0.005
"""The most that rows of half precision lack of 1 by rounding alone."""

TILE = 64
"""The most cells across that a thumbnail of a longer text has."""

Scores = Mapping[str, Mapping[Kind, Array]]
"""Per layer its `head_scores`."""


def payload(
    trace: Trace,
    *,
    title: str = "",
    on_repeats: Scores | None = None,
    book: HeadCatalog | None = None,
    whole: bool = False,
) -> bytes:
    """The attention of every layer and head as one blob.

    Args:
        on_repeats: `head_scores` of the layers on `random_repeats`, which confirm verdicts of induction.
        book: the biographies of the model's heads; they take the place of verdicts.
        whole: send all weights even of a long text.

    Raises:
        ValueError: the trace holds no pattern, or a pattern with values outside [0, 1].
    """
    kinds = _kinds(trace)
    scores = {layer: _believed(found, (on_repeats or {}).get(layer)) for layer, found in layer_scores(trace).items()}
    blob = _Blob()
    masks = _Masks(blob)
    whole = whole or travels_whole(trace)
    return blob.with_header(
        {
            "title": title,
            "id": _identity(trace, title),
            "words": IN_WORDS if book is None else words.VERDICTS,
            "texts": _texts(trace),
            "kinds": [
                _kind(trace, *kind, blob, masks, whole, scores, on_repeats or {}) | _of_book(book, kind[1])
                for kind in kinds.items()
            ],
            "masks": masks.entries,
        }
    )


def travels_whole(trace: Trace) -> bool:
    return sum(allowed(trace, layer).sum() * len(trace[f"{layer}.pattern"]) for layer in trace.layers) <= WHOLE


def details(trace: Trace, keys: Iterable[str], *, title: str = "") -> bytes:
    """The full weights of the heads that are looked at in a long text.

    Args:
        keys: "layer/what", see above. Keys that match nothing in this trace are skipped.
    """
    blob, entries = _Blob(), []
    for key in dict.fromkeys(keys):
        found = _look_up(trace, key)
        if found is not None:
            pattern, mask = found
            entries.append(
                {"key": key, "mask": {"shape": mask.shape, "at": blob.add(np.packbits(mask))}}
                | {"at": _add_heads(blob, pattern[None], mask)[0]}
            )
    return blob.with_header({"id": _identity(trace, title), "heads": entries})


def _kind(
    trace: Trace,
    name: str,
    layers: Sequence[str],
    blob: _Blob,
    masks: _Masks,
    whole: bool,
    scores: Scores,
    on_repeats: Scores,
) -> dict[str, Any]:
    q, k = trace.axes(layers[0])
    entry: dict[str, Any] = {
        "name": name,
        "queries": "rows" if q is trace.target and k is not q else "target" if q is trace.target else "source",
        "keys": "source" if k is trace.source else "target",
        "heads": len(trace[f"{layers[0]}.pattern"]),
        "layers": [],
        "scores": {kind: [_rounded(scores[layer][kind]) for layer in layers] for kind in scores[layers[0]]},
        "verdicts": [_verdicts(scores[layer]) for layer in layers],
        "repeats": [_verdicts(on_repeats[layer]) for layer in layers if layer in on_repeats],
    }
    unused = [_unused(trace[f"{layer}.pattern"]) for layer in layers]
    if max(rows.max() for rows in unused) > ROUNDING:
        entry["unused"] = [rows.tolist() for rows in unused]
    if q is k and q.segments:
        shares = [between(trace[f"{layer}.pattern"], q.segments).round(3).tolist() for layer in layers]
        entry["between"] = {"parts": parts(q.segments), "shares": shares}
    for layer in layers:
        pattern, mask = trace[f"{layer}.pattern"], allowed(trace, layer)
        known = {"name": layer, "mask": masks.index(mask)}
        if whole:
            entry["layers"].append(known | {"heads": _add_heads(blob, pattern, mask)})
        else:
            entry["layers"].append(known | {"thumbnails": blob.add(thumbnails(pattern, mask))})
    return entry


def _unused(pattern: Array) -> Array:
    """Thousandths, (head, q_len); 0 in a row without keys."""
    given = pattern.astype(np.float64).sum(axis=-1)
    return np.where(given > 0, np.round(1 - given, 3), 0.0)


def _kinds(trace: Trace) -> dict[str, list[str]]:
    """Raises: ValueError, see `payload`."""
    kinds: dict[str, list[str]] = {}
    for layer in trace.layers:
        kinds.setdefault(kind_of(layer), []).append(layer)
        _checked(trace, layer)
    if not kinds:
        raise ValueError("This trace holds no attention pattern.")
    return kinds


def _of_book(book: HeadCatalog | None, layers: Sequence[str]) -> dict[str, Any]:
    if book is None:
        return {}
    heads = [book.heads[layer] for layer in layers]
    named = [
        [[one.name, score or 0] for one, score in zip(row, _rounded([*map(words.score, row)]), strict=True)]
        for row in heads
    ]
    return {
        "verdicts": named,
        "repeats": [],
        "said": [[words.summary_text(one, book) for one in row] for row in heads],
    }


def thumbnails(pattern: Array, mask: Array) -> Array:
    """(head, at most `TILE`, at most `TILE`) of one layer, see "Long texts" above."""
    shown = np.where(mask, pattern, -1)
    for axis in (1, 2):
        length = shown.shape[axis]
        size = min(TILE, length)
        starts = -(-np.arange(size) * length // size)  # position p lies in cell ⌊p · size / length⌋
        shown = np.maximum.reduceat(shown, starts, axis=axis)
    return np.where(shown < 0, TILE_MASKED, np.rint(TILE_STEPS * np.sqrt(shown.clip(0, 1)))).astype(np.uint8)


def _add_heads(blob: _Blob, pattern: Array, mask: Array) -> list[int]:
    heads, _, columns = pattern.shape
    cells = np.flatnonzero(mask)
    scales = np.ceil(pattern.max(axis=-1) * SCALE_STEPS - 1e-3).clip(1, SCALE_STEPS)  # (head, row)
    factors = (CODE_STEPS * SCALE_STEPS / scales).astype(np.float32)
    codes = pattern.reshape(heads, -1)[:, cells] * factors[:, cells // columns]
    codes = np.minimum(codes + 0.5, CODE_STEPS).astype(np.uint16)  # (head, cell)
    fours = np.zeros((heads, -(-len(cells) // 4), 4), dtype=np.uint8)
    fours.reshape(heads, -1)[:, : len(cells)] = codes & 3
    lower = fours[..., 0] | fours[..., 1] << 2 | fours[..., 2] << 4 | fours[..., 3] << 6
    together = np.concatenate([scales.astype(np.uint8), (codes >> 2).astype(np.uint8), lower], axis=1)
    start, length = blob.add(together), together.shape[1]
    return [start + head * length for head in range(heads)]


def _look_up(trace: Trace, key: str) -> tuple[Array, Array] | None:
    """Pattern and mask; None if the key matches nothing."""
    name, _, what = key.rpartition("/")
    if name not in trace.layers:
        return None
    pattern, mask = _checked(trace, name), allowed(trace, name)
    layers = [other for other in trace.layers if kind_of(other) == kind_of(name)]
    if what == "mean":
        return pattern.mean(axis=0), mask
    if what == "all":
        masks = [allowed(trace, other) for other in layers]
        return np.mean([_checked(trace, other).mean(axis=0) for other in layers], axis=0), np.logical_or.reduce(masks)
    if what == "rollout" and pattern.shape[1] == pattern.shape[2]:
        below = layers[: layers.index(name) + 1]
        return rollout([_checked(trace, other) for other in below], [allowed(trace, other) for other in below])
    return (pattern[int(what)], mask) if what.isdecimal() and int(what) < len(pattern) else None


def _checked(trace: Trace, layer: str) -> Array:
    """(head, q_len, k_len). Raises: ValueError, naming the site, if a weight does not lie in [0, 1]."""
    pattern = trace[f"{layer}.pattern"]
    smallest, largest = pattern.min(), pattern.max()  # NaN if there is one
    if not (smallest >= 0 and largest <= 1 + 1e-4):
        raise ValueError(f"{layer}.pattern holds values from {smallest:.3g} to {largest:.3g}, not shares of attention.")
    return pattern


def _believed(scores: dict[Kind, Array], on_repeats: Mapping[Kind, Array] | None) -> dict[Kind, Array]:
    return scores if on_repeats is None else confirmed(scores, on_repeats)


def _verdicts(scores: Mapping[Kind, Array]) -> list[list[Any]]:
    found = verdicts(scores)
    return [[verdict.kind, score] for verdict, score in zip(found, _rounded([v.score for v in found]), strict=True)]


def _rounded(values: ArrayLike) -> list[float | None]:
    """NaN becomes None: JSON lacks it."""
    rounded = np.round(np.asarray(values, dtype=np.float64), 3).tolist()
    return [None if math.isnan(value) else value for value in rounded]


def _identity(trace: Trace, title: str) -> int:
    """Differs between models, texts and edits, so that late details find their payload."""
    source = None if trace.source is None else trace.source.ids
    return zlib.crc32(repr((title, trace.target.ids, source, trace.edits)).encode())


def _texts(trace: Trace) -> dict[str, dict[str, list[str]]]:
    found = {"target": _text(trace.target) | {"labels": of_queries(trace, "decoder.0.self_attn")}}
    if trace.source is not None:
        found["source"] = _text(trace.source)
    if crossing := next((layer for layer in trace.layers if layer.endswith(".cross_attn")), None):
        rows = {"labels": of_queries(trace, crossing), "said": said_of_queries(trace, crossing)}
        found["rows"] = _text(trace.target) | rows
    return found


def _text(encoding: Encoding) -> dict[str, list[str]]:
    found = {"labels": [visible(token) for token in encoding.tokens], "tokens": list(encoding.tokens)}
    return found | ({"segments": list(encoding.segments)} if encoding.segments else {})


class _Blob:
    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.length = 0

    def add(self, array: Array) -> int:
        start = self.length
        self.parts.append(array.tobytes())
        self.length += len(self.parts[-1])
        return start

    def with_header(self, header: dict[str, Any]) -> bytes:
        return framed(header, self.parts)


class _Masks:
    """Each mask is stored once: most layers share theirs."""

    def __init__(self, blob: _Blob) -> None:
        self.blob = blob
        self.entries: list[dict[str, Any]] = []
        self.known: dict[bytes, int] = {}

    def index(self, mask: Array) -> int:
        bits = np.packbits(mask)
        key = repr(mask.shape).encode() + bits.tobytes()
        if key not in self.known:
            self.known[key] = len(self.entries)
            self.entries.append({"shape": mask.shape, "at": self.blob.add(bits)})
        return self.known[key]
