"""All heads of a sentence in the browser. `views/payload.py` describes its data."""

from pathlib import Path

from tfmviz.views.shared import PAGE, script, style

STANDALONE_JS = script("explorer/standalone.ts")
STANDALONE_CSS = PAGE + (Path(__file__).parent / "standalone.css").read_text(encoding="utf-8") + style("explorer")
