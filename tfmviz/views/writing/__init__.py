"""A text in the browser that grows word by word, with the rivals of each word, and its branches.

The data are {about, prompt, stages, places, texts, ends, limit, undecided}. `places` are the words written so far and
the next ones, which the view writes without asking; each has its token, its rivals and the draw (see `words.ts`).
The choice is the tree as text (see `tree.ts`) and the place looked at.
"""

from __future__ import annotations

from tfmviz.views.shared import script, style

JS = script("writing/view.tsx")
CSS = style("writing")
