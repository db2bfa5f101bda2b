"""Facts checked by their types, and their flat form in a file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from functools import cache, partial
from types import NoneType
from typing import Annotated, Any, Literal, Self, get_args, get_origin, get_type_hints

Share = Annotated[float, "a share"]

RULES: dict[Any, tuple[str, Callable[[Any], bool]]] = {
    bool: ("True or False", lambda value: isinstance(value, bool)),
    int: ("a whole number of at least 1", lambda value: type(value) is int and value >= 1),
    float: ("a positive number", lambda value: is_number(value) and value > 0),
    Share: ("a number in [0, 1)", lambda value: is_number(value) and 0 <= value < 1),
}
"""Conditions on a value of each type."""


def entry(name: str, *, words: tuple[str, str] = ("absent", "present")) -> dict[str, Any]:
    """The metadata of a field that a file calls `name`, with words for False and True."""
    return {"name": name, "words": words}


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """Facts that belong together. A file is flat: it holds the fields of all parts.

    Raises:
        ValueError: a value is none of the choices of its type, or breaks the type's `RULES`.
    """

    def __post_init__(self) -> None:
        for own, name, hint, _ in _fields(type(self)):
            _check(name, getattr(self, own), hint)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        found: dict[str, Any] = {}
        for own, name, hint, words in _fields(type(self)):
            value = getattr(self, own)
            found |= value.to_dict() if isinstance(value, Part) else {name: words[value] if hint is bool else value}
        return found

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Raises: ValueError, naming the entries that are missing, unknown or do not go together."""
        try:
            found = cls._of(values)
        except TypeError as error:
            raise ValueError(f"The model's config is not complete: {error}.") from error
        if unknown := sorted(values.keys() - found.to_dict().keys()):
            raise ValueError(f"Unknown entries in the model's config: {', '.join(unknown)}.")
        return found

    @classmethod
    def _of(cls, values: dict[str, Any]) -> Self:
        """The part, from a file that holds others too."""
        given = {}
        for own, name, hint, words in _fields(cls):
            if isinstance(hint, type) and issubclass(hint, Part):
                given[own] = hint._of(values)
            elif name in values and hint is bool:
                check_choice(name, values[name], words)
                given[own] = values[name] == words[True]
            elif name in values:
                given[own] = values[name]
        return cls(**given)


def _check(name: str, value: object, hint: object) -> None:
    """Raises: ValueError, if a value is not of its type."""
    kinds = (hint,) if hint in RULES else get_args(hint)  # of a choice the choices, of a union its types
    if get_origin(hint) is Literal:
        check_choice(name, value, kinds)
    for kind in () if value is None and NoneType in kinds else RULES.keys() & kinds:
        sentence, fits = RULES[kind]
        if not fits(value):
            raise ValueError(f"{name} must be {sentence}, but is {value!r}.")


def check_choice(name: str, value: object, choices: Iterable[Any]) -> None:
    """Raises: ValueError, if the value is not among the choices."""
    if value not in (allowed := tuple(choices)):
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, but is {value!r}.")


def is_number(value: object) -> bool:
    """True for a finite number that a float can hold; True and False do not count."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


_types: Callable[[Any], dict[str, Any]] = cache(partial(get_type_hints, include_extras=True))  # slow


def _fields(kind: type[Part]) -> Iterator[tuple[str, str, Any, tuple[str, str]]]:
    """For each field its name, its name in a file, its type, and its words for False and True."""
    for one in fields(kind):
        told = entry(one.name) | dict(one.metadata)
        yield one.name, told["name"], _types(kind)[one.name], told["words"]
