"""What the browser makes of two passes is what Python makes of them."""

import itertools
from typing import Any

import numpy as np
import pytest

from tests.node import call
from tfmviz.analysis import ablation, mask_effect
from tfmviz.analysis.side_by_side import difference, distances, pair
from tfmviz.record.edits import SetMask
from tfmviz.record.trace import Trace
from tfmviz.views import masks
from tfmviz.zoo import load

TEXT = "The cat sat on the mat."
LENGTH = 7
LAYER = "decoder.1.self_attn"


@pytest.fixture(scope="module")
def trace() -> Trace:
    return load("twins-rope").trace(TEXT)


def edits_of(change: str, edited: dict[str, Any], length: int = LENGTH) -> Any:
    given = {"change": change, "edited": edited, "length": length}
    return call("live/editing.ts", "module.editsOf(given.change, given.edited, given.length)", given)


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


TEXTS = ["The cat sat on the mat .", "The mat on the cat sat", "a b a c", "b a", "x", "The cat sat on the big mat ."]


def test_tokens_are_paired_and_compared_as_python_does() -> None:
    for one, other in itertools.product(TEXTS, TEXTS):
        compared(one.split(), other.split())


COMPARED = """({
    moved: module.distancesOf(given.matrices[0], given.matrices[1], given.shared),
    difference: Array.from(
        module.differenceOf(given.matrices[2], given.matrices[3], given.order), (n) => isNaN(n) ? null : n
    ),
})"""


def compared(*texts: list[str]) -> None:
    pairing = pair(*texts)
    spelled = [[f" {token}" for token in texts[0]], texts[1]]  # the space before a word does not count
    order = call("live/pairing.ts", "module.pairsOf(given[0], given[1])", spelled)
    assert tuple(map(tuple, order)) == pairing.order
    rng = np.random.default_rng(4)
    a, b = patterns = [rng.dirichlet(np.ones(len(tokens)), len(tokens)) for tokens in texts]
    x, y = masked = [np.where(rng.random(pattern.shape) < 0.3, np.nan, pattern) for pattern in patterns]
    matrices = [{"rows": len(one), "columns": len(one), "values": one.ravel().tolist()} for one in patterns + masked]
    found = call("live/differences.ts", COMPARED, {"matrices": matrices, "order": order, "shared": pairing.pairs})
    expected = difference(x, y, pairing, pairing)
    np.testing.assert_allclose(np.array(found["difference"], float).reshape(expected.shape), expected, atol=1e-6)
    np.testing.assert_allclose(found["moved"], distances(a[None], b[None], pairing, pairing)[0], atol=1e-12)


def test_vectors_move_as_far_as_python_says(trace: Trace) -> None:
    other = load("twins-rope").trace(TEXT, ablation.parts_of(trace)[3].scaled(0))
    expected = mask_effect.stream_change(trace, other, "decoder")
    for row, site in zip(expected, [f"decoder.{n}.resid_post" for n in range(len(expected))], strict=True):
        before, after = ({"shape": one[site].shape, "data": one[site].ravel().tolist()} for one in (trace, other))
        given = {"before": before, "after": after}
        found = call("live/differences.ts", "module.movedOf(given.before, given.after)", given)
        np.testing.assert_allclose(found, row, atol=1e-6)
