"""The page itself: what stands in it, and what its policy allows."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

from tfmviz.places import PROJECT
from tfmviz.record.trace import Trace
from tfmviz.views.engine import KNOWN, package
from tfmviz.views.shared import digest
from tfmviz.views.site import CSS, JS, LATER

PARTS = ("explorer", "whole_model", "step_by_step", "masks", "positions_rope")
"""By the names of the app's pages."""


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
        text: with which it opens.
        models: see `Model` in site.js.
        inside: the files that it carries: models as base64, what pictures consist of as JSON.
        scripts: where the other scripts are; none: in the page.
        parts: which there are.
    """
    asks = "'none'" if inside else "'self'"
    later = [js for name, js in LATER.items() if name in ("below", *parts)]
    policy = (
        f"default-src 'none'; script-src {' '.join(map(digest, (JS, *later)))} 'wasm-unsafe-eval'; "
        f"style-src {digest(CSS)}; connect-src {asks}; img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    said = json.dumps({"text": text, "models": models, "scripts": scripts, "parts": parts}).replace("<", "\\u003c")
    carried = "\n".join(f'<script type="text/plain" id="{name}">{data}</script>' for name, data in inside.items())
    rest = "" if scripts else "\n".join(f'<script type="module">{js}</script>' for js in later)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,">
<title>Attention, computed in your browser</title>
<style>{CSS}</style>
</head>
<body>
<main>
<h1>Attention, computed in your browser</h1>
<div id="controls"></div>
<div id="explorer" data-part="explorer"></div>
<div id="below" data-part="explorer"></div>
<div id="parts"></div>
</main>
<script type="application/json" id="site">{said}</script>
{carried}
<script type="module">{JS}</script>
{rest}
</body>
</html>
"""


def live_page(trace: Trace, name: str) -> str:
    """The heads of a trace, with the model inside.

    Raises:
        ValueError: no browser computes the model, or the trace is not of it as it is.
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
    model = {"model": name, "name": name, "about": "", "config": config, "scenes": "", "inside": "model"}
    inside = {"model": base64.b64encode(package(folder)).decode()}
    return html(trace.target.text, [model], inside=inside, scripts={}, parts=PARTS[:1])
