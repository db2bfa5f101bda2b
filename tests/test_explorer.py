"""The explorer in a browser, on the page that needs no server: what it computes, shows, answers and saves."""

from __future__ import annotations

import math
import re
import struct
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Request, expect
from plotly.colors import sample_colorscale, unlabel_rgb

from tests import traces
from tests.traces import ODD_TOKENS, causal, decoder, read_payload, translation, words
from tfmviz import views
from tfmviz.analysis.rollout import rollout
from tfmviz.trace import Array, Trace

pytestmark = pytest.mark.browser

TOKENS = ("The", " animal", " was", " tired", " and", " slow", ".")
TRACE = decoder(TOKENS, layers=3, heads=3)
SOURCE = ("J", "'ai", " une", " voiture", " rouge")
CROSS = translation(SOURCE, ("<|endoftext|>", "I", " have", " a", " red", " car", "."))
LENGTH = len(TOKENS)

INSIDES = (
    "globalThis.insides = {explorer, Attention, filtered, rollout, strongest, weightsBeside, toLook, fromLook, fitted, "
    "initial, RAMP, number, short};"
)


class Standalone:
    """Opens traces as pages in files; fails the test on script errors and on any request for something else."""

    def __init__(self, context: BrowserContext, folder: Path) -> None:
        self.page: Page = context.new_page()
        self.folder = folder
        self.complaints: list[str] = []
        self.page.on("pageerror", lambda error: self.complaints.append(f"script error: {error}"))
        self.page.on("console", self._note_error)
        self.page.on("request", self._note)

    def _note_error(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.complaints.append(message.text)

    def _note(self, request: Request) -> None:
        if not request.url.startswith(("data:", "blob:")) and request.url != self.address:
            self.complaints.append(f"request: {request.url}")

    def open(self, trace: Trace = TRACE, *, insides: bool = False, title: str = "") -> Page:
        """`insides` lets the test call the explorer's functions, for which the page's policy has to go."""
        text = views.html(trace, title=title)
        if insides:
            text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
            text = text.replace("</script>\n</body>", f"{INSIDES}</script>\n</body>")
        path = self.folder / "attention.html"
        path.write_text(text, encoding="utf-8")
        self.address = path.as_uri()
        self.page.goto(self.address)
        expect(self.page.locator(".tiles button").first).to_be_attached()
        return self.page


@pytest.fixture
def standalone(context: BrowserContext, tmp_path: Path) -> Iterator[Standalone]:
    made = Standalone(context, tmp_path)
    yield made
    assert made.complaints == []


def tile(page: Page, layer: int, head: int) -> Locator:
    return page.locator(".tiles").get_by_role("button", name=f"Layer {layer}, head {head}")


def chip(page: Page, head: int) -> Locator:
    return page.locator(".heads button").nth(head)


def chosen_heads(page: Page) -> list[int]:
    pressed = page.locator(".heads button").evaluate_all("all => all.map((node) => node.ariaPressed)")
    return [head for head, state in enumerate(pressed) if state == "true"]


def strip_numbers(page: Page, strip: int = 0) -> list[str]:
    return page.locator(".strip").nth(strip).locator(".weight").all_text_contents()


def as_strip(weights: Sequence[float]) -> list[str]:
    return ["1.0" if w >= 0.995 else "·" if w < 0.005 else f"{w:.2f}"[1:] for w in weights]


def said(page: Page) -> str:
    return page.locator(".spoken").inner_text()


# What it computes.


def weights_of(page: Page, kind: int, layer: int, what: str | int) -> tuple[Array, Array]:
    """Weights and mask as the browser has them."""
    found = page.evaluate(
        """([kind, layer, what]) => {
          const {mask, weights} = insides.explorer.attention.matrix(kind, layer, what);
          return [mask.rows, mask.columns, [...weights], [...mask.allowed]];
        }""",
        [kind, layer, what],
    )
    rows, columns, weights, allowed = found
    return np.array(weights).reshape(rows, columns), np.array(allowed, dtype=bool).reshape(rows, columns)


@pytest.mark.parametrize("trace", [TRACE, CROSS, decoder(words(1), layers=1, heads=1)])
def test_the_browser_reads_every_weight_as_it_was_written(standalone: Standalone, trace: Trace) -> None:
    page = standalone.open(trace, insides=True)
    header, masks, weights = read_payload(views.payload(trace))
    for k, kind in enumerate(header["kinds"]):
        for n, layer in enumerate(kind["layers"]):
            for head in range(kind["heads"]):
                found, allowed = weights_of(page, k, n, head)
                np.testing.assert_allclose(found, weights[layer["name"]][head], atol=1e-7)
                np.testing.assert_array_equal(allowed, masks[layer["name"]])


def test_means_and_rollout_equal_numpys(standalone: Standalone) -> None:
    page = standalone.open(insides=True)
    patterns = [TRACE[f"{layer}.pattern"] for layer in TRACE.layers]
    masks = [TRACE[f"{layer}.mask"] for layer in TRACE.layers]
    expected = {
        (1, "mean"): patterns[1].mean(axis=0),
        (0, "all"): np.mean([p.mean(axis=0) for p in patterns], axis=0),
        (0, "rollout"): rollout(patterns[:1], masks[:1])[0],
        (2, "rollout"): rollout(patterns, masks)[0],
    }
    for (layer, what), weights in expected.items():
        np.testing.assert_allclose(weights_of(page, 0, layer, what)[0], weights, atol=0.0006)


def test_rollout_reaches_through_a_narrow_mask(standalone: Standalone) -> None:
    """Each token may look at itself and the one before: after three layers it has heard of the three before it."""
    page = standalone.open(insides=True)
    length = 7
    band = causal(length) & ~causal(length).T | np.eye(length, dtype=bool) | np.eye(length, k=-1, dtype=bool)
    band &= np.tri(length, dtype=bool) & ~np.tri(length, k=-2, dtype=bool)
    layers = [traces.pattern(1, band, seed=seed)[0] for seed in range(3)]
    found = page.evaluate(
        """([allowed, layers, length]) => {
          const {weights, reached} = insides.rollout(layers.map((weights) => ({mask: {allowed}, weights})), length);
          return [[...weights], [...reached]];
        }""",
        [band.ravel().astype(int).tolist(), [layer.ravel().tolist() for layer in layers], length],
    )
    mixed, reached = rollout([layer[None] for layer in layers], [band] * 3)
    np.testing.assert_allclose(np.array(found[0]).reshape(length, length), mixed, atol=1e-6)
    np.testing.assert_array_equal(np.array(found[1], dtype=bool).reshape(length, length), reached)
    np.testing.assert_array_equal(reached, np.tri(length, dtype=bool) & ~np.tri(length, k=-4, dtype=bool))


def filtered(weights: Array, *, without_first: bool, top: float, least: float) -> Array:
    """The filters, row by row, by sorting and summing in another way than the browser."""
    kept = weights.astype(float).copy()
    if without_first:
        kept[:, 0] = 0
        sums = kept.sum(axis=1, keepdims=True)
        kept = np.divide(kept, sums, where=sums > 0, out=kept)
    for row in kept:
        order = np.argsort(-row, kind="stable")
        before = np.concatenate([[0], np.cumsum(row[order])[:-1]])
        row[order[before >= top / 100 * row.sum()]] = 0 if top < 100 else row[order[before >= top / 100 * row.sum()]]
    return np.where(kept >= least, kept, 0)


@pytest.mark.parametrize("without_first", [False, True])
@pytest.mark.parametrize(("top", "least"), [(100, 0), (80, 0), (1, 0), (100, 0.15), (90, 0.05)])
def test_filters(standalone: Standalone, without_first: bool, top: int, least: float) -> None:
    page = standalone.open(insides=True)
    weights = TRACE["decoder.1.self_attn.pattern"][2]
    found = page.evaluate(
        """([weights, length, filters]) => {
          const mask = {rows: length, columns: length};
          return [...insides.filtered({mask, weights: Float32Array.from(weights)}, filters).weights];
        }""",
        [weights.ravel().tolist(), LENGTH, {"withoutFirst": without_first, "top": top, "least": least}],
    )
    expected = filtered(weights, without_first=without_first, top=top, least=least)
    np.testing.assert_allclose(np.array(found).reshape(LENGTH, LENGTH), expected, atol=1e-6)


def test_the_first_row_has_nothing_left_without_the_first_token_and_is_not_divided_by_zero(
    standalone: Standalone,
) -> None:
    page = standalone.open()
    page.get_by_text("Filters and colours").click()
    page.get_by_label("without the first token").check()
    page.locator(".strip button").first.hover()
    assert said(page) == "“The” (token 0) looks at nothing."
    assert strip_numbers(page)[0] == "·"


def test_the_strongest_lines_are_kept(standalone: Standalone) -> None:
    page = standalone.open(insides=True)
    pattern = TRACE["decoder.0.self_attn.pattern"]
    found = page.evaluate(
        """([matrices, length, count]) => {
          const mask = {rows: length, columns: length};
          const given = matrices.map((weights) => ({mask, weights: Float32Array.from(weights)}));
          const {found, left} = insides.strongest(given, count);
          return [found.map(({n, row, column, weight}) => [n, row, column, weight]), left];
        }""",
        [[head.ravel().tolist() for head in pattern], LENGTH, 20],
    )
    lines, left = found
    assert len(lines) == 20
    assert left == (pattern > 0).sum() - 20
    for n, row, column, weight in lines:
        assert weight == pytest.approx(pattern[n, row, column])
    smallest = min(weight for *_, weight in lines)
    assert (pattern > smallest + 1 / 1024).sum() <= 20


@pytest.mark.parametrize(("length", "side"), [(5, 31), (31, 31), (97, 31), (97, 5)])
def test_thumbnails_show_the_largest_weight_of_every_cell(standalone: Standalone, length: int, side: int) -> None:
    trace = decoder(words(length), layers=1, heads=2)
    page = standalone.open(trace, insides=True)
    rows, values = page.evaluate(
        """(side) => {
          const {rows, values} = insides.explorer.attention.tile(0, 0, 1, side);
          return [rows, [...values]];
        }""",
        side,
    )
    size = min(length, side)
    assert rows == size
    pattern = trace["decoder.0.self_attn.pattern"][1]
    cell = np.arange(length) * size // length
    largest = np.full((size, size), -1.0)
    for q, k in np.argwhere(causal(length)):
        largest[cell[q], cell[k]] = max(largest[cell[q], cell[k]], pattern[q, k])
    expected = np.where(largest < 0, 255, 254 * np.sqrt(largest.clip(0)))
    found = np.array(values).reshape(size, size)
    np.testing.assert_array_equal(found == 255, expected == 255)
    shown, true = (found / 254) ** 2, (expected / 254) ** 2
    assert np.abs(np.where(largest < 0, 0, shown - true)).max() < 0.01


def test_the_ramp_is_cividis(standalone: Standalone) -> None:
    ramp = np.array(standalone.open(insides=True).evaluate("insides.RAMP"))
    cividis = [unlabel_rgb(colour) for colour in sample_colorscale("cividis", np.linspace(0, 1, 256))]
    assert np.abs(ramp - np.array(cividis)).max() <= 2


def test_what_a_link_says_is_what_it_was_made_from(standalone: Standalone) -> None:
    page = standalone.open(insides=True)
    state = {"heads": [2, 0], "pin": {"side": "key", "at": 5}, "aggregate": "mean", "withoutFirst": True, "top": 80}
    state |= {"least": 0.02, "scale": "row", "order": "previous token"}
    look = page.evaluate("(state) => insides.toLook({...insides.initial(), ...state})", state)
    assert re.fullmatch(r"[a-z0-9:,. -]{0,300}", look)
    assert page.evaluate("(look) => insides.fromLook(look)", look) == state
    assert page.evaluate("insides.toLook(insides.initial())") == ""


@pytest.mark.parametrize("look", ["", ",,,", "heads:99.x.-1,pin:k9999,top:1e9,least:-3,scale:no,show:<b>,order:no"])
def test_a_senseless_link_leaves_a_sensible_state(standalone: Standalone, look: str) -> None:
    page = standalone.open(insides=True)
    state = page.evaluate(
        "(look) => insides.fitted({...insides.initial(), ...insides.fromLook(look)}, insides.explorer.attention)", look
    )
    assert state["heads"] == [0]
    assert state["pin"] is None
    assert (state["aggregate"], state["scale"], state["order"]) == ("heads", "root", "place")
    assert 1 <= state["top"] <= 100
    assert 0 <= state["least"] <= 1


@pytest.mark.parametrize(
    ("weight", "text", "short"),
    [
        (1, "1.00", "1.0"),
        (0.996, "1.00", "1.0"),
        (0.42, "0.42", ".42"),
        (0.0123, "0.01", ".01"),
        (0.004, "0.004", "·"),
        (0.0001, "0", "·"),
        (0, "0", "·"),
    ],
)
def test_a_weight_as_text(standalone: Standalone, weight: float, text: str, short: str) -> None:
    page = standalone.open(insides=True)
    assert page.evaluate("(w) => [insides.number(w), insides.short(w)]", weight) == [text, short]


def test_an_answer_to_an_older_report_does_not_undo_a_touch_that_is_not_reported_yet(standalone: Standalone) -> None:
    page = standalone.open(insides=True)
    layers, reports = page.evaluate(
        """async () => {
          const {explorer} = insides, reports = [], layers = [];
          explorer.report = (selection) => reports.push(selection);
          const answer = (selection) => explorer.select({...selection, look: ""});
          const later = () => new Promise((done) => setTimeout(done, 600));
          explorer.change({layer: 1}, {rest: true});
          await later();
          explorer.change({layer: 2}); // a slider on its way
          answer(reports[0]);
          layers.push(explorer.state.layer);
          await later();
          answer(reports[1]);
          layers.push(explorer.state.layer);
          explorer.change({layer: 1});
          explorer.change({layer: 2}); // back again: nothing to report
          await later();
          answer({...reports[1], layer: 0}); // Python chose something else since
          layers.push(explorer.state.layer);
          return [layers, reports.map(({layer, sequence}) => [layer, sequence])];
        }"""
    )
    assert reports == [[1, 1], [2, 2]]
    assert layers == [2, 2, 0]


# What it shows and answers.


def test_it_opens_on_a_head_with_all_pictures(standalone: Standalone) -> None:
    page = standalone.open(title="some model")
    expect(page.locator(".verdict strong")).to_have_text("Layer 0, head 0")
    expect(page.locator(".tiles button")).to_have_count(9)
    assert strip_numbers(page) == as_strip(TRACE["decoder.0.self_attn.pattern"][0, -1])
    colours = page.locator("canvas").evaluate_all(
        """all => all.map((node) => {
          const {data} = node.getContext("2d").getImageData(0, 0, node.width, node.height);
          return new Set(new Uint32Array(data.buffer)).size;
        })"""
    )
    assert len(colours) == 3
    assert min(colours) > 3


def test_pointing_at_a_head_previews_it_clicking_keeps_it_leaving_restores(standalone: Standalone) -> None:
    page = standalone.open()
    heading = page.locator(".verdict strong")
    tile(page, 2, 1).hover()
    expect(heading).to_have_text("Layer 2, head 1")
    assert strip_numbers(page) == as_strip(TRACE["decoder.2.self_attn.pattern"][1, -1])
    page.locator("h1").hover()
    expect(heading).to_have_text("Layer 0, head 0")
    assert strip_numbers(page) == as_strip(TRACE["decoder.0.self_attn.pattern"][0, -1])
    tile(page, 2, 1).click()
    page.locator("h1").hover()
    expect(heading).to_have_text("Layer 2, head 1")
    expect(tile(page, 2, 1)).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".scrubber output")).to_have_text("layer 2 of 0–2")


