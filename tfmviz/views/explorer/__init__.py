"""The explorer: all heads of a sentence in the browser at once.

`views/payload.py` says what it reads, `explorer.js` what it does.
"""

from pathlib import Path

from tfmviz.views.shared import script, style

MODULES = (
    "shared/elements",
    "shared/colours",
    "explorer/weights",
    "shared/framed",
    "explorer/payload",
    "explorer/state",
    "explorer/words",
    "shared/picture",
    "explorer/strip",
    "explorer/overview",
    "explorer/lines",
    "explorer/matrix",
    "explorer/controls",
    "explorer/explorer",
)

JS = script((*MODULES, "shared/meet", "explorer/streamlit"))
STANDALONE_JS = script((*MODULES, "explorer/standalone"))
CSS = style("explorer")
STANDALONE_CSS = (Path(__file__).parent / "standalone.css").read_text(encoding="utf-8") + CSS
