"""Results shared by all readers, within one budget of bytes."""

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
from tfmviz.runs import records
from tfmviz.ui import run_queue

BUDGET = int(os.environ.get("TFMVIZ_CACHE_MB", "1024")) * 2**20 // workers.SHARING
"""Bytes of all kept results; the least recently used goes first."""

AT_ONCE = 16
"""The most texts computed together; more make the first wait longer and save little."""

NUMBER = 4
"""Of a weight."""

SHORT = 200
"""Characters of a text that may join others. They are padded to the longest."""

Function = TypeVar("Function", bound=Callable[..., Any])
Key = TypeVar("Key", bound=Hashable)


def n_bytes(value: Any) -> int:
    """Approximate; without weights that a result shares with its model."""
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


def cached_for_all(function: Function) -> Function:
    """Makes a function of hashable arguments compute each result once for the whole server.

    A second caller waits for a running computation. Exceptions are not kept. Models are keys by identity, so a model
    replaced on disk gets new results. An argument equal to its default makes the same call as its absence.
    """
    expects = signature(function)

    def key(*args: Any, **named: Any) -> Hashable:
        given = expects.bind(*args, **named)
        given.apply_defaults()
        return hashkey(function, *given.args, **given.kwargs)

    return cached(_results, key=key, condition=_changed)(function)  # type: ignore[return-value]


def shared_with_others(function: Callable[[Key, Sequence[str]], Sequence[Any]]) -> Callable[[Key, str], Any]:
    """Like `cached_for_all`, for a function of several texts that takes little longer for a few than for one.

    A caller brings along the short texts of those waiting for their turn. The result is a function of one text.
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
            except ValueError:  # one of the other texts cannot be read: no error for this reader
                texts, results = [text], function(model, [text])
            with _changed, suppress(ValueError):  # a result may be larger than the budget
                for one, result in zip(texts, results, strict=True):
                    _results[hashkey(function, model, one)] = result
            return results[0]

    return of_one


def _brought_along(text: str) -> list[str]:
    short = dict.fromkeys(other for other in run_queue.others() if len(other) <= SHORT and other != text)
    return list(short) if len(text) <= SHORT else []


@lru_cache
def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@lru_cache
def read_lines(path: Path) -> tuple[str, ...]:
    return tuple(path.read_text(encoding="utf-8").splitlines())


@cached_for_all
def read_log(path: Path) -> records.Records:
    """About 200 of a log's steps; empty without a file."""
    return records.read_records(path)


def forget(model: Hashable) -> None:
    """Drops the results of a deleted model, which would keep it in memory."""
    with _changed:
        for key in [key for key in _results if any(part is model for part in key)]:
            del _results[key]


def clear() -> None:
    with _changed:
        _results.clear()
