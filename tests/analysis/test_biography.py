"""Biographies: shares by hand, claims that must and must not hold, and the file."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.traces import encoding, pattern
from tfmviz import zoo
from tfmviz.analysis.biography import words
from tfmviz.analysis.biography.claims import Claim, Sums, claims, interval, proportion
from tfmviz.analysis.biography.file import HeadCatalog, HeadProfile, NoBiographies, load, save, unlike
from tfmviz.analysis.biography.kinds import KINDS, Frequencies, cells, cells_on_repeats
from tfmviz.analysis.biography.measure import FAR, Tally, tally
from tfmviz.record.trace import Array, Encoding

NOTHING = Frequencies(frequent=frozenset(), common=frozenset())

SENTENCE = encoding(["The", " cat", " saw", " 3", " cats", ",", " Cat", "."])

Cells = set[tuple[int, int]]


def cells_of(matrix: Array) -> Cells:
    return {(int(i), int(j)) for i, j in np.argwhere(matrix)}


def marked(keys: Encoding, mask: Array) -> dict[str, Cells]:
    """Rows are queries; the first key is of no kind, and rows with one other key have no choice."""
    return dict(zip(KINDS, map(cells_of, cells(SENTENCE, keys, mask, NOTHING)), strict=True))


def test_the_kinds_are_those_that_a_reader_would_mark_also_across_two_texts() -> None:
    where = marked(SENTENCE, np.tri(8, dtype=bool))
    assert where["previous"] == {(i, i - 1) for i in range(2, 8)}
    assert where["two before"] == {(i, i - 2) for i in range(3, 8)}
    assert where["near before"] == {(i, j) for i in range(2, 8) for j in range(max(1, i - 3), i)}
    assert where["near"] == where["near before"] | where["itself"]
    assert where["next"] == where["near after"] == where["same place"] == set()
    assert where["itself"] == {(i, i) for i in range(2, 8)}
    assert where["same word"] == {(6, 1)}
    assert where["punctuation"] == {(6, 5), (7, 5)}
    assert where["capital"] == {(7, 6)}
    assert where["number"] == {(i, 3) for i in range(4, 8)}
    near = {(i, j) for i in range(8) for j in range(1, 8) if abs(i - j) <= 3}
    assert marked(SENTENCE, np.ones((8, 8), dtype=bool))["near"] == near
    found = marked(encoding(["Der", " 3", " cat", "."]), np.ones((8, 4), dtype=bool))
    assert found["same place"] == {(1, 1), (2, 2), (3, 3)}
    assert found["same word"] == {(1, 2), (3, 1), (6, 2), (7, 3)}
    assert not found["previous"]


def test_frequent_tokens_make_half_of_a_text_and_repeats_show_what_followed() -> None:
    found = Frequencies.of([encoding("aaaaaaaabbbbccddefghijkl")])  # 24 tokens: a makes 8, b 4
    assert found.frequent == {0, 1}
    assert len(found.common) == 10
    followed, same, previous = map(cells_of, cells_on_repeats(encoding("abcabc"), np.tri(6, dtype=bool)))
    assert followed == {(3, 1), (4, 2), (5, 3)}
    assert same == {(4, 1), (5, 2)}  # (3, 0) is the first key
    assert previous == {(3, 2), (4, 3), (5, 4)}


def test_sums_are_those_counted_by_hand_and_two_tokens_leave_no_choice() -> None:
    mask = np.tri(8, dtype=bool)
    patterns = pattern(3, mask).astype(float)
    found = tallied(patterns, SENTENCE, SENTENCE, mask)
    number = KINDS.index("number")
    for head, a in enumerate(patterns):
        rest = a[:, 1:].sum(axis=1)
        assert found.rest[head] == pytest.approx(sum(rest[2:]))
        assert found.first[head] == pytest.approx(a[2:, 0].sum())
        assert found.sharp[head] == pytest.approx(a[2:, 1:].max(axis=1).sum())
        alike = sum(min(a[i, j], rest[i] / i) for i in range(2, 8) for j in range(1, i + 1))
        assert found.shared[head] == pytest.approx(alike)
        assert found.mass[head, number] == pytest.approx(a[4:, 3].sum())
        assert found.room[head, number] == pytest.approx(sum(rest[4:]))
        assert found.even[head, number] == pytest.approx(sum(rest[i] / i for i in range(4, 8)))
        assert found.distances[head, FAR + 1 + 2] == pytest.approx(sum(a[i, i - 2] for i in range(3, 8)))
        assert found.distances[head].sum() == pytest.approx(found.rest[head])
        assert found.best[head] == a[found.query[head], found.key[head]] == a[4:, 1:].max()
    for n in (1, 2):
        mask, some = np.tri(n, dtype=bool), encoding("ab"[:n])
        assert tally(pattern(3, mask), mask, cells(some, some, mask, NOTHING)) is None


def tallied(patterns: Array, queries: Encoding, keys: Encoding, mask: Array) -> Tally:
    found = tally(patterns, mask, cells(queries, keys, mask, NOTHING))
    assert found is not None
    return found


def of_words(patterns: Array) -> Tally:
    """On a text of as many different words as the patterns have rows."""
    length = patterns.shape[-1]
    some = encoding([f"w{n}" for n in range(length)])
    return tallied(patterns, some, some, np.tri(length, dtype=bool))


def drawn(pull: float, *, seed: int = 0) -> list[Tally]:
    """40 texts on which a first head looks at the token before as far as `pull` says, and a second one evenly."""
    found = []
    for length in np.random.default_rng(seed).integers(6, 14, size=40).tolist():
        even, before = rows(np.ones((length, length))), np.eye(length, k=-1)
        before[0, 0] = 1
        found.append(of_words(np.stack([pull * before + (1 - pull) * even, even])))
    return found


def test_a_claim_is_made_where_there_is_something_and_holds_where_it_is_so_again() -> None:
    here, there, gone = (Sums.of(drawn(pull, seed=seed)) for seed, pull in enumerate((0.8, 0.7, 0.0)))
    (made, even), (lost, _) = claims(here, there, KINDS), claims(here, gone, KINDS)
    assert made is not None
    held = [claim and (claim.kind, claim.held) for claim in (made, even, lost)]
    assert held == [("previous", True), ("evenly", True), ("previous", False)]
    assert made.low < made.share < made.high
    assert made.chance < 0.3
    assert claims(Sums.of(drawn(0.1)), there, KINDS, evenly=False) == [None, None]


def rows(weights: Array) -> Array:
    """Each row divided by its sum, where a causal mask allows it."""
    seen = np.tril(weights)
    return np.asarray(seen / seen.sum(axis=-1, keepdims=True))


def heads_by_hand(length: int, rng: np.random.Generator) -> dict[str, Array]:
    """Patterns that are what their names say, and two that are nothing."""
    back = np.arange(length)[:, None] - np.arange(length)
    at_first = np.eye(length)[[0] * length] * 1e-9  # for rows that have nothing else
    alibi = {f"ALiBi, 1/{1 / slope:.0f}": rows(np.exp(-slope * np.abs(back))) for slope in (1 / 4, 1 / 64)}
    return alibi | {
        "previous": rows((back == 1) + at_first),
        "two before": rows((back == 2) + at_first),
        "itself": rows(back == 0),
        "near": rows(abs(back) <= 3),
        "near before": rows(((back >= 1) & (back <= 3)) + at_first),
        "evenly": rows(np.ones((length, length))),
        "scores of deviation 0.8": rows(np.exp(0.8 * rng.normal(size=(length, length)))),
        "a quarter near": (rows(abs(back) <= 3) + 3 * rows(np.ones((length, length)))) / 4,
    }


def test_a_head_that_is_one_thing_by_construction_gets_that_claim_and_no_other() -> None:
    """ALiBi without scores: a slope of 1/4 looks near, of 1/64 at all alike. Ordinary scores are no even spread."""
    expected = {kind: kind for kind in ("previous", "two before", "itself", "near", "near before", "evenly")}
    expected |= {"ALiBi, 1/4": "near", "ALiBi, 1/64": "evenly"}
    rng = np.random.default_rng(0)
    texts = [heads_by_hand(length, rng) for length in rng.integers(8, 20, size=80).tolist()]
    found = [of_words(np.stack(list(by_hand.values()))) for by_hand in texts]
    made = claims(Sums.of(found[:40]), Sums.of(found[40:]), KINDS)
    said = {name: claim.kind for name, claim in zip(texts[0], made, strict=True) if claim is not None and claim.held}
    assert said == expected


def test_a_head_between_two_texts_may_align_them() -> None:
    both = np.stack([np.eye(5), np.eye(5)[[2] * 5]])
    queries, keys = encoding(["The", " dog", " is", " good", "!"]), encoding(["Der", " Hund", " ist", " gut", "."])
    sums = Sums.of([tallied(both, queries, keys, np.ones((5, 5), dtype=bool))] * 5)
    made, other = claims(sums, sums, KINDS, across=True)
    assert made is not None
    assert (made.kind, made.share, made.held) == ("aligned", 1.0, True)
    assert other is None or other.kind != "aligned"


def test_intervals_hold_what_they_promise() -> None:
    """About 95% of 200 intervals hold the mean behind the samples; Wilson's has its published value."""
    rng, inside = np.random.default_rng(3), 0
    for _ in range(200):
        values = rng.normal(0.6, 0.2, size=80)
        draws = rng.multinomial(80, np.full(80, 1 / 80), size=300).astype(float)
        _, low, high = interval(values, np.ones(80), draws)
        inside += low <= 0.6 <= high
    assert 0.88 <= inside / 200 <= 0.99
    assert proportion(81, 263) == pytest.approx((0.2553, 0.3662), abs=2e-4)  # Newcombe 1998, table I


