"""The app under plain `streamlit run`, which serves nothing of ours: a view's script travels inside its page."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser import ROOT, Server, Visit, free_port, serve
from tests.browser.test_explorer import shown, tile, token

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    running = serve(ROOT / "app.py", free_port(), plain=True)
    yield running
    running.process.kill()
    running.process.wait()


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
