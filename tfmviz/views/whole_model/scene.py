"""Shared by the three zooms: the model, columns of boxes and matrices, the arrays that travel.

A picture has lanes, one per text; a lane has columns, each a box with its computation and the result below it, a row
for each token. A column is a dictionary for JSON:

    id, kind       `kind` is its colour: "embed", "position", "norm", "attention", "cross", "mlp", "add", "readout" …
    title, lines   text of the box
    parameters     their number; absent where nothing is trained
    parts          of a block: [{"kind", "lines", "onStream"}], one below the other; nothing bypasses parts on the
                   stream
    heads          of an attention layer: {"layer", "count", "thumbs", "writes"}; the last two are arrays with their
                   pictures, one below the other, and with how much each adds to each token
    matrix, shape  the array of the result, and its true shape; "MATRIX.length" holds the vectors' lengths
    image          how it is drawn: "strips", "pattern", "words"
    reads          the array (q_len, k_len) of what each token reads of the tokens before this column
    bars           amounts that parts add: [{"kind", "label", "values": name of an array (len,)}]
    crosses        true if it reads the encoder's output
    apart          true if no arrow leads here from the column before
    from           ids of earlier columns, besides the one before, that an arrow leads here from
    says           true if the model's words can be read here
    words, links   a sentence on it; the pages that take it apart, each with settings for its address
    opens          the target of a click: {"zoom", "layer", "head"}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from tfmviz.analysis.attention_layer import of_head
from tfmviz.analysis.whole_model import best_words, block_means, lengths, parameters
from tfmviz.constants import HEAD_ACROSS, VECTOR_NUMBERS
from tfmviz.positions.schemes import Scheme
from tfmviz.record.trace import Array, Encoding, Trace
from tfmviz.record.weights import ModelWeights, Norm
from tfmviz.words.labels import START, visible

Zoom = Literal["model", "block", "head"]
Column = dict[str, Any]

How = Literal["strips", "head", "write", "lengths", "mean", "thumbs", "writes", "pattern", "allowed", "best", "largest"]
"""Ways to make an array of sites: vectors made smaller, one head's vectors, what one head adds; the vectors' lengths,
the mean over heads, small pictures of heads, how much each head adds; one head's pattern and mask; the probability of
the best word, and its logit. `from_record.ts` makes them too, of a browser's own record.
"""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class WholeModel:
    """`scheme`: how it knows the order of its tokens. `vocabulary`: one readable string per column of the logits."""

    title: str
    trace: Trace
    weights: ModelWeights
    scheme: Scheme
    vocabulary: tuple[str, ...]
    counts: Mapping[str, int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", parameters(self.weights))

    @property
    def crosses(self) -> bool:
        """An encoder feeds a decoder."""
        return self.trace.source is not None

    def text(self, stack: str) -> Encoding:
        return self.trace.source if stack == "encoder" and self.trace.source is not None else self.trace.target

    @property
    def norm_name(self) -> str:
        stack = next(iter(self.weights.stacks.values()))
        return name_of(stack.readout.norm or next(iter(stack.norms.values())))


class Sheet:
    """The arrays of a picture, by name, and how each is made of the record: see `How`."""

    def __init__(self, subject: WholeModel) -> None:
        self.trace, self.weights = subject.trace, subject.weights
        self.arrays: dict[str, Array] = {}
        self.made: dict[str, tuple[How, list[str], int | None]] = {}

    def strips(self, *sites: str, name: str = "", head: int | None = None, how: How = "strips") -> Column:
        """Adds vectors, made small enough to draw. Returns the entries of a column.

        Args:
            sites: whose sum they are.
            name: of the array; without one that of the site.
            head: of sites that have heads.

        Raises:
            ValueError: a number is not finite.
        """
        name = name or sites[0]
        if how == "write":
            x = self.weights.attention(sites[0].rsplit(".", 1)[0]).writes(self.trace[sites[0]])[head]
        elif how == "head":
            layer, letter = sites[0].rsplit(".", 1)
            x = of_head(self.trace, layer, head or 0, letter)
        else:
            x = sum((self.trace[site] for site in sites[1:]), start=self.trace[sites[0]])
        measured = lengths(x)
        if not np.isfinite(measured).all():
            raise ValueError(f"{name}: there are numbers that are not finite.")
        self.made[name] = (how, list(sites), head)
        self.arrays[name] = x if how == "head" else block_means(x, at_most=VECTOR_NUMBERS)
        self.arrays[f"{name}.length"] = measured
        return {"matrix": name, "shape": list(x.shape), "image": "strips"}

    def put(self, name: str, how: How, *sites: str, head: int | None = None) -> str:
        """Returns the array's name."""
        values = [self.trace[site] for site in sites]
        match how:
            case "lengths":
                x = lengths(values[0])
            case "mean":
                x = values[0].mean(axis=0)
            case "thumbs":
                x = thumbnails(values[0])
            case "writes":
                x = lengths(self.weights.attention(sites[0].rsplit(".", 1)[0]).writes(values[0]))
            case "allowed":
                mask, pattern = values
                x = (mask[head] if mask.ndim == 3 else mask) | (pattern[head] > 0)
            case "best":
                x = best_words(values[0])[1]
            case "largest":
                x = values[0].max(axis=-1)
            case _:
                x = values[0][head]
        self.made[name] = (how, list(sites), head)
        self.arrays[name] = x
        return name


