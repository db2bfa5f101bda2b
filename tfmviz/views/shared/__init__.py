"""Bundled scripts and styles of the views, and numbers on their way to the browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tfmviz.plots.theme import DARK, LIGHT, Theme, streamlit, variables
from tfmviz.record.trace import Array

VIEWS = Path(__file__).parents[1]

DIST = VIEWS / "dist"
"""The output of `npm run build`: committed, so that installing and running the app needs no node."""

_CSS_COMMENT = re.compile(r"/\*(?:(?!\*/)[\s\S])*\*/\n?")
_BLANK = re.compile(r"\n{2,}")
_INDENT = re.compile(r"^ +", re.MULTILINE)


@cache
def script(entry: str) -> str:
    """A module, named by its path under `views`, bundled with all that it imports into one text.

    Streamlit takes a component as one text, and a page's policy names an inline script by its digest.
    """
    return (DIST / "alone" / entry).with_suffix(".js").read_text(encoding="utf-8")


def _colours(selector: str, theme: Theme) -> str:
    return f"{selector}{{{''.join(f'--{name}:{colour};' for name, colour in variables(theme).items())}}}\n"


def page_colours(theme: Theme) -> str:
    """The CSS rule with the colours that Streamlit gives only to components."""
    return f":root{{{''.join(f'{name}:{colour};' for name, colour in streamlit(theme).items())}}}\n"


PAGE = f"{page_colours(LIGHT)}@media (prefers-color-scheme: dark){{{page_colours(DARK)}}}\n"
"""The colours of a page without Streamlit."""

COLOURS = _colours(".view", LIGHT) + _colours('.view[data-dark="true"]', DARK)


def style(name: str) -> str:
    """The theme's colours, the common style, and that of one view; "" of a view without."""
    own = f"{name}/view.css"
    return COLOURS + css("shared/view.css", "shared/bar.css", own) if (VIEWS / own).exists() else ""


def css(*paths: str) -> str:
    text = "\n".join((VIEWS / path).read_text(encoding="utf-8") for path in paths)
    return _BLANK.sub("\n", _INDENT.sub("", _CSS_COMMENT.sub("", text)))


def digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def framed(header: Mapping[str, Any], parts: Sequence[bytes]) -> bytes:
    """Header and data as bytes: length of the header (4 bytes, little-endian), header (JSON, UTF-8), the data.

    `record.ts` takes them apart.
    """
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    return b"".join([len(text).to_bytes(4, "little"), text, *parts])


def pack(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
    """Named arrays as framed bytes, their numbers as float32.

    The header gets an entry `arrays`: per name its shape and its offset from the header's end. `arrays.ts` reads this.
    """
    entries, parts, at = {}, [], 0
    for name, array in arrays.items():
        parts.append(np.ascontiguousarray(array, dtype="<f4").tobytes())
        entries[name] = {"shape": array.shape, "at": at}
        at += len(parts[-1])
    return framed(dict(header) | {"arrays": entries}, parts)
