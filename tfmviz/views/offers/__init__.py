"""Three suggested words above the keys of a phone, updated at each key; a tap reports the text with the word.

The data are {model, ids, before, words}: the model that suggests, the tokens that it can suggest, the text before the
word being typed, and the words.
"""

from __future__ import annotations

from tfmviz.views.shared import script, style

JS = script("offers/view.ts")
CSS = style("offers")
