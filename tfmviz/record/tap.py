"""Naming a value where it is computed, keeping it, changing it.

Every forward pass calls its tap on each interesting value:

    pattern = tap("pattern", scores.softmax(dim=-1))

`NO_TAP` hands the value back. A `Recorder` applies the edits to this site, keeps the result and hands that back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Protocol, Self, assert_never

import torch
from torch import Tensor

from tfmviz.record.edits import AblateHead, Edit, Patch, Scale, SetMask
from tfmviz.record.trace import NotCaptured


class Tap(Protocol):
    """The interface that a forward pass needs."""

    def __call__(self, name: str, value: Tensor) -> Tensor:
        """Names a value. The model continues with the result."""
        ...

    def scope(self, name: str) -> Self:
        """The tap for a part of the model: its sites are named `name.…`."""
        ...

    def at(self, position: int, *, length: int) -> Self:
        """The tap for one step of a part that reads `length` tokens one by one.

        Its values are (batch, 1, …), the sites those of the whole text.
        """
        ...

    def watches(self, *names: str) -> bool:
        """True if the tap needs any of these values."""
        ...


class PassThrough:
    """A tap that keeps nothing."""

    def __init__(self, *, watching: bool) -> None:
        self._watching = watching

    def __call__(self, name: str, value: Tensor) -> Tensor:
        return value

    def scope(self, name: str) -> Self:
        return self

    def at(self, position: int, *, length: int) -> Self:
        return self

    def watches(self, *names: str) -> bool:
        return self._watching


NO_TAP = PassThrough(watching=False)
"""For training and generation: attention may be fused."""

STEPWISE = PassThrough(watching=True)
"""Makes attention compute every step, for tests and benchmarks."""


@dataclass(frozen=True, slots=True)
class Place:
    """One position of a text of `length` tokens."""

    position: int
    length: int


class _Scoped:
    """A tap that knows the part of the model and the step that it is for."""

    _prefix = ""
    _place: Place | None = None

    def scope(self, name: str) -> Self:
        inner = copy(self)  # shallow: all scopes share what they collect
        inner._prefix = f"{self._prefix}{name}."
        return inner

    def at(self, position: int, *, length: int) -> Self:
        here = copy(self)
        here._place = Place(position, length)
        return here


class Recorder(_Scoped):
    """Applies edits, then keeps the values of one forward pass.

    Args:
        sites: names to keep, `*` standing for anything; None: all.
    """

    def __init__(self, edits: Iterable[Edit] = (), sites: Iterable[str] | None = None) -> None:
        self.values: dict[str, Tensor] = {}
        self._edits = tuple(edits)
        self._wanted = None if sites is None else tuple(sites)
        self._seen: dict[str, None] = {}  # a set in the order in which the sites were met

    def __call__(self, name: str, value: Tensor) -> Tensor:
        site = self._prefix + name
        self._seen[site] = None
        for edit in self._edits:
            if edit.site == site:
                value = apply(edit, value, place=self._place)
        if self._wants(site):
            self.values[site] = value if self._place is None else self._with_step(site, value, self._place)
        return value

    def watches(self, *names: str) -> bool:
        if self._wanted is None:
            return True
        sites = [self._prefix + name for name in names]
        return any(self._wants(site) or any(edit.site == site for edit in self._edits) for site in sites)

    def edits(self, name: str) -> bool:
        """True if an edit changes this value."""
        return any(edit.site == self._prefix + name for edit in self._edits)

    def leaves(self, name: str) -> bool:
        """Notes a value that is computed later. Returns True if it is wanted."""
        site = self._prefix + name
        self._seen[site] = None
        return self._wants(site)

    def check(self) -> None:
        """To be called after the forward pass.

        Raises:
            NotCaptured: a wanted name or an edit's site fits no value.
        """
        for wanted in self._wanted or ():
            if not any(fnmatchcase(site, wanted) for site in self._seen):
                raise NotCaptured(wanted, self._seen)
        for edit in self._edits:
            if edit.site not in self._seen:
                raise NotCaptured(edit.site, self._seen)

    def _with_step(self, site: str, value: Tensor, place: Place) -> Tensor:
        """A site's record with the value (batch, 1, …) of one more step, in any order."""
        whole = self.values.get(site)
        if whole is None or whole.shape[1] != place.length:
            whole = value.new_zeros(len(value), place.length, *value.shape[2:])
        whole[:, place.position] = value[:, 0]
        return whole

    def _wants(self, site: str) -> bool:
        return self._wanted is None or any(fnmatchcase(site, wanted) for wanted in self._wanted)


