"""The explorer in a browser: what it shows and answers, odd and long texts, saved figures, any screen, any reader."""

import itertools
import re
import struct
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect
from plotly.colors import sample_colorscale, unlabel_rgb

from tests.browser import SCHEMES, tool
from tests.traces import ODD_TOKENS, causal, decoder, read_payload, words
from tests.views.standalone import (
    CROSS,
    LENGTH,
    SOURCE,
    TOKENS,
    TRACE,
    Standalone,
    as_strip,
    chosen_heads,
    point_at,
    said,
    strip_numbers,
    tile,
)
from tfmviz import trace_of, views

pytestmark = pytest.mark.browser


@pytest.fixture
def standalone(context: BrowserContext, tmp_path: Path) -> Iterator[Standalone]:
    made = Standalone(context, tmp_path)
    yield made
    assert made.complaints == []


COLOURS = """all => all.map((node) => {
  const {data} = node.getContext("2d").getImageData(0, 0, node.width, node.height);
  return new Set(new Uint32Array(data.buffer)).size;
})"""


def test_it_opens_with_all_pictures_divides_no_row_by_zero_and_sorts_heads(standalone: Standalone) -> None:
    page = standalone.open(title="some model")
    expect(page.locator(".headline strong")).to_have_text("Layer 0, head 0")
    expect(page.locator(".tiles button")).to_have_count(9)
    assert strip_numbers(page) == as_strip(TRACE["decoder.0.self_attn.pattern"][0, -1])
    colours = page.locator("canvas").evaluate_all(COLOURS)
    assert len(colours) == 3
    assert min(colours) > 3
    page.get_by_text("Filters and colours").click()
    page.get_by_label("without the first token").check()
    page.locator(".strip button").first.hover()
    assert said(page) == "“The” (token 0) looks at nothing."
    assert strip_numbers(page)[0] == "–"  # left out, like what is masked
    header, _, _ = read_payload(views.payload(TRACE))
    scores = np.array(header["kinds"][0]["scores"]["previous token"], dtype=float)
    page.get_by_label("Order of the heads").select_option("previous token")
    names = page.locator(".tiles button").evaluate_all("all => all.map((node) => node.ariaLabel)")
    places = [tuple(int(n) for n in re.findall(r"\d+", name)[:2]) for name in names]
    found = [scores[place] for place in places]
    assert len(set(places)) == 9
    assert found == sorted(found, reverse=True)


def test_a_head_is_previewed_by_pointer_and_arrow_keys_and_kept_by_a_click_or_enter(standalone: Standalone) -> None:
    page = standalone.open()
    heading = page.locator(".headline strong")
    tile(page, 2, 1).hover()
    expect(heading).to_have_text("Layer 2, head 1")
    assert strip_numbers(page) == as_strip(TRACE["decoder.2.self_attn.pattern"][1, -1])
    page.locator("h1").hover()
    expect(heading).to_have_text("Layer 0, head 0")
    assert strip_numbers(page) == as_strip(TRACE["decoder.0.self_attn.pattern"][0, -1])
    tile(page, 0, 0).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(tile(page, 1, 1)).to_be_focused()
    expect(heading).to_have_text("Layer 1, head 1")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(heading).to_have_text("Layer 1, head 1")
    assert page.locator(".tiles button[tabindex='0']").count() == 1
    tile(page, 2, 1).click()
    page.locator("h1").hover()
    expect(heading).to_have_text("Layer 2, head 1")
    expect(tile(page, 2, 1)).to_have_attribute("aria-pressed", "true")


def test_two_words_are_clicked_and_the_heads_that_link_them_are_ranked(standalone: Standalone) -> None:
    page = standalone.open()
    pair = page.get_by_role("group", name="Which head links two words?")
    expect(pair).to_have_text("Which head links two words? Click both.")
    for at in (1, 5):
        page.locator(".strip").first.locator("button").nth(at).click()
    patterns = [TRACE[f"decoder.{layer}.self_attn.pattern"] for layer in range(3)]
    weights = {(layer, head): float(patterns[layer][head, 5, 1]) for layer, head in np.ndindex(3, 3)}
    best = sorted(weights, key=lambda place: -weights[place])[:4]
    expect(pair).to_contain_text("“slow” → “animal”.")
    shown = [f"layer {layer}, head {head} {weights[layer, head]:.2f}" for layer, head in best]
    expect(pair.get_by_role("button")).to_have_text(shown)
    pair.get_by_role("button").nth(1).click()
    assert chosen_heads(page) == [f"{best[1][0]}.{best[1][1]}"]
    page.keyboard.press("Escape")
    expect(pair.get_by_role("button")).to_have_count(0)


