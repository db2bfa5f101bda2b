"""What is drawn in pictures: square cells, no name upright, and numbers where they fit, on a projector too."""

from contextlib import suppress
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, ViewportSize
from playwright.sync_api import TimeoutError as TookTooLong

from tests.app import open_page, pictures
from tests.browser import AT_REST, Visit, project
from tests.browser.test_beside import ADDRESS as TWO_SENTENCES
from tests.browser.test_first_figure import INSIDE, RECORD
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


FAULTS = (
    """([limit, keys, smallest]) => {
  const ofTokens = new Set(["query", "key", "token", "source", "writes", "reads → writes"]);
  const titles = new Set([...ofTokens, "← query (attending)"]);
  const faults = [], numbered = new Set(), ruler = document.createElement("canvas").getContext("2d");"""
    + INSIDE
    + """
  const keyOf = (root) => /st-key-([\\w-]+)/.exec(root.host?.closest("[class*=st-key-]")?.className ?? "")?.[1];
  const faultsOf = ({ picture: { texts, rows, columns, square }, place, colours, node }, written, key) => {
    const { corners, wide, high } = place, [{ x, y }] = corners, across = corners.filter((one) => one.y === y).length;
    const between = across > 1 ? corners[1].x - x - wide * columns.count : 0;
    ruler.font = `${limit}px ${colours.font}`;
    const widest = Math.max(...texts.flat().map((text) => ruler.measureText(text).width));
    const room = ((node.clientWidth - x + between) / across - between) / columns.count - 4; // what a number may take
    if (widest > room || (square && limit > room)) return; // it cannot be
    for (const [row, line] of texts.entries())
      for (const [column, text] of line.entries()) {
        const corner = corners[Math.floor(row / rows.count)]; // matrices stand one under another in the texts
        const [left, top] = [corner.x + column * wide, corner.y + (row % rows.count) * high];
        const isIn = (one) => one.x > left && one.x < left + wide && one.y > top && one.y < top + high;
        const found = written.find((one) => one.text === text && isIn(one));
        if (text.trim() && !found) faults.push(`${key}, row ${row}, column ${column}: ${text} is not drawn`);
        else if (found && found.size < limit - 0.05) faults.push(`${key}: ${text} has ${found.size} pixels`);
        else if (found && (found.width > wide || found.size > high)) faults.push(`${key}: ${text} leaves its cell`);
      }
  };
  for (const canvas of inside(document.body).filter((e) => e.matches("canvas") && e.checkVisibility())) {
    const root = canvas.getRootNode(), written = drawnTexts.get(canvas) ?? [], key = keyOf(root), view = root.view_;
    const axes = view?.picture?.rows ? [view.picture.rows.title, view.picture.columns.title] : [];
    for (const { text, size, isUpright } of written) {
      if (size < smallest - 0.05) faults.push(`${key}: ${text} has ${size} pixels`);
      if (isUpright && !titles.has(text) && text !== axes[0]) faults.push(`${key}: ${text} stands upright`);
    }
    const { wide, high } = view?.place ?? {};
    if (axes.length && axes.every((title) => ofTokens.has(title)) && Math.abs(wide - high) > 0.5)
      faults.push(`${key}: cells measure ${wide} × ${high}`);
    if (view && view.width !== view.node.clientWidth) faults.push(`${key} has not its width yet`);
    if (view?.picture?.texts) {
      numbered.add(key);
      faultsOf(view, written, key);
    } else if (written.some(({ text }) => /^[−]?[0-9]*\\.[0-9]+$|^−∞$/.test(text))) numbered.add(key);
  }
  return [...faults, ...keys.filter((key) => !numbered.has(key)).map((key) => `${key} has no numbers`)];
}"""
)
"""What is wrong with the letters on a page's canvases, in sentences, and which of the keys have no numbers."""


def faults(page: Page, limit: int, keys: set[str]) -> list[str]:
    """The faults that stay once the page has had time to find its shape."""
    page.wait_for_function(AT_REST)
    asked = [limit, sorted(keys), NAMES if limit == PLAIN else limit]
    with suppress(TookTooLong):
        page.wait_for_function(f"(asked) => ({FAULTS})(asked).length === 0", arg=asked, timeout=10_000)
    found: list[str] = page.evaluate(FAULTS, asked)
    return found


@pytest.mark.parametrize("every", [pytest.param(False, id="few"), pytest.param(True, id="all", marks=pytest.mark.soak)])
def test_cells_are_square_names_never_upright_and_numbers_drawn_where_they_fit_on_a_projector_too(
    visit: Visit, every: bool
) -> None:
    """A map says what its cells hold; of others it is known that numbers have room, or that both axes are tokens."""
    places = MORE | as_opened() if every else FEW
    assert len(places) > 10
    found: dict[str, list[str]] = {}
    with visit.page.add_init_script(RECORD):
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
