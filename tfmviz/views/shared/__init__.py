"""What several views share: joining modules to one script, numbers on their way to the browser, meeting Streamlit."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tfmviz.trace import Array

VIEWS = Path(__file__).parents[1]

RELAY_JS = (VIEWS / "shared" / "relay.js").read_text(encoding="utf-8")


def script(modules: Sequence[str]) -> str:
    """Plain JavaScript modules, named by their path under `views`, as one module; each before those that import it.

    Streamlit takes a component as one text. The lines that import one module from another are left out.
    """
    joined = "\n".join((VIEWS / f"{name}.js").read_text(encoding="utf-8") for name in modules)
    without_imports = re.sub(r"^import .*\n", "", joined, flags=re.MULTILINE)
    return re.sub(r"^export (?!default)", "", without_imports, flags=re.MULTILINE)


def style(name: str) -> str:
    """What all views look like, and what one adds to that."""
    return "\n".join((VIEWS / folder / "view.css").read_text(encoding="utf-8") for folder in ("shared", name))


def framed(header: Mapping[str, Any], parts: Sequence[bytes]) -> bytes:
    """Header and data as bytes: length of the header (4 bytes, little-endian), header (JSON, UTF-8), the data.

    `framed.js` takes them apart.
    """
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    return b"".join([len(text).to_bytes(4, "little"), text, *parts])


def pack(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
    """Named arrays as framed bytes, their numbers as float32.

    The header gets an entry `arrays`: per name its shape and its offset from the header's end. `arrays.js` reads this.
    """
    entries, parts, at = {}, [], 0
    for name, array in arrays.items():
        parts.append(np.ascontiguousarray(array, dtype="<f4").tobytes())
        entries[name] = {"shape": array.shape, "at": at}
        at += len(parts[-1])
    return framed(dict(header) | {"arrays": entries}, parts)
