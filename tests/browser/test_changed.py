"""Masks, parts that are off and sliders answer in the browser; Python's answer comes later and agrees."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser import AT_REST, HAS_ENGINE, ROOT, Server, Visit, box_of, free_port, keys, open_tab, serve
from tests.browser.test_masks import board, click_cell, place_of

TEXT = "The+cat+sat+on+the+mat."
MASKS, OFF, WRITING = (f"/{page}?text={TEXT}&layer=1&head=2&" for page in ("masks", "switch_off", "writing"))
VIEWS = ["side_a", "side_b", "side_difference"]

LISTENS = """(names) => {
    globalThis.own = {};
    const plain = (view) => view.picture
        ? [[...view.picture.values].map((value) => Number.isFinite(value) ? value : 9), view.picture.frames]
        : view.rows ?? [view.data.stages, view.data.places[view.place]];
    globalThis.now = () => Object.fromEntries(names.map((name) => [name, plain(globalThis.tfmvizViews[name].view)]));
    for (const name of names) {
        const { view } = globalThis.tfmvizViews[name];
        const show = view.show.bind(view);
        view.show = (data, typed) => {
            show(data, typed);
            if (typed) globalThis.own[name] = structuredClone(plain(view));
        };
    }
}"""
"""Keeps what the views show that the browser has computed."""

NOTE = ".st-key-live [role=status]"
"""What the page says of how it follows."""

MARK = "document.documentElement.getAttribute('data-typing')"


def switch(page: Page, part: str) -> None:
    page.get_by_role("switch", name=part, exact=True).click()


@pytest.fixture
def own_server() -> Iterator[Server]:
    """The app, for a test that ends it."""
    with serve(ROOT / "app.py", free_port()) as running:
        yield running


def ready(page: Page, views: list[str], touches: Iterable[Callable[[], object]], *, heard: bool = True) -> None:
    """The first touch fetches the engine; the others are made until it answers one.

    Args:
        heard: whether Python hears of a touch.
    """
    page.evaluate(LISTENS, views)
    for touch in touches:
        touch()
        page.wait_for_function(HAS_ENGINE, timeout=60_000)
        page.wait_for_function(AT_REST)
        if page.evaluate("Object.keys(globalThis.own).length"):
            if heard:
                page.wait_for_function(f"() => {MARK} !== 'change'")
            page.wait_for_function(AT_REST)
            return
    raise AssertionError("The engine has not come.")


def cells(page: Page) -> Iterable[Callable[[], object]]:
    """The same cell again and again; at the end it is closed or open, which does not matter."""
    return repeat(lambda: click_cell(page, 5, 1), 60)


def answered(page: Page) -> None:
    page.wait_for_function(f"() => {MARK} === null")
    page.wait_for_function(AT_REST)


def entered(page: Page, word: str) -> None:
    """Presses Enter after a sentence with this word, and waits for Python's answer."""
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(word))
    answered(page)


def agrees(page: Page, views: list[str], touch: Callable[[], object]) -> None:
    """What the browser shows at once is what Python sends then."""
    page.evaluate(LISTENS, views)
    page.wait_for_function(AT_REST)
    touch()
    page.wait_for_function("(n) => Object.keys(globalThis.own).length === n", arg=len(views))
    answered(page)
    own, python = page.evaluate("[globalThis.own, globalThis.now()]")
    for view in views:
        assert len(own[view]) == len(python[view])
        close(own[view], python[view])


def close(one: Any, other: Any) -> None:
    if isinstance(one, list | dict):
        assert len(one) == len(other)
        keys = one if isinstance(one, dict) else range(len(one))
        for key in keys:
            close(one[key], other[key])
    elif isinstance(one, str) and "%" in one:
        return  # a rounding apart
    else:
        assert one == (other if isinstance(one, str | None) else pytest.approx(other, abs=1.1e-4))


def test_a_cell_of_a_mask_and_an_unfinished_stroke_show_their_effect_before_python_has_run(visit: Visit) -> None:
    page = visit.open(f"{MASKS}start=full&effect=Attention", drawn=".lab .count")
    assert not page.evaluate("performance.getEntriesByType('resource').some(({ name }) => name.includes('weights'))")
    ready(page, VIEWS, cells(page))
    before, address = page.evaluate("[...globalThis.tfmvizViews.side_b.view.picture.values]"), page.url
    box = box_of(board(page))
    for n, column in enumerate((0, 1, 2)):
        place = place_of(page, 6, column)
        page.mouse.move(box["x"] + place["x"], box["y"] + place["y"])
        if n == 0:
            page.mouse.down()
    page.wait_for_function(f"() => {MARK} === 'change'")
    after = page.evaluate("[...globalThis.tfmvizViews.side_b.view.picture.values]")
    row = np.array(after, dtype=float).reshape(7, 7)[6]
    expect(page).to_have_url(address)
    assert np.isnan(row[:3]).all() or after != before
    assert np.nansum(row) == pytest.approx(1, abs=1e-5)
    expect(page.locator(".st-key-mask_scores")).to_have_css("opacity", "0.5")
    page.mouse.up()
    answered(page)
    for tab, views in (("Attention", [*VIEWS, "stream_change"]), ("Next word", ["next_words"])):
        open_effect(page, tab, views)
        agrees(page, views, lambda: click_cell(page, 4, 1))
        agrees(page, views, lambda: click_cell(page, 6, 2))


