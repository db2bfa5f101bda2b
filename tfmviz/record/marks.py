"""The special tokens of a vocabulary."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

ROLES = ("", "system", "user", "assistant")
"""Speakers in a chat."""

BARS = "|||"
"""Typed between two texts that are read together."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Marks:
    """Indices of a model's special tokens.

    Attributes:
        ends: where writing stops.
        start: read first by the decoder of an encoder-decoder.
        first: after `start` in every target, such as a language.
        mask: the gap to fill in.
        before, after: a chat's tokens around a message, as (role, index), see `ROLES`.
    """

    ends: tuple[int, ...] = ()
    start: int | None = None
    first: int | None = None
    mask: int | None = None
    before: tuple[tuple[str, int], ...] = ()
    after: tuple[tuple[str, int], ...] = ()

    @property
    def before_target(self) -> tuple[int, ...]:
        """The tokens before a target's own."""
        return tuple(index for index in (self.start, self.first) if index is not None)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any], *, vocab_size: int) -> Marks:
        """Raises: ValueError, if an entry is unknown, or an index is not in the vocabulary."""
        try:
            chat = {part: tuple((role, index) for role, index in values.get(part, ())) for part in ("before", "after")}
            marks = cls(**values | chat | {"ends": tuple(values["ends"])})
        except (TypeError, KeyError, ValueError) as error:
            raise ValueError(f"The list of marks is not complete ({error}).") from error
        around = (*marks.before, *marks.after)
        if unknown := {role for role, _ in around if role not in ROLES}:
            raise ValueError(f"The list of marks names who says them: {min(map(repr, unknown))} is nobody in a chat.")
        indices = (*marks.ends, *marks.before_target, *(index for _, index in around))
        for index in (*indices, *([] if marks.mask is None else [marks.mask])):
            if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < vocab_size:
                raise ValueError(f"A mark has the index {index!r}; the vocabulary has entries 0 to {vocab_size - 1}.")
        return marks


def are_second(ids: Any, separator: int) -> Any:
    """True for tokens of the second text, after the first separator: (…, len), array or tensor like `ids`."""
    ends = ids == separator
    return ends.cumsum(-1) > ends
