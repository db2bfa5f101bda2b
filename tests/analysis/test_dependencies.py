"""Sentences that differ in one word, when a model tells them apart, and labels around a change."""

import numpy as np
import pytest

from tests.cases import each
from tfmviz.analysis import dependencies
from tfmviz.analysis.dependencies import Pair
from tfmviz.analysis.labelling import from_mean_of_states, share_by, since_change, until_change

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
