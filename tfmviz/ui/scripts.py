"""The scripts of the views, as files that a browser fetches once.

Streamlit sends a component's script with every answer, to fifty browsers at the same time when a class presses Enter.
The command `tfmviz` serves the scripts separately, cut into pieces that views share; `streamlit run` serves no files
of ours, so there they travel with every answer.
"""

from __future__ import annotations

import json
from functools import cache

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tfmviz.views.shared import DIST, script

FILES = DIST / "split"

FETCHING = """
const view = await import(new URL("views/%s", document.baseURI));
export default view.default;
"""

FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}
"""A file's name follows from its content."""

_served = False


def route() -> Route:
    """The server's route; from now on, `sent` relies on it."""
    global _served
    _served = True
    return Route("/views/{name:path}", _answer)


def sent(view: str) -> str:
    """A view's script for Streamlit, by the name of its folder: the whole, or lines that fetch it."""
    return FETCHING % name_of(view) if _served else script(f"{view}/view.ts")


def name_of(view: str) -> str:
    """The first file of a view."""
    return _pieces()[view][0]


ON_EVERY_PAGE = ("frame", "keys", "live")


def early(page: str) -> list[str]:
    """The files that a page needs first: of the views on every page, and of the one with the page's name."""
    return [*dict.fromkeys(name for view in (*ON_EVERY_PAGE, page) for name in _pieces().get(view, ()))]


async def _answer(request: Request) -> Response:
    js = _files().get(request.path_params["name"])
    if js is None:
        return Response("There is no such script.", status_code=404, media_type="text/plain")
    return Response(js, media_type="text/javascript", headers=FOREVER)


@cache
def _pieces() -> dict[str, list[str]]:
    pieces: dict[str, list[str]] = json.loads((DIST / "split.json").read_text(encoding="utf-8"))
    return pieces


@cache
def _files() -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in FILES.glob("*.js")}
