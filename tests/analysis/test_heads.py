"""What heads do: scores, verdicts, what they must be confirmed by, and which head links two words."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.cases import each
from tests.model.sizes import N_LAYERS
from tests.records import traced
from tfmviz.analysis import heads
from tfmviz.analysis.heads import BROAD, CROSS_KINDS, NAMED, SELF_KINDS, Kind, Verdict, head_scores, links, verdicts
from tfmviz.analysis.rollout import rollout
from tfmviz.record.trace import Array, Encoding

NAMES = {2: "We", 3: " know", 5: " that", 7: ",", 11: " ;", 13: " …"}
"""Tokens of some indices; others are called t17 and so on. The index 17 is " we", the same word as "We"."""


def text(ids: Sequence[int]) -> Encoding:
    tokens = tuple({**NAMES, 17: " we"}.get(index, f" t{index}") for index in ids)
    return Encoding(text="".join(tokens), ids=tuple(ids), tokens=tokens, offsets=((0, 0),) * len(ids))


# Repeats: 4 repeats 1; 5 repeats 2; 7 repeats 1 and 4; 8 is the word of 0; 10 repeats 2 and 5.
IDS = (2, 3, 5, 7, 3, 5, 11, 3, 17, 13, 5)
TEXT = text(IDS)
N = len(IDS)
CAUSAL = np.tri(N, dtype=bool)
FULL = np.ones((N, N), dtype=bool)


def cells(kind: Kind, i: int, read: Encoding, mask: Array) -> list[int]:
    """The keys at which a head of the kind looks from row i; none where the row says nothing of it."""
    others = [j for j in range(len(read)) if j != i and mask[i, j]]
    words = ["we" if token in ("We", " we") else token for token in read.tokens]
    found: dict[Kind, list[int]] = {
        "previous token": [i - 1] if i else [],
        "current token": [i] if i else [],
        "first token": [0] if i else [],
        "next token": [i + 1] if i + 1 in others else [],
        "same word": [j for j in others if words[j] == words[i]],
        "induction": [j + 1 for j in range(i) if read.ids[j] == read.ids[i]],
        "punctuation": [j for j in others if read.tokens[j] in (",", " ;", " …")],
    }
    return found[kind]


def perfect(kind: Kind, mask: Array) -> Array:
    """(len, len): attention spread evenly over what the kind looks at, or on the first token where that is nothing."""
    if kind == "broad":
        return mask / mask.sum(axis=1, keepdims=True)
    rows = [cells(kind, i, TEXT, mask) or [0] for i in range(N)]
    return np.array([[keys.count(j) / len(keys) for j in range(N)] for keys in rows])


@each(
    "kind, mask", [(kind, mask) for kind in SELF_KINDS for mask in (CAUSAL, FULL) if kind != "next token" or mask[0, 1]]
)
def test_a_perfect_head_scores_one_and_is_named(kind: Kind, mask: Array) -> None:
    for dtype in (np.float32, np.float64):
        scores = head_scores(perfect(kind, mask)[None].astype(dtype), TEXT, TEXT, mask)
        assert set(scores) == set(SELF_KINDS)
        assert verdicts(scores) == (Verdict(kind, pytest.approx(1)),)  # type: ignore[arg-type]
        assert all(not scores[other][0] > 0.95 for other in SELF_KINDS if other != kind)


# Seven rows that write six words and the end, nine source tokens.
SOURCE = text((3, 17, 5, 19, 23, 29, 31, 37, 7))
TARGET = text((2, 41, 43, 47, 53, 59, 61))
CROSS = np.ones((7, 9), dtype=bool)
REORDERED = np.eye(9)[[0, 2, 1, 5, 3, 8, 8]]
PHRASES = np.eye(9)[[0, 2, 1, 5, 3, 8, 8]] / 2 + np.eye(9)[[0, 2, 1, 6, 4, 7, 8]] / 2
PERFECT_CROSS: dict[Kind, Array] = {
    "alignment": REORDERED,
    "first token": np.eye(9)[[0] * 7],
    "punctuation": np.eye(9)[[8] * 7],
    "broad": np.full((7, 9), 1 / 9),
}


@each("kind, pattern", [*PERFECT_CROSS.items(), ("alignment", PHRASES)])
def test_a_perfect_head_of_cross_attention_is_named(kind: Kind, pattern: Array) -> None:
    scores = head_scores(pattern[None], TARGET, SOURCE, CROSS)
    assert set(scores) == set(CROSS_KINDS)
    assert verdicts(scores) == (Verdict(kind, pytest.approx(1)),)  # type: ignore[arg-type]
    assert scores["alignment"][0] == pytest.approx(1 if kind == "alignment" else 0)


def test_from_half_an_alignment_on_a_head_is_said_to_align() -> None:
    for part, kind in ((heads.ALIGNED, "alignment"), (heads.ALIGNED - 0.01, "mixed")):
        rows = np.full((7, 9), 0.0)
        rows[:, 4] = 1 - part  # one place for all, and one for each: 1 − part + 6 part at the most
        rows[np.arange(7), [0, 2, 1, 5, 3, 8, 8]] += part
        scores = head_scores(rows[None], TARGET, SOURCE, CROSS)
        assert scores["alignment"][0] == pytest.approx(part)
        assert verdicts(scores)[0].kind == kind


@each("place, is_known", [(6, False), (3, False), (2, True)])
def test_punctuation_needs_something_to_look_at_in_half_of_the_text(place: int, is_known: bool) -> None:
    ids = [3, 5, 17, 19, 23, 29, 31]
    ids[place] = 7
    read = text(ids)
    scores = head_scores(np.eye(7)[None], read, read, np.tri(7, dtype=bool))
    assert np.isnan(scores["punctuation"]).all() != is_known
    assert verdicts(scores) == (Verdict("current token", 1),)


def test_ordinary_scores_are_no_even_spread_and_marks_are_counted() -> None:
    tokens = (",", " …", '."', "。", " —", " ___", "'t", " $", "👩", " ", "<|endoftext|>", "[byte 1/3]")
    assert [heads.is_punctuation(token) for token in tokens] == [True] * 5 + [False] * 7
    scores = np.where(CAUSAL, 0.8 * np.random.default_rng(0).normal(size=(20, N, N)), -np.inf)
    pattern = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    found = head_scores(pattern, TEXT, TEXT, CAUSAL)
    assert found["broad"].mean() > 0.8
    assert "broad" not in {verdict.kind for verdict in verdicts(found)}


def test_without_a_repeated_token_induction_and_same_word_are_undefined() -> None:
    different = text(range(20, 20 + N))
    shown: tuple[Kind, ...] = ("previous token", "current token", "first token")
    scores = head_scores(np.stack([perfect(kind, CAUSAL) for kind in shown]), different, different, CAUSAL)
    undefined = {"induction", "same word", "next token", "punctuation"}
    assert {kind for kind in SELF_KINDS if np.isnan(scores[kind]).all()} == undefined
    assert not any(np.isnan(scores[kind]).any() for kind in set(SELF_KINDS) - undefined)
    assert tuple(verdict.kind for verdict in verdicts(scores)) == shown


def test_a_single_token_is_no_choice() -> None:
    alone = text((5,))
    scores = head_scores(np.ones((3, 1, 1)), alone, alone, np.ones((1, 1), dtype=bool))
    assert set(scores) == set(SELF_KINDS)
    assert all(values.shape == (3,) and np.isnan(values).all() for values in scores.values())
    found = verdicts(scores)
    assert [verdict.kind for verdict in found] == ["mixed"] * 3
    assert all(math.isnan(verdict.score) for verdict in found)
    across = head_scores(np.ones((3, 4, 1)), text((2, 3, 5, 7)), alone, np.ones((4, 1), dtype=bool))
    assert all(np.isnan(values).all() for values in across.values())


def random_mask(length: int) -> Array:
    """A random mask: every token may look at itself, the one of row 3 only at itself."""
    mask = np.random.default_rng(3).random((length, length)) < 0.6
    mask[3] = False
    return mask | np.eye(length, dtype=bool)


@each("mask", [np.tri(13, dtype=bool), np.ones((13, 13), dtype=bool), random_mask(13)])
def test_scores_are_those_of_a_plain_loop(mask: Array) -> None:
    read = text([2, 5, 5, 7, 17, 5, 0, 0, 0, 3, 11, 2, 5])  # also twice and three times in a row
    weights = np.exp(2 * np.random.default_rng(7).standard_normal((3, 13, 13))) * mask
    pattern = weights / weights.sum(axis=-1, keepdims=True)
    scores = head_scores(pattern, read, read, mask)
    for head, rows in enumerate(pattern.tolist()):
        found = {kind: float(values[head]) for kind, values in scores.items() if not np.isnan(values[head])}
        assert found == pytest.approx(slow_scores(rows, read, mask), rel=1e-12)


def slow_scores(rows: list[list[float]], read: Encoding, mask: Array) -> dict[Kind, float]:
    """One head, one row at a time."""
    found: dict[Kind, list[float]] = {kind: [] for kind in SELF_KINDS}
    even = []
    for i, row in enumerate(rows):
        for kind in SELF_KINDS:
            if kind != "broad" and (keys := cells(kind, i, read, mask)):
                found[kind].append(sum(row[j] for j in keys))
        if marks := cells("punctuation", i, read, mask):
            even.append(len(marks) / mask[i].sum())
        if mask[i].sum() > 1:
            entropy = -sum(weight * math.log(weight) for weight in row if weight > 0)
            found["broad"].append(entropy / math.log(mask[i].sum()))
    means = {kind: sum(values) / len(values) for kind, values in found.items() if values}
    chance = sum(even) / len(even)
    return means | {"punctuation": max(means["punctuation"] - chance, 0) / (1 - chance)}


def one_head(**changes: float) -> dict[Kind, Array]:
    """Scores of a layer with one head, 0 unless given; spaces in the names are written "_"."""
    assert {name.replace("_", " ") for name in changes} <= set(SELF_KINDS)
    return {kind: np.array([changes.get(kind.replace(" ", "_"), 0.0)]) for kind in SELF_KINDS}


def test_confirmed_believes_repeats_only_as_far_as_both_texts_do() -> None:
    nan = float("nan")
    here: dict[Kind, Array] = {kind: np.array([0.7, 0.1, nan]) for kind in SELF_KINDS}
    believed = heads.confirmed(here, {kind: np.array([0.2, 0.9, 0.5]) for kind in SELF_KINDS})
    for kind in SELF_KINDS:
        expected = [0.2, 0.1, nan] if kind in ("induction", "same word") else [0.7, 0.1, nan]
        np.testing.assert_array_equal(believed[kind], expected)
    np.testing.assert_array_equal(here["induction"], [0.7, 0.1, nan])
    assert verdicts(one_head(induction=0.9)) == (Verdict("induction", 0.9),)
    assert verdicts(heads.confirmed(one_head(induction=0.9), one_head(induction=0.1))) == (Verdict("mixed", 0.1),)


JUST_NAMED, JUST_BROAD = np.nextafter(NAMED, 0), np.nextafter(BROAD, 0)


@each(
    "scores, expected",
    [
        (one_head(first_token=NAMED), Verdict("first token", NAMED)),
        (one_head(first_token=NAMED, broad=JUST_BROAD), Verdict("first token", NAMED)),
        (one_head(first_token=NAMED, broad=BROAD), Verdict("broad", BROAD)),
        (one_head(first_token=JUST_NAMED, broad=BROAD), Verdict("broad", BROAD)),
        (one_head(first_token=JUST_NAMED, broad=JUST_BROAD), Verdict("mixed", JUST_NAMED)),
        (one_head(same_word=0.5, induction=0.6, current_token=0.55), Verdict("induction", 0.6)),
        (one_head(induction=math.nan, same_word=math.nan, previous_token=0.3), Verdict("mixed", 0.3)),
        (one_head(previous_token=math.nan, current_token=0.5), Verdict("current token", 0.5)),
        (one_head(previous_token=0.3, broad=math.nan), Verdict("mixed", 0.3)),
    ],
)
def test_verdicts_at_the_edges(scores: dict[Kind, Array], expected: Verdict) -> None:
    assert verdicts(scores) == (expected,)


def test_the_overlap_of_two_heads_is_what_total_variation_leaves() -> None:
    """Σ min(a, b) = 1 − ½ Σ |a − b|, over the queries with several keys; the first query has one."""
    mask = np.tri(7, dtype=bool)
    weights = np.random.default_rng(3).random((5, 7, 7)) * mask
    pattern = weights / weights.sum(axis=-1, keepdims=True)
    pattern[4] = pattern[1]
    apart = np.abs(pattern[:, None, 1:] - pattern[None, :, 1:]).sum(axis=-1).mean(axis=-1)
    found = heads.overlap(pattern, mask)
    np.testing.assert_allclose(found, 1 - apart / 2)
    assert found[1, 4] == pytest.approx(1)
    assert np.isnan(heads.overlap(np.ones((2, 1, 1)), np.ones((1, 1), dtype=bool))).all()


MODELS: dict[str, list[dict[str, Any]]] = {
    "decoder.self_attn": [{}, {"n_kv_heads": 1}],
    "encoder.self_attn": [{"architecture": "encoder-only", "positions": "alibi"}, {"architecture": "encoder-decoder"}],
    "decoder.cross_attn": [{"architecture": "encoder-decoder"}],
}


@each("kind, changes", [(kind, one) for kind, every in MODELS.items() for one in every])
def test_weights_are_those_of_every_head_of_the_kind(kind: str, changes: dict[str, Any]) -> None:
    trace, (stack, part) = traced(**changes), kind.split(".")
    patterns = np.stack([trace[f"{stack}.{n}.{part}.pattern"] for n in range(N_LAYERS)])
    np.testing.assert_array_equal(links(trace, kind, 5, 3), patterns[:, :, 5, 3])


def test_a_look_that_the_mask_forbids_has_no_weight() -> None:
    assert np.isnan(links(traced(), "decoder.self_attn", 2, 5)).all()


def test_a_key_is_reached_exactly_where_its_share_is_not_zero_also_by_staying_where_one_is() -> None:
    """The masks: nobody may look at itself in the one layer, and only at itself or the next token in the other."""
    length = 5
    others = ~np.eye(length, dtype=bool)
    next_or_same = np.eye(length, dtype=bool) | np.eye(length, k=1, dtype=bool)
    for masks in ([others], [others, others], [next_or_same, next_or_same], [next_or_same, others]):
        patterns = [np.stack([mask / mask.sum(axis=-1, keepdims=True)] * 2) for mask in masks]
        mixed, reached = rollout(patterns, masks)
        np.testing.assert_allclose(mixed.sum(axis=-1), 1)
        np.testing.assert_array_equal(reached, mixed > 0)
        assert reached.diagonal().all()
