"""Writes a site that needs no server of ours: the explorer, with our models computing in the reader's own browser.

    python -m tfmviz.site OUT                    a folder for any web server
    python -m tfmviz.site OUT --single           OUT/attention.html alone, with one model in it, for a USB stick

Nothing is asked for outside of the folder; the page's policy forbids it. An address holds the sentence, the model and
all that is chosen, as in the app.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tfmviz import zoo
from tfmviz.ui.named import named
from tfmviz.ui.sentences import examples_for
from tfmviz.ui.weights import PART
from tfmviz.views import digest, site
from tfmviz.views.engine import KNOWN, package

MODELS = ("twins-rope", "twins-sinusoidal", "twins-none", "tiny-english")
"""Those of a site, if nobody asks for others. The first one is small: its picture is there soonest."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="the folder; what is in it under the same names is replaced")
    parser.add_argument("--models", nargs="+", metavar="NAME", help=f"instead of {', '.join(MODELS)}")
    parser.add_argument("--single", action="store_true", help="one file with everything in it, models too")
    args = parser.parse_args(arguments)
    try:
        written = write(args.out, args.models or (MODELS[:1] if args.single else MODELS), single=args.single)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    print(f"{written}: {sum(path.stat().st_size for path in args.out.rglob('*') if path.is_file()) / 1e6:.1f} MB")


def write(out: Path, models: Sequence[str], *, single: bool = False) -> Path:
    """Writes the page, and beside it the models unless they are to be in it. Returns the page's path.

    Raises:
        ValueError: a model is none that a browser computes.
        OSError: something cannot be written.
    """
    known = {entry.name: entry.config for entry in zoo.catalogue(zoo.MODELS) if entry.config and entry.name in KNOWN}
    if unknown := [name for name in models if name not in known]:
        raise ValueError(f"A browser cannot compute {', '.join(unknown)}; it can compute {', '.join(sorted(known))}.")
    out.mkdir(parents=True, exist_ok=True)
    entries, inside = [], {}
    for entry in named({name: known[name] for name in dict.fromkeys(models)}):
        folder = zoo.MODELS / entry.model
        data = package(folder)
        found = hashlib.sha256(data).hexdigest()
        place = f"{entry.model}-{found[:20]}"
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        said = {"model": entry.model, "name": entry.name, "about": f"{entry.line} {entry.size}.", "config": config}
        if single:
            inside[place] = base64.b64encode(data).decode()
            said["inside"] = place
        else:
            parts = [data[at : at + PART] for at in range(0, len(data), PART)]
            _put(out / "models" / place, parts)
            said["parcel"] = {"at": f"models/{place}", "parts": len(parts), "bytes": len(data), "digest": found}
        entries.append(said)
    entries.sort(key=lambda entry: models.index(entry["model"]))
    page = out / ("attention.html" if single else "index.html")
    page.write_text(_page(entries, inside), encoding="utf-8")
    return page


def _put(folder: Path, parts: Sequence[bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for n, data in enumerate(parts):
        (folder / str(n)).write_bytes(data)


def _page(entries: list[dict[str, Any]], inside: dict[str, str]) -> str:
    """The page itself; `inside` are the files that it carries, as base64."""
    asks = "'none'" if inside else "'self'"
    policy = (
        f"default-src 'none'; script-src {digest(site.JS)} 'wasm-unsafe-eval'; style-src {digest(site.CSS)}; "
        f"connect-src {asks}; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    carried = "\n".join(f'<script type="text/plain" id="{name}">{data}</script>' for name, data in inside.items())
    opens_with = examples_for(entries[0]["model"])[0].text
    said = json.dumps({"text": opens_with, "models": entries}).replace("<", "\\u003c")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width">
<title>Attention, computed in your browser</title>
<style>{site.CSS}</style>
</head>
<body>
<main>
<h1>Attention, computed in your browser</h1>
<div id="controls"></div>
<div id="explorer"></div>
<div id="below"></div>
</main>
<script type="application/json" id="site">{said}</script>
{carried}
<script type="module">{site.JS}</script>
</body>
</html>
"""


if __name__ == "__main__":
    main()
