"""Writes a site without a server, for models that run in the reader's browser.

    python -m tfmviz.site OUT                    a folder for any web server
    python -m tfmviz.site OUT --single           OUT/attention.html alone, with one model in it, for a USB stick

The page's policy forbids requests outside the folder.
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
from tfmviz.ui import whole_model_data
from tfmviz.ui.model_names import named
from tfmviz.ui.sentences import examples_for
from tfmviz.ui.weights import PART
from tfmviz.views import site, whole_model
from tfmviz.views.engine import KNOWN, package
from tfmviz.views.site.page import html

MODELS = ("twins-rope", "twins-sinusoidal", "twins-none", "tiny-english")
"""The default models, a small one first."""


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
    """Writes the page, with the models next to it or inside. Returns the page's path.

    Raises:
        ValueError: a browser cannot compute a model.
        OSError: something cannot be written.
    """
    known = {entry.name: entry.config for entry in zoo.catalogue(zoo.MODELS) if entry.config and entry.name in KNOWN}
    if unknown := [name for name in models if name not in known]:
        raise ValueError(f"A browser cannot compute {', '.join(unknown)}; it can compute {', '.join(sorted(known))}.")
    out.mkdir(parents=True, exist_ok=True)
    entries: list[dict[str, Any]] = []
    inside: dict[str, str] = {}
    for entry in named({name: known[name] for name in dict.fromkeys(models)}):
        folder = zoo.MODELS / entry.model
        data = package(folder)
        found = hashlib.sha256(data).hexdigest()
        place = f"{entry.model}-{found[:20]}"
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        facts = {"model": entry.model, "name": entry.name, "about": f"{entry.line} {entry.size}.", "config": config}
        facts["examples"] = [example.text for example in examples_for(entry.model)]
        pictures = json.dumps(_scenes(entry.model), ensure_ascii=False, separators=(",", ":"))
        facts["scenes"] = f"{entry.model}-scenes"
        if single:
            inside[place] = base64.b64encode(data).decode()
            inside[facts["scenes"]] = pictures.replace("<", "\\u003c")
            facts["inside"] = place
        else:
            facts["scenes"] = _put_file(out, f"models/{entry.model}", pictures, "json")
            parts = [data[at : at + PART] for at in range(0, len(data), PART)]
            (out / "models" / place).mkdir(parents=True, exist_ok=True)
            for n, part in enumerate(parts):
                (out / "models" / place / str(n)).write_bytes(part)
            facts["parcel"] = {"at": f"models/{place}", "parts": len(parts), "bytes": len(data), "digest": found}
        entries.append(facts)
    entries.sort(key=lambda entry: models.index(entry["model"]))
    later = {} if single else {name: _put_file(out, name, js, "js") for name, js in site.LATER.items()}
    page = out / ("attention.html" if single else "index.html")
    opens_with = examples_for(entries[0]["model"])[0].text
    page.write_text(html(opens_with, entries, inside=inside, scripts=later), encoding="utf-8")
    return page


def _scenes(name: str) -> dict[str, Any]:
    """The pictures of a model, its blocks and its heads."""
    model = zoo.load(name)
    about = whole_model_data.subject(model, model.trace("Once upon a time"))
    found = {"model": whole_model.described(about, "model", model.config.layers[0], 0)}
    for layer in model.config.layers:
        block = layer.rsplit(".", 1)[0]
        found[block] = whole_model.described(about, "block", layer, 0)
        for head in range(model.config.attention.n_heads):
            found[f"{block}.{head}"] = whole_model.described(about, "head", layer, head)
    return found


def _put_file(out: Path, name: str, text: str, kind: str) -> str:
    """Writes a file named after the hash of its content. Returns its address."""
    data = text.encode()
    address = f"{name}-{hashlib.sha256(data).hexdigest()[:20]}.{kind}"
    (out / address).parent.mkdir(parents=True, exist_ok=True)
    (out / address).write_bytes(data)
    return address


if __name__ == "__main__":
    main()
