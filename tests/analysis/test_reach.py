"""How far back a model sees: known predictors, shortened texts, sentences that differ in one word, labels."""

import numpy as np
import pytest

from tests.cases import each
from tfmviz.analysis import dependencies, reach
from tfmviz.analysis.dependencies import Pair
from tfmviz.analysis.labelling import from_mean_of_states, share_by, since_change, until_change
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


PAIR = Pair(("The key", "The keys"), 0, (" is",), (" are",))
SAME = Pair(('"We', "we"), 0, ('"',), ('"',))


@each("kind", list(dependencies.MAKERS))
@each("phrases", [0, 1, 5])
def test_a_pair_differs_at_its_beginning_alone_and_has_as_many_words_as_it_says(kind: str, phrases: int) -> None:
    quoted, agrees = kind == dependencies.QUOTATION, kind == dependencies.AGREEMENT
    for pair in dependencies.pairs(kind, phrases, 40, seed=3):
        one, other = (text.split() for text in pair.texts)
        assert one != other
        assert quoted or one[len(one) - pair.n :] == other[len(other) - pair.n :]
        same = 3 * phrases + (0 if agrees else 2)
        assert one[len(one) - same :] == other[len(other) - same :]
        between = pair.texts[0].rsplit('"', 1)[-1] if quoted else ""
        assert (len(between.split()) if between else len(one) - (2 if agrees else 1)) == pair.n


def test_pairs_are_drawn_again_whole_and_sentences_by_their_seed() -> None:
    one, again, other = (dependencies.pairs("name", 2, 20, seed=seed) for seed in (1, 1, 2))
    assert one == again != other
    points, draws = np.array([1.0, 0.0, 0.5]), np.array([[0, 0, 0], [1, 2, 2]])
    assert dependencies.resampled(points, draws).tolist() == [1.0, pytest.approx(1 / 3)]


def test_a_model_that_always_says_is_leans_but_does_not_prefer() -> None:
    p = [{" is": 0.9, " are": 0.05}, {" is": 0.8, " are": 0.1}]
    assert dependencies.leans(PAIR, p) == 1
    assert dependencies.prefers(PAIR, p) == 0.5
    assert dependencies.leans(PAIR, p[::-1]) == 0
    q = {" is": 0.9, " are": 0.05}
    assert dependencies.leans(PAIR, [q, {" is": 0.9 * (1 + 1e-8), " are": 0.05}]) == 0.5
    assert dependencies.leans(SAME, [{'"': 0.2}, {'"': 0.2}]) == 0.5
    assert dependencies.leans(SAME, [{'"': 0.2}, {'"': 0.1}]) == 1


def test_tokens_are_counted_around_a_change_and_shares_are_of_their_place() -> None:
    labels = np.array([[0, 0, 1, 1, 1, 0], [1, 1, 1, 1, 1, 1], [0, 1, 0, 1, 1, 1]])
    assert since_change(labels).tolist() == [[0, 0, 1, 2, 3, 1], [0] * 6, [0, 1, 1, 1, 2, 3]]
    assert until_change(labels).tolist() == [[2, 1, 3, 2, 1, 0], [0] * 6, [1, 1, 1, 0, 0, 0]]
    right = np.array([True, False, True, True, False, True])
    place = np.array([1, 1, 2, 0, 5, 4])
    np.testing.assert_array_equal(share_by(right, place, longest=4), [0.5, 1.0, np.nan, 1.0])


def test_the_mean_of_the_logits_is_what_a_linear_layer_makes_of_the_mean_of_the_states() -> None:
    rng = np.random.default_rng(0)
    states, W, b = rng.normal(size=(7, 5)), rng.normal(size=(3, 5)), rng.normal(size=3)
    found = from_mean_of_states(states @ W.T + b)
    for t in range(7):
        np.testing.assert_allclose(found[t], W @ states[: t + 1].mean(axis=0) + b)