def test_arrow_keys_move_between_heads_and_enter_keeps_one(standalone: Standalone) -> None:
    page = standalone.open()
    tile(page, 0, 0).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(tile(page, 1, 1)).to_be_focused()
    expect(page.locator(".verdict strong")).to_have_text("Layer 1, head 1")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.locator(".verdict strong")).to_have_text("Layer 1, head 1")
    assert page.locator(".tiles button[tabindex='0']").count() == 1


def test_a_click_toggles_a_head_and_the_last_stays_on(standalone: Standalone) -> None:
    page = standalone.open()
    chip(page, 2).click()
    assert chosen_heads(page) == [0, 2]
    expect(page.locator(".verdict strong")).to_have_text("Layer 0, heads 0, 2")
    mean = TRACE["decoder.0.self_attn.pattern"][[0, 2], -1].mean(axis=0)
    assert strip_numbers(page) == as_strip(mean)
    chip(page, 0).click()
    assert chosen_heads(page) == [2]
    chip(page, 2).click()
    assert chosen_heads(page) == [2]


def test_a_double_click_shows_one_head_alone_and_another_all(standalone: Standalone) -> None:
    page = standalone.open()
    chip(page, 1).click()
    chip(page, 1).dblclick()
    assert chosen_heads(page) == [1]
    chip(page, 1).dblclick()
    assert chosen_heads(page) == [0, 1, 2]
    chip(page, 2).click(modifiers=["Shift"])
    assert chosen_heads(page) == [2]
    chip(page, 2).click(modifiers=["Shift"])
    assert chosen_heads(page) == [0, 1, 2]


