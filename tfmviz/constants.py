"""Constants shared by Python and the browser's scripts, each once, in `constants.json`, which both read.

`views/shared/constants.ts` gives the scripts the same names.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_KNOWN: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))

# What is typed.

MOST_TYPED: int = _KNOWN["MOST_TYPED"]
"""Maximum characters of a reader's text."""

NO_TEXT: str = _KNOWN["NO_TEXT"]
"""A model's answer to a text without tokens."""

TYPED_GAP: str = _KNOWN["TYPED_GAP"]
"""A typed word to fill in, as a regular expression: "___" with the space before it."""

MASK_TOKEN: str = _KNOWN["MASK_TOKEN"]
"""The token for a word to fill in. Typed by a reader, it is ordinary text."""

MASK: int = _KNOWN["MASK"]
"""Index of `MASK_TOKEN`, if there is one."""

# What an address or a saved page may hold.

ADDRESS_STAGE: str = _KNOWN["ADDRESS_STAGE"]
ADDRESS_CELL: str = _KNOWN["ADDRESS_CELL"]
"""Regular expressions for Step by step: the name of a stage; a matrix, and the indices of a cell in it."""

ADDRESS_TURN: str = _KNOWN["ADDRESS_TURN"]
"""Regular expression for key, pair and both positions of RoPE's arrows."""

LONGEST_LOOK: int = _KNOWN["LONGEST_LOOK"]
"""Maximum characters of the explorer's selection."""

LONGEST_MASK: int = _KNOWN["LONGEST_MASK"]
"""Maximum characters of a hand-edited mask."""

MOST_BRANCHES: int = _KNOWN["MOST_BRANCHES"]
"""Maximum branches of a generated text."""

SITE_PARTS: dict[str, str] = _KNOWN["SITE_PARTS"]
"""The parts of the serverless site, by the names of the app's pages, and their titles."""

# What updates at each keystroke.

MOST_FOLLOWED: int = _KNOWN["MOST_FOLLOWED"]
"""Maximum tokens of a text whose figures update at every keystroke: a large one takes a megabyte."""

FOLLOWED_SITES: dict[str, list[str]] = _KNOWN["FOLLOWED_SITES"]
"""The views that update at every keystroke, and the sites each shows."""

FEWEST_TURNS: int = _KNOWN["FEWEST_TURNS"]
MOST_TURNS: int = _KNOWN["MOST_TURNS"]
"""Positions on the sliders of RoPE's arrows, more for a longer text."""

NEXT_WORDS: int = _KNOWN["NEXT_WORDS"]
"""Number of most probable next words listed."""

OFFERED: int = _KNOWN["OFFERED"]
"""Number of words that the keyboard suggests."""

# Decoding.

NEUTRAL: dict[str, float] = _KNOWN["NEUTRAL"]
"""The value of each decoding rule at which it changes nothing."""

LARGEST_SETTING: float = _KNOWN["LARGEST_SETTING"]
"""Bound on temperatures and penalties: beyond it, or below its inverse, values overflow."""

RIVALS: int = _KNOWN["RIVALS"]
"""Words listed for every position of a generated text."""

# Configuration of a model.

BASE: int = _KNOWN["BASE"]
"""The base of sinusoids (Vaswani et al. 2017) and of RoPE (Su et al. 2021). LLaMA 3 uses 500 000 for RoPE."""

N_BUCKETS: int = _KNOWN["N_BUCKETS"]
MAX_DISTANCE: int = _KNOWN["MAX_DISTANCE"]
"""T5's relative positions: the number of buckets, and the distance at which they stop growing (Raffel et al. 2020,
section 2.1).
"""

CLIP: int = _KNOWN["CLIP"]
"""The distance from which all keys share one relative vector (Shaw et al. 2018, section 4.1: 16 in the base model)."""

NORM_EPS: float = _KNOWN["NORM_EPS"]
"""ε of all norms, unless the configuration sets it."""

# Names of a model's parts.

ATTENTION_KINDS: dict[str, str] = _KNOWN["ATTENTION_KINDS"]
"""The kinds of attention in words, by the sites of their layers."""

PART_CODES: dict[str, str] = _KNOWN["PART_CODES"]
"""The letters of `analysis.ablation.Part.code`: stacks, cross-attention, MLPs and whole layers."""

# Tokens and numbers as text.

LABEL_LENGTH: int = _KNOWN["LABEL_LENGTH"]
"""Maximum characters of a token's label."""

VISIBLE: dict[str, str] = _KNOWN["VISIBLE"]
"""Visible replacements for white space."""

NO_NUMBER: str = _KNOWN["NO_NUMBER"]
"""Replacement for a number that is not finite."""

RAISED_DIGITS: str = _KNOWN["RAISED_DIGITS"]
"""Superscript digits, from 0 to 9."""

PER_CENT_EDGES: list[float] = _KNOWN["PER_CENT_EDGES"]
"""Probabilities below the first are written with one decimal in per cent, below the second with two."""

LEFT_BY_ROUNDING: float = _KNOWN["LEFT_BY_ROUNDING"]
"""Rounding error in a difference of values of about 1 (shares, nats, relative norms)."""

LEAST_SHARE: float = _KNOWN["LEAST_SHARE"]
"""Smaller shares of attention are rounding error."""

FORMULA: str = _KNOWN["FORMULA"]
"""The beginning of a text that a spreadsheet would read as a formula, as a regular expression: OWASP's list for CSV
injection, with full-width characters and any spaces before.
"""

# Encoding and drawing of pictures.

LETTER_SIZE: int = _KNOWN["LETTER_SIZE"]
"""Font size in figures, in pixels; larger on a projector."""

MOST_WRITTEN: int = _KNOWN["MOST_WRITTEN"]
"""The most rows and columns of a picture with texts in its cells."""

MOST_SAID: int = _KNOWN["MOST_SAID"]
"""Marks or rows that are read out one by one, as two bars for each word of a sentence; more are counted."""

VECTOR_NUMBERS: int = _KNOWN["VECTOR_NUMBERS"]
"""Maximum values drawn for a vector of the whole model: means of neighbours."""

HEAD_ACROSS: int = _KNOWN["HEAD_ACROSS"]
"""Maximum width in cells of a head's picture there."""

INKS: str = _KNOWN["INKS"]
"""The characters for a cell of a drawn picture, from 0 to 16."""

CODE_STEPS: int = _KNOWN["CODE_STEPS"]
SCALE_STEPS: int = _KNOWN["SCALE_STEPS"]
"""The largest code of an attention weight, in 10 bits, and the largest scale of a row."""

TILE_STEPS: int = _KNOWN["TILE_STEPS"]
TILE_MASKED: int = _KNOWN["TILE_MASKED"]
"""In the thumbnail of a head: the code of a weight of 1, and that of an empty cell."""
