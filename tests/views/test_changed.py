"""What the browser computes is what Python does: two passes, and how numbers are written."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

from tests.cases import each
from tests.node import call
from tfmviz.analysis import ablation, mask_effect
from tfmviz.analysis.side_by_side import difference, distances, pair
from tfmviz.record.edits import SetMask
from tfmviz.record.trace import Trace
from tfmviz.views import masks
from tfmviz.words import numbers
from tfmviz.zoo import load

TEXT = "The cat sat on the mat."
LENGTH = 7
LAYER = "decoder.1.self_attn"


@pytest.fixture(scope="module")
def trace() -> Trace:
    return load("twins-rope").trace(TEXT)


def edits_of(change: str, edited: dict[str, Any], length: int = LENGTH) -> Any:
    given = {"change": change, "edited": edited, "length": length}
    return call("live/comparison_source.ts", "module.editsOf(given.change, given.edited, given.length)", given)


def test_a_part_that_is_off_is_the_edit_that_python_makes_of_it(trace: Trace) -> None:
    for part in ablation.parts_of(trace):
        found = edits_of(part.code, {"by": "parts", "factor": -0.5})
        assert [(one["site"], one["factor"], one["head"]) for one in found] == [
            (edit.site, edit.factor, edit.head) for edit in part.scaled(-0.5)
        ]
    off = {"by": "parts", "factor": 0}
    assert len(edits_of("d0.1,dm1,dl2", off)) == 4
    assert edits_of("", off) == []
    assert edits_of("d0.1", off | {"factor": None}) is None, "what only Python knows"


def test_a_mask_is_the_one_that_was_drawn_and_one_of_another_length_waits() -> None:
    edited = {"by": "masks", "layers": [LAYER], "tokens": LENGTH}
    assert edits_of("", edited, LENGTH + 1) is None
    assert edits_of("", edited | {"isOwn": True}, LENGTH + 1) == []
    drawn = np.random.default_rng(3).random((LENGTH, LENGTH)) < 0.4
    drawn[[2, 5]] = False
    edited = {"by": "masks", "layers": [LAYER], "heads": [True, False, True, True], "tokens": LENGTH}
    (found,) = edits_of(masks.to_bits(drawn), edited)
    usable, empty = mask_effect.filled(drawn)
    assert empty == [2, 5]
    assert (found["layer"], found["heads"]) == (LAYER, edited["heads"])
    np.testing.assert_array_equal(found["mask"], usable)
    SetMask(layer=LAYER, mask=tuple(map(tuple, found["mask"])))


def test_a_row_that_sees_nothing_is_blind_in_the_heads_that_have_the_mask() -> None:
    drawn = np.tri(LENGTH, k=-1, dtype=bool)
    edited = {"by": "masks", "layers": [LAYER], "heads": [True, False], "tokens": LENGTH}
    for change, shown, length, expected in (
        ({}, (LAYER, 0), LENGTH, [0]),
        ({}, (LAYER, 1), LENGTH, []),
        ({"heads": None}, (LAYER, 1), LENGTH, [0]),
        ({}, ("decoder.0.self_attn", 0), LENGTH, []),
        ({}, (LAYER, 0), LENGTH + 1, []),
        ({"by": "parts"}, (LAYER, 0), LENGTH, []),
    ):
        given = [masks.to_bits(drawn), edited | change, {"layer": shown[0], "head": shown[1]}, length]
        assert call("live/comparison_source.ts", "module.blindIn(...given)", given) == expected, (change, shown)


TEXTS = ["The cat sat on the mat .", "The mat on the cat sat", "a b a c", "b a", "x", "The cat sat on the big mat ."]


DIFFERENCE = """Array.from(
    module.differenceOf(...given.matrices, given.order, given.order), (n) => isNaN(n) ? null : n
)"""


@each("one, other", itertools.product(TEXTS, TEXTS))
def test_tokens_are_paired_and_compared_as_python_does(one: str, other: str) -> None:
    texts = one.split(), other.split()
    pairing = pair(*texts)
    spelled = [[f" {token}" for token in texts[0]], texts[1]]  # the space before a word does not count
    order = call("live/differences.ts", "module.pairsOf(given[0], given[1])", spelled)
    assert tuple(map(tuple, order)) == pairing.order
    rng = np.random.default_rng(4)
    a, b = patterns = [rng.dirichlet(np.ones(len(tokens)), len(tokens)) for tokens in texts]
    x, y = masked = [np.where(rng.random(pattern.shape) < 0.3, np.nan, pattern) for pattern in patterns]
    matrices = [{"rows": len(one), "columns": len(one), "values": one.ravel().tolist()} for one in patterns + masked]
    given = {"matrices": matrices[2:], "order": order}
    expected = difference(x, y, pairing, pairing)
    found = np.array(call("cells/head_pair.ts", DIFFERENCE, given), float).reshape(expected.shape)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    given = {"matrices": matrices[:2], "shared": pairing.pairs}
    moved = call("live/differences.ts", "module.distancesOf(...given.matrices, given.shared)", given)
    np.testing.assert_allclose(moved, distances(a[None], b[None], pairing, pairing)[0], atol=1e-12)


def test_vectors_move_as_far_as_python_says(trace: Trace) -> None:
    other = load("twins-rope").trace(TEXT, ablation.parts_of(trace)[3].scaled(0))
    expected = mask_effect.stream_change(trace, other, "decoder")
    for row, site in zip(expected, [f"decoder.{n}.resid_post" for n in range(len(expected))], strict=True):
        before, after = ({"shape": one[site].shape, "data": one[site].ravel().tolist()} for one in (trace, other))
        given = {"before": before, "after": after}
        found = call("live/differences.ts", "module.movedOf(given.before, given.after)", given)
        np.testing.assert_allclose(found, row, atol=1e-6)


TIES = [0.5, 1.5, 2.5, 0.125, 0.375, 0.25, 0.75, 0.0625, 12.5, 0.625, 0.03125, 1.125, 2048.5]
"""Exactly half way between two neighbours, at some number of digits."""
NEAR_TIES = [0.145, 0.155, 0.285, 1.005, 2.675, 0.995, 0.0145, 0.00155, 1.25e-5, 3.5e-7]
"""Half way only as people write them; the numbers themselves lie a little above or below."""
EDGES = [0.0, 1.0, 9.94, 9.95, 9.96, 99.5, 0.095, 0.0949, 0.0095, 0.00949, 0.001, 0.000999, 1e-300, 123456.7, 1e15]
RANDOM = (10 ** np.random.default_rng(0).uniform(-12, 6, 500)).tolist()
VALUES = [*TIES, *NEAR_TIES, *EDGES, *RANDOM]


def written(name: str, values: list[float], *arguments: Any) -> list[str]:
    expression = f"given[0].map((value) => module.{name}(value, ...given[1]))"
    found: list[str] = call("shared/numbers.ts", expression, [values, arguments])
    return found


def test_numbers_are_written_as_python_writes_them() -> None:
    values = [*VALUES, *(-value for value in VALUES)]
    for digits, sign in itertools.product(range(4), (False, True)):
        expected = [numbers.decimal(value, f"{'+' if sign else ''}.{digits}f") for value in values]
        assert written("decimal", values, digits, {"sign": sign}) == expected
    negative = [-value for value in VALUES]
    for name, python in (("tiny", numbers.tiny), ("perCent", numbers.per_cent), ("rounded", numbers.rounded)):
        assert written(name, VALUES) == [python(value) for value in VALUES]
        assert name == "rounded" or written(name, negative) == [python(value) for value in negative]
    odd = (math.nan, math.inf, -math.inf)
    both = {"decimal": numbers.decimal, "tiny": numbers.tiny, "perCent": numbers.per_cent, "rounded": numbers.rounded}
    for name, ours in both.items():
        found = call("shared/numbers.ts", f"[NaN, Infinity, -Infinity].map((value) => module.{name}(value))", None)
        assert found == [ours(value) for value in odd] == ["–"] * 3, name
