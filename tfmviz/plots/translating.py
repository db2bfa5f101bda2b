"""Pictures of translations: attention to the source, the loss at every word, n-grams that a reference has."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfmviz.plots.cells import Axis, Cells, Form, Scale, amounts, probability, share, shares
from tfmviz.record.trace import Array
from tfmviz.words.labels import quoted, visible
from tfmviz.words.numbers import decimal, per_cent


def attention(weights: Array, *, queries: Sequence[str], keys: Sequence[str], title: str, across: bool = True) -> Cells:
    """Attention of the words on the left to those above.

    Args:
        weights: (q_len, k_len), rows sum to 1.
        across: whether it is cross-attention, whose words belong to two texts.
    """
    return Cells(
        matrices=weights[None],
        rows=Axis(title="reads → writes" if across else "query", names=queries, spoken=quoted(queries)),
        columns=Axis(title="source" if across else "key", names=keys, spoken=quoted(keys)),
        scale=share(),
        form=Form(digits=3),
        titles=(title,),
        texts=shares(weights),
        square=True,
    )


def losses(forced: Array, free: Array, *, words: Sequence[str], wrote: Sequence[str]) -> Cells:
    """−log p of the reference's words, after the right words and after the model's own.

    Args:
        forced, free: (word,), in nats.
        words: of the reference.
        wrote: what the model wrote itself at each place.
    """
    both = np.stack([forced, free])
    return Cells(
        matrices=both[None],
        rows=Axis(title="after", names=("the correct words", "its own words")),
        columns=Axis(title="word of the reference", names=words),
        scale=amounts(both, "loss in nats"),
        form=Form(name="loss ", digits=2, unit=" nats"),
        texts=[[decimal(value) for value in row] for row in both.tolist()],
        notes=[[""] * len(words), [f"the model wrote “{word}”" for word in wrote]],
        row_height=40,
    )


def probabilities(p: Array, *, words: Sequence[str], n_given: int) -> Cells:
    """What the model gives each word of its translation; the first ones may be the reader's."""
    notes = ["given by you" if n < n_given else "chosen by the model" for n in range(len(words))]
    return Cells(
        matrices=p[None, None],
        rows=Axis(title="", names=("p",)),
        columns=Axis(title="word", names=[f"[{word}]" if n < n_given else word for n, word in enumerate(words)]),
        scale=probability("probability"),
        form=Form(digits=1, percent=True),
        texts=[[per_cent(value) for value in p.tolist()]],
        notes=[notes],
        row_height=44,
    )


def grams(found: Array, *, words: Sequence[str]) -> Cells:
    """Which n-grams of a translation a reference has.

    Args:
        found: (n, word), 1 where the n-gram that begins at the word is matched, 0 where it is not, NaN where the text
            ends before it.
    """
    shown = np.where(found == 1, 1.0, np.nan)
    said = [
        [
            f"“{' '.join(words[first : first + n])}”" if np.isfinite(found[n - 1, first]) else "the text ends before"
            for first in range(len(words))
        ]
        for n in range(1, len(found) + 1)
    ]
    return Cells(
        matrices=shown[None],
        rows=Axis(title="", names=[f"{n} word{'s' if n > 1 else ''}" for n in range(1, len(found) + 1)]),
        columns=Axis(title="beginning at", names=[visible(word) for word in words]),
        scale=Scale(colours="open", low=0, high=1),
        form=Form(words=("in a reference", "not in a reference")),
        notes=said,
        row_height=32,
    )
