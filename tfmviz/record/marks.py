"""The special tokens of a vocabulary: where a target begins, where a text ends, what stands for a gap."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

ROLES = ("", "system", "user", "assistant")
"""Speakers in a chat."""

BARS = "|||"
"""Typed between two texts that are read together."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Marks:
    """Indices of the special tokens that a model uses.

    Attributes:
        ends: a model that writes stops before any of them.
        start: what the decoder of an encoder-decoder reads first; None in other models.
        first: what every target begins with after `start`, such as a language; None: nothing.
        mask: the gap to fill in; None in models that fill in none.
        before, after: what a chat puts around a message, as (speaker, index): "system", "user" or "assistant", "" for
            nobody. Empty in models that read a text as it is.
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
        """Plain values for JSON; `from_dict` reads them back."""
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
    """Which of two texts each token belongs to, (…, len), bool: True after the first separator, which ends the first.

    Args:
        ids: (…, len), an array or a tensor; so is the result.
    """
    ends = ids == separator
    return ends.cumsum(-1) > ends
