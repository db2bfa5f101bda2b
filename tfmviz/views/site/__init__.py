"""A page that needs no server: the explorer, and one of our models in the reader's own browser.

`tfmviz/site.py` writes it as files for any web server, or as one file.
"""

from tfmviz.views.explorer import STANDALONE_CSS
from tfmviz.views.shared import VIEWS, script

JS = script("site/site.js")
CSS = STANDALONE_CSS + (VIEWS / "site" / "view.css").read_text(encoding="utf-8")
