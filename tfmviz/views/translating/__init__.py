"""A translation that is written word by word, with what each word looked at in the source.

The data are {about, source, steps, most}: the words of the source, and a step for every written word, with what the
decoder reads and writes there, its probability, and the attention to each word of the source; after `most` steps
nothing is left to write. The choice is the number of written words, and the word looked at.
"""

from __future__ import annotations

from tfmviz.views.shared import script, style

JS = script("translating/view.tsx")
CSS = style("translating")
