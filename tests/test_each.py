"""A question asked of many cases: none is left out, and none that fails is passed over."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.each import each


def test_every_case_is_asked_and_every_one_that_fails_is_named(tmp_path: Path) -> None:
    asked = []

    @each("a, b", [(1, 2), (3, 3), (5, 6)])
    @each("c", "xy")
    def question(tmp_path: Path, b: int, a: int, c: str) -> None:
        asked.append((tmp_path, a, b, c))
        assert a == b or c == "x"

    with pytest.raises(BaseExceptionGroup, match="2 of 3 cases fail") as failed:
        question(tmp_path=tmp_path)
    assert asked == [(tmp_path, a, b, c) for a, b in [(1, 2), (3, 3), (5, 6)] for c in "xy"]
    assert [error.__notes__ for error in failed.value.exceptions] == [["a, b = (1, 2)"], ["a, b = (5, 6)"]]