def test_pointing_at_a_token_a_key_or_a_cell_tells_who_looks_where_and_so_do_keys(standalone: Standalone) -> None:
    page = standalone.open()
    pattern = TRACE["decoder.0.self_attn.pattern"][0]
    page.locator(".column.query button").nth(4).hover()
    best = int(pattern[4].argmax())
    assert said(page).startswith(f"“and” (token 4) looks at “{TOKENS[best].strip()}” {pattern[4, best]:.2f}")
    assert strip_numbers(page) == [*as_strip(pattern[4, :5]), "–", "–"]
    page.locator(".column.key button").nth(1).hover()
    best = int(pattern[:, 1].argmax())
    assert said(page).startswith(f"“animal” (token 1) is looked at by “{TOKENS[best].strip()}” {pattern[best, 1]:.2f}")
    assert strip_numbers(page) == ["–", *as_strip(pattern[1:, 1])]
    point_at(page, "query “slow” (token 5), key “was”")
    expect(page.locator(".tip")).to_have_text(f"query “slow” (token 5), key “was” (token 2): {pattern[5, 2]:.2f}")
    point_at(page, "query “was” (token 2), key “slow”")
    expect(page.locator(".tip")).to_have_text("query “was” (token 2), key “slow” (token 5): masked")
    page.mouse.click(*point_at(page, "query “was” (token 2), key “animal”"))
    expect(page.locator(".strip button").nth(2)).to_have_attribute("aria-pressed", "true")
    page.clock.install(time=0)
    page.clock.pause_at(1000)  # what waits until the keys are still comes after them
    page.keyboard.press("Escape")
    page.locator(".matrix-picture").focus()
    page.keyboard.press("ArrowRight")  # the last row begins
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    page.clock.fast_forward(1000)
    expect(page.locator(".unseen")).to_have_text(f"query “slow” (token 5), key “animal” (token 1): {pattern[5, 1]:.2f}")


def test_layers_are_gone_through_by_buttons_keys_and_play(standalone: Standalone) -> None:
    page = standalone.open()
    heading = page.locator(".headline strong")
    page.get_by_label("What is shown").select_option("mean")
    expect(page.get_by_role("button", name="Previous layer")).to_be_disabled()
    page.get_by_role("button", name="Next layer").click()
    expect(heading).to_have_text("Layer 1, mean of all heads")
    page.get_by_label("What is shown").select_option("heads")
    tile(page, 1, 0).click()
    page.keyboard.press("]")
    expect(heading).to_have_text("Layer 2, head 0")
    expect(page.get_by_role("button", name="Next layer")).to_be_hidden()
    page.locator(".strip button").first.focus()
    page.keyboard.press("[")
    expect(heading).to_have_text("Layer 1, head 0")
    page.clock.install()
    page.get_by_role("button", name="Play").click()
    page.clock.fast_forward(1100)
    expect(heading).to_have_text("Layer 2, head 0")
    page.clock.fast_forward(1100)
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_a_first_token_that_takes_most_is_named_and_left_out_by_a_button(standalone: Standalone) -> None:
    page = standalone.open()
    assert np.mean([TRACE[f"{layer}.pattern"][:, 1:, 0] for layer in TRACE.layers]) < 0.5
    expect(page.get_by_role("button", name="Leave it out")).to_be_hidden()
    weights = np.stack([0.2 * TRACE[f"{layer}.pattern"] for layer in TRACE.layers])
    weights[..., 0] += 0.8
    page = standalone.open(trace_of(weights, TOKENS))
    expect(page.locator(".first")).to_contain_text(f" {100 * weights[:, :, 1:, 0].mean():.0f}% ")
    page.get_by_role("button", name="Leave it out").click()
    expect(page.locator("summary", has_text="without the first token")).to_be_visible()
    assert strip_numbers(page)[0] == "–"
    page.get_by_role("button", name="Show it again").click()
    assert strip_numbers(page) == as_strip(weights[0, 0, -1])


def test_cross_attention_has_source_and_target(standalone: Standalone) -> None:
    page = standalone.open(CROSS)
    pattern = CROSS["decoder.0.cross_attn.pattern"][0]
    page.get_by_role("combobox", name="Attention").select_option("cross-attention")
    expect(page.locator(".column.key button")).to_have_text(["J", "'ai", "une", "voiture", "rouge"])
    expect(page.locator(".column.query button").last).to_have_text(". → …")
    page.locator(".column.query button").nth(4).hover()
    best = int(pattern[4].argmax())
    looks_at = f"looks at “{SOURCE[best].strip()}” {pattern[4, best]:.2f}"
    assert said(page).startswith(f"“red”, about to write “car” {looks_at}")
    assert strip_numbers(page, 0) == as_strip(pattern[4])
    page.locator(".column.key button").nth(3).hover()
    assert strip_numbers(page, 1) == as_strip(pattern[:, 3])
    assert "rollout" not in page.get_by_label("What is shown").inner_text()
    page.get_by_role("combobox", name="Attention").select_option("encoder")
    expect(page.locator(".headline strong")).to_have_text("Layer 0, head 0 (encoder)")
    assert page.locator(".strip").nth(1).is_hidden()


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
    page = standalone.open(decoder(words(512), layers=1, heads=2))
    assert "strongest lines; hover over a token for the other" in page.locator(".panel.lines").inner_text()
    page.get_by_label("Zoom of the matrix").fill("4")
    assert page.locator(".matrix-picture").evaluate("(node) => node.scrollWidth") >= 14 * 512
    page.locator(".matrix-picture").evaluate("(node) => node.scrollTo(1e6, 1e6)")
    x, _ = point_at(page, "query “w5” (token 511), key “w5” (token 511)")
    assert x < 1280
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


def test_the_svg_of_the_matrix_holds_every_cell_and_says_what_filters_left_out(standalone: Standalone) -> None:
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
