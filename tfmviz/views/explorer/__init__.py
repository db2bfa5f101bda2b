"""The explorer: all heads of a sentence in the browser at once.

`views/payload.py` says what it reads, `explorer.ts` what it does.
"""

from pathlib import Path

from tfmviz.views.shared import PAGE, script, style

JS = script("explorer/view.ts")
STANDALONE_JS = script("explorer/standalone.ts")
CSS = style("explorer")
STANDALONE_CSS = PAGE + (Path(__file__).parent / "standalone.css").read_text(encoding="utf-8") + CSS
