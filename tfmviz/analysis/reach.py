"""How far back a language model can see: what it predicts after the text before was changed, cut, shuffled or thinned.

Shortened texts follow Khandelwal et al. (2018), who measured recurrent networks: about 200 words made a difference, and
their order within about the last 50. Whatever predicts can be measured, so these functions take a function.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from tfmviz.record.trace import Array

Predict = Callable[[Array], Array]
"""(text, len) tokens to (text, vocab), the probabilities of the token that comes next after each text."""


def moved(before: Array, after: Array) -> Array:
    """Total variation, ½ Σ_w |p(w) - q(w)|: the share of the probability that is elsewhere now, in [0, 1]."""
    return np.abs(before - after).sum(axis=-1) / 2


def replacements(vocabulary: Sequence[str], n: int) -> tuple[int, ...]:
    """`n` tokens that are words of at least three letters with the space before them: drawn once, the same for all."""
    words = [index for index, token in enumerate(vocabulary) if re.fullmatch(r" [A-Za-z]{3,}", token)]
    return tuple(np.random.default_rng(0).permutation(words)[:n].tolist())


def changed(ids: Array, words: Sequence[int]) -> Array:
    """The text with one token replaced: (place, word, len), from the last place to the first.

    Each token is replaced by all of `words` but one: itself if it is among them, else the last of them.
    """
    places = np.arange(len(ids))[::-1]
    texts = np.broadcast_to(ids, (len(ids), len(words) - 1, len(ids))).copy()
    for place, of_place in zip(places, texts, strict=True):
        of_place[:, place] = [word for word in words if word != ids[place]][: len(words) - 1]
    return texts


def by_distance(predict: Predict, ids: Array, *, words: Sequence[int]) -> Array:
    """How far the prediction after a text moves when the token k back is replaced, mean over what it is replaced by.

    Args:
        ids: (len,).
        words: at least two different tokens; see `changed`.

    Returns:
        (len,), for k = 1, 2, 3 …; see `moved`.
    """
    texts = changed(ids, words)  # (place, word, len)
    after = predict(texts.reshape(-1, len(ids))).reshape(*texts.shape[:2], -1)
    return moved(predict(ids[None])[0], after).mean(axis=1)


def cut(ids: Array, *, keep: int) -> Array:
    """The last `keep` tokens."""
    return ids[-keep:]


def shuffled(ids: Array, *, keep: int, rng: np.random.Generator) -> Array:
    """The text with all but the last `keep` tokens in a random order."""
    return np.concatenate((rng.permutation(ids[:-keep]), ids[-keep:]))


def thinned(ids: Array, *, keep: int, rng: np.random.Generator) -> Array:
    """The text without every other one, chosen at random, of all but the last `keep` tokens."""
    before = ids[:-keep]
    stays = np.sort(rng.permutation(len(before))[: (len(before) + 1) // 2])
    return np.concatenate((before[stays], ids[-keep:]))