class Fork(_Scoped):
    """Several sets of edits in one forward pass of a text, one per row of the batch.

    Up to the first edited site all share one row. Masks have no batch axis and cannot be edited in this way.
    """

    def __init__(self, variants: Sequence[Sequence[Edit]]) -> None:
        self._variants = tuple(map(tuple, variants))
        self._sites = {edit.site for variant in self._variants for edit in variant}
        self._met: set[str] = set()

    def __call__(self, name: str, value: Tensor) -> Tensor:
        site = self._prefix + name
        if site not in self._sites:
            return value
        self._met.add(site)
        rows = []
        for row, variant in zip(
            value.expand(len(self._variants), *value.shape[1:]).split(1), self._variants, strict=True
        ):
            for edit in variant:
                row = apply(edit, row, place=self._place) if edit.site == site else row
            rows.append(row)
        return torch.cat(rows)

    def watches(self, *names: str) -> bool:
        return any(self._prefix + name in self._sites for name in names)

    def check(self) -> None:
        """To be called after the forward pass.

        Raises:
            NotCaptured: an edit's site fits no value.
        """
        for site in sorted(self._sites - self._met):
            raise NotCaptured(site, self._met)


def in_turn(first: Tap, then: Tap) -> Tap:
    """A tap that gives its values to `first`, and the results to `then`."""
    return then if first is NO_TAP else InTurn(first, then)


class InTurn:
    def __init__(self, *taps: Tap) -> None:
        self._taps = taps

    def __call__(self, name: str, value: Tensor) -> Tensor:
        for tap in self._taps:
            value = tap(name, value)
        return value

    def scope(self, name: str) -> InTurn:
        return InTurn(*(tap.scope(name) for tap in self._taps))

    def at(self, position: int, *, length: int) -> InTurn:
        return InTurn(*(tap.at(position, length=length) for tap in self._taps))

    def watches(self, *names: str) -> bool:
        return any(tap.watches(*names) for tap in self._taps)


def apply(edit: Edit, value: Tensor, *, place: Place | None = None) -> Tensor:
    """The value after the edit, as a new tensor.

    Args:
        place: the value's only position; None: it has all.

    Raises:
        ValueError: the value has no such head or position, or another shape.
    """
    if place is not None and isinstance(edit, Patch) and edit.position is not None:
        if not 0 <= edit.position < place.length:
            raise ValueError(_there_is_no(edit.site, "position", edit.position, count=place.length))
        if edit.position != place.position:
            return value
        edit = replace(edit, position=0)
    match edit:
        case AblateHead():
            return _ablate_head(edit, value)
        case SetMask():
            return _set_mask(edit, value)
        case Scale():
            return torch.where(_chosen(edit, value, coordinate=edit.coordinate), value * edit.factor, value)
        case Patch():
            return _patch(edit, value)
        case _:
            assert_never(edit)


def _ablate_head(edit: AblateHead, value: Tensor) -> Tensor:
    n_heads = value.shape[1]  # (batch, head, q_len, d_head)
    if not 0 <= edit.head < n_heads:
        raise ValueError(f"{edit.layer} has heads 0 to {n_heads - 1}; head {edit.head} does not exist.")
    return value.index_fill(1, torch.tensor([edit.head], device=value.device), 0.0)


def _set_mask(edit: SetMask, value: Tensor) -> Tensor:
    mask = torch.tensor(edit.mask, dtype=torch.bool, device=value.device)  # (q_len, k_len)
    if mask.shape != value.shape[-2:]:
        raise ValueError(
            f"The mask is {tuple(mask.shape)}, the attention of {edit.layer} {tuple(value.shape[-2:])} (q_len, k_len)."
        )
    if edit.heads is None:
        return mask
    return torch.where(
        torch.tensor(edit.heads, device=value.device)[:, None, None], mask, value
    )  # (head, q_len, k_len)


def _patch(edit: Patch, value: Tensor) -> Tensor:
    vector = torch.tensor(edit.vector, dtype=value.dtype, device=value.device)
    if len(vector) != value.shape[-1]:
        raise ValueError(f"The vector for {edit.site} has {len(vector)} numbers; it needs {value.shape[-1]}.")
    return torch.where(_chosen(edit, value, position=edit.position), vector, value)


def _chosen(
    edit: Scale | Patch, value: Tensor, *, position: int | None = None, coordinate: int | None = None
) -> Tensor:
    """True where an edit changes a value; broadcasts to it."""
    chosen = torch.ones((), dtype=torch.bool, device=value.device)
    for index, axis, name in ((coordinate, -1, "coordinate"), (position, -2, "position"), (edit.head, -3, "head")):
        if index is None:
            continue
        count = value.shape[axis] if value.ndim >= 1 - axis else 0
        if not 0 <= index < count:
            raise ValueError(_there_is_no(edit.site, name, index, count=count))
        here = torch.arange(count, device=value.device) == index
        chosen = chosen & here.reshape(-1, *[1] * (-1 - axis))
    return chosen


def _there_is_no(site: str, name: str, index: int, *, count: int) -> str:
    there = f"{name}s 0 to {count - 1}" if count else f"no {name}s"
    return f"{site} has {there}; {name} {index} does not exist."
