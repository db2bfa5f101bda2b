"""The sentence as a row of buttons, each shaded by the attention it receives from the chosen one.

Data: {"tokens": [{"label": "bank", "title": "…", "weight": 0.31 | null}, …], "chosen": 17}. A weight of null is a
masked token. Choosing a token fires the trigger `picked` with its position.
"""

from pathlib import Path

JS = (Path(__file__).parent / "view.js").read_text(encoding="utf-8")
CSS = (Path(__file__).parent / "view.css").read_text(encoding="utf-8")