def open_effect(page: Page, tab: str, views: list[str]) -> None:
    open_tab(page, tab)
    page.wait_for_function("(names) => names.every((name) => globalThis.tfmvizViews[name]?.view)", arg=views)
    page.wait_for_function(AT_REST)


def test_a_part_that_is_switched_shows_its_effect_before_python_has_run(visit: Visit) -> None:
    page = visit.open(f"{OFF}removed=Attention", drawn=".cells canvas")
    ready(page, VIEWS, repeat(lambda: switch(page, "MLP 1"), 60))
    for tab, views in (("Attention", [*VIEWS, "side_heads"]), ("Next word", ["next_words"])):
        open_effect(page, tab, views)
        agrees(page, views, lambda: switch(page, "layer 3"))
        agrees(page, views, lambda: switch(page, "0.7"))
        agrees(page, views, lambda: switch(page, "layer 3"))  # and on again


def test_a_slider_of_writing_shows_what_it_leaves_before_python_has_run(visit: Visit) -> None:
    page = visit.open(f"{WRITING}", drawn=".rivals td")
    page.get_by_text("Settings", exact=True).click()

    def slide(label: str, press: str) -> None:
        page.get_by_role("slider", name=label).press(press)

    ready(
        page, ["writing"], 30 * [lambda: slide("Temperature", "ArrowLeft"), lambda: slide("Temperature", "ArrowRight")]
    )
    for label, key in (
        ("Temperature", "ArrowRight"),
        ("Top-k", "Home"),
        ("Top-p", "ArrowLeft"),
        ("Min-p", "ArrowRight"),
    ):
        agrees(page, ["writing"], lambda label=label, key=key: slide(label, key))  # type: ignore[misc]


def test_a_sentence_that_is_typed_shows_the_changed_run_before_enter(visit: Visit) -> None:
    for address, views in ((f"{MASKS}effect=Attention", ["side_b"]), (f"{OFF}removed=Attention", VIEWS)):
        page = visit.open(address, drawn=".cells canvas")
        box = page.get_by_label("Your sentence")
        ready(page, views, repeat(lambda box=box: box.press("x"), 60))  # type: ignore[misc]
        box.fill("My dog slept in the house")
        page.wait_for_function("() => globalThis.own.side_b?.[0].length === 36")
        assert page.evaluate(MARK) == "Enter"
        own = page.evaluate("globalThis.own")
        entered(page, "house")
        close(own, page.evaluate("globalThis.now()"))


@pytest.mark.parametrize(
    ("other", "label"),
    [
        ("with=another+sentence&b=A+dog+sat+on+the+mat", "Your sentence"),
        ("with=another+sentence&b=A+dog", "The other sentence (press Enter)"),
        ("with=another+head&b_layer=3&b_head=4", "Your sentence"),
        ("with=a+head+off&without_layer=0&without_head=5", "Your sentence"),
    ],
)
def test_a_sentence_that_is_typed_is_compared_with_b_before_enter(visit: Visit, other: str, label: str) -> None:
    page = visit.open(f"/explorer?text={TEXT}&layer=1&head=2&{other}", drawn=".cells canvas")
    box, shown = page.get_by_label(label), [*VIEWS, "predictions"]
    shown += ["predictions_b"] * page.locator(".st-key-predictions_b").count()  # what is the same is drawn once
    ready(page, shown, repeat(lambda: box.press("x"), 60), heard=False)
    box.fill("My dog slept in a house")
    page.wait_for_function(
        "() => [...globalThis.tfmvizViews.side_difference.view.picture.rows.names].includes('slept')"
    )
    expect(page.locator(".st-key-side_likeness, .st-key-sides .stMarkdown").first).to_have_css("opacity", "0.5")
    axes = """() => ["side_a", "side_b", "side_difference"].map((name) => {
        const { rows, columns } = globalThis.tfmvizViews[name].view.picture;
        return [rows, columns];
    })"""
    own = page.evaluate("globalThis.own"), page.evaluate(axes)
    entered(page, "house")
    close(own[0], page.evaluate("globalThis.now()"))
    assert own[1] == page.evaluate(axes)


def test_without_a_server_the_browser_goes_on_and_says_so(context: BrowserContext, own_server: Server) -> None:
    visit = Visit(context.new_page(), own_server)
    page, other = visit.open(f"{MASKS}start=full&effect=Attention", drawn=".lab .count"), context.new_page()
    other.goto(page.url)
    other.wait_for_selector(".lab .count")
    ready(page, VIEWS, cells(page))
    expect(other.locator(".lab .count")).to_contain_text("49 of 7 × 7")  # another tab is another reader's
    own_server.kill()
    page.wait_for_selector("[data-test-connection-state]:not([data-test-connection-state=CONNECTED])", state="attached")
    board(page).focus()
    keys(page, "ArrowDown", " ")
    expect(page.locator(NOTE)).to_have_text("Connection lost. Your browser goes on computing.")
    assert page.evaluate(MARK) == "change"


def test_who_reloads_while_typing_sees_what_was_entered(visit: Visit) -> None:
    page = visit.open("/explorer?text=The+cat", drawn=".strip button")
    box = page.get_by_label("Your sentence")
    box.press("End")
    box.press("s")
    page.wait_for_function(f"() => {MARK} === 'Enter'")
    page.reload()
    page.wait_for_selector(".strip button")
    page.wait_for_function(AT_REST)
    expect(box).to_have_value("The cat")
    assert page.evaluate(MARK) is None
