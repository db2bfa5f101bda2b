"""How far back a model sees: predictors whose reach is known, and texts that are shortened."""

import numpy as np
import pytest

from tfmviz.analysis import reach
from tfmviz.record.trace import Array

V, IDS = 11, np.array([3, 1, 4, 1, 5, 9, 2, 6])


def looking_at(*places: int) -> reach.Predict:
    """Predicts, for sure, the sum of the tokens at these places, counted back from 1."""

    def predict(texts: Array) -> Array:
        return np.eye(V)[texts[:, [-place for place in places]].sum(axis=1) % V]

    return predict


def test_only_what_is_looked_at_moves_the_prediction_by_the_share_that_is_elsewhere() -> None:
    for places in ((1,), (3,), (2, 8)):
        found = reach.by_distance(looking_at(*places), IDS, words=(0, 7))
        assert found.tolist() == [float(k in places) for k in range(1, 9)]
    assert reach.by_distance(looking_at(1), IDS, words=(6, 7, 8))[0] == 1.0
    assert reach.by_distance(looking_at(1), IDS, words=(6, 7)).tolist() == [1.0] + [0.0] * 7
    p = np.array([0.5, 0.5, 0.0])
    assert reach.moved(p, np.array([0.25, 0.5, 0.25])) == pytest.approx(0.25)
    assert reach.moved(p, p) == 0
    assert reach.moved(*np.eye(2)) == 1


def test_texts_that_are_cut_shuffled_and_thinned_keep_their_end() -> None:
    ids = np.arange(40)
    for keep in (1, 7, 38):
        rng = np.random.default_rng(keep)
        assert reach.cut(ids, keep=keep).tolist() == ids[-keep:].tolist()
        mixed, thin = reach.shuffled(ids, keep=keep, rng=rng), reach.thinned(ids, keep=keep, rng=rng)
        assert mixed[-keep:].tolist() == thin[-keep:].tolist() == ids[-keep:].tolist()
        assert sorted(mixed.tolist()) == ids.tolist()
        before = thin[:-keep].tolist()
        assert len(before) == (40 - keep + 1) // 2
        assert before == sorted(set(before) & set(range(40 - keep)))
    assert reach.shuffled(ids, keep=7, rng=np.random.default_rng(0)).tolist() != ids.tolist()


def test_each_text_differs_in_one_place_by_replacements_that_stay() -> None:
    vocabulary = [" the", "ing", " a", " cat", "\n", " 中", " <b>", " dogs", "Dog"]
    assert sorted(reach.replacements(vocabulary, 5)) == [0, 3, 7]
    assert reach.replacements(vocabulary, 2) == reach.replacements(vocabulary, 5)[:2]
    texts = reach.changed(IDS, (0, 7, 4))
    assert texts.shape == (8, 2, 8)
    for k, of_place in enumerate(texts, start=1):
        assert IDS[-k] not in (0, 7)
        for word, text in zip((0, 7), of_place, strict=True):
            expected = IDS.copy()
            expected[-k] = word
            assert text.tolist() == expected.tolist()
