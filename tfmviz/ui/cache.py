"""Results that all readers share: each is computed once however many ask, and all are kept in one budget of bytes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import lru_cache
from inspect import signature
from pathlib import Path
from threading import Condition, Lock
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from cachetools import LRUCache, cached
from cachetools.keys import hashkey

from tfmviz import workers
from tfmviz.record.trace import Trace
from tfmviz.record.weights import ModelWeights
from tfmviz.ui import turns

BUDGET = int(os.environ.get("TFMVIZ_CACHE_MB", "1024")) * 2**20 // workers.SHARING
"""Bytes that all kept results may take together; the least recently used goes first."""

AT_ONCE = 16
"""Most texts that are computed together; more make the first wait longer and save little."""

NUMBER = 4
"""Bytes of a weight."""

SHORT = 200
"""Characters of a text that may join others. They are padded to the longest."""

Function = TypeVar("Function", bound=Callable[..., Any])
Key = TypeVar("Key", bound=Hashable)


def n_bytes(value: Any) -> int:
    """About how many bytes a result takes. Weights that it shares with its model do not count."""
    match value:
        case object(weights=ModelWeights() as weights):
            return NUMBER * weights.n_parameters
        case np.ndarray():
            return value.nbytes
        case bytes() | str():
            return len(value)
        case Trace():
            return value.nbytes
        case Mapping():
            return sum(map(n_bytes, value.values()))
        case tuple() | list():
            return sum(map(n_bytes, value))
        case _ if is_dataclass(value):
            return sum(n_bytes(getattr(value, field.name)) for field in fields(value))
    return 64


_results: LRUCache[Any, Any] = LRUCache(BUDGET, getsizeof=n_bytes)
_changed = Condition()
_working: WeakKeyDictionary[Any, Lock] = WeakKeyDictionary()  # by model, for `shared_with_others`


def shared(function: Function) -> Function:
    """Makes a function of hashable arguments compute each result once for the whole server.

    Whoever asks for a result while it is being computed waits for it. A call that raises leaves nothing, and the next
    one tries again. Models are keys by identity, so a model that was replaced on disk gets new results. An argument
    with the value of its default is the same call whether it is given or not.
    """
    expects = signature(function)

    def key(*args: Any, **named: Any) -> Hashable:
        given = expects.bind(*args, **named)
        given.apply_defaults()
        return hashkey(function, *given.args, **given.kwargs)

    return cached(_results, key=key, condition=_changed)(function)  # type: ignore[return-value]


def shared_with_others(function: Callable[[Key, Sequence[str]], Sequence[Any]]) -> Callable[[Key, str], Any]:
    """Like `shared`, for a function of several texts that takes little longer for a few than for one.

    Whoever asks for a text brings along the short ones of those who wait for their turn: they will ask for theirs.

    Returns:
        The function of one text.
    """

    def of_one(model: Key, text: str) -> Any:
        with _changed:
            working = _working.setdefault(model, Lock())
        with working:
            with _changed:
                if (found := _results.get(hashkey(function, model, text))) is not None:
                    return found
            with _changed:
                more = [other for other in _brought_along(text) if hashkey(function, model, other) not in _results]
            texts = [text, *more[: AT_ONCE - 1]]
            try:
                results = function(model, texts)
            except ValueError:  # one of them cannot be read: that is not this reader's fault
                texts, results = [text], function(model, [text])
            with _changed, suppress(ValueError):  # a result may be larger than the budget
                for one, result in zip(texts, results, strict=True):
                    _results[hashkey(function, model, one)] = result
            return results[0]

    return of_one


def _brought_along(text: str) -> list[str]:
    """Other short texts, none twice; none for a long one, for which all would have to wait."""
    short = dict.fromkeys(other for other in turns.others() if len(other) <= SHORT and other != text)
    return list(short) if len(text) <= SHORT else []


@lru_cache
def read_json(path: Path) -> Any:
    """What a file that comes with the app holds."""
    return json.loads(path.read_text(encoding="utf-8"))


def forget(model: Hashable) -> None:
    """Forgets the results of a model that is gone; they would keep it in memory."""
    with _changed:
        for key in [key for key in _results if any(part is model for part in key)]:
            del _results[key]


def clear() -> None:
    """Forgets all results."""
    with _changed:
        _results.clear()
