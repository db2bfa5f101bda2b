from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

from tfmviz.constants import SITE_PARTS
from tfmviz.paths import PROJECT
from tfmviz.record.trace import Trace
from tfmviz.views.engine import KNOWN, package
from tfmviz.views.shared.page import page
from tfmviz.views.site import CSS, JS, LATER

TITLE = "Attention, computed in your browser"

MAIN = """<div id="frame"></div>
<main>
<div id="controls"></div>
<div id="explorer" data-part="explorer"></div>
<div id="below" data-part="explorer"></div>
<div id="parts"></div>
<p id="about"></p>
</main>"""

PARTS = tuple(SITE_PARTS)


def html(
    text: str,
    models: Sequence[Mapping[str, Any]],
    *,
    inside: Mapping[str, str],
    scripts: Mapping[str, str],
    parts: Sequence[str] = PARTS,
) -> str:
    """The page.

    Args:
        text: the first sentence.
        models: see `Model` in site.ts.
        inside: files that it carries: models as base64, descriptions of pictures as JSON.
        scripts: addresses of the other scripts; none: in the page.
    """
    later = [js for name, js in LATER.items() if name in ("below", *parts)]
    facts = json.dumps({"text": text, "models": models, "scripts": scripts, "parts": parts}).replace("<", "\\u003c")
    carried = [f'<script type="text/plain" id="{name}">{data}</script>' for name, data in inside.items()]
    running = [f'<script type="module">{js}</script>' for js in (JS, *([] if scripts else later))]
    body = [MAIN, f'<script type="application/json" id="site">{facts}</script>', *carried, *running]
    connect = "" if inside else "'self'"
    more = ("'wasm-unsafe-eval'",)
    return page(TITLE, "\n".join(body), css=CSS, scripts=(JS, *later), more=more, connect=connect)


def live_page(trace: Trace, name: str) -> str:
    """The heads of a trace, with the model inside.

    Raises:
        ValueError: no browser computes the model, or the trace is edited.
    """
    if name not in KNOWN:
        raise ValueError(f"A browser computes {', '.join(sorted(KNOWN))}; the title names none of these: {name!r}.")
    if trace.edits:
        raise ValueError("This trace has edits; the page would show the model without them.")
    folder = PROJECT / "assets" / "models" / name
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    heads = {len(trace[f"{layer}.pattern"]) for layer in trace.layers}
    if len(trace.layers) != config["n_layers"] or heads != {config["n_heads"]}:
        raise ValueError(
            f"This is no trace of {name}, which has {config['n_layers']} layers of {config['n_heads']} heads."
        )
    model = {
        "model": name,
        "name": name,
        "about": "",
        "examples": [],
        "config": config,
        "scenes": "",
        "inside": "model",
    }
    inside = {"model": base64.b64encode(package(folder)).decode()}
    return html(trace.target.text, [model], inside=inside, scripts={}, parts=PARTS[:1])
