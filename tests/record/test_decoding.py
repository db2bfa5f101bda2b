"""The rules of choice: against transformers' own processors, and the laws of cutting and drawing."""

from collections.abc import Callable
from itertools import cycle, islice, permutations, product
from typing import Any

import numpy as np
import pytest
import torch
from transformers.generation import logits_process as theirs

from tests.cases import each
from tests.node import call
from tfmviz.record.decoding import ORDER, Rules, choose, draw, entropy, number_for, repeated, stages
from tfmviz.record.trace import Array

VOCAB = 101
SEEN = (3, 7, 7, 100, 0)


def scores(seed: int = 0, *, size: float = 2.0) -> Array:
    return np.random.default_rng(seed).normal(scale=size, size=VOCAB).astype(np.float32)


def left(logits: Array, **rules: Any) -> Array:
    return stages(logits, Rules(**rules), seen=SEEN)[-1].probabilities


PROCESSORS: dict[str, Callable[[Any], Any]] = {
    "banned": lambda tokens: theirs.SuppressTokensLogitsProcessor(list(tokens)),
    "repetition": theirs.RepetitionPenaltyLogitsProcessor,
    "temperature": theirs.TemperatureLogitsWarper,
    "top_k": theirs.TopKLogitsWarper,
    "top_p": theirs.TopPLogitsWarper,
    "min_p": theirs.MinPLogitsWarper,
}


def settings(n: int) -> list[dict[str, Any]]:
    """Random rules in every order; a rule is left out of every third setting or so."""
    rng = np.random.default_rng(49)
    draws: dict[str, Callable[[], float]] = {
        "repetition": lambda: float(rng.choice([0.6, 1.2, 2.0, 7.0])),
        "temperature": lambda: float(10 ** rng.uniform(-3, 1)),
        "top_k": lambda: int(rng.integers(1, VOCAB + 10)),
        "top_p": lambda: float(rng.uniform(0, 1)),
        "min_p": lambda: float(rng.uniform(0, 0.4)),
    }
    return [
        {name: drawn() for name, drawn in draws.items() if rng.random() < 2 / 3}
        | {"order": order, "banned": tuple(rng.integers(0, 10, 2).tolist()) if rng.random() < 0.5 else ()}
        for order in islice(cycle(permutations(ORDER)), n)
    ]


def by_transformers(logits: Array, rules: Rules) -> list[Any]:
    left = [torch.from_numpy(logits).double()[None]]
    for rule in rules.active:
        left.append(PROCESSORS[rule](getattr(rules, rule))(torch.tensor([SEEN]), left[-1]))
    return [(scores[0].softmax(dim=-1).numpy(), (scores[0] > -torch.inf).tolist()) for scores in left]


NEUTRAL = {name: getattr(Rules(), name) for name in ("banned", *ORDER)}

IN_BROWSER = """given.settings.map((rules, n) => {
    const found = module.stagesOf(given.logits[n], rules, given.seen);
    const kept = (scores) => Array.from(scores, (score) => score > -Infinity);
    const stages = found.map(({ rule, shares, scores }) => [rule, [...shares], kept(scores)]);
    return [stages, module.drawn(found.at(-1).shares, given.numbers[n])];
})"""


def test_in_every_order_any_settings_leave_what_transformers_leaves_in_both_languages() -> None:
    """With the penalty last, the likeliest word stood at a score of 0, which no penalty changes.

    Of equal scores, as from the 500th on, theirs keep others: there the languages agree.
    """
    chosen, numbers = settings(620), [(0.0, 0.371, 0.99)[n % 3] for n in range(620)]
    logits = [scores(n, size=5.0).round(6 if n < 500 else 0) for n in range(len(chosen))]
    for row in logits:
        row[[3, 7]] += 9  # words that were written are likely
    given = {"settings": [NEUTRAL | one for one in chosen], "logits": [row.tolist() for row in logits], "seen": SEEN}
    in_browser = call("writing/decoding.ts", IN_BROWSER, given | {"numbers": numbers})
    for n, ((shown, drawn), values) in enumerate(zip(in_browser, chosen, strict=True)):
        rules = Rules(**values)
        found = stages(logits[n], rules, seen=SEEN)
        ours = [(stage.probabilities, stage.allowed.tolist()) for stage in found]
        assert [rule for rule, *_ in shown] == [stage.rule for stage in found] == ["model", *rules.active], values
        expected = by_transformers(logits[n], rules) if n < 500 else ours
        for (p, allowed), (_, q, seen), (r, kept) in zip(ours, shown, expected, strict=True):
            assert allowed == seen == kept, values
            np.testing.assert_allclose([p, q], [r, r], atol=1e-9, err_msg=str(values))
        fallen = draw(found[-1].probabilities, numbers[n])
        assert drawn["token"] == fallen.token, values
        assert [drawn[end] for end in ("low", "high")] == pytest.approx([fallen.low, fallen.high], abs=1e-9)


