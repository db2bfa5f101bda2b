"""The context that a language model uses: predictions after changed, cut, shuffled or thinned texts.

The method of Khandelwal et al. (2018) for recurrent networks, where about 200 words made a difference, and their order
within about the last 50.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from tfmviz.record.trace import Array

Predict = Callable[[Array], Array]
"""(text, len) tokens to (text, vocab)."""


def moved(before: Array, after: Array) -> Array:
    """Total variation, ½ Σ_w |p(w) - q(w)|, in [0, 1]."""
    return np.abs(before - after).sum(axis=-1) / 2


def replacements(vocabulary: Sequence[str], n: int) -> tuple[int, ...]:
    """`n` random words of at least three letters with a space before, always the same."""
    words = [index for index, token in enumerate(vocabulary) if re.fullmatch(r" [A-Za-z]{3,}", token)]
    return tuple(np.random.default_rng(0).permutation(words)[:n].tolist())


def changed(ids: Array, words: Sequence[int]) -> Array:
    """The text with one token replaced: (place, word, len), from the last position to the first.

    Each is replaced by all of `words` but itself or, if it is not among them, the last.
    """
    places = np.arange(len(ids))[::-1]
    texts = np.broadcast_to(ids, (len(ids), len(words) - 1, len(ids))).copy()
    for place, of_place in zip(places, texts, strict=True):
        of_place[:, place] = [word for word in words if word != ids[place]][: len(words) - 1]
    return texts


def by_distance(predict: Predict, ids: Array, *, words: Sequence[int]) -> Array:
    """Change of the prediction when the token k back is replaced, averaged over the replacements.

    Args:
        ids: (len,).
        words: at least two different tokens.

    Returns:
        (len,), for k = 1, 2, 3 …
    """
    texts = changed(ids, words)  # (place, word, len)
    after = predict(texts.reshape(-1, len(ids))).reshape(*texts.shape[:2], -1)
    return moved(predict(ids[None])[0], after).mean(axis=1)


def cut(ids: Array, *, keep: int) -> Array:
    return ids[-keep:]


def shuffled(ids: Array, *, keep: int, rng: np.random.Generator) -> Array:
    """The text with all but the last `keep` tokens in a random order."""
    return np.concatenate((rng.permutation(ids[:-keep]), ids[-keep:]))


def thinned(ids: Array, *, keep: int, rng: np.random.Generator) -> Array:
    """The text with a random half of the tokens before the last `keep` removed."""
    before = ids[:-keep]
    stays = np.sort(rng.permutation(len(before))[: (len(before) + 1) // 2])
    return np.concatenate((before[stays], ids[-keep:]))
