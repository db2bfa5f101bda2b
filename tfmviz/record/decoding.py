"""The choice of the next token: the distribution that each rule leaves, and the draw from it.

The rules and their usual order are those of Hugging Face's `generate`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from tfmviz.constants import LARGEST_SETTING, NEUTRAL
from tfmviz.record.trace import Array

Rule = Literal["banned", "repetition", "temperature", "top_k", "top_p", "min_p"]

ORDER: tuple[Rule, ...] = get_args(Rule)[1:]
"""The usual order. Banned tokens always go first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """The rules and their order. By default no rule changes anything.

    Attributes:
        repetition: r > 0 turns the score s of a token that has occurred, in the prompt too, into s / r if s > 0, else s
            · r (Keskar et al. 2019, section 4.1).
        temperature: T ≥ 0 divides all scores; 0 leaves the most probable token alone.
        top_k: keeps the k most probable tokens and ties with the last; 0 keeps all.
        top_p: p in [0, 1] keeps the fewest tokens, most probable first, that reach p together (Holtzman et al. 2020),
            at least one.
        min_p: in [0, 1], keeps tokens at least this share as probable as the best (Nguyen et al. 2024).
        order: each rule acts on the result of the one before.

    Raises:
        ValueError: a value lies outside its range, or the order does not name every rule once.
    """

    banned: tuple[int, ...] = ()
    repetition: float = 1.0
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    order: tuple[Rule, ...] = ORDER

    def __post_init__(self) -> None:
        ranges = {
            "repetition": np.isfinite(self.repetition) and self.repetition > 0,
            "temperature": np.isfinite(self.temperature) and self.temperature >= 0,
            "top_k": self.top_k >= 0,
            "top_p": 0 <= self.top_p <= 1,
            "min_p": 0 <= self.min_p <= 1,
        }
        for name, holds in ranges.items():
            if not holds:
                raise ValueError(f"{name} = {getattr(self, name)} lies outside its range; see `Rules`.")
        if sorted(self.order) != sorted(ORDER):
            raise ValueError(f"The order must name each of {', '.join(ORDER)} once, but is {', '.join(self.order)}.")

    @property
    def active(self) -> tuple[Rule, ...]:
        """The rules that change something."""
        first: tuple[Rule, ...] = ("banned",) if self.banned else ()
        return first + tuple(name for name in self.order if getattr(self, name) != NEUTRAL[name])


GREEDY = Rules(temperature=0.0)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Stage:
    """The distribution after one rule.

    Attributes:
        rule: "model" for the model's own distribution.
        probabilities: (vocab,), float64, sum 1.
        allowed: (vocab,), bool: not cut away so far.
    """

    rule: Rule | Literal["model"]
    probabilities: Array
    allowed: Array


def stages(logits: Array, rules: Rules, *, seen: Sequence[int] = ()) -> tuple[Stage, ...]:
    """The model's distribution, then that after each active rule, renormalised.

    Args:
        logits: (vocab,), finite.

    Raises:
        ValueError: a logit is not finite.
    """
    return tuple(_stage(rule, scores) for rule, scores in _scored(logits, rules, seen))


@dataclass(frozen=True, kw_only=True, slots=True)
class Draw:
    """A number's place in the cumulated distribution, most probable token first.

    Attributes:
        number: in [0, 1).
        token: the one whose part, `low` to `high`, holds the number.
    """

    number: float
    token: int
    low: float
    high: float


def draw(probabilities: Array, number: float) -> Draw:
    order = _largest_first(probabilities, among=probabilities > 0)
    ends = np.cumsum(probabilities[order])
    ends /= ends[-1]
    place = int(np.searchsorted(ends, number, side="right"))
    return Draw(number=number, token=int(order[place]), low=float(ends[place - 1]) if place else 0.0, high=ends[place])


