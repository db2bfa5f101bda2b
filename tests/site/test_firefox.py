"""The site in Firefox: drawn, typed in, its parts opened, with every address but its own out of reach."""

import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.site.firefox import Firefox, program
from tests.views.standalone import as_strip
from tfmviz import site, zoo

pytestmark = pytest.mark.browser

FOCUS = """(() => {
    const box = document.querySelector("textarea");
    box.focus();
    box.setSelectionRange(box.value.length, box.value.length);
    return document.activeElement === box;
})()"""

LINK = "(document.querySelector('#frame').shadowRoot.querySelector('[href*=%s]').click(), true)"

WEIGHTS = "[...document.querySelectorAll('#explorer .strip')[0].querySelectorAll('.weight')].map((n) => n.textContent)"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = site.write(tmp_path_factory.mktemp("site"), ("twins-rope",)).parent
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.fixture
def firefox(tmp_path: Path) -> Iterator[Firefox]:
    executable = program()
    if executable is None:
        # under CI too: a second browser is no reason to refuse what the first one has tried
        pytest.skip("No Firefox found: the site was not tried in it. scripts/find_firefox.sh says how to get one.")
    made = Firefox(executable, tmp_path)
    yield made
    made.end()


def test_typing_and_every_part_work_and_nothing_is_asked_for_elsewhere(firefox: Firefox, address: str) -> None:
    firefox.open(f"{address}?text=The+cat&layer=2&head=1")
    firefox.wait("document.querySelectorAll('.tiles button').length")
    assert firefox.value(FOCUS)
    firefox.type(" sat")
    firefox.wait("document.querySelectorAll('#explorer .strip')[0].querySelectorAll('button').length === 3")
    trace = zoo.load("twins-rope").trace("The cat sat")
    assert firefox.value(WEIGHTS) == as_strip(trace["decoder.2.self_attn.pattern"][1, -1].tolist())
    parts = {"whole_model": ".hits button", "step_by_step": ".stages button", "masks": ".gallery canvas"}
    for name, shown in (parts | {"positions_rope": ".dials canvas"}).items():
        firefox.value(LINK % name)
        root = f"document.querySelector('#parts [data-part={name}]')?.shadowRoot"
        firefox.wait(f"{root}?.querySelector('{shown}')?.clientWidth ?? 0")
        firefox.wait(f"location.search.includes('page={name}')")
    assert firefox.complaints == []
    assert firefox.asked, "its own files"
    assert [url for url in firefox.asked if not url.startswith((address, "data:"))] == []
