"""What only a browser shows of the feed-forward page: clicks, keys, the address, files, widths, access."""

import re

from playwright.sync_api import Page, expect

from tests.browser import Visit, box_of, saved, tool

SENTENCE = "model=tiny-english&text=The+cat+sat+on+the+mat.&layer=2&token=3"
PAGE = f"/feed_forward?{SENTENCE}"
DRAWN = ".feed-forward canvas[role=img]"


def chosen(page: Page) -> str:
    return page.locator(".feed-forward .why h2").inner_text()


def expect_sum(page: Page, n_terms: int) -> None:
    """The explanation has come from the server: boxes with terms, and as last line a sum that is the number above."""
    expect(page.locator(".feed-forward .term")).to_have_count(n_terms)
    value = chosen(page).rsplit(": ", 1)[1]
    expect(page.locator(".feed-forward .why p").last).to_have_text(re.compile(rf"\(bias\) = {re.escape(value)}$"))


def test_a_click_on_a_number_shows_where_it_comes_from_and_the_address_says_so(visit: Visit) -> None:
    page = visit.open(PAGE, drawn=DRAWN)
    expect_sum(page, 12)
    box = box_of(page.locator(DRAWN))
    page.locator(DRAWN).click(position={"x": box["width"] / 2, "y": box["height"] - 20})
    expect(page).to_have_url(re.compile(r"number=out\.\d+"))
    expect(page.locator(".feed-forward .why h2")).to_have_text(re.compile(r"^\+ out, coordinate \d+: "))
    expect_sum(page, 12)
    said = chosen(page)
    page.reload()
    page.wait_for_selector(DRAWN, state="attached")
    expect(page.locator(".feed-forward .why h2")).to_have_text(said)


def test_arrow_keys_lead_from_number_to_number(visit: Visit) -> None:
    page = visit.open(f"{PAGE}&number=pre.0", drawn=DRAWN)
    expect(page.locator(".feed-forward .why h2")).to_have_text(re.compile("neuron 0: "))
    page.locator(DRAWN).focus()
    page.keyboard.press("ArrowDown")
    expect(page).to_have_url(re.compile(r"number=pre\.1(&|$)"))
    expect_sum(page, 12)
    expect(page.locator(DRAWN)).to_have_attribute("aria-label", re.compile("Chosen: h = x W_in \\+ b, neuron 1: "))


def test_the_vector_is_written_out_and_saved(visit: Visit) -> None:
    page = visit.open(f"{PAGE}&number=post.7", drawn=DRAWN)
    tool(page, "Values").click()
    expect(page.locator("dialog.values tbody tr")).to_have_count(1000)
    expect(page.get_by_text(re.compile(r"^The first 1,000 of [34],\d+ rows"))).to_be_visible()
    page.keyboard.press("Escape")
    picture = saved(page.locator(".feed-forward"), "SVG").decode()
    assert "W_in, 256 × 1,024 weights" in picture
    assert picture.count("<image") == 6


def test_a_click_on_a_neuron_shows_what_it_does(visit: Visit) -> None:
    page = visit.open(f"{PAGE}&layer_part=Neurons", drawn=".st-key-neurons canvas")
    expect(page.get_by_text(re.compile("^Words that neuron "))).to_be_visible()
    before = page.get_by_label(re.compile("^Neuron ")).input_value()
    canvas = page.locator(".st-key-neurons canvas[tabindex='0']").first
    box = box_of(canvas)
    canvas.click(position={"x": box["width"] - 60, "y": box["height"] / 2})
    expect(page).to_have_url(re.compile(r"neuron=\d+"))
    expect(page.get_by_label(re.compile("^Neuron "))).not_to_have_value(before)
    number = page.get_by_label(re.compile("^Neuron ")).input_value()
    expect(page.get_by_text(f"Words that neuron {number} promotes")).to_be_visible()
    page.get_by_role("radio", name="the whole layer").click()
    expect(page).to_have_url(re.compile("neurons_off=the"))
    expect(page.get_by_text(re.compile("with them, .* without"))).to_be_visible()