def test_pointing_at_a_token_tells_whom_it_looks_at_and_at_a_key_who_looks(standalone: Standalone) -> None:
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


def test_a_click_pins_a_token_until_it_is_clicked_again_or_escape(standalone: Standalone) -> None:
    page = standalone.open()
    token = page.locator(".strip").first.locator("button").nth(3)
    token.click()
    page.locator("h1").hover()
    expect(token).to_have_attribute("aria-pressed", "true")
    assert said(page).startswith("“tired” (token 3) looks at")
    token.click()
    page.locator("h1").hover()
    assert said(page).startswith("“.” (token 6) looks at")
    token.click()
    page.keyboard.press("Escape")
    expect(token).to_have_attribute("aria-pressed", "false")


def test_tokens_are_reached_by_keyboard(standalone: Standalone) -> None:
    page = standalone.open()
    page.locator(".strip").first.locator("button").last.focus()
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.locator(".strip").first.locator("button").nth(1)).to_have_attribute("aria-pressed", "true")
    assert said(page).startswith("“animal” (token 1) looks at")


def centre_of_cell(page: Page, row: int, column: int) -> tuple[float, float]:
    scroller = page.locator(".matrix-picture")
    scroller.scroll_into_view_if_needed()
    x, y = page.evaluate(
        """([row, column]) => {
          const {matrix} = insides.explorer, box = matrix.scroller.getBoundingClientRect();
          return [box.x + matrix.left + (column + .5) * matrix.cell, box.y + matrix.top + (row + .5) * matrix.cell];
        }""",
        [row, column],
    )
    return x, y


