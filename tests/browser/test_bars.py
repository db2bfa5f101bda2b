"""Bars with their words, in a narrow column."""

from __future__ import annotations

import pytest

from tests.browser import Visit

pytestmark = pytest.mark.browser

COVERED = """row => {
  const word = row.querySelector(".label"), bar = row.querySelector(".length");
  const isCut = getComputedStyle(word).overflow === "hidden";
  return bar.offsetWidth === 0 || (word.scrollWidth > word.clientWidth && !isCut);
}"""


def test_a_long_word_does_not_cover_its_bar(visit: Visit) -> None:
    """At the end of a sentence the mark `<|endoftext|>` once stood on the bars of four figures beside each other."""
    visit.page.set_viewport_size({"width": 1024, "height": 768})
    page = visit.open("/ladder", drawn="li .length")
    ends = page.locator("li", has_text="<|endoftext|>")
    assert ends.count() == 4
    assert not any(ends.nth(n).evaluate(COVERED) for n in range(4))