CLAIM = Claim(kind="previous", found=0.8, share=0.7, low=0.65, high=0.75, chance=0.2, held=True)

MEASURED: dict[str, Any] = {
    **{"first": 0.25, "sharp": 0.5, "evenness": 0.4, "distance": 2.5, "distances": (0.5, 0.5)},
    **{"kinds": {"previous": (0.7, 0.2)}, "copying": -0.5, "damage": (0.02, 0.01, 0.03), "there": 0.04},
    **{"elsewhere": float("nan"), "worst": ((3, 2, 1.5),), "examples": ((0, 4, 2, 0.9),)},
}
BIOGRAPHY = HeadProfile(**MEASURED, claim=CLAIM, twice=None, damage_twice=float("nan"))


def book_for(name: str, found: HeadProfile = BIOGRAPHY) -> HeadCatalog:
    stacks = zoo.load(name).weights.stacks.values()
    attention = [(layer, matrices) for stack in stacks for layer, matrices in stack.attention.items()]
    heads = {layer: (found,) * len(matrices.W_Q) for layer, matrices in attention}
    return HeadCatalog(texts="english.txt", found_on=5, tested_on=1234, damaged_on=2, twice_on=40, heads=heads)


def test_a_file_is_read_as_it_was_written_and_only_with_its_weights(tmp_path: Path) -> None:
    file, weights = tmp_path / "heads.json", zoo.load("induction").weights
    with pytest.raises(NoBiographies, match="missing"):
        load(file, weights)
    save(file, book_for("induction"), weights)
    one = load(file, weights).heads["decoder.1.self_attn"][2]
    assert replace(one, elsewhere=0.0, damage_twice=0.0) == replace(BIOGRAPHY, elsewhere=0.0, damage_twice=0.0)
    assert np.isnan([one.elsewhere, one.damage_twice]).all()
    with pytest.raises(NoBiographies, match="other weights"):
        load(file, zoo.load("twins-attention-only").weights)
    said = json.loads(file.read_text())
    said["heads"]["decoder.0.self_attn"].pop()
    for broken in (json.dumps(said), "{", "[]", '{"weights": "x", "heads": {"a": [{}]}}'):
        file.write_text(broken)
        with pytest.raises(NoBiographies):
            load(file, weights)


