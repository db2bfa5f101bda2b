"""Client-side views: TypeScript and CSS that answer every touch in the browser.

`html` makes the explorer one page, which `tfmviz.show` puts into a notebook or a file. With `views.html(trace,
title="tiny-english", live=True)` the page also holds the model, and the reader can type.
"""

from __future__ import annotations

import base64
from html import escape

from tfmviz.analysis.biography.file import HeadCatalog
from tfmviz.record.trace import Trace
from tfmviz.views import explorer
from tfmviz.views.files import csv_of, npz_of
from tfmviz.views.payload import Scores, details, payload, travels_whole
from tfmviz.views.shared.page import page

__all__ = ["csv_of", "details", "html", "npz_of", "payload", "travels_whole"]


def html(
    trace: Trace,
    *,
    title: str = "",
    on_repeats: Scores | None = None,
    book: HeadCatalog | None = None,
    live: bool = False,
) -> str:
    """The explorer of a trace as one page that loads nothing; its policy allows its own script and style alone.

    Args:
        on_repeats, book: see `payload`.
        live: with the model inside, which runs in the reader's browser at each key. `title` must then name one of our
            models that a browser computes.

    Raises:
        ValueError: see `payload`; no browser computes the model, or the trace is edited.
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