def test_pointing_at_a_cell_tells_query_key_and_weight(standalone: Standalone) -> None:
    page = standalone.open(insides=True)
    pattern = TRACE["decoder.0.self_attn.pattern"][0]
    page.mouse.move(*centre_of_cell(page, 5, 2))
    expect(page.locator(".tip")).to_have_text(f"query “slow” (token 5), key “was” (token 2): {pattern[5, 2]:.2f}")
    page.mouse.move(*centre_of_cell(page, 2, 5))
    expect(page.locator(".tip")).to_have_text("query “was” (token 2), key “slow” (token 5): masked, may not look")
    page.mouse.click(*centre_of_cell(page, 2, 1))
    expect(page.locator(".strip button").nth(2)).to_have_attribute("aria-pressed", "true")


def test_the_colour_of_a_cell_is_that_of_its_weight(standalone: Standalone) -> None:
    """Rows are queries from the top, columns keys from the left."""
    page = standalone.open(insides=True)
    pattern = TRACE["decoder.0.self_attn.pattern"][0]
    for row, column in [(0, 0), (4, 1), (6, 6), (6, 0), (1, 4)]:
        found = page.evaluate(
            """([row, column]) => {
              const {canvas, left, top, cell} = insides.explorer.matrix, ratio = devicePixelRatio;
              const x = left + column * cell + 4, y = top + row * cell + 4;
              return [...canvas.getContext("2d").getImageData(x * ratio, y * ratio, 1, 1).data];
            }""",
            [row, column],
        )
        if column > row:
            assert found[:3] == [0xD9, 0xDB, 0xE0]
        else:
            expected = unlabel_rgb(sample_colorscale("cividis", [math.sqrt(pattern[row, column])])[0])
            np.testing.assert_allclose(found[:3], expected, atol=3)


