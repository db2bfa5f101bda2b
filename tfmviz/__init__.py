"""tfmviz: type a sentence, take a transformer apart.

One small transformer runs once per sentence and leaves a complete, named record (a `Trace`) of everything
it computed. Every page of the app is a window on that record; from Python it is two lines:

    model = tfmviz.load("tiny-english")
    trace = model.trace("The cat sat on the mat.")

The axis vocabulary, used in every shape comment of the project:

    batch     sentences processed together; gone from a `Trace`, which holds one sentence
    head      attention heads, 0 … n_heads - 1
    q_len     query positions: the tokens that look (rows of an attention picture)
    k_len     key positions: the tokens that are looked at (columns)
    len       token positions where queries and keys are the same sequence
    d_model   width of the residual stream
    d_head    width of one head's queries, keys and values; d_model = n_heads × d_head
    d_ff      inner width of the feed-forward layer
    vocab     entries of the tokenizer's vocabulary

Importing this package imports neither torch nor any model; `load` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfmviz.record.model import Model
from tfmviz.record.trace import Encoding, NotCaptured, Trace

if TYPE_CHECKING:
    from tfmviz.zoo import ZooModel

__all__ = ["Encoding", "Model", "NotCaptured", "Trace", "available", "load"]


def available() -> tuple[str, ...]:
    """Names of the models whose files are in order, alphabetically."""
    from tfmviz import zoo

    return zoo.available()


def load(name: str) -> ZooModel:
    """Loads one of the models in `assets/models/`, or of the reader's own, by name. This imports torch.

    Args:
        name: one of `available()`.

    Raises:
        zoo.ModelUnavailable: no such model, or its files are missing or damaged; the message says which.
    """
    from tfmviz import zoo

    return zoo.load(name)
