"""Naming a value where it is computed, keeping it, changing it.

Every forward pass takes a tap and calls it on each interesting value:

    pattern = tap("pattern", scores.softmax(dim=-1))

`NO_TAP` hands the value back. A `Recorder` applies the edits meant for this site, keeps the result and hands
that back, so what is recorded is what the rest of the model saw. The model itself keeps no state.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from fnmatch import fnmatchcase
from functools import singledispatch
from typing import Protocol, Self

import torch
from torch import Tensor

from tfmviz.edits import AblateHead, Edit, SetMask
from tfmviz.trace import NotCaptured


class Tap(Protocol):
    """What a forward pass needs of a tap."""

    def __call__(self, name: str, value: Tensor) -> Tensor:
        """Names a value; what comes back is what the model goes on with."""
        ...

    def scope(self, name: str) -> Self:
        """The tap for a part of the model: its sites are named `name.…`."""
        ...

    def watches(self, *names: str) -> bool:
        """Whether any of these values is wanted here. A fused kernel may skip those nobody watches."""
        ...


class PassThrough:
    """A tap that keeps nothing."""

    def __init__(self, *, watching: bool) -> None:
        self._watching = watching

    def __call__(self, name: str, value: Tensor) -> Tensor:
        return value

    def scope(self, name: str) -> Self:
        return self

    def watches(self, *names: str) -> bool:
        return self._watching


NO_TAP = PassThrough(watching=False)
"""Keeps nothing and lets attention take the fused path: for training and generation."""

STEPWISE = PassThrough(watching=True)
"""Keeps nothing, yet makes attention compute every step: what recording is compared with."""


class Recorder:
    """Applies edits, then keeps the values.

    One recorder serves one forward pass.

    Args:
        edits: interventions, each applied at the site it names.
        sites: names to keep, `*` standing for anything; None keeps everything.
    """

    def __init__(self, edits: Iterable[Edit] = (), sites: Iterable[str] | None = None) -> None:
        self.values: dict[str, Tensor] = {}
        self._edits = tuple(edits)
        self._wanted = None if sites is None else tuple(sites)
        self._seen: list[str] = []
        self._prefix = ""

    def __call__(self, name: str, value: Tensor) -> Tensor:
        site = self._prefix + name
        self._seen.append(site)
        for edit in self._edits:
            if edit.site == site:
                value = apply(edit, value)
        if self._wants(site):
            self.values[site] = value
        return value

    def scope(self, name: str) -> Self:
        inner = copy(self)  # shallow: all scopes write into the same record
        inner._prefix = f"{self._prefix}{name}."
        return inner

    def watches(self, *names: str) -> bool:
        if self._wanted is None:
            return True
        sites = [self._prefix + name for name in names]
        return any(self._wants(site) or any(edit.site == site for edit in self._edits) for site in sites)

    def check(self) -> None:
        """Call after the forward pass.

        Raises:
            NotCaptured: a wanted name, or an edit's site, fits nothing that the model computed.
        """
        for wanted in self._wanted or ():
            if not any(fnmatchcase(site, wanted) for site in self._seen):
                raise NotCaptured(wanted, self._seen)
        for edit in self._edits:
            if edit.site not in self._seen:
                raise NotCaptured(edit.site, self._seen)

    def _wants(self, site: str) -> bool:
        return self._wanted is None or any(fnmatchcase(site, wanted) for wanted in self._wanted)


@singledispatch
def apply(edit: Edit, value: Tensor) -> Tensor:
    """The value at `edit.site` after the edit; the tensor given is left as it is."""
    raise TypeError(f"No edit of kind {type(edit).__name__} is known.")


@apply.register
def _(edit: AblateHead, value: Tensor) -> Tensor:
    n_heads = value.shape[1]  # (batch, head, q_len, d_head)
    if not 0 <= edit.head < n_heads:
        raise ValueError(f"{edit.layer} has heads 0 to {n_heads - 1}; head {edit.head} does not exist.")
    return value.index_fill(1, torch.tensor([edit.head], device=value.device), 0.0)


@apply.register
def _(edit: SetMask, value: Tensor) -> Tensor:
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