def test_the_matrix_is_read_out_cell_by_cell(standalone: Standalone) -> None:
    page = standalone.open()
    pattern = TRACE["decoder.0.self_attn.pattern"][0]
    page.locator(".matrix-picture").focus()
    page.keyboard.press("ArrowRight")  # the last row begins
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    expect(page.locator(".unseen")).to_have_text(f"query “slow” (token 5), key “animal” (token 1): {pattern[5, 1]:.2f}")


def test_layers_are_gone_through_by_buttons_keys_and_play(standalone: Standalone) -> None:
    page = standalone.open()
    heading = page.locator(".verdict strong")
    expect(page.get_by_role("button", name="Previous layer")).to_be_disabled()
    page.get_by_role("button", name="Next layer").click()
    expect(heading).to_have_text("Layer 1, head 0")
    page.keyboard.press("]")
    expect(heading).to_have_text("Layer 2, head 0")
    expect(page.get_by_role("button", name="Next layer")).to_be_disabled()
    page.locator(".strip button").first.focus()
    page.keyboard.press("[")
    expect(heading).to_have_text("Layer 1, head 0")
    page.clock.install()
    page.get_by_role("button", name="Play").click()
    page.clock.fast_forward(1100)
    expect(heading).to_have_text("Layer 2, head 0")
    page.clock.fast_forward(1100)
    expect(page.get_by_role("button", name="Play")).to_be_visible()


