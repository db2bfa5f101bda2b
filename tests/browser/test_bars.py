"""Bars with their words, in a narrow column."""

import pytest

from tests.browser import Visit

COVERED = """row => {
  const word = row.querySelector(".label"), bar = row.querySelector(".length");
  const isCut = getComputedStyle(word).overflow === "hidden";
  return bar.offsetWidth === 0 || (word.scrollWidth > word.clientWidth && !isCut);
}"""


def test_a_long_word_does_not_cover_its_bar_which_is_as_long_as_the_share_that_it_says(visit: Visit) -> None:
    """At the end of a sentence the mark `<|endoftext|>` once stood on the bars."""
    visit.page.set_viewport_size({"width": 1024, "height": 768})
    page = visit.open("/switch_off?text=The+cat+sat+on+the+mat.", drawn="li .length")
    rows = page.locator(".bars li")
    assert not any(row.evaluate(COVERED) for row in rows.all())
    said = [float(text.rstrip("%")) / 100 for text in page.locator(".bars .number").all_inner_texts()]
    lengths = page.locator(".bars .length").evaluate_all("all => all.map((bar) => bar.style.width)")
    assert len(said) == len(lengths) > 8
    exact = [0 if width == "0px" else float(width.split()[1].rstrip("%)")) / 100 for width in lengths]
    assert said == pytest.approx(exact, rel=0.06, abs=1e-4)  # two digits are said
