"""The scripts of the views, as files that a browser fetches once.

Streamlit sends a component's script with every answer, to fifty browsers at once when a class presses Enter. The
command `tfmviz` serves the scripts beside the app, cut into pieces that views share, and then a few lines travel that
fetch one. Under `streamlit run`, which serves nothing of ours, the scripts travel as ever.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tfmviz.views.shared import DIST, script

FETCHING = """
const view = await import(new URL("views/%s", document.baseURI));
export default view.default;
"""

FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}
"""The name of a file follows from its content."""

_served = False


def route() -> Route:
    """What a server adds to the app; from now on, `sent` relies on it."""
    global _served
    _served = True
    return Route("/views/{name:path}", _answer)


def sent(js: str) -> str:
    """What Streamlit gets for a view's script: the script itself, or lines that fetch it."""
    return FETCHING % name_of(js) if _served and js in _names() else js


def name_of(js: str) -> str:
    """The file with which a view begins whose script would be this, if it travelled."""
    return _names()[js]


ON_EVERY_PAGE = ("frame", "keys", "live")


def early(page: str) -> list[str]:
    """The files that a page asks for first: of the views on every page, and of the one that is named as it is."""
    views = {Path(entry).parent.name: pieces for entry, pieces in _pieces().items() if Path(entry).stem == "view"}
    return [*dict.fromkeys(name for view in (*ON_EVERY_PAGE, page) for name in views.get(view, ()))]


async def _answer(request: Request) -> Response:
    js = _files().get(request.path_params["name"])
    if js is None:
        return Response("There is no such script.", status_code=404, media_type="text/plain")
    return Response(js, media_type="text/javascript", headers=FOREVER)


@cache
def _names() -> dict[str, str]:
    return {script(entry): pieces[0] for entry, pieces in _pieces().items()}


@cache
def _pieces() -> dict[str, list[str]]:
    """The files of each view by its entry, that with which it begins first."""
    pieces: dict[str, list[str]] = json.loads((DIST / "split.json").read_text(encoding="utf-8"))
    return pieces


@cache
def _files() -> dict[str, str]:
    """All pieces by the names of their files, the same on every server of a class."""
    return {path.name: path.read_text(encoding="utf-8") for path in (DIST / "split").glob("*.js")}
