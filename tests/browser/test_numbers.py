"""What is drawn in pictures: square cells, no name upright, and numbers where they fit, on a projector too."""

from contextlib import suppress
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, ViewportSize
from playwright.sync_api import TimeoutError as TookTooLong

from tests.app import open_page, pictures
from tests.browser import AT_REST, WRITTEN, Visit, project
from tests.browser.test_beside import ADDRESS as TWO_SENTENCES
from tests.pages.tabs import addresses
from tfmviz.ui.router import PAGES

WINDOWS: list[ViewportSize] = [{"width": 1280, "height": 800}, {"width": 1024, "height": 768}]
PLAIN, PROJECTED = 12, 18
"""Pixels of the smallest letters; on a screen names along an axis may have `NAMES`."""

NAMES = 9

LONG = (
    "The animal didn't cross the street because it was too tired and the road was far too wide for an animal that had "
    "walked all day."
)


def at(page: str, **choices: str) -> str:
    return f"/{page}?{urlencode(choices)}"


FEW = {
    at("positions", lesson="Sinusoidal", wave="By hand"): {"worked"},
    at("ladder", ladder="Why recurrence lost"): {"steps_recurrent", "steps_convolution", "steps_attention"},
    at("residual_stream", stream="Who made the word"): {"head_scores_map"},
    at("positions_rope", scheme="Shaw"): {"shaw"},
    at("masks", effect="Reach"): {"reach", "masks"},
    at("positions_compare"): {"side_a", "side_b"},
    at("positions_compare", text=LONG): set(),
    at("explorer", model="chinese-sinusoidal", text="老王批评老李"): {"explorer"},
    at("translating"): {"encoder"},
    at("bottleneck", seen="Alignments"): {"alignment", "cross"},
    at("explorer"): {"explorer"},
    at("step_by_step"): {"steps"},
}
"""Addresses, and the keys of the pictures there that have numbers in their cells."""

MORE = {
    at("why", why="Which head reads which", model="induction"): {"composition"},
    at("step_by_step", text="A cat sat.", stage="scores"): {"steps"},
    at("writing", model="fill-in", text="The ___ sat on the ___ and slept."): {"gaps"},
    TWO_SENTENCES: {"side_heads"},
}


def as_opened() -> dict[str, set[str]]:
    """The same of every tab that has such pictures as it opens."""
    found: dict[str, set[str]] = {}
    for name, tab in ((page.name, tab) for page in PAGES if page.group for tab in addresses(page.name)):
        if keys := {key for key, (header, _) in pictures(open_page(name, **tab)).items() if header["texts"]}:
            found[at(name, **tab)] = keys
    return found


def faults(page: Page, limit: int, keys: set[str]) -> list[str]:
    """The faults that stay once the page has had time to find its shape."""
    page.wait_for_function(AT_REST)
    asked = [limit, sorted(keys), NAMES if limit == PLAIN else limit]
    with suppress(TookTooLong):
        page.wait_for_function("(asked) => looks.faults(asked).length === 0", arg=asked, timeout=10_000)
    found: list[str] = page.evaluate("(asked) => looks.faults(asked)", asked)
    return found


@pytest.mark.parametrize("every", [pytest.param(False, id="few"), pytest.param(True, id="all", marks=pytest.mark.soak)])
def test_cells_are_square_names_never_upright_and_numbers_drawn_where_they_fit_on_a_projector_too(
    visit: Visit, every: bool
) -> None:
    """A map says what its cells hold; of others it is known that numbers have room, or that both axes are tokens."""
    places = MORE | as_opened() if every else FEW
    assert len(places) > 10
    found: dict[str, list[str]] = {}
    with visit.page.add_init_script(path=WRITTEN):
        for address, keys in places.items():
            page = visit.open(address, drawn="[data-testid=stMain] canvas")
            for limit in (PLAIN, PROJECTED):
                if limit == PROJECTED:
                    project(page)
                for window in WINDOWS:
                    page.set_viewport_size(window)
                    wrong = faults(page, limit, keys)
                    found |= {f"{address}, {limit} pixels, {window['width']} wide": wrong[:6]} if wrong else {}
    assert found == {}
