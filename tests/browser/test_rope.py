"""What only a browser shows of the arrows: turning without the server, keys, the address, accessibility."""

import re
from urllib.parse import quote

import numpy as np
from playwright.sync_api import Page, expect

from tests.browser import Visit, keys, open_tab
from tests.pages.test_rope import first_layer, ids_of

TEXT = "The cat sat on the mat."
ADDRESS = f"/positions_rope?text={quote(TEXT)}"
DRAWN = ".turning .strong:not(:empty)"
ELSEWHERE = "[data-testid=stVegaLiteChart] svg, .cells canvas"
THETA = 10000.0 ** (-np.arange(16) / 16)
STEP = """([name, value]) => {
  const range = globalThis.tfmvizViews.turning.view.sliders[name].range;
  const view = globalThis.tfmvizViews.turning.view;
  const began = performance.now();
  range.value = value;
  range.dispatchEvent(new Event("input"));
  cancelAnimationFrame(view.frame);
  view.frame = null;
  view.draw();
  return performance.now() - began;
}"""


def slide(page: Page, name: str, value: int) -> float:
    """Moves a slider as a hand would and draws at once; returns the milliseconds it took."""
    return float(page.evaluate(STEP, [name, value]))


def product_at(i: int, j: int, *, query: int, key: int) -> float:
    """q · k of layer 0, head 2 with the two tokens put at positions i and j, by complex numbers."""
    q, k = (x[:, 2] for x in first_layer("tiny-english", ids_of("tiny-english", TEXT)))
    a, b = (x[n, ::2] + 1j * x[n, 1::2] for x, n in ((q, query), (k, key)))
    return float((a * b.conj() * np.exp(1j * (i - j) * THETA)).sum().real)


def told(product: float) -> str:
    """A number as the view writes it."""
    return f"q · k = {product:.3f}".replace("-", "−")


def test_products_are_right_stay_when_both_move_and_are_drawn_at_once(visit: Visit) -> None:
    page = visit.open(f"{ADDRESS}&layer=0&head=2&token=5&turn=2.3.5.2", drawn=DRAWN)
    standing = told(product_at(5, 2, query=5, key=2))
    whole, kept = page.locator(".turning .strong"), page.locator(".turning .kept")
    expect(whole).to_contain_text(standing)
    expect(page.locator(".says .aside")).to_contain_text(f"at 5 and 2: {standing}")
    slide(page, "both", 200)
    expect(whole).to_contain_text(standing)
    expect(kept).to_have_text(re.compile(r"Both moved by \+198: .*difference of (0|\d\.\d·10⁻([⁶⁷⁸⁹]|¹\S))\."))
    slide(page, "i", 210)
    expect(whole).to_contain_text(told(product_at(210, 200, query=5, key=2)))
    expect(kept).to_contain_text("third slider")
    expect(page).to_have_url(re.compile(r"turn=2\.3\.210\.200"))
    fastest = min(slide(page, name, n) for n in range(2, 9) for name in ("i", "j", "both"))
    assert fastest < 50, "milliseconds: a busy machine slows most steps, but not all"


def test_arrow_keys_slide_and_choose_pairs_and_the_address_keeps_it(visit: Visit) -> None:
    page = visit.open(f"{ADDRESS}&turn=2.3.5.2&token=5", drawn=DRAWN)
    page.get_by_label("both together").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".turning .kept")).to_contain_text("Both moved by +1")
    page.locator(".dials button[aria-pressed=true]").focus()
    keys(page, "ArrowRight", "Enter")
    expect(page.locator(".says p").first).to_contain_text("Pair 4, θ = 0.100")
    expect(page.locator(".dials button[tabindex='0']")).to_have_count(1)
    expect(page.locator(".dials button[tabindex='0']")).to_have_attribute("aria-pressed", "true")
    expect(page).to_have_url(re.compile(r"turn=2\.4\.6\.3"))
    page.reload()
    page.wait_for_selector(DRAWN)
    expect(page.locator(".says p").first).to_contain_text("Pair 4")
    expect(page.get_by_label("i, position of q")).to_have_value("6")


def test_other_tokens_stand_where_they_do_in_the_sentence(visit: Visit) -> None:
    page = visit.open(f"{ADDRESS}&turn=2.3.50.20", drawn=DRAWN)
    i, j = page.get_by_label("i, position of q"), page.get_by_label("j, position of k")
    page.get_by_label("Query q:").select_option("4")
    expect(i).to_have_value("4")
    expect(j).to_have_value("2")
    expect(page).to_have_url(re.compile(r"turn=2\.3\.4\.2"))
    open_tab(page, "Biases")
    page.wait_for_selector(ELSEWHERE)
    open_tab(page, "Turning")
    page.wait_for_selector(DRAWN)
    expect(i).to_have_value("4")
    visit.enter("My dog ran home.")
    expect(page.get_by_label("Key k:").locator("option").nth(1)).to_have_text("1 “dog”")
    expect(i).to_have_value("4")
    expect(page).not_to_have_url(re.compile("turn="))
    expect(page.get_by_label("Key k:")).to_have_value("2")
    expect(j).to_have_value("2")
