"""The visits of the browser's tests leave nothing behind; and the app under plain streamlit run."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser import ROOT, Server, Visit, free_port, serve
from tests.browser.test_explorer import shown, tile, token


def test_a_visit_notes_what_a_page_must_not_do(visit: Visit) -> None:
    noted = []
    for event, complaint, script in (
        ("pageerror", "script error: no", "setTimeout(() => { throw new Error('no'); })"),
        ("dialog", "dialog: who?", "setTimeout(() => alert('who?'))"),
        ("console", "BidiComponent Error", "console.error('BidiComponent Error')"),
    ):
        with visit.page.expect_event(event):
            visit.page.evaluate(script)
        noted.append(complaint)
    for host in ("example.org", "192.0.2.1"):
        with visit.page.expect_event("requestfailed"):
            ask = f"() => fetch('http://{host}/', {{mode: 'no-cors'}}).catch((error) => error.message)"
            assert visit.page.evaluate(ask) == "Failed to fetch"
        noted.append(f"outside request: http://{host}/")
    assert visit.complaints == noted
    visit.complaints.clear()


LEAVE = "() => { localStorage.a = sessionStorage.a = 1; document.cookie = 'a=1'; }"

LEFT = """() => [localStorage.length, sessionStorage.length, document.cookie.includes("a=1"),
    matchMedia("(prefers-color-scheme: dark)").matches]"""


@pytest.mark.parametrize("width", [390])
def test_a_visit_leaves_nothing_to_the_next(visit: Visit, server: Server) -> None:
    page = visit.page
    plain = f"{server.address}/_stcore/health"
    page.goto(plain)
    before = page.evaluate(LEFT)
    page.evaluate(LEAVE)
    page.emulate_media(color_scheme="dark")
    page.locator("body").hover()
    assert page.evaluate(LEFT) != before
    expect(page.locator("body:hover")).to_have_count(1)
    visit.end()
    page.goto(plain)
    assert page.evaluate(LEFT) == before
    expect(page.locator("body:hover")).to_have_count(0)
    page.evaluate("setTimeout(() => { throw new Error('heard by nobody'); })")


pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serve(ROOT / "app.py", free_port(), plain=True) as running:
        yield running


def test_a_view_opens_and_follows_the_pointer_and_enter(visit: Visit) -> None:
    asked = list[str]()
    visit.page.on("request", lambda request: asked.append(request.url))
    page = visit.open("/explorer")
    tile(page, 0, 1).click()
    expect(shown(page)).to_have_text("Layer 0, head 1")
    page.wait_for_url("**head=1**")
    visit.enter("The dog ran home.")
    expect(token(page, 1)).to_contain_text("dog")
    assert not [url for url in asked if "/views/" in url]