@pytest.mark.parametrize(
    ("show", "heading"),
    [
        ("mean", "Layer 0, mean of all heads"),
        ("all", "Mean over all layers and heads"),
        ("rollout", "Attention rollout up to layer 0"),
    ],
)
def test_aggregates_are_named_and_one_click_on_a_head_leaves_them(
    standalone: Standalone, show: str, heading: str
) -> None:
    page = standalone.open()
    page.get_by_label("What is shown").select_option(show)
    expect(page.locator(".verdict strong")).to_have_text(heading)
    assert chosen_heads(page) == []
    tile(page, 1, 2).click()
    expect(page.locator(".verdict strong")).to_have_text("Layer 1, head 2")


def test_heads_are_sorted_by_a_score(standalone: Standalone) -> None:
    page = standalone.open()
    header, _, _ = read_payload(views.payload(TRACE))
    scores = np.array(header["kinds"][0]["scores"]["previous token"], dtype=float)
    page.get_by_text("Filters and colours").click()
    page.get_by_label("Order of the heads").select_option("previous token")
    names = page.locator(".tiles button").evaluate_all("all => all.map((node) => node.ariaLabel)")
    places = [tuple(int(n) for n in re.findall(r"\d+", name)[:2]) for name in names]
    found = [scores[place] for place in places]
    assert len(set(places)) == 9
    assert found == sorted(found, reverse=True)


def test_every_row_in_words(standalone: Standalone) -> None:
    page = standalone.open()
    page.get_by_text("Every row in words").click()
    rows = page.locator(".in-words li")
    expect(rows).to_have_count(LENGTH)
    pattern = TRACE["decoder.0.self_attn.pattern"][0]
    for q, text in enumerate(rows.all_inner_texts()):
        order = np.argsort(-pattern[q])[:3]
        named = [f"“{TOKENS[k].strip()}” {pattern[q, k]:.2f}" for k in order if pattern[q, k] >= 0.01]
        assert text.startswith(f"“{TOKENS[q].strip()}” (token {q}) looks at {', '.join(named)}")


def test_cross_attention_has_source_and_target(standalone: Standalone) -> None:
    page = standalone.open(CROSS)
    pattern = CROSS["decoder.0.cross_attn.pattern"][0]
    page.get_by_role("combobox", name="Attention").select_option("cross-attention")
    expect(page.locator(".column.key button")).to_have_text(["J", "'ai", "une", "voiture", "rouge"])
    expect(page.locator(".column.query button").last).to_have_text(".")
    page.locator(".column.query button").nth(4).hover()
    best = int(pattern[4].argmax())
    assert said(page).startswith(f"“red” (token 4) looks at “{SOURCE[best].strip()}” {pattern[4, best]:.2f}")
    assert strip_numbers(page, 0) == as_strip(pattern[4])
    page.locator(".column.key button").nth(3).hover()
    assert strip_numbers(page, 1) == as_strip(pattern[:, 3])
    assert "rollout" not in page.get_by_label("What is shown").inner_text()
    page.get_by_role("combobox", name="Attention").select_option("encoder")
    expect(page.locator(".verdict strong")).to_have_text("Layer 0, head 0 (encoder)")
    assert page.locator(".strip").nth(1).is_hidden()


