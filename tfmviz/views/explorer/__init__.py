"""The explorer: all heads of a sentence in the browser at once.

`views/payload.py` says what it reads, `explorer.js` what it does.
"""

from pathlib import Path

from tfmviz.views.shared import script

FOLDER = Path(__file__).parent

MODULES = (
    "explorer/elements",
    "explorer/colours",
    "explorer/weights",
    "explorer/payload",
    "explorer/state",
    "explorer/words",
    "explorer/picture",
    "explorer/strip",
    "explorer/overview",
    "explorer/lines",
    "explorer/matrix",
    "explorer/controls",
    "explorer/explorer",
)

JS = script((*MODULES, "shared/meet", "explorer/streamlit"))
STANDALONE_JS = script((*MODULES, "explorer/standalone"))
CSS = (FOLDER / "view.css").read_text(encoding="utf-8")
STANDALONE_CSS = (FOLDER / "standalone.css").read_text(encoding="utf-8") + CSS