@each("rules", [{"top_p": 0.0}, {"min_p": 1.0}, {"top_k": 1}, {"temperature": 0.0}])
def test_the_most_probable_token_always_stays(rules: dict[str, Any]) -> None:
    p = left(scores(), **rules)
    assert (p.argmax(), p.max()) == (scores().argmax(), 1)
    assert len(stages(scores(), Rules())) == 1  # rules that change nothing are left out


def test_the_most_extreme_rules_neither_overflow_nor_lose_the_sum_in_both_languages() -> None:
    logits = scores(size=1e4)
    asked = "[...module.stagesOf(given.logits, given.rules, given.seen).pop().shares]"
    for t, r, order in product((0.0, 5e-324, 1e-300, 1e308), (5e-324, 1.0, 1e308), (ORDER, ORDER[::-1])):
        values = {"temperature": t, "repetition": r, "order": order}
        p = left(logits, **values)
        assert p.sum() == pytest.approx(1), values
        assert p.max() == 1 or t > 1, values
        given = {"logits": logits.tolist(), "rules": NEUTRAL | values, "seen": SEEN}
        np.testing.assert_allclose(call("writing/decoding.ts", asked, given), p, atol=1e-12, err_msg=str(values))


def test_at_temperature_0_other_rules_still_count() -> None:
    """The most probable token occurred before, so a penalty makes another one the first."""
    logits = scores()
    best = int(logits.argmax())
    chosen = choose(logits, Rules(temperature=0.0, repetition=50.0), seen=(best,), number=None)
    assert chosen == np.argsort(logits)[-2]
    assert choose(logits, Rules(temperature=0.0), seen=(best,), number=None) == best


@each("broken", [np.nan, np.inf, -np.inf])
def test_scores_that_are_not_finite_are_refused(broken: float) -> None:
    with pytest.raises(ValueError, match="not finite"):
        stages(np.array([0.0, broken, 1.0]), Rules())


OUTSIDE: list[tuple[str, Any]] = [("temperature", -0.1), ("temperature", np.nan), ("repetition", 0.0)]
OUTSIDE += [("repetition", np.inf), ("top_k", -1), ("top_p", 1.01), ("min_p", -0.2)]
OUTSIDE += [("order", ORDER[1:]), ("order", (*ORDER[1:], "top_k"))]


@each("name, value", OUTSIDE)
def test_values_outside_their_range_are_refused(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name):
        Rules(**{name: value})


def test_repeated_n_grams_are_those_that_occurred_before() -> None:
    assert repeated([1, 2, 3, 4, 5, 6]) == 0
    assert repeated([1, 2, 3, 4, 1, 2, 3, 4]) == pytest.approx(1 / 5)
    assert repeated([7] * 13) == pytest.approx(9 / 10)
    assert repeated([1, 2, 3]) == 0
    assert repeated([1, 2, 1, 2], n=2) == pytest.approx(1 / 3)


def test_the_number_falls_into_the_part_of_its_token_and_never_into_what_was_cut_away() -> None:
    p = np.array([0.125, 0.5, 0.0, 0.375])
    for number, token in {0.0: 1, 0.49: 1, 0.5: 3, 0.874: 3, 0.875: 0, 0.999999: 0}.items():
        found = draw(p, number)
        assert found.token == token
        assert found.low <= number < found.high
        assert found.high - found.low == pytest.approx(p[token])
    p = left(scores(), top_k=7)
    assert p[draw(p, np.nextafter(1.0, 0.0)).token] > 0


def test_draws_follow_the_distribution_and_depend_on_seed_and_place() -> None:
    """χ² of 4,000 draws over ten tokens; 27.9 is the value that chance exceeds once in a thousand times."""
    logits = scores()[:10]
    p = stages(logits, Rules(temperature=1.4))[-1].probabilities
    tokens = [draw(p, number_for(seed, 5)).token for seed in range(4000)]
    expected = 4000 * p
    assert ((np.bincount(tokens, minlength=10) - expected) ** 2 / expected).sum() < 27.9
    numbers = np.array([number_for(seed, place) for seed in range(50) for place in range(40)])
    assert len(set(numbers)) == 2000
    assert ((numbers >= 0) & (numbers < 1)).all()
    assert ((np.bincount((10 * numbers).astype(int), minlength=10) - 200) ** 2 / 200).sum() < 27.9
    assert number_for(-3, 4) == number_for(-3, 4)


def test_entropy_is_that_of_torch_and_its_exponential_counts_equal_tokens() -> None:
    p = left(scores(), top_k=23)
    expected = torch.distributions.Categorical(torch.from_numpy(p)).entropy()
    assert entropy(p) == pytest.approx(float(expected), abs=1e-6)
    assert np.exp(entropy(np.full(8, 1 / 8))) == pytest.approx(8)
