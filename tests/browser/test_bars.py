"""Bars with their words, in a narrow column."""

from __future__ import annotations

import pytest

from tests.browser import Visit

pytestmark = pytest.mark.browser

COVERED = """row => {
  const [word, bar] = ["label", "length"].map((part) => row.querySelector("." + part).getBoundingClientRect());
  return word.right > bar.left || bar.width === 0;
}"""


def test_a_long_word_leaves_its_bar_room(visit: Visit) -> None:
    """At the end of a sentence the mark `<|endoftext|>` once covered bars of no length, four figures beside each other."""
    visit.page.set_viewport_size({"width": 1024, "height": 768})
    page = visit.open("/ladder", drawn="li .length")
    ends = page.locator("li", has_text="<|endoftext|>")
    assert ends.count() == 4
    assert not any(ends.nth(n).evaluate(COVERED) for n in range(4))