def number_for(seed: int, place: int) -> float:
    """The number in [0, 1) that decides about the token at a place.

    It depends on nothing else, so a text continued later meets the same numbers.
    """
    return float(np.random.default_rng((seed % 2**64, place)).random())


def entropy(probabilities: Array) -> float:
    """-Σ p ln p in nats; exp of it is the number of equally likely tokens."""
    p = probabilities[probabilities > 0]
    return float(-(p * np.log(p)).sum())


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Step:
    """The choice of one token.

    Attributes:
        place: index in the text; in a translation the start token counts.
        logits: (vocab,).
        number: drawn from [0, 1); None if nothing was.
        given: True if given rather than chosen.
        n_read: tokens that the model read for this step.
        n_cached: tokens in the cache afterwards.
    """

    place: int
    token: int
    logits: Array
    rules: Rules
    seen: tuple[int, ...]
    number: float | None
    given: bool
    n_read: int
    n_cached: int

    @property
    def stages(self) -> tuple[Stage, ...]:
        """See `stages`; computed anew each time, since larger than the record."""
        return stages(self.logits, self.rules, seen=self.seen)

    @property
    def probability(self) -> float:
        """The model's own probability of the token, before all rules."""
        return float(self.stages[0].probabilities[self.token])

    @property
    def draw(self) -> Draw | None:
        return None if self.number is None else draw(self.stages[-1].probabilities, self.number)


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """One of many sampled texts: its new tokens, with the model's own log-probabilities."""

    ids: tuple[int, ...]
    log_probabilities: tuple[float, ...]