def thumbnails(pattern: Array) -> Array:
    """Small pictures of heads, one below the other: each at most `TILE` × `TILE`, a cell the largest it stands for."""
    for axis in (1, 2):
        length = pattern.shape[axis]
        size = min(HEAD_ACROSS, length)
        pattern = np.maximum.reduceat(pattern, np.arange(size) * length // size, axis=axis)
    return pattern.reshape(-1, pattern.shape[-1])


def lane(subject: WholeModel, stack: str, columns: list[Column], *, title: str, note: str = "") -> dict[str, Any]:
    return {"stack": stack, "title": title, "note": note, "tokens": labels(subject, stack), "columns": columns}


def labels(subject: WholeModel, stack: str) -> list[str]:
    """The start token of a decoder has a name."""
    found = [visible(token) for token in subject.text(stack).tokens]
    return [START, *found[1:]] if subject.crosses and stack == "decoder" else found


def name_of(norm: Norm) -> str:
    return "LayerNorm" if norm.kind == "layer" else "RMSNorm"


def norm_words(subject: WholeModel, *, last: bool = False) -> str:
    which = f"{'The last norm' if last else 'It'} puts the values of every vector on one scale"
    formula = "(x − μ) / σ · γ + β" if subject.norm_name == "LayerNorm" else "x / √(mean x²) · γ"
    return f"{subject.norm_name}: {formula}, token by token. {which}."


def pattern_of(subject: WholeModel, layer: str) -> str:
    """The formula of a layer's pattern: "softmax(q kᵀ / √32)", in linear attention "φ(q) φ(k)ᵀ / Σ"; s is a sink."""
    weights = subject.weights.attention(layer)
    if weights.is_linear:
        return "φ(q) φ(k)ᵀ / Σ"
    scores = f"q kᵀ / {weights.divided_by}" if weights.divided_by else "q kᵀ"
    return f"softmax({scores})" if weights.sink is None else f"softmax([{scores}, s])"


def attention_words(subject: WholeModel, layer: str, n_heads: int) -> str:
    which = "queries from here, keys and values from the encoder's output" if "cross" in layer else "q, k, v from here"
    turned = f" after {subject.scheme.name}" if subject.scheme.acts == "rotate" and "self" in layer else ""
    return f"{n_heads} heads, each {pattern_of(subject, layer)}{turned} v, merged by W_O; {which}."
