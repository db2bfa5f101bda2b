"""The record of one forward pass: every value the model computed, by name, with the tokens attached.

This module knows only numpy, so figures, analyses and exports work on traces without torch.
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
        text: as it was given.
        ids: one vocabulary index per token.
        tokens: one readable string per token: the piece of text it stands for, or, where a token is only
            some of the bytes of a character, that character and which of its bytes ("中 1/3").
        offsets: per token the span of `text` it covers, as character indices (start, end).
        n_dropped: tokens left out at the end because the model's context is shorter.
        segments: per token the part of the text that it belongs to, such as "A", "B" or "user"; "" for a special token
            between parts. Empty where the text is one part.
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
    """A value that is computed on demand, all of it or some rows: the logits of a long vocabulary.

    Attributes:
        shape: of the whole value; rows are on its first axis.
        compute: gives the rows at these indices, (n, …).
    """

    shape: tuple[int, ...]
    compute: Callable[[Sequence[int]], Array]
    _known: dict[int, Array] = field(default_factory=dict, repr=False)

    @cached_property
    def whole(self) -> Array:
        return self.compute(range(self.shape[0]))

    def rows(self, indices: Sequence[int]) -> Array:
        """Some rows, (n, …); they are computed only where they are not known yet."""
        if "whole" in vars(self):
            return self.whole[list(indices)]
        asked = [range(self.shape[0])[index] for index in indices]  # counted from 0, and there
        if new := sorted(set(asked) - self._known.keys()):
            self._known.update(zip(new, self.compute(new), strict=True))
        return np.stack([self._known[index] for index in asked])

    @property
    def nbytes(self) -> int:
        """Bytes that it takes once all of it is known."""
        return 4 * math.prod(self.shape)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Trace:
    """Everything one model computed on one input. Read it like a dictionary of numpy arrays.

    Sites are paths: `decoder.1.cross_attn.pattern` is the attention pattern of the cross-attention in the
    second decoder layer. Arrays are float32 (masks: bool), read-only and without a batch axis. The list of
    names and shapes is in docs/architecture.md.

    Attributes:
        target: the tokens the logits belong to (the only ones, but for an encoder-decoder).
        source: the encoder's tokens in an encoder-decoder, else None.
        edits: the interventions the values were computed under.
        values: the captured values, by site.
        later: values that are computed on demand. They read like the rest.
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
        """Some rows of a value, (n, …). Of a long vocabulary's logits no others are computed.

        Raises:
            NotCaptured: as for `trace[site]`.
        """
        return self.later[site].rows(indices) if site in self.later else self[site][list(indices)]

    def row(self, site: str, index: int) -> Array:
        return self.rows(site, [index])[0]

    @property
    def sites(self) -> tuple[str, ...]:
        """Names of all captured values, in the order in which they are computed."""
        return (*self.values, *self.later)

    @property
    def nbytes(self) -> int:
        """Bytes of all values, those not yet computed included."""
        return sum(a.nbytes for a in self.values.values()) + sum(later.nbytes for later in self.later.values())

    @property
    def tokens(self) -> tuple[str, ...]:
        """The target's readable tokens."""
        return self.target.tokens

    @property
    def layers(self) -> tuple[str, ...]:
        """Names of the attention layers, bottom up: those with a captured `pattern`."""
        return tuple(site.removesuffix(".pattern") for site in self.values if site.endswith(".pattern"))

    def axes(self, layer: str) -> tuple[Encoding, Encoding]:
        """The tokens of the rows (queries) and the columns (keys) of `layer`'s pattern."""
        if self.source is None:
            return self.target, self.target
        q = self.source if layer.startswith("encoder.") else self.target
        k = self.target if layer.endswith(".self_attn") and layer.startswith("decoder.") else self.source
        return q, k

    def first_not_finite(self) -> str | None:
        """The first site that holds NaN or infinity; None if there is none. Masked scores are −∞ and do not count."""
        for site in self:
            values = self[site]
            are_fine = values < np.inf if site.endswith(".scores") else np.isfinite(values)
            if not are_fine.all():
                return site
        return None


def kind_of(layer: str) -> str:
    """ "decoder.3.cross_attn" is of the kind "decoder.cross_attn"; layers of one kind share their two texts."""
    stack, _, part = layer.split(".")
    return f"{stack}.{part}"


def may_look(*patterns: Array) -> Array:
    """(q_len, k_len): the mask of layers that came without one, told by their numbers.

    Where no head looks ahead, a query may look at itself and back; else everywhere.
    """
    _, q_len, k_len = patterns[0].shape
    back = np.tri(q_len, k_len, dtype=bool)
    ahead = q_len != k_len or any((pattern.max(axis=0) > 0)[~back].any() for pattern in patterns)
    return np.ones((q_len, k_len), dtype=bool) if ahead else back
