"""A question asked of many cases: none is left out, and none that fails is passed over."""

from pathlib import Path

import pytest

from tests.cases import each


def test_every_case_is_asked_and_every_one_that_fails_is_named(tmp_path: Path) -> None:
    asked = []

    @each("a, b", {"one": (1, 2), "two": (3, 3), "three": (5, 6)})
    @each("c", "xy")
    def question(tmp_path: Path, b: int, a: int, c: str) -> None:
        assert not list(tmp_path.iterdir())
        (tmp_path / "own").touch()
        asked.append((a, b, c))
        assert a == b or c == "x"

    with pytest.raises(AssertionError) as failed:
        question(tmp_path=tmp_path)
    assert asked == [(a, b, c) for a, b in [(1, 2), (3, 3), (5, 6)] for c in "xy"]
    assert "a, b = one" in str(failed.value)
    assert "a, b = three" in str(failed.value)
    assert "two" not in str(failed.value)
