"""The page that a browser fetches first: Streamlit's, with what it would otherwise find out later.

Streamlit's page looks for its server below its own address (`/explorer/_stcore/health`), fails, and tries again; and
it fetches the scripts of its parts and of our views one after another, as their elements come. This page names the
server, and the browser fetches the scripts in parallel.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

import streamlit
from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from tfmviz.ui import projector, scripts
from tfmviz.ui.router import DEFAULT, PAGES

STATIC = Path(streamlit.__file__).parent / "static"

PARTS = ("BidiComponent", "Button", "Html", "PageLink", "Selectbox", "TextArea")
"""Streamlit's elements that nearly every page has, by the names of their files."""

_IMPORT = re.compile(r'(?:from|import)"\./([\w.-]+\.js)"')


@dataclass(frozen=True, slots=True)
class Document:
    """An ASGI application around another. `line`: JavaScript that the page begins with; the server's policy allows it
    by its digest.
    """

    app: ASGIApp
    line: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self.app
        if (
            scope["type"] == "http"
            and scope["method"] in ("GET", "HEAD")
            and (page := _pages(self.line).get(scope["path"]))
        ):
            tag = f'"{sha256(page).hexdigest()[:32]}"'
            headers = {"Cache-Control": "private, no-cache", "ETag": tag}
            is_kept = tag in Headers(scope=scope).get("if-none-match", "")
            app = Response(status_code=304, headers=headers) if is_kept else HTMLResponse(page, headers=headers)
        await app(scope, receive, send)


@cache
def _pages(line: str) -> dict[str, bytes]:
    html = (STATIC / "index.html").read_text(encoding="utf-8")
    found = {}
    for page in PAGES:
        files = [f"static/js/{name}" for name in _parts()] + [f"views/{name}" for name in scripts.early(page.name)]
        links = "".join(f'<link rel="modulepreload" crossorigin fetchpriority="low" href="./{name}">' for name in files)
        known = html.replace("</head>", f"<script>{line}</script>{links}</head>")
        known = known.replace("<body>", f"<body>{projector.served()}")  # after all that Streamlit puts into the head
        found[f"/{'' if page.name == DEFAULT else page.name}"] = known.encode()
    return found


@cache
def _parts() -> tuple[str, ...]:
    """`PARTS` and all that they import, except what Streamlit's page lists."""
    js = STATIC / "static" / "js"
    named = (STATIC / "index.html").read_text(encoding="utf-8")
    todo = [path.name for part in PARTS for path in js.glob(f"{part}.*.js")]
    found = dict.fromkeys(todo)
    while todo:
        for name in _IMPORT.findall((js / todo.pop()).read_text(encoding="utf-8")):
            if name not in found and name not in named:
                found[name] = None
                todo.append(name)
    return tuple(found)
