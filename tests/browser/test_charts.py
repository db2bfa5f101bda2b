"""What only a browser shows of small charts: hovering, words for screen readers, data exchanged in place, files."""

import csv
import re
import struct

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import Visit, assert_fits, box_of, choose, saved, tool
from tests.pages import plain
from tfmviz.plots.theme import DARK, LIGHT
from tfmviz.text.tokenizer import Tokenizer

DRAWN = "[data-testid=stVegaLiteChart] svg"
LOOKUP = "/step_by_step?part=A+fuzzy+hash+table&layer=2&head=3&token=6"
CIRCLE = "/positions?text=Man+eats+small+dinosaur.&lesson=Sinusoidal&wave=A+shift+is+a+rotation&width=16"
BAR = ["Values", "SVG", "PNG", "Full screen"]
EVIL = "the <img src=x onerror=alert(1)> datum.x the 老王"


def chart(page: Page, key: str) -> Locator:
    found = page.locator(f".st-key-{key} svg.marks")
    found.scroll_into_view_if_needed()
    return found


def said(page: Page, key: str) -> list[str]:
    """What a screen reader hears of each bar, in order."""
    bars = chart(page, key).locator("[aria-roledescription=bar]").all()
    return [str(bar.get_attribute("aria-label")) for bar in bars]


def below(page: Page, key: str) -> list[str]:
    labels: list[str] = chart(page, key).evaluate(
        """svg => [...svg.querySelectorAll("[aria-label^=X-axis] .role-axis-label text")]
          .map(label => [label.getBoundingClientRect().left, label.textContent])
          .sort((one, other) => one[0] - other[0]).map(([, text]) => text)"""
    )
    return labels


def attention(text: str) -> tuple[list[str], list[float]]:
    """Tokens and the weights of layer 2, head 3 in the row of token 6, from numpy alone."""
    tokens = Tokenizer.load(plain.MODEL / "tokenizer.json").encode(text, max_len=256).tokens[:7]
    return [token.strip() for token in tokens], plain.forward(text)[0][2, 3, 6, :7].tolist()


def assert_shows(page: Page, text: str) -> None:
    tokens, row = attention(text)
    which = [f" (token {n})" * (tokens.count(token) > 1) for n, token in enumerate(tokens)]
    heard = [f"“{token}”{number}, soft: attention: " for token, number in zip(tokens, which, strict=True)]
    last = re.compile(re.escape(heard[-1]) + rf"{int(100 * row[-1]) / 100:.2f}\d")
    expect(chart(page, "lookup").get_by_label(last).last).to_be_attached()
    found = said(page, "lookup")[:7]
    assert [label.rsplit(" ", 1)[0] + " " for label in found] == heard
    np.testing.assert_allclose([float(label.rsplit(" ", 1)[1]) for label in found], row, atol=1e-3)


def test_a_chart_is_saved_with_its_values_and_a_new_sentence_exchanges_its_data_and_leaves_it_where_it_is(
    visit: Visit,
) -> None:
    page = visit.open(f"{LOOKUP}&text=the+cat+saw+the+dog+and+the", drawn=DRAWN)
    assert_shows(page, "the cat saw the dog and the")
    assert_can_be_saved(page)
    assert below(page, "lookup") == ["the", "cat", "saw", "the", "dog", "and", "the"]
    chart(page, "lookup").evaluate("svg => { svg.dataset.mark = 'same' }")
    visit.enter("a dog saw a cat or a")
    expect(page).to_have_url(re.compile("a(%20|\\+)dog"))
    choose(page, "Token", re.compile("^6 +a"))
    assert_shows(page, "a dog saw a cat or a")
    assert below(page, "lookup") == ["a", "dog", "saw", "a", "cat", "or", "a"]
    expect(chart(page, "lookup")).to_have_attribute("data-mark", "same")  # else the browser has built the chart anew


def test_markup_and_expressions_stay_text_where_they_are_pointed_at_and_read_out(visit: Visit) -> None:
    page = visit.open(f"/positions?text={EVIL.replace(' ', '+')}", drawn=DRAWN)
    bars = chart(page, "order_everything").locator("[aria-roledescription=bar]")
    heard = said(page, "order_everything")
    assert any("<" in label for label in heard)
    summary = chart(page, "order_everything").locator("[aria-roledescription=summary]")
    assert heard[0] in str(summary.get_attribute("aria-label"))
    place = next(n for n, label in enumerate(heard[len(heard) // 2 :], len(heard) // 2) if "<" in label)
    bars.nth(place).hover()
    tip = page.locator("#vg-tooltip-element.visible")
    expect(tip).to_have_text(heard[place])
    expect(tip.locator("*")).to_have_count(0)
    expect(page.locator("svg.marks image, svg.marks foreignObject, svg.marks a")).to_have_count(0)


@pytest.mark.parametrize("width", [390, 1280])
def test_the_circle_is_round_and_fits(visit: Visit, width: int) -> None:
    page = visit.open(CIRCLE, drawn=DRAWN)
    assert_fits(page)
    boxes = [box_of(dot) for dot in chart(page, "circle").locator("[aria-roledescription=point]").all()]
    spans = np.ptp([(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes], axis=0)
    assert spans[0] == pytest.approx(spans[1], rel=0.03)
    frame = box_of(chart(page, "circle"))
    assert frame["width"] <= width
    assert spans[0] > 0.4 * min(frame["width"], frame["height"])


def assert_can_be_saved(page: Page) -> None:
    """As a picture, without network, and as the values of the sentence."""
    chart(page, "lookup")
    picture = saved(page.locator(".st-key-lookup"), "PNG")
    assert picture.startswith(b"\x89PNG")
    width, _ = struct.unpack(">II", picture[16:24])
    assert width >= 1.9 * box_of(chart(page, "lookup"))["width"]
    chart(page, "lookup")
    tool(page.locator(".st-key-lookup"), "Values").focus()
    expect(page.locator(".st-key-lookup .tools").get_by_role("button")).to_have_text(BAR)
    page.keyboard.press("Enter")
    head, *rows = csv.reader(saved(page, "CSV").decode().splitlines())
    expect(page.locator("dialog.values tbody :is(th, td)")).to_have_text([cell for row in rows for cell in row])
    tokens, row = attention("the cat saw the dog and the")
    assert len(head) == 3
    soft = [one for one in rows if one[0] == "soft: attention"]
    assert [name for _, name, _ in soft] == tokens
    np.testing.assert_allclose([float(value) for *_, value in soft], row, atol=1e-6)
    page.keyboard.press("Escape")
    expect(page.locator("dialog.values")).to_have_count(0)


def test_charts_and_the_pages_colours_follow_the_system_into_the_dark(visit: Visit) -> None:
    page = visit.open("/residual_stream?stream=Lengths", drawn=DRAWN)
    rule, letters = page.locator(".stMarkdown blockquote").first, page.locator(f"{DRAWN} text[fill]").first
    for theme in (DARK, LIGHT):
        page.emulate_media(color_scheme="dark" if theme is DARK else "light")
        expect(letters).to_have_attribute("fill", theme.text)
        expect(rule).to_have_css("border-left-color", "rgb({}, {}, {})".format(*bytes.fromhex(theme.accent[1:])))
