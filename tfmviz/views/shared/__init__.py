"""What several views share: joining modules to one script, numbers on their way to the browser, meeting Streamlit."""

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

from tfmviz.plots.theme import DARK, LIGHT, Theme, variables
from tfmviz.record.trace import Array

VIEWS = Path(__file__).parents[1]

_IMPORT = re.compile(r'^import \{\s*\w+(?:,\s+\w+)*,?\s*\} from "(\.\.?/[\w./]+)";\n', re.MULTILINE)
_COMMENT = re.compile(r"^ *(?://.*|/\*\*(?:(?!\*/)[\s\S])*\*/)\n", re.MULTILINE)
_ASIDE = re.compile(r"(?<=[;{,]) // .*$", re.MULTILINE)
_TYPE = re.compile(r"/\*\* @type \{[^\n]*?\} \*/ ?")
_CSS_COMMENT = re.compile(r"/\*(?:(?!\*/)[\s\S])*\*/\n?")
_BLANK = re.compile(r"\n{2,}")
_INDENT = re.compile(r"^ +", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?function \w|class|const)", re.MULTILINE)


@cache
def script(entry: str) -> str:
    """A JavaScript module, named by its path under `views`, and all that it imports, as one module.

    Streamlit takes a component as one text. So the import lines are followed, every module is put in once, after those
    that it imports, and import lines, the word `export` (but for a default), comments, indentation and empty lines are
    left out, a sixth of the bytes. So no text with a line break in it may need its spaces.
    Names must differ between the modules of a script, and imports have one form: `import { name } from "./file.js";`.

    Raises:
        ValueError: a module imports or exports in another form, or modules import each other in a circle.
    """
    joined: dict[Path, str] = {}
    _join((VIEWS / entry).resolve(), joined, ())
    return "\n".join(joined.values())


def _join(module: Path, joined: dict[Path, str], importers: tuple[Path, ...]) -> None:
    """Puts a module into `joined`, after what it imports. `importers` led to it."""
    if module in joined:
        return
    if module in importers:
        raise ValueError(f"These modules import each other: {', '.join(path.name for path in importers)}.")
    source = module.read_text(encoding="utf-8")
    for name in _IMPORT.findall(source):
        _join((module.parent / name).resolve(), joined, (*importers, module))
    text = source
    for left_out in (_IMPORT, _COMMENT, _TYPE, _ASIDE, _EXPORT, _INDENT):
        text = left_out.sub("", text)
    if unknown := re.search(r"^(?:import|export (?!default)).*", text, re.MULTILINE):
        raise ValueError(f"{module.name}: {unknown[0]!r} is not a form that `script` can join.")
    joined[module] = _BLANK.sub("\n", text).lstrip("\n")


def _colours(selector: str, theme: Theme) -> str:
    return f"{selector}{{{''.join(f'--{name}:{colour};' for name, colour in variables(theme).items())}}}\n"


COLOURS = _colours(".view", LIGHT) + _colours('.view[data-dark="true"]', DARK)


def style(name: str) -> str:
    """The theme's colours, what all views look like, and what one adds, without comments and indentation."""
    text = COLOURS + "\n".join((VIEWS / folder / "view.css").read_text(encoding="utf-8") for folder in ("shared", name))
    return _BLANK.sub("\n", _INDENT.sub("", _CSS_COMMENT.sub("", text)))


def digest(text: str) -> str:
    """How a page's policy names a script or a style that stands in it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


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


RELAY_JS = script("shared/relay.js")
"""The component that brings a view what Python has chosen."""