Fate = Literal["goes on", "complete", "dropped"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """One continuation that a beam search considered.

    Attributes:
        parent: index of the running text that it continues.
        log_probability: of the token.
        score: sum of the text's log-probabilities.
    """

    parent: int
    token: int
    log_probability: float
    score: float
    fate: Fate


@dataclass(frozen=True, kw_only=True, slots=True)
class Hypothesis:
    """A text in a beam search: its new tokens with the end token, and the score / lengthᵅ as `normalised`."""

    ids: tuple[int, ...]
    score: float
    normalised: float


@dataclass(frozen=True, kw_only=True, slots=True)
class BeamStep:
    """One step of a beam search.

    Attributes:
        length: new tokens of every running text after this step.
        candidates: the best first.
        running: in the order of their candidates.
        complete: so far, the best first.
    """

    length: int
    candidates: tuple[Candidate, ...]
    running: tuple[Hypothesis, ...]
    complete: tuple[Hypothesis, ...]


def way_to(ids: Sequence[int], steps: Sequence[BeamStep]) -> tuple[Candidate, ...] | None:
    """The continuations by which a beam search came to a text, one per token; None if it never did.

    The last one may have been dropped.
    """
    way: list[Candidate] = []
    parent = 0  # index of the running text that goes on
    for token, step in zip(ids, steps, strict=False):
        found = next((one for one in step.candidates if (one.parent, one.token) == (parent, token)), None)
        if found is None:
            return None
        way.append(found)
        going = [one for one in step.candidates if one.fate == "goes on"]
        parent = going.index(found) if found in going else -1  # nothing continues what was dropped or is complete
    return tuple(way) if 0 < len(ids) == len(way) else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Generation:
    """A text that a model wrote.

    Attributes:
        text: the prompt with its continuation, or the translation.
        steps: one per token, the end token included; empty after a beam search.
        beams: of a beam search.
    """

    text: str
    ids: tuple[int, ...]
    steps: tuple[Step, ...] = field(default=(), compare=False, repr=False)
    beams: tuple[BeamStep, ...] = field(default=(), compare=False, repr=False)


def kept_of(context: int, new: int) -> int:
    """The most tokens of a text to keep before `new` ones.

    The new ones should fit into the context, past which the model reads all anew for each; but half of it is always
    kept, or the new ones would not continue the text.
    """
    return max(context - new, context // 2, 1)


def repeated(ids: Sequence[int], n: int = 4) -> float:
    """The share of a text's n-grams that occurred in it before; 0 for a text shorter than n."""
    grams = [tuple(ids[at : at + n]) for at in range(len(ids) - n + 1)]
    return 1 - len(set(grams)) / len(grams) if grams else 0.0


def choose(logits: Array, rules: Rules, *, seen: Sequence[int], number: float | None) -> int:
    if rules.active == ("temperature",) and rules.temperature == 0:
        return int(logits.argmax())  # the usual case, without a distribution
    *_, (_, scores) = _scored(logits, rules, seen)
    return int(scores.argmax()) if number is None else draw(_softmax(scores), number).token


def _scored(logits: Array, rules: Rules, seen: Sequence[int]) -> Iterator[tuple[Rule | Literal["model"], Array]]:
    """The model's scores, then those after each active rule; -inf where cut away."""
    scores = np.asarray(logits, dtype=np.float64)
    if not np.isfinite(scores).all():
        raise ValueError("The model's scores for the next token are not finite, so nothing can be chosen.")
    yield "model", scores
    for rule in rules.active:
        scores = _EFFECTS[rule](scores, rules, seen)
        yield rule, scores


def _largest_first(values: Array, *, among: Array) -> Array:
    """Indices of some values, the largest first. Sorting what is cut would take longest."""
    kept = np.flatnonzero(among)
    return kept[np.argsort(-values[kept], kind="stable")]


def _stage(rule: Rule | Literal["model"], scores: Array) -> Stage:
    return Stage(rule=rule, probabilities=_softmax(scores), allowed=scores > -np.inf)


def _softmax(scores: Array) -> Array:
    p = np.exp(scores - scores.max())
    return p / p.sum()


def _banned(scores: Array, rules: Rules, _: Sequence[int]) -> Array:
    scores = scores.copy()
    scores[list(rules.banned)] = -np.inf
    return scores


def _repetition(scores: Array, rules: Rules, seen: Sequence[int]) -> Array:
    scores, before = scores.copy(), np.unique(np.asarray(seen, dtype=np.int64))
    old, penalty = scores[before], min(max(rules.repetition, 1 / LARGEST_SETTING), LARGEST_SETTING)
    scores[before] = np.where(old < 0, old * penalty, old / penalty)
    return scores


def _temperature(scores: Array, rules: Rules, _: Sequence[int]) -> Array:
    if rules.temperature == 0:
        return np.where(np.arange(len(scores)) == scores.argmax(), scores, -np.inf)
    return scores / max(rules.temperature, 1 / LARGEST_SETTING)  # not shifted: a penalty after it asks for the sign


def _top_k(scores: Array, rules: Rules, _: Sequence[int]) -> Array:
    if rules.top_k >= len(scores):
        return scores
    return np.where(scores >= np.partition(scores, -rules.top_k)[-rules.top_k], scores, -np.inf)


def _top_p(scores: Array, rules: Rules, _: Sequence[int]) -> Array:
    p = _softmax(scores)
    likely = p > (1 - rules.top_p) / (2 * len(p))  # all others have less than 1 - top_p together: they are not needed
    order = _largest_first(scores, among=likely)
    before = np.cumsum(p[order]) - p[order]  # how much the more probable ones have together
    kept = order[(before < rules.top_p) | (order == order[0])]
    found = np.full_like(scores, -np.inf)
    found[kept] = scores[kept]
    return found


def _min_p(scores: Array, rules: Rules, _: Sequence[int]) -> Array:
    p = _softmax(scores)
    return np.where(p >= rules.min_p * p.max(), scores, -np.inf)


_EFFECTS: dict[Rule, Callable[[Array, Rules, Sequence[int]], Array]] = {
    "banned": _banned,
    "repetition": _repetition,
    "temperature": _temperature,
    "top_k": _top_k,
    "top_p": _top_p,
    "min_p": _min_p,
}
