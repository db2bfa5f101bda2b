"""The n-gram model without its rare grams: shares by hand, sums, and the file."""

from pathlib import Path

import numpy as np
import pytest

from tests.cases import each
from tfmviz.counting import grams, kneser_ney, pruned
from tfmviz.counting.kneser_ney import NGramModel

V = 7
STREAM = np.random.default_rng(0).choice(V, size=400, p=[0.3, 0.25, 0.2, 0.1, 0.08, 0.04, 0.03])
LEAST = (1, 2, 3)


def both() -> tuple[NGramModel, NGramModel]:
    """The whole model of 3-grams, and the pruned one."""
    counted = grams.count(STREAM, vocab_size=V, n=3)
    whole = kneser_ney.smoothed(counted, vocab_size=V)[-1]
    return whole, pruned.pruned(whole, counted, least=LEAST)


def occurrences(*gram: int) -> int:
    return sum(tuple(STREAM[i : i + len(gram)]) == gram for i in range(len(STREAM) - len(gram) + 1))


@each("context", [(), (0,), (6,), (0, 1), (6, 6), (3, 2), (5, 4)])
def test_probabilities_sum_to_one_after_any_context(context: tuple[int, ...]) -> None:
    p = both()[1].distribution(context)
    assert (p > 0).all()
    assert p.sum() == pytest.approx(1)


def test_a_gram_stays_if_it_and_its_context_occur_often_enough() -> None:
    _, small = both()
    contexts = [()]
    for least, order in zip(LEAST, small.orders, strict=True):
        kept = [(*contexts[key // V], int(key % V)) for key in order.keys]
        frequent = {(*c, w) for c in contexts for w in range(V) if occurrences(*c, w) >= least}
        assert set(kept) == frequent
        assert len(kept) == len(frequent)
        contexts = kept


def test_what_stays_keeps_its_share_and_the_rest_goes_to_the_shorter_context() -> None:
    whole, small = both()
    for context in [(0, 1), (1, 0), (2, 2)]:
        assert occurrences(*context) >= 2
        shorter, p = small.distribution(context[1:]), small.distribution(context)
        number = grams.context_number([order.keys for order in whole.orders], context, vocab_size=whole.vocab_size)
        freed = float(whole.orders[2].back_off[number])  # γ(h): what the discounts leave
        share = whole.distribution(context) - freed * whole.distribution(context[1:])
        stays = np.array([occurrences(*context, w) >= LEAST[2] for w in range(V)])
        left = 1 - share[stays].sum()
        np.testing.assert_allclose(p, np.where(stays, share, 0) + left * shorter, rtol=1e-9)


def test_nothing_is_lost_if_nothing_is_rare() -> None:
    counted = grams.count(STREAM, vocab_size=V, n=3)
    whole = kneser_ney.smoothed(counted, vocab_size=V)[-1]
    same = pruned.pruned(whole, counted, least=(1, 1, 1))
    np.testing.assert_allclose(same.probabilities(STREAM), whole.probabilities(STREAM), rtol=1e-9)


def test_a_file_holds_the_model_up_to_half_precision(tmp_path: Path) -> None:
    _, small = both()
    pruned.save(tmp_path / "3-gram.npz", small)
    read = pruned.load(tmp_path / "3-gram.npz")
    assert pruned.n_numbers(read) == pruned.n_numbers(small)
    for context in [(), (3,), (0, 1), (6, 5)]:
        p = read.distribution(context)
        np.testing.assert_allclose(p, small.distribution(context), rtol=1e-2)
        assert p.sum() == pytest.approx(1)
        assert (p > 0).all()


def test_shares_are_never_rounded_up() -> None:
    shares = np.random.default_rng(1).random(1000)
    halves = pruned.rounded_down(shares)
    assert halves.dtype == np.float16
    assert (halves <= shares).all()
    np.testing.assert_allclose(halves, shares, rtol=2e-3, atol=1e-7)


def test_after_several_texts_at_once_is_the_same_as_one_by_one() -> None:
    _, small = both()
    texts = STREAM[:15].reshape(3, 5)
    for text, p in zip(texts, pruned.after(small, texts), strict=True):
        np.testing.assert_array_equal(p, small.distribution(text[-2:].tolist()))
        assert p[3] == pytest.approx(small.probabilities(np.array([*text, 3]))[-1])
