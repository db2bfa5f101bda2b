"""The scripts of the views, as files that a browser fetches once.

Streamlit sends a component's script with every answer: 88 of the explorer's 113 kB, to fifty browsers at once when a
class presses Enter. The command `tfmviz` serves the scripts beside the app, and then a few lines travel that fetch one.
Under `streamlit run`, which serves nothing of ours, the scripts travel as ever.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tfmviz.views.shared import VIEWS, script

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
    return FETCHING % name_of(js) if _served and name_of(js) in _files() else js


def name_of(js: str) -> str:
    return f"{sha256(js.encode()).hexdigest()[:20]}.js"


async def _answer(request: Request) -> Response:
    js = _files().get(request.path_params["name"])
    if js is None:
        return Response("There is no such script.", status_code=404, media_type="text/plain")
    return Response(js, media_type="text/javascript", headers=FOREVER)


@cache
def _files() -> dict[str, str]:
    """All scripts by the names of their files, the same on every server of a class."""
    entries = [*sorted(VIEWS.glob("*/view.js")), VIEWS / "shared" / "relay.js"]
    return {name_of(js): js for js in (script(str(entry.relative_to(VIEWS))) for entry in entries)}
