"""The n-gram model against a second one written with dictionaries, straight from the formula."""

from collections import Counter, defaultdict

import numpy as np
import pytest

from tests.cases import each
from tfmviz.counting.grams import count
from tfmviz.counting.kneser_ney import discounts, fit, smoothed
from tfmviz.counting.words import MARK, stream_of

VOCAB = 7


def text(n: int, *, seed: int) -> np.ndarray:
    """Random tokens with habits: few others tend to follow each."""
    rng = np.random.default_rng(seed)
    habits = rng.dirichlet(np.full(VOCAB, 0.3), size=VOCAB)
    words = [0]
    for _ in range(n - 1):
        words.append(int(rng.choice(VOCAB, p=habits[words[-1]])))
    return np.array(words, dtype=np.int32)


TRAIN, TEST = text(499, seed=1), text(101, seed=1)[50:]


def by_dictionaries(train: list[int], history: list[int], word: int, *, n: int) -> float:
    """p(word | history), each order computed from the one below."""
    grams = [Counter(tuple(train[i : i + k]) for i in range(len(train) - k + 1)) for k in range(n + 1)]
    p = 1 / VOCAB
    for k in range(1, n + 1):
        if len(history) < k - 1:
            break
        counts: dict[tuple[int, ...], int] = defaultdict(int)
        if k == n:
            counts |= grams[n]
        else:
            for gram in grams[k + 1]:
                counts[gram[1:]] += 1
        by_count = Counter(counts.values())
        ns = [by_count[c] for c in range(1, 5)]
        y = ns[0] / (ns[0] + 2 * ns[1]) if ns[0] else 0.0
        d = [c - (c + 1) * y * ns[c] / ns[c - 1] for c in (1, 2, 3)] if all(ns) else [0.5, 1.0, 1.5]
        d = [min(max(value, 0.0), c) for c, value in enumerate(d, start=1)]
        context = tuple(history[len(history) - k + 1 :])
        following = {gram[-1]: c for gram, c in counts.items() if gram[:-1] == context}
        if following:
            total = sum(following.values())
            freed = sum(d[min(c, 3) - 1] for c in following.values())
            c = following.get(word, 0)
            own = max(c - d[min(c, 3) - 1], 0) if c else 0
            p = own / total + freed / total * p
    return p


@each("n", [1, 2, 3, 5])
def test_probabilities_are_those_of_the_formula(n: int) -> None:
    ours = fit(TRAIN, vocab_size=VOCAB, n=n).probabilities(TEST)
    words = TEST.tolist()
    theirs = [by_dictionaries(TRAIN.tolist(), words[:i], word, n=n) for i, word in enumerate(words)]
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@each("n", [1, 2, 3, 5])
def test_probabilities_of_all_tokens_sum_to_one_and_are_those_of_the_distribution(n: int) -> None:
    model = fit(text(307, seed=1), vocab_size=VOCAB, n=n)
    known, foreign = (np.split(text(60, seed=seed), 12) for seed in (1, 2))
    for history in (*known, *foreign, np.array([], dtype=np.int32), np.full(5, VOCAB - 1)):
        p = [model.probabilities(np.append(history, word))[-1] for word in range(VOCAB)]
        assert sum(p) == pytest.approx(1, abs=1e-12)
        if len(history) >= n - 1:
            np.testing.assert_allclose(model.distribution(history[len(history) - n + 1 :].tolist()), p, rtol=1e-12)


def test_tokens_that_never_occurred_have_a_probability_and_discounts_are_chen_and_goodmans() -> None:
    """n_1 … n_4 = 8, 4, 2, 1: Y = 1/2, and D = 1 - 2Y · 4/8, 2 - 3Y · 2/4, 3 - 4Y · 1/2."""
    model = fit(np.array([1, 2, 1, 2, 1], dtype=np.int32), vocab_size=VOCAB)
    assert (model.probabilities(np.arange(VOCAB)) > 0).all()
    assert np.isfinite(model.cross_entropy(np.arange(VOCAB)))
    text = np.resize([1, 2, 3, 1, 2, 4, 1, 5], 401)
    losses = [fit(text, vocab_size=VOCAB, n=n).cross_entropy(text) for n in (1, 2, 3, 4)]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.1
    np.testing.assert_allclose(discounts(np.repeat([1, 2, 3, 4, 9], [8, 4, 2, 1, 3])), [0, 0.5, 1.25, 2])


# Three sentences by hand: "a b", "a b", "a c". The vocabulary is ⟨s⟩, ⟨unknown⟩, a, b, c.
# No estimate of the discounts is possible, so D(1) = 0.5, D(2) = 1 and D(3) = 1.5.
#   1-grams, occurrences: ⟨s⟩ 3, a 3, b 2, c 1 of 9; freed 1.5 + 1.5 + 1 + 0.5; γ = 0.5
#   1-grams, by what stands to the left: a 1, b 1, c 1, ⟨s⟩ 2 of 5; freed 0.5 + 0.5 + 0.5 + 1; γ = 0.5
#   2-grams after a, occurrences: b 2, c 1 of 3; freed 1 + 0.5; γ = 0.5
#   2-grams after a, by what stands to the left: b 1, c 1 of 2; freed 0.5 + 0.5; γ = 0.5
#   2-grams after ⟨s⟩: nothing stands to the left of ⟨s⟩, so occurrences: a 3 of 3; freed 1.5; γ = 0.5
#   3-grams after ⟨s⟩ a, occurrences: b 2, c 1 of 3; γ = 0.5
ONE = [0.3, 0.1, 0.2, 0.2, 0.2]
AFTER_A = [0.15, 0.05, 0.1, 1 / 3 + 0.1, 0.5 / 3 + 0.1]
AFTER_START_A = [0.075, 0.025, 0.05, 1 / 3 + 0.5 * (0.25 + 0.1), 0.5 / 3 + 0.5 * (0.25 + 0.1)]

BY_HAND = {
    (1, ()): [1.5 / 9 + 0.1, 0.1, 1.5 / 9 + 0.1, 1 / 9 + 0.1, 0.5 / 9 + 0.1],
    (2, ()): ONE,
    (2, (2,)): AFTER_A,
    (2, (1,)): ONE,
    (3, (0,)): [0.15, 0.05, 0.5 + 0.1, 0.1, 0.1],
    (3, (0, 2)): AFTER_START_A,
    (3, (1, 2)): [0.15, 0.05, 0.1, 0.25 + 0.1, 0.25 + 0.1],
}


def test_a_toy_text_with_marks_by_hand() -> None:
    stream, numbers = stream_of(["a b", "a b", "a c"])
    assert list(numbers) == ["⟨s⟩", "⟨unknown⟩", "a", "b", "c"]
    models = smoothed(count(stream, vocab_size=5, n=3, mark=MARK), vocab_size=5)
    for (n, context), expected in BY_HAND.items():
        np.testing.assert_allclose(models[n - 1].distribution(context), expected, rtol=1e-12, err_msg=str(context))
