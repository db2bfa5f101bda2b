"""A visitor of a site, who gets files from a folder and nothing from anywhere else."""

from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, Page, Route, expect

from tfmviz import zoo
from tfmviz.record.edits import AblateHead
from tfmviz.record.trace import Trace

HOME = "http://localhost/"
"""Nothing is served there: the tests answer from the folder. Browsers trust this name, so they compute digests."""

SMALL = ("twins-rope", "twins-none")

KINDS = {".html": "text/html", ".js": "text/javascript", ".json": "application/json"}

PARTS = {
    "The whole model": ".whole .hits button",
    "Step by step": ".steps .stages button",
    "Masks": ".lab .gallery button",
    "RoPE arrows": ".turning .dials button",
    "Heads": "#explorer .tiles button",
}
"""What can be seen of each part."""


class Visitor:
    """A tab that gets files from a folder and nothing from anywhere else."""

    def __init__(self, context: BrowserContext, folder: Path) -> None:
        self.page: Page = context.new_page()
        self.folder = folder
        self.replaced: dict[str, bytes] = {}
        self.gone: set[str] = set()
        self.complaints: list[str] = []
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        context.route("**/*", self.answer)

    def answer(self, route: Route) -> None:
        where = urlsplit(route.request.url)
        path = self.folder / (where.path.lstrip("/") or "index.html")
        if where.path in self.gone:
            route.abort()
        elif not route.request.url.startswith(HOME) or not path.is_file():
            self.complaints.append(f"asked for {route.request.url}")
            route.abort()
        else:
            kind = KINDS.get(path.suffix, "application/octet-stream")
            route.fulfill(body=self.replaced.get(where.path, path.read_bytes()), content_type=kind)

    def open(self, query: str = "", *, drawn: str = "#below .words li") -> Page:
        """Goes to an address and waits for what comes last."""
        self.page.goto(f"{HOME}{query}")
        expect(self.page.locator(drawn).first).to_be_attached()
        return self.page


def traced(text: str, model: str = "twins-rope", *off: tuple[int, int]) -> Trace:
    edits = tuple(AblateHead(layer=f"decoder.{layer}.self_attn", head=head) for layer, head in off)
    return zoo.load(model).trace(text, edits=edits)
