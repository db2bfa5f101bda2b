"""Client-side views: TypeScript and CSS that answer every touch in the browser.

`html` is the explorer as one page, which `tfmviz.show` puts into a notebook or a file. With `views.html(trace,
title="tiny-english", live=True)` the model is in the page, and the reader can type.
"""

from __future__ import annotations

import base64
from html import escape

from tfmviz.analysis.biography.file import Book
from tfmviz.record.trace import Trace
from tfmviz.views import explorer
from tfmviz.views.files import csv_of, npz_of
from tfmviz.views.payload import Scores, details, payload, travels_whole
from tfmviz.views.shared.page import page

__all__ = ["csv_of", "details", "html", "npz_of", "payload", "travels_whole"]


def html(
    trace: Trace, *, title: str = "", on_repeats: Scores | None = None, book: Book | None = None, live: bool = False
) -> str:
    """The explorer with a trace's attention as one page that asks for nothing from outside.

    A policy in the page allows its own script and style only, and no connection at all.

    Args:
        title: name of the model, for captions.
        on_repeats, book: see `payload`.
        live: with the model inside, so that the reader can type: each key runs it, in their own browser. `title` must
            then name one of our models that a browser computes.

    Raises:
        ValueError: see `payload`; no browser computes the model, or the trace is not of it as it is.
    """
    if live:
        from tfmviz.views.site.page import live_page

        return live_page(trace, title)
    data = base64.b64encode(payload(trace, title=title, on_repeats=on_repeats, book=book, whole=True)).decode()
    text = escape(trace.target.text if trace.source is None else trace.source.text)
    script = explorer.STANDALONE_JS
    body = f"""<main>
<h1 dir="auto">{text}</h1>
<div id="explorer"></div>
</main>
<script type="text/plain" id="payload">{data}</script>
<script type="module">{script}</script>"""
    name = f"Attention{f' of {title}' if title else ''}"
    return page(name, body, css=explorer.STANDALONE_CSS, scripts=(script,))