def test_words_say_what_held_and_nothing_else() -> None:
    book = book_for("induction")
    said = words.summary_text(BIOGRAPHY, book)
    for number in ("25% of", "70% to", "65 to 75% on 1,234", "20%", "0.020", "0.010 to 0.030"):
        assert number in said
    failed = replace(BIOGRAPHY, claim=replace(CLAIM, held=False), damage=(0.01, -0.01, 0.02))
    said = words.summary_text(failed, book)
    assert "25%" in said
    assert "no claim held" in said
    assert "does not rise" in said
    assert not {"70%", "65", "0.01"} & set(said.replace("(", " ").split())
    assert (failed.name, BIOGRAPHY.name) == ("no claim", "previous")
    again = replace(BIOGRAPHY, twice=replace(CLAIM, kind="induction", share=0.9))
    assert (again.name, words.score(again)) == ("induction", 0.9)
    said, lost = words.summary_text(again, book), words.summary_text(replace(again, damage_twice=2.5), book)
    for one in (said, lost):
        assert "90% of its attention to what followed the same token before when random tokens are repeated (65" in one
    assert ("2.50" in lost, "2.50" in said) == (True, False)
    assert book_for("induction", failed).coverage == (0, 8)
    assert book_for("induction", again).precision == (16, 16)


def test_a_head_is_most_like_itself() -> None:
    other = replace(BIOGRAPHY, first=0.9, kinds={"previous": (0.1, 0.2)})
    assert unlike(BIOGRAPHY, BIOGRAPHY) == 0
    assert unlike(BIOGRAPHY, other) == unlike(other, BIOGRAPHY) > 0.2