# Odd input.


def test_odd_tokens_are_shown_literally(standalone: Standalone) -> None:
    page = standalone.open(decoder(ODD_TOKENS))
    titles = page.locator(".strip").first.locator("button").evaluate_all("all => all.map((node) => node.title)")
    assert titles == [f"Token {n}: “{token}”" for n, token in enumerate(ODD_TOKENS)]
    assert page.locator("main img, main script").count() == 0


def test_one_token_and_one_head(standalone: Standalone) -> None:
    page = standalone.open(decoder(("a",), layers=1, heads=1))
    assert strip_numbers(page) == ["1.0"]
    assert said(page) == "“a” (token 0) looks at “a” 1.00."
    assert "one token: nothing to choose" in page.locator(".verdict").inner_text()


def test_144_heads(standalone: Standalone) -> None:
    page = standalone.open(decoder(words(17), layers=12, heads=12))
    tile(page, 11, 11).click()
    expect(page.locator(".verdict strong")).to_have_text("Layer 11, head 11")


def test_512_tokens_can_be_read_by_zooming(standalone: Standalone) -> None:
    trace = decoder(words(512), layers=1, heads=2)
    page = standalone.open(trace, insides=True)
    assert "weaker ones show when you point at a token" in page.locator(".panel.lines").inner_text()
    page.get_by_label("Zoom of the matrix").fill("4")
    cell = page.evaluate("insides.explorer.matrix.cell")
    assert cell >= 14
    scroller = page.locator(".matrix-picture")
    scroller.evaluate("(node) => node.scrollTo(1e6, 1e6)")
    place = page.evaluate(
        """() => {
          const {matrix} = insides.explorer, box = matrix.scroller.getBoundingClientRect();
          return [box.x + matrix.left + 511.5 * matrix.cell - matrix.scroller.scrollLeft,
                  box.y + matrix.top + 511.5 * matrix.cell - matrix.scroller.scrollTop];
        }"""
    )
    scroller.scroll_into_view_if_needed()
    box = scroller.bounding_box()
    assert box is not None
    assert place[0] < 1280
    page.mouse.move(
        *page.evaluate(
            """() => {
          const {matrix} = insides.explorer, box = matrix.scroller.getBoundingClientRect();
          return [box.x + matrix.left + 511.5 * matrix.cell - matrix.scroller.scrollLeft,
                  box.y + matrix.top + 511.5 * matrix.cell - matrix.scroller.scrollTop];
        }"""
        )
    )
    expect(page.locator(".tip")).to_contain_text("(token 511), key")


def test_the_strip_of_a_long_text_scrolls_to_the_token_that_is_pointed_at_elsewhere(standalone: Standalone) -> None:
    page = standalone.open(decoder(words(256), layers=1, heads=1))
    strip = page.locator(".strip").first
    token = strip.locator("button").nth(2)
    expect(token).not_to_be_in_viewport()
    page.locator(".column.query button").nth(2).hover()
    page.evaluate("scrollTo(0, 0)")
    expect(token).to_be_in_viewport()


# Files.


def saved(page: Page, name: str) -> Path:
    with page.expect_download() as download:
        page.get_by_role("button", name=name, exact=True).click()
    path = Path(download.value.path())
    assert download.value.suggested_filename.endswith((".svg", ".png"))
    return path


@pytest.mark.parametrize("title", ["Every head", "Who looks at whom", "The same as a matrix"])
def test_figures_are_saved_as_svg_with_title_tokens_and_caption(standalone: Standalone, title: str) -> None:
    page = standalone.open(decoder((*TOKENS, "</svg>", "\x01"), layers=2), title="some & model")
    root = ElementTree.fromstring(saved(page, f"Save “{title}” as SVG").read_text(encoding="utf-8"))
    texts = ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0].startswith("some & model: ")
    if title == "Every head":
        assert "layer 1" in texts
        assert len(list(root.iter("{http://www.w3.org/2000/svg}image"))) == 6
    else:
        assert "animal" in texts
        assert "</svg>" in texts


