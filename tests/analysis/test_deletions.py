"""What one part takes back of another, against a search by hand."""

import numpy as np
import pytest

import tfmviz
from tests.cases import each
from tfmviz.analysis import contributions, deletions
from tfmviz.analysis.contributions import Part, River


def river_of(*writes: list[float]) -> River:
    of_all = {"kind": "head", "step": "", "meets": np.zeros(2)}
    parts = tuple(Part(name=str(n), write=np.array(write), **of_all) for n, write in enumerate(writes))  # type: ignore[arg-type]
    nothing = dict.fromkeys(("size", "to_stream", "to_final", "along"), np.zeros(len(parts)))
    return River(parts=parts, final=np.ones(2), residue=0.0, **nothing)


def test_half_of_a_write_is_taken_back_and_nothing_where_all_agree() -> None:
    found = deletions.strongest(river_of([0.0, 1.0], [4.0, 0.0], [-2.0, 0.5]))
    assert found is not None
    assert (found.earlier, found.later) == (1, 2)
    assert found.share == pytest.approx(0.5)
    assert found.cosine == pytest.approx(-8 / (4 * np.hypot(2, 0.5)))
    assert deletions.strongest(river_of([0.0, 1.0], [1.0, 0.0], [1.0, 1.0])) is None


@each("name", ["tiny-english", "twins-postnorm", "fill-in"])
def test_no_other_pair_of_parts_has_a_more_negative_product(name: str) -> None:
    model = tfmviz.load(name)
    trace = model.trace("The cat sat on the mat.")
    (stack, weights), *_ = model.weights.stacks.items()
    river = contributions.river(trace, stack, 4, weights)
    found = deletions.strongest(river)
    assert found is not None
    writers = [n for n, part in enumerate(river.parts) if part.kind not in ("bias", "norm")]
    least = min(float(river.parts[i].write @ river.parts[j].write) for i in writers for j in writers if i < j)
    a, b = (river.parts[n].write for n in (found.earlier, found.later))
    assert float(a @ b) == pytest.approx(least)
    left = a + b  # without the share, nothing of b points along a
    assert (left - (1 - found.share) * a) @ a == pytest.approx(0, abs=1e-6 * float(a @ a))
