"""The pictures follow each key, and Python waits for Enter."""

import json
import re

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser import AT_REST, HAS_ENGINE, Server, Visit, press, sent_to

SHOWN = "() => globalThis.tfmvizViews.explorer.view.attention.texts.target.tokens.join('')"
"""The text whose heads are on the page."""

HEADS = """() => {
    const { attention } = globalThis.tfmvizViews.explorer.view;
    const [{ layers, heads }] = attention.kinds;
    const weights = (layer, head) => [...attention.matrix(0, layer, head).weights];
    return layers.map((_, layer) => Array.from({ length: heads }, (_, head) => weights(layer, head)));
}"""
"""Their weights."""

SAVES_DATA = "Object.defineProperty(navigator, 'connection', { value: { saveData: true } })"
"""A reader whose line is dear: no model travels there, and the server answers each key."""


def shows(page: Page, text: str) -> None:
    page.wait_for_function(f"(text) => ({SHOWN})() === text", arg=text)


def at_the_end(page: Page, *pressed: str) -> Locator:
    """The sentence box, with these keys pressed after its sentence."""
    box = page.get_by_label("Your sentence")
    for key in ("End", *pressed):
        box.press(key)
    return box


def entered(page: Page, box: Locator, word: str) -> None:
    """Presses Enter, and waits until Python has answered a sentence with this word."""
    box.press("Enter")
    page.wait_for_url(re.compile(word))
    page.wait_for_function(AT_REST)


def is_dimmed(page: Page, dimmed: bool) -> None:
    expect(page.locator(".st-key-hidden-predicted > *").first).to_have_css("opacity", "0.5" if dimmed else "1")


def test_each_key_changes_the_heads_and_enter_tells_python(visit: Visit) -> None:
    sent = sent_to(visit.page, "_stcore")
    page = visit.open("/explorer?text=The+cat")
    page.evaluate(SAVES_DATA)
    box, before = at_the_end(page), page.url
    said, runs = page.get_by_text("Most probable next tokens:").inner_text(), len(sent)
    for n, letter in enumerate(" sat", start=1):
        box.press(letter)
        shows(page, "The cat sat"[: 7 + n])
    expect(page.locator(".headline")).to_contain_text("“sat” (token 2)")
    is_dimmed(page, True)
    expect(page.get_by_text("Most probable next tokens:")).to_have_text(said)
    for _ in range(3):
        box.press("Backspace")
    shows(page, "The cat ")
    box.fill("")
    box.press("a")
    shows(page, "a")
    box.fill("The cat")  # what was entered comes back, with all that Python said of it
    shows(page, "The cat")
    is_dimmed(page, False)
    expect(page).to_have_url(before)
    assert len(sent) == runs
    box.fill("The dog sat")
    shows(page, "The dog sat")
    heads = page.evaluate(HEADS)
    entered(page, box, "dog")
    is_dimmed(page, False)
    assert len(sent) > runs
    assert page.evaluate(HEADS) == heads


def test_the_browser_computes_by_itself_what_python_computes_at_enter(visit: Visit) -> None:
    asked = sent_to(visit.page, "/live")
    page = visit.open("/explorer?text=The+cat&model=twins-rope&layer=2&head=1")
    box = at_the_end(page)
    with page.expect_response(re.compile("/weights/twins-rope-")):
        box.press("s")  # the first key asks for the model; until it is here, the server answers
    shows(page, "The cats")
    page.wait_for_function(HAS_ENGINE, timeout=60_000)
    questions = len(asked)
    box.fill("The dog sat on the mat")
    shows(page, "The dog sat on the mat")
    assert len(asked) == questions
    shown = [page.locator(".strip .weight"), page.locator(".st-key-predictions .label")]
    typed = [found.all_text_contents() for found in shown]
    entered(page, box, "mat")
    for found, before in zip(shown, typed, strict=True):
        expect(found).to_have_text(before)
    is_dimmed(page, False)


VALUES = """(name) => {
    const { titles, columns, rows } = globalThis.tfmvizViews[name].view.values();
    return { titles, columns, rows };
}"""
"""The numbers of a figure, as its table lists them."""


@pytest.mark.parametrize(
    ("page_name", "view", "query"),
    [
        ("whole_model", "whole_model", "zoom=model"),
        ("whole_model", "whole_model", "zoom=block&layer=1"),
        ("step_by_step", "steps", "stage=share&layer=2&head=3"),
        ("positions_rope", "turning", ""),
    ],
)
def test_the_browser_draws_the_model_a_heads_steps_and_its_turning_itself(
    visit: Visit, page_name: str, view: str, query: str
) -> None:
    asked = sent_to(visit.page, "/live")
    page = visit.open(f"/{page_name}?text=The+cat&model=twins-rope&{query}", drawn=".view")
    box = page.get_by_label("Your sentence")
    labels = "(name) => JSON.stringify(globalThis.tfmvizViews[name].view.values())"
    before = page.evaluate(labels, view)
    box.fill("The dog sat")
    page.wait_for_function(f"([name, before]) => ({labels})(name) !== before", arg=[view, before])
    page.wait_for_function(HAS_ENGINE, timeout=60_000)
    questions, before = len(asked), page.evaluate(labels, view)
    box.fill("The dog sat on the mat")
    page.wait_for_function(f"([name, before]) => ({labels})(name) !== before", arg=[view, before])
    assert len(asked) == questions
    typed = page.evaluate(VALUES, view)
    entered(page, box, "mat")
    python = page.evaluate(VALUES, view)
    assert typed["columns"] == python["columns"]
    assert len(typed["rows"]) == len(python["rows"]) > 3
    for own, sent in zip(typed["rows"], python["rows"], strict=True):
        for one, other in zip(own, sent, strict=True):
            assert one == (pytest.approx(other, rel=1e-3, abs=1e-4) if isinstance(other, float) else other)


def test_an_input_method_is_waited_for_and_a_switch_turns_it_off(visit: Visit) -> None:
    asked = sent_to(visit.page, "/live")
    page = visit.open("/explorer?text=I+see&token=1")
    page.evaluate(SAVES_DATA)
    at_the_end(page)
    keyboard = page.context.new_cdp_session(page)
    for part in (" n", " ni", " nih"):
        keyboard.send("Input.imeSetComposition", {"text": part, "selectionStart": 0, "selectionEnd": len(part)})
    keyboard.send("Input.insertText", {"text": " 你好"})
    page.wait_for_function("() => document.documentElement.hasAttribute('data-typing')")
    assert [json.loads(said)["text"] for said in asked] == ["I see 你好"]
    expect(page.locator(".strip:visible button").nth(1)).to_have_attribute("aria-pressed", "true")  # what was pinned
    press(page, "Keyboard shortcuts")
    page.get_by_label("Update figures as you type").click()
    page.keyboard.press("Escape")
    page.wait_for_function(AT_REST)
    at_the_end(page, "!", "Enter")
    page.wait_for_url(re.compile("21|!"))
    assert [json.loads(said)["text"] for said in asked] == ["I see 你好"]


def test_without_an_engine_the_server_answers_and_the_page_says_why(context: BrowserContext, server: Server) -> None:
    visit, sentence = Visit(context.new_page(), server), "The server no longer has this model. Reload the page."
    visit.page.route(re.compile("/weights/"), lambda route: route.fulfill(status=404, body="gone"))
    page = visit.open("/explorer?text=The+cat")
    box, note = at_the_end(page, "s"), page.locator(".st-key-live [role=status]")
    expect(note).to_have_text(sentence)
    box.press("!")
    shows(page, "The cats!")
    expect(note).to_have_text(sentence)
    assert visit.complaints == []
