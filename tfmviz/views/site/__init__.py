"""A page that needs no server: our models in the reader's browser, and the app's views of them.

`tfmviz/site.py` writes it as files for any web server, or as one file. The first script draws the app's header and the
heads; the others load on demand. Before each stand the styles of what it draws in a shadow root.
"""

import json

from tfmviz.views.explorer import STANDALONE_CSS
from tfmviz.views.shared import css, script, style


def _with_style(styles: str, entry: str) -> str:
    return f"globalThis.tfmvizStyle = {json.dumps(styles)};\n{script(entry)}"


JS = _with_style(css("frame/view.css", "keys/view.css"), "site/site.ts")
CSS = STANDALONE_CSS + css("site/view.css")

LATER = {
    "below": script("site/below.ts"),
    "whole_model": _with_style(style("whole_model"), "site/whole_model.ts"),
    "step_by_step": _with_style(style("steps"), "site/steps.ts"),
    "masks": _with_style(style("masks"), "site/masks.ts"),
    "positions_rope": _with_style(style("turning"), "site/turning.ts"),
}
"""The other scripts: for the space below the heads, and for the parts, by the app's names for such pages."""
