"""`views.html(…, live=True)`: one page with a model inside, for a notebook, in which the reader types."""

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.traces import decoder, words
from tests.views.standalone import as_strip, strip_numbers
from tfmviz import views, zoo
from tfmviz.record.edits import AblateHead


@pytest.fixture
def page(context: BrowserContext, tmp_path: Path) -> Page:
    """On a page of a text with odd signs; whatever it complains about or asks for elsewhere fails the test."""
    trace = zoo.load("twins-rope").trace("The <b>cat</b> & I")
    path = tmp_path / "attention.html"
    path.write_text(views.html(trace, title="twins-rope", live=True), encoding="utf-8")
    made = context.new_page()
    made.on("pageerror", lambda error: pytest.fail(str(error)))
    own = (path.as_uri(), "data:")
    made.on("request", lambda request: None if request.url.startswith(own) else pytest.fail(request.url))
    made.goto(path.as_uri())
    expect(made.locator("#below .words li").first).to_be_attached()
    return made


@pytest.mark.browser
def test_it_opens_with_the_trace_and_each_key_runs_the_model(page: Page) -> None:
    box = page.get_by_label("Your sentence")
    expect(box).to_have_value("The <b>cat</b> & I")
    expect(page.get_by_role("heading", level=1)).to_have_text("Heads")
    for text in ("The <b>cat</b> & I", "The dog sat"):
        box.fill(text)
        pattern = zoo.load("twins-rope").trace(text)["decoder.3.self_attn.pattern"][0]
        expect(page.locator(".strip").first.locator("button")).to_have_count(len(pattern))
        assert strip_numbers(page) == as_strip(pattern[-1].tolist())


@pytest.mark.browser
def test_it_works_in_a_frame_without_an_address(context: BrowserContext) -> None:
    trace = zoo.load("twins-rope").trace("The cat")
    outer = context.new_page()
    outer.set_content("<iframe width=1200 height=900></iframe>")
    html = views.html(trace, title="twins-rope", live=True)
    outer.evaluate("(html) => { document.querySelector('iframe').srcdoc = html; }", html)
    frame = outer.frame_locator("iframe")
    frame.get_by_label("Your sentence").fill("The dog sat")
    expect(frame.locator(".strip").first.locator("button")).to_have_count(3)


def test_a_model_that_no_browser_computes_and_a_trace_of_another_or_with_edits_are_refused() -> None:
    for title in ("", "french-english", "<script>", "../../etc"):
        with pytest.raises(ValueError, match="the title names none of these"):
            views.html(decoder(words(5)), title=title, live=True)
    with pytest.raises(ValueError, match="no trace of twins-rope, which has 4 layers of 4 heads"):
        views.html(zoo.load("induction").trace("The cat"), title="twins-rope", live=True)
    edits = (AblateHead(layer="decoder.0.self_attn", head=0),)
    with pytest.raises(ValueError, match="has edits"):
        views.html(zoo.load("twins-rope").trace("The cat", edits=edits), title="twins-rope", live=True)
