"""The page that a browser fetches first, and the files that it names.

Streamlit's page looks for its server below its own address (`/explorer/_stcore/health`), fails, and tries again; and
it fetches the scripts of its parts and of our views one after another, as their elements come. This page names its
server, and the browser fetches these scripts while it reads the first ones, and after them.

These are more than a hundred files. Streamlit reads each from the disk for each reader, in pieces, each in a thread
that waits its turn, and sends it as it is, 2.5 MB in all. Here they are compressed once, when the server has time, and
sent from memory; before that each is read in one go.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
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

PARTS = ("BidiComponent", "Button", "Html", "NumberInput", "PageLink", "Selectbox", "TextArea")
"""Streamlit's elements that nearly every page has, by the names of their files."""

MEDIA = {".js": "text/javascript", ".css": "text/css"}

_compressed: dict[str, bytes] = {}
"""Files by address."""

_ONE_PART = re.compile(r"/[^/.]+")

_IMPORT = re.compile(r'(?:from|import)"\./([\w.-]+\.js)"')


@dataclass(frozen=True, slots=True)
class Document:
    """An ASGI application around another that replaces the first page, wherever it is sent, and answers for scripts and
    styles.

    `line`: JavaScript that the page begins with; the server's policy allows it by its digest.
    """

    app: ASGIApp
    line: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self.app
        if scope["type"] == "http" and scope["method"] in ("GET", "HEAD"):
            pages, path, headers = _pages(self.line), scope["path"], Headers(scope=scope)
            # At an address that is no page the app shows the first one, which needs its styles there, too.
            is_lost = _ONE_PART.fullmatch(path) and "text/html" in headers.get("accept", "")
            if page := pages.get(path) or (pages["/"] if is_lost else None):
                tag = f'"{sha256(page).hexdigest()[:32]}"'
                kept = {"Cache-Control": "private, no-cache", "ETag": tag}
                is_known = tag in headers.get("if-none-match", "")
                app = Response(status_code=304, headers=kept) if is_known else HTMLResponse(page, headers=kept)
            elif file := _files().get(path):
                packed = _compressed.get(path) if "gzip" in headers.get("accept-encoding", "") else None
                encoding = {"Content-Encoding": "gzip"} if packed else {}
                kept = scripts.FOREVER | {"Vary": "Accept-Encoding"} | encoding
                app = Response(packed or file.read_bytes(), media_type=MEDIA[file.suffix], headers=kept)
        await app(scope, receive, send)


def compress(is_over: Callable[[], bool] = lambda: False) -> None:
    """Compresses all scripts and styles, about half a second of work, unless it `is_over` first."""
    for address, path in _files().items():
        if not is_over():
            _compressed[address] = gzip.compress(path.read_bytes(), 6)


@cache
def _files() -> dict[str, Path]:
    files = {f"/static/{path.parent.name}/{path.name}": path for path in (STATIC / "static").glob("*/*")}
    files |= {f"/views/{path.name}": path for path in scripts.FILES.glob("*.js")}
    return {address: path for address, path in files.items() if path.suffix in MEDIA}


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