@pytest.mark.parametrize("title", ["Every head", "Who looks at whom", "The same as a matrix"])
def test_figures_are_saved_as_png_at_twice_their_size(standalone: Standalone, title: str) -> None:
    page = standalone.open(title="some model")
    svg = ElementTree.fromstring(saved(page, f"Save “{title}” as SVG").read_text(encoding="utf-8"))
    data = saved(page, f"Save “{title}” as PNG").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    assert (width, height) == pytest.approx((2 * float(svg.attrib["width"]), 2 * float(svg.attrib["height"])), abs=2)


def test_a_saved_figure_says_what_its_filters_left_out(standalone: Standalone) -> None:
    page = standalone.open()
    page.get_by_text("Filters and colours").click()
    page.get_by_label("without the first token").check()
    for title, said in (("The same as a matrix", True), ("Who looks at whom", True), ("Every head", False)):
        text = saved(page, f"Save “{title}” as SVG").read_text(encoding="utf-8")
        assert ("(without the first token)" in text) == said


def test_the_svg_of_the_matrix_holds_every_cell_in_its_colour(standalone: Standalone) -> None:
    page = standalone.open()
    pattern = TRACE["decoder.0.self_attn.pattern"][0]
    root = ElementTree.fromstring(saved(page, "Save “The same as a matrix” as SVG").read_text(encoding="utf-8"))
    fills = [node.attrib["fill"] for node in root.iter("{http://www.w3.org/2000/svg}rect") if "fill" in node.attrib]
    cells = [fill for fill in fills if fill.startswith("rgb(")]
    assert len(cells) == LENGTH * (LENGTH + 1) // 2
    assert fills.count("#d9dbe0") == LENGTH * (LENGTH - 1) // 2
    expected = [unlabel_rgb(c) for c in sample_colorscale("cividis", np.sqrt(pattern[causal(LENGTH)]))]
    found = [[float(n) for n in re.findall(r"\d+", fill)] for fill in cells]
    np.testing.assert_allclose(found, expected, atol=3)


# For everyone.


@pytest.fixture
def visitor(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Standalone]]:
    contexts: list[BrowserContext] = []
    made: list[Standalone] = []

    def visit(**settings: Any) -> Standalone:
        contexts.append(browser.new_context(**settings))
        made.append(Standalone(contexts[-1], tmp_path))
        return made[-1]

    yield visit
    for context in contexts:
        context.close()
    assert [complaint for one in made for complaint in one.complaints] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("trace", [TRACE, CROSS], ids=["decoder", "translation"])
def test_axe_finds_nothing_to_complain_about(visitor: Callable[..., Standalone], scheme: str, trace: Trace) -> None:
    page = visitor(color_scheme=scheme, viewport={"width": 1280, "height": 900}).open(trace, title="some model")
    page.get_by_text("Filters and colours").click()
    page.get_by_text("Every row in words").click()
    page.locator(".column.query button").nth(4).hover()
    results = Axe().run(page)
    assert results.violations_count == 0, results.generate_report()


@pytest.mark.parametrize("width", [360, 640, 1280])
def test_nothing_is_wider_than_the_screen(visitor: Callable[..., Standalone], width: int) -> None:
    """640 is also a screen of 1280 at 200 % zoom."""
    page = visitor(viewport={"width": width, "height": 800}).open(decoder(words(64), layers=12, heads=12))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page = visitor(viewport={"width": width, "height": 800}).open(CROSS)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_tap_on_a_phone_chooses_head_and_token(visitor: Callable[..., Standalone]) -> None:
    page = visitor(viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True).open()
    tile(page, 1, 2).tap()
    expect(page.locator(".verdict strong")).to_have_text("Layer 1, head 2")
    page.locator(".strip button").nth(2).tap()
    expect(page.locator(".strip button").nth(2)).to_have_attribute("aria-pressed", "true")
    assert said(page).startswith("“was” (token 2) looks at")


def test_the_page_follows_the_system_from_light_to_dark(visitor: Callable[..., Standalone]) -> None:
    page = visitor(color_scheme="light").open()
    explorer = page.locator(".explorer")
    expect(explorer).to_have_attribute("data-dark", "false")
    page.emulate_media(color_scheme="dark")
    expect(explorer).to_have_attribute("data-dark", "true")
