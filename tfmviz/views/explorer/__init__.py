"""The explorer: all heads of a sentence in the browser at once.

`views/payload.py` says what it reads, `explorer.js` what it does. The modules are plain JavaScript. Streamlit takes a
component as one text, and so does a page that needs no server; `script` joins them, leaving out the lines that import
one from another.
"""

import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent

MODULES = (
    "elements",
    "colours",
    "weights",
    "payload",
    "state",
    "words",
    "picture",
    "strip",
    "overview",
    "lines",
    "matrix",
    "controls",
    "explorer",
)
"""Each before those that import it."""

CSS = (FOLDER / "view.css").read_text(encoding="utf-8")


@cache
def script(entry: str) -> str:
    """The modules and an entry ("streamlit" or "standalone") as one module."""
    joined = "\n".join((FOLDER / f"{name}.js").read_text(encoding="utf-8") for name in (*MODULES, entry))
    without_imports = re.sub(r"^import .*\n", "", joined, flags=re.MULTILINE)
    return re.sub(r"^export (?!default)", "", without_imports, flags=re.MULTILINE)


SELECTION_JS = (FOLDER / "selection.js").read_text(encoding="utf-8")
