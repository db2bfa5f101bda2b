"""The record of one forward pass: values by name, with the tokens.

Needs no torch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tfmviz.record.edits import Edit

Array = np.ndarray


class NotCaptured(LookupError):
    """A requested site is not in the trace."""

    def __init__(self, site: str, captured: Iterable[str]) -> None:
        super().__init__(site, tuple(captured))
        self.site = site

    def __str__(self) -> str:
        return f"No site named {self.site!r} was captured. There are: {', '.join(self.args[1]) or 'none'}."


@dataclass(frozen=True, kw_only=True, slots=True)
class Encoding:
    """A text as a tokenizer cut it.

    Attributes:
        tokens: per token its piece of text or, for bytes of a character, that character and which bytes ("中 1/3").
        offsets: per token its (start, end) in `text`, in characters.
        n_dropped: tokens cut off at the model's context.
        segments: per token its part of the text, such as "A", "B" or "user"; "" for a special token in between. Empty
            for a text of one part.
    """

    text: str
    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    offsets: tuple[tuple[int, int], ...]
    n_dropped: int = 0
    segments: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, kw_only=True, eq=False)  # no slots: what was computed is kept
class Later:
    """A value computed on demand, whole or by rows: the logits of a long vocabulary.

    Attributes:
        shape: rows are on the first axis.
        compute: gives rows, (n, …).
    """

    shape: tuple[int, ...]
    compute: Callable[[Sequence[int]], Array]
    _known: dict[int, Array] = field(default_factory=dict, repr=False)

    @cached_property
    def whole(self) -> Array:
        return self.compute(range(self.shape[0]))

    def rows(self, indices: Sequence[int]) -> Array:
        """Some rows, (n, …), each computed once."""
        if "whole" in vars(self):
            return self.whole[list(indices)]
        asked = [range(self.shape[0])[index] for index in indices]  # counted from 0, and there
        if new := sorted(set(asked) - self._known.keys()):
            self._known.update(zip(new, self.compute(new), strict=True))
        return np.stack([self._known[index] for index in asked])

    @property
    def nbytes(self) -> int:
        """Bytes of the whole value."""
        return 4 * math.prod(self.shape)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Trace:
    """All that a model computed on one input: read it like a dictionary of numpy arrays.

    Sites are paths: `decoder.1.cross_attn.pattern` is the attention pattern of the cross-attention in the second
    decoder layer. Arrays are float32 (masks: bool), read-only and without a batch axis. The list of
    names and shapes is in docs/architecture.md.

    Attributes:
        target: the tokens the logits belong to, the only ones but for an encoder-decoder.
        source: the encoder's tokens in an encoder-decoder.
        edits: the interventions in the run.
        values: by site.
        later: values computed on demand, which read like the rest.
    """

    target: Encoding
    source: Encoding | None = None
    edits: tuple[Edit, ...] = ()
    values: Mapping[str, Array] = field(repr=False)
    later: Mapping[str, Later] = field(default_factory=dict, repr=False)

    def __getitem__(self, site: str) -> Array:
        """Raises: NotCaptured, naming the sites there are."""
        if site in self.later:
            return self.later[site].whole
        if site not in self.values:
            raise NotCaptured(site, self.sites)
        return self.values[site]

    def __contains__(self, site: object) -> bool:
        return site in self.values or site in self.later

    def __iter__(self) -> Iterator[str]:
        return iter(self.sites)

    def rows(self, site: str, indices: Sequence[int]) -> Array:
        """Some rows of a value, (n, …): of a long vocabulary's logits only these are computed."""
        return self.later[site].rows(indices) if site in self.later else self[site][list(indices)]

    def row(self, site: str, index: int) -> Array:
        return self.rows(site, [index])[0]

    @property
    def sites(self) -> tuple[str, ...]:
        """Names of all captured values, in order."""
        return (*self.values, *self.later)

    @property
    def nbytes(self) -> int:
        """Bytes of all values, later ones included."""
        return sum(a.nbytes for a in self.values.values()) + sum(later.nbytes for later in self.later.values())

    @property
    def tokens(self) -> tuple[str, ...]:
        """The target's readable tokens."""
        return self.target.tokens

    @property
    def layers(self) -> tuple[str, ...]:
        """The attention layers with a captured `pattern`, bottom up."""
        return tuple(site.removesuffix(".pattern") for site in self.values if site.endswith(".pattern"))

    def axes(self, layer: str) -> tuple[Encoding, Encoding]:
        """The tokens of the rows (queries) and the columns (keys) of `layer`'s pattern."""
        if self.source is None:
            return self.target, self.target
        q = self.source if layer.startswith("encoder.") else self.target
        k = self.target if layer.endswith(".self_attn") and layer.startswith("decoder.") else self.source
        return q, k

    def first_not_finite(self) -> str | None:
        """The first site that holds NaN or infinity, except for masked scores."""
        for site in self:
            values = self[site]
            are_fine = values < np.inf if site.endswith(".scores") else np.isfinite(values)
            if not are_fine.all():
                return site
        return None


def kind_of(layer: str) -> str:
    """ "decoder.3.cross_attn" is of the kind "decoder.cross_attn"."""
    stack, _, part = layer.split(".")
    return f"{stack}.{part}"


def may_look(*patterns: Array) -> Array:
    """(q_len, k_len): a mask guessed from patterns.

    Where no head looks ahead, a query may look at itself and back; else everywhere.
    """
    _, q_len, k_len = patterns[0].shape
    back = np.tri(q_len, k_len, dtype=bool)
    ahead = q_len != k_len or any((pattern.max(axis=0) > 0)[~back].any() for pattern in patterns)
    return np.ones((q_len, k_len), dtype=bool) if ahead else back
