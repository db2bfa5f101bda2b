"""Client-side views: plain JavaScript and CSS that answer every touch in the browser.

    from tfmviz import load, views
    trace = load("tiny-english").trace("The cat sat on the mat.")
    Path("attention.html").write_text(views.html(trace), encoding="utf-8")

In a notebook: `IPython.display.IFrame("attention.html", 1200, 900)`.
"""

from __future__ import annotations

import base64
import hashlib
from html import escape

from tfmviz.analysis.biography.file import Book
from tfmviz.record.trace import Trace
from tfmviz.views import explorer
from tfmviz.views.files import csv_of, npz_of
from tfmviz.views.payload import Scores, details, payload, travels_whole

__all__ = ["csv_of", "details", "digest", "html", "npz_of", "payload", "travels_whole"]


def html(trace: Trace, *, title: str = "", on_repeats: Scores | None = None, book: Book | None = None) -> str:
    """The explorer with a trace's attention as one page that asks for nothing from outside.

    A policy in the page allows its own script and style only, and no connection at all.

    Args:
        title: name of the model, for captions.
        on_repeats, book: see `payload`.

    Raises:
        ValueError: see `payload`.
    """
    data = base64.b64encode(payload(trace, title=title, on_repeats=on_repeats, book=book, whole=True)).decode()
    style, script = explorer.STANDALONE_CSS, explorer.STANDALONE_JS
    policy = (
        f"default-src 'none'; script-src {digest(script)}; style-src {digest(style)}; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    text = escape(trace.target.text if trace.source is None else trace.source.text)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width">
<title>Attention{f" of {escape(title)}" if title else ""}</title>
<style>{style}</style>
</head>
<body>
<main>
<h1 dir="auto">{text}</h1>
<div id="explorer"></div>
</main>
<script type="text/plain" id="payload">{data}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def digest(text: str) -> str:
    """How a page's policy names a script or a style that stands in it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
