"""What figures, tables and tabs keep to: words beside bars, numbers in line, where a part is seen, how things move."""

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser import AT_REST, Server, Visit, open_tab
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


SCROLLED = "document.querySelector('[data-testid=stMain]').scrollTop"

IN_SIGHT = """() => {
  const tab = document.querySelector(".stTabs [role=tab][aria-selected=true]");
  const [box, strip] = [tab, tab.parentElement].map((node) => node.getBoundingClientRect());
  return box.top >= 0 && box.top < innerHeight / 2 && box.left >= strip.left - 1 && box.right <= strip.right + 1;
}"""
"""The open tab is in the upper half of the window and in the strip of tabs."""


def test_a_tab_below_the_figures_comes_into_sight_if_the_address_names_it_and_a_later_choice_moves_nothing(
    visit: Visit,
) -> None:
    page = visit.open("/writing?text=The+cat+sat&behind=Repetition", drawn=".stTabs [role=tab]")
    page.wait_for_function(IN_SIGHT)
    before = page.evaluate(SCROLLED)
    assert before > 0
    page.mouse.move(640, 400)
    page.mouse.wheel(0, -before)
    page.wait_for_function(f"() => {SCROLLED} === 0")
    page.evaluate("document.querySelectorAll('.stTabs [role=tab]')[1].focus({ preventScroll: true })")
    page.keyboard.press("Enter")
    page.wait_for_function("() => /behind=Keyboard/.test(location.href)")
    page.wait_for_function(AT_REST)
    page.wait_for_timeout(500)  # it would have looked five times
    assert page.evaluate(SCROLLED) == 0
    page = visit.open("/writing?text=The+cat+sat", drawn=".stTabs [role=tab]")
    page.wait_for_timeout(500)
    assert page.evaluate(SCROLLED) == 0


def test_the_quiz_asks_beside_its_picture(visit: Visit) -> None:
    page = visit.open("/masks?text=The+cat+sat+on+the+mat.&effect=Quiz", drawn=".st-key-riddle canvas")
    boxes = page.locator("[role=tabpanel] [data-testid=stExpander]").all()
    assert len(boxes) == 3
    picture = page.locator(".st-key-riddle canvas").bounding_box()
    for box in (expander.bounding_box() for expander in boxes):
        assert box is not None
        assert picture is not None
        assert box["y"] + box["height"] <= 800
        assert box["x"] >= picture["x"] + picture["width"]


@pytest.mark.parametrize("width", [390])
def test_on_a_phone_the_open_tab_the_names_of_switches_and_the_last_column_are_whole(visit: Visit) -> None:
    page = visit.open("/tokens?text=The+cat+sat&tokens=Neighbours", drawn=".stTabs [role=tab]")
    page.wait_for_function(IN_SIGHT)
    page = visit.open("/positions?text=The+cat+sat&lesson=Sinusoidal&wave=On+real+words", drawn=".stCheckbox")
    cut = "() => [...document.querySelectorAll('.stCheckbox p')].every((p) => p.scrollWidth <= p.clientWidth)"
    page.wait_for_function(cut)
    page = visit.open("/masks?text=The+cat+sat&effect=Kinds", drawn=".stTable")
    fits = "() => [...document.querySelectorAll('.stTable table')].every((t) => t.getBoundingClientRect().right <= 391)"
    page.wait_for_function(fits)


def test_measurements_stand_without_the_controls_that_they_do_not_read(visit: Visit) -> None:
    page = visit.open("/bottleneck?seen=Measured", drawn=".stVegaLiteChart svg, .stVegaLiteChart canvas")
    controls = page.get_by_role("button", name="From the start")
    expect(controls).not_to_be_visible()
    open_tab(page, "Alignments")
    expect(controls).to_be_visible()
