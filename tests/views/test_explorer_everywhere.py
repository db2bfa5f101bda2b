"""The explorer in a browser: odd input, long texts, saved figures, any screen, any reader."""

import itertools
import re
import struct
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from plotly.colors import sample_colorscale, unlabel_rgb

from tests.browser import SCHEMES, tool
from tests.traces import ODD_TOKENS, causal, decoder, words
from tests.views.standalone import CROSS, LENGTH, TOKENS, TRACE, Standalone, centre_of_cell, said, strip_numbers, tile

pytestmark = pytest.mark.browser


def test_odd_tokens_one_head_and_144_heads(standalone: Standalone) -> None:
    page = standalone.open(decoder(ODD_TOKENS))
    titles = page.locator(".strip").first.locator("button").evaluate_all("all => all.map((node) => node.title)")
    assert titles == [f"Token {n}: “{token}”" for n, token in enumerate(ODD_TOKENS)]
    assert page.locator("main img, main script").count() == 0
    page = standalone.open(decoder(("a",), layers=1, heads=1))
    assert strip_numbers(page) == ["1.0"]
    assert said(page) == "“a” (token 0) looks at “a” 1.00."
    assert "only one token to attend to" in (page.locator(".verdict").text_content() or "")
    page = standalone.open(decoder(words(17), layers=12, heads=12))
    tile(page, 11, 11).click()
    expect(page.locator(".headline strong")).to_have_text("Layer 11, head 11")


def test_512_tokens_can_be_read_by_zooming(standalone: Standalone) -> None:
    page = standalone.open(decoder(words(512), layers=1, heads=2), insides=True)
    assert "strongest lines; hover over a token for the other" in page.locator(".panel.lines").inner_text()
    page.get_by_label("Zoom of the matrix").fill("4")
    assert page.evaluate("insides.explorer.matrix.cell") >= 14
    page.locator(".matrix-picture").evaluate("(node) => node.scrollTo(1e6, 1e6)")
    x, y = centre_of_cell(page, 511, 511)
    assert x < 1280
    page.mouse.move(x, y)
    expect(page.locator(".tip")).to_contain_text("(token 511), key")


def test_the_strip_of_a_long_text_scrolls_to_the_token_that_is_pointed_at_elsewhere(standalone: Standalone) -> None:
    page = standalone.open(decoder(words(256), layers=1, heads=1))
    strip = page.locator(".strip").first
    token = strip.locator("button").nth(2)
    expect(token).not_to_be_in_viewport()
    page.locator(".column.query button").nth(2).hover()
    page.evaluate("scrollTo(0, 0)")
    expect(token).to_be_in_viewport()


SVG = "{http://www.w3.org/2000/svg}"

TITLES = ("Every head", "Who looks at whom", "As a matrix")


def saved(page: Page, name: str) -> Path:
    button = tool(page, name)
    with page.expect_download() as download:
        button.click()
    path = Path(download.value.path())
    assert download.value.suggested_filename.endswith((".svg", ".png"))
    return path


def test_figures_are_saved_as_svg_with_title_tokens_and_caption_and_as_png_at_twice_their_size(
    standalone: Standalone,
) -> None:
    page = standalone.open(decoder((*TOKENS, "</svg>", "\x01"), layers=2), title="some & model")
    for title in TITLES:
        root = ElementTree.fromstring(saved(page, f"SVG: {title}").read_text(encoding="utf-8"))
        texts = ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]
        assert texts[0].startswith("some & model: "), title
        if title == "Every head":
            assert "layer 1" in texts
            assert len(list(root.iter(f"{SVG}image"))) == 6
        else:
            assert {"animal", "</svg>"} <= {*texts}, title
        data = saved(page, f"PNG: {title}").read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        twice = [2 * float(root.attrib[side]) for side in ("width", "height")]
        assert struct.unpack(">II", data[16:24]) == pytest.approx(twice, abs=2), title


def test_the_svg_of_the_matrix_holds_every_cell_and_says_what_filters_left_out(
    standalone: Standalone,
) -> None:
    page = standalone.open()
    pattern = TRACE["decoder.0.self_attn.pattern"][0]
    root = ElementTree.fromstring(saved(page, "SVG: As a matrix").read_text(encoding="utf-8"))
    fills = [node.attrib["fill"] for node in root.iter(f"{SVG}rect") if "fill" in node.attrib]
    cells = [fill for fill in fills if fill.startswith("rgb(")]
    assert len(cells) == LENGTH * (LENGTH + 1) // 2
    assert fills.count("#d9dbe0") == LENGTH * (LENGTH - 1) // 2
    expected = [unlabel_rgb(c) for c in sample_colorscale("cividis", np.sqrt(pattern[causal(LENGTH)]))]
    found = [[float(n) for n in re.findall(r"\d+", fill)] for fill in cells]
    np.testing.assert_allclose(found, expected, atol=3)
    (title,) = (node for node in root.iter(f"{SVG}text") if "attended to" in "".join(node.itertext()))
    assert title.attrib["text-anchor"] == "start", "it begins above the matrix and is not cut off"
    page.get_by_text("Filters and colours").click()
    page.get_by_label("without the first token").check()
    for name, mentioned in (("As a matrix", True), ("Who looks at whom", True), ("Every head", False)):
        text = saved(page, f"SVG: {name}").read_text(encoding="utf-8")
        assert ("(without the first token)" in text) == mentioned, name


def test_axe_finds_nothing_to_complain_about(standalone: Standalone) -> None:
    for scheme, trace in itertools.product(SCHEMES, (TRACE, CROSS)):
        standalone.page.emulate_media(color_scheme=scheme)
        page = standalone.open(trace, title="some model")
        page.get_by_text("Filters and colours").click()
        page.get_by_text("Read the rows as text").click()
        expect(page.locator(".in-words li").first).to_be_visible()
        page.locator(".column.query button").nth(4).hover()
        results = Axe().run(page)
        assert results.violations_count == 0, results.generate_report()


def test_nothing_is_wider_than_the_screen(standalone: Standalone) -> None:
    for width, trace in itertools.product((360, 640, 1280), (decoder(words(64), layers=12, heads=12), CROSS)):
        standalone.page.set_viewport_size({"width": width, "height": 800})
        page = standalone.open(trace)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_tap_on_a_phone_chooses_head_and_token(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
    phone = Standalone(context, tmp_path)
    page = phone.open()
    tile(page, 1, 2).tap()
    expect(page.locator(".headline strong")).to_have_text("Layer 1, head 2")
    page.locator(".strip button").nth(2).tap()
    expect(page.locator(".strip button").nth(2)).to_have_attribute("aria-pressed", "true")
    assert said(page).startswith("“was” (token 2) looks at")
    assert phone.complaints == []
    context.close()
