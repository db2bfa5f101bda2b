"""Three words above the keys of a phone. They follow each key; a tap reports the text with the word.

The data are {model, ids, before, words}: whose words they are, the tokens that can be offered, what stands before the
word that is being typed, and the words.
"""

from __future__ import annotations

from tfmviz.views.shared import script, style

JS = script("offers/view.ts")
CSS = style("offers")
