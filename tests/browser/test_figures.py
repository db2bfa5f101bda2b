"""What figures and tables keep to: words beside bars, numbers in line, where a part is seen, and how things move."""

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser import AT_REST, Server, Visit
from tests.cases import each


def test_a_long_word_does_not_cover_its_bar_which_is_as_long_as_the_share_that_it_says(visit: Visit) -> None:
    """At the end of a sentence the mark `<|endoftext|>` once stood on the bars."""
    visit.page.set_viewport_size({"width": 1024, "height": 768})
    page = visit.open("/switch_off?text=The+cat+sat+on+the+mat.", drawn="li .length")
    assert page.evaluate("looks.covered()") == []
    said = [float(text.rstrip("%")) / 100 for text in page.locator(".bars .number").all_inner_texts()]
    lengths = page.locator(".bars .length").evaluate_all("all => all.map((bar) => bar.style.width)")
    assert len(said) == len(lengths) > 8
    exact = [0 if width == "0px" else float(width.split()[1].rstrip("%)")) / 100 for width in lengths]
    assert said == pytest.approx(exact, rel=0.06, abs=1e-4)  # two digits are said


PARTS = {
    "a cell of a picture": ("/residual_stream", "lengths", ("it", "layer 3 MLP"), 0),
    "a row of a picture": ("/residual_stream", "lengths", ("it",), 0),
    "a cell of the explorer": ("/explorer", "explorer", ("it", "animal"), 12),
    "a row of the explorer": ("/explorer", "explorer", ("it",), 0),
    "a cell of a step": ("/step_by_step?stage=share", "steps", ("A", "it", "animal"), 12),
    "a matrix of a step": ("/step_by_step?stage=scores", "steps", ("Kᵀ",), 0),
    "a box of the whole model": ("/whole_model", "whole_model", ("logits",), 12),
    "a name beside a chart": ("/residual_stream", "growth", ("layer 3 MLP",), 12),
    "a mark of a chart": ("/residual_stream", "growth", ("“it”", "layer 3 MLP"), 0),
    "a cell of a table": ("/complexity", "table", ("self-attention",), 12),
}


@each("address, key, names, letters", PARTS)
def test_a_part_lies_in_its_figure(visit: Visit, address: str, key: str, names: tuple[str, ...], letters: int) -> None:
    page = visit.open(address, drawn=f".st-key-{key}")
    found = page.evaluate("([key, names]) => [tfmvizWhere(key), tfmvizWhere(key, ...names)]", [key, list(names)])
    whole, part = found
    assert part["letters"] >= letters
    for start, size in (("left", "width"), ("top", "height")):
        assert whole[start] - 1 <= part[start] <= part[start] + part[size] <= whole[start] + whole[size] + 1
    assert page.evaluate("key => tfmvizWhere(key, 'no such word')", key) is None


COUNTING = """
    globalThis.moved = 0;
    const animate = Element.prototype.animate;
    Element.prototype.animate = function (...how) { globalThis.moved += 1; return animate.apply(this, how); };
"""


def test_a_hidden_word_moves_cells_but_not_on_load_nor_for_those_who_want_none(
    context: BrowserContext, server: Server
) -> None:
    page = context.new_page()
    page.add_init_script(COUNTING)
    visit = Visit(page, server)
    for wish in ("no-preference", "reduce"):
        page.emulate_media(reduced_motion=wish)
        visit.open("/masks?text=The+cat+sat+on+the+mat.&start=causal", drawn=".lab .count")
        assert page.evaluate("moved") == 0, wish
        page.locator(".lab .sentence button", has_text="cat").click()
        expect(page.locator(".lab .count")).to_contain_text("22 of 7 × 7")
        page.wait_for_function(AT_REST)
        assert (page.evaluate("moved") > 0) == (wish == "no-preference"), wish
        expect(page.locator(".board canvas")).to_have_count(1)  # nothing is left of the old picture


LOW, ORDERED = "/why?why=Test it", "/complexity"


def test_numbers_end_in_line_hidden_rows_are_counted_and_a_wide_table_scrolls(visit: Visit) -> None:
    page = visit.open(LOW, drawn=".counts table")
    [(is_cut, below, said)] = page.evaluate("looks.low()")
    assert not is_cut
    assert below == said > 0
    assert page.evaluate("looks.ragged()") == []
    visit.page.set_viewport_size({"width": 260, "height": 844})
    page = visit.open(ORDERED, drawn=".counts table")
    scroller = page.locator(".counts .scroller")
    expect(page.get_by_role("columnheader")).to_have_count(5)
    page.locator(".counts .fades").wait_for()
    scroller.evaluate("(node) => node.scrollTo(node.scrollWidth, 0)")
    page.locator(".counts .fades").wait_for(state="hidden")
    for address, view in (("/residual_stream?stream=Logit lens", ".lens"), ("/writing?behind=Beam search", ".beams")):
        visit.open(address, drawn=f"{view} button").locator(f"{view} .scroller.fades").wait_for()


def test_no_number_field_cuts_its_value(visit: Visit) -> None:
    for address in (
        "/positions?lesson=Sinusoidal&wave=A shift is a rotation",
        "/positions?lesson=Sinusoidal&wave=By hand",
        "/positions_rope?scheme=Wavelengths",
        "/masks?layer=3",
    ):
        page = visit.open(address, drawn="[data-testid=stNumberInputField]")
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 800})
            page.wait_for_function(AT_REST)
            assert page.evaluate("looks.cut('[data-testid=stNumberInputField]')") == [], (address, width)


@pytest.mark.parametrize("width", [390])
def test_on_a_phone_a_stage_shows_its_whole_matrix_and_a_head_is_broken_with_a_hyphen(visit: Visit) -> None:
    page = visit.open("/step_by_step", drawn=".st-key-steps .grid.large canvas")
    page.wait_for_function(
        """() => {
          const box = tfmvizViews.steps.view.picture, canvas = box.querySelector("canvas");
          return canvas.clientWidth <= box.clientWidth && box.scrollWidth <= box.clientWidth;
        }"""
    )
    page = visit.open("/complexity", drawn="th.bar")
    expect(page.locator("th.bar").first).to_have_text("multipli\u00adcations")
