"""What Python and the scripts in the browser both know: each value once, in `constants.json`, which both read.

Here stands what each means; `views/shared/constants.ts` gives the scripts the same names. What only one of the two
languages knows has no place in it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_KNOWN: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))

# What is typed.

MOST_TYPED: int = _KNOWN["MOST_TYPED"]
"""Characters of a reader's text, at most."""

NO_TEXT: str = _KNOWN["NO_TEXT"]
"""What a model says to a text without tokens."""

TYPED_GAP: str = _KNOWN["TYPED_GAP"]
"""A word to fill in, as a reader types it, as a regular expression: "___" with the space before it."""

MASK_TOKEN: str = _KNOWN["MASK_TOKEN"]
"""Stands for a word to fill in, in the vocabularies that have it. If a reader types it, it is ordinary text."""

MASK: int = _KNOWN["MASK"]
"""Index of `MASK_TOKEN` in the vocabularies that have one."""

# What an address may hold, and a saved page with it.

ADDRESS_STAGE: str = _KNOWN["ADDRESS_STAGE"]
ADDRESS_CELL: str = _KNOWN["ADDRESS_CELL"]
"""Of Step by step, as regular expressions: the name of a stage; a matrix, and the numbers that name a cell in it."""

ADDRESS_TURN: str = _KNOWN["ADDRESS_TURN"]
"""Key, pair and both positions of RoPE's arrows, as a regular expression."""

LONGEST_LOOK: int = _KNOWN["LONGEST_LOOK"]
"""Characters of what the explorer looks at, at most."""

LONGEST_MASK: int = _KNOWN["LONGEST_MASK"]
"""Characters of a mask changed by hand, at most."""

MOST_BRANCHES: int = _KNOWN["MOST_BRANCHES"]
"""Branches of a written text, at most."""

SITE_PARTS: dict[str, str] = _KNOWN["SITE_PARTS"]
"""The parts of the site without a server, by the names of the app's pages, and their titles."""

# What follows each key, and what it shows.

MOST_FOLLOWED: int = _KNOWN["MOST_FOLLOWED"]
"""Tokens of a text whose pictures follow each key, at most: a large picture of so many takes a megabyte of vectors."""

FOLLOWED_SITES: dict[str, list[str]] = _KNOWN["FOLLOWED_SITES"]
"""The views that follow each key, and the sites of a pass that each shows."""

FEWEST_TURNS: int = _KNOWN["FEWEST_TURNS"]
MOST_TURNS: int = _KNOWN["MOST_TURNS"]
"""Positions that the sliders of RoPE's arrows offer at least, and at most unless the text is longer."""

NEXT_WORDS: int = _KNOWN["NEXT_WORDS"]
"""The most probable next words, as many as are listed."""

OFFERED: int = _KNOWN["OFFERED"]
"""Words that the keyboard offers."""

# How a text is written.

NEUTRAL: dict[str, float] = _KNOWN["NEUTRAL"]
"""The value of each rule of decoding with which it changes nothing."""

LARGEST_SETTING: float = _KNOWN["LARGEST_SETTING"]
"""Temperatures and penalties beyond this, or below 1 / this, change no choice any more, but would overflow."""

SLIDERS: dict[str, str] = _KNOWN["SLIDERS"]
"""The rules that have a slider, in the order in which a view tells them, and each slider's key."""

RIVALS: int = _KNOWN["RIVALS"]
"""Words listed for every place of a written text."""

# What a model's configuration means.

BASE: int = _KNOWN["BASE"]
"""The base of sinusoids (Vaswani et al. 2017) and of RoPE (Su et al. 2021): that of both papers and of all shipped
models. LLaMA 3 uses 500 000 for RoPE."""

N_BUCKETS: int = _KNOWN["N_BUCKETS"]
MAX_DISTANCE: int = _KNOWN["MAX_DISTANCE"]
"""T5's relative positions: how many buckets there are, and the distance at which they stop growing (Raffel et al. 2020,
section 2.1)."""

CLIP: int = _KNOWN["CLIP"]
"""The distance from which all keys share one relative vector (Shaw et al. 2018, section 4.1: 16 in the base model)."""

NORM_EPS: float = _KNOWN["NORM_EPS"]
"""ε of all norms, where a configuration does not say."""

# How parts of a model are called.

ATTENTION_KINDS: dict[str, str] = _KNOWN["ATTENTION_KINDS"]
"""The kinds of attention by the sites of their layers, in words."""

PART_CODES: dict[str, str] = _KNOWN["PART_CODES"]
"""The letters of which `analysis.ablation.Part.code` consists: stacks, cross-attention, MLPs and whole layers."""

# How tokens and numbers are written.

LABEL_LENGTH: int = _KNOWN["LABEL_LENGTH"]
"""Characters of a token's label, at most; a longer one is shortened in its middle."""

VISIBLE: dict[str, str] = _KNOWN["VISIBLE"]
"""What is shown in place of white space."""

NO_NUMBER: str = _KNOWN["NO_NUMBER"]
"""In place of a number that is not finite."""

RAISED_DIGITS: str = _KNOWN["RAISED_DIGITS"]
"""From 0 to 9, as exponents."""

PER_CENT_EDGES: list[float] = _KNOWN["PER_CENT_EDGES"]
"""A share below the first gets a digit after the point in per cent, one below the second two."""

LEFT_BY_ROUNDING: float = _KNOWN["LEFT_BY_ROUNDING"]
"""So much of values of about 1 (shares, nats, lengths as shares of others) is what rounding leaves of a difference."""

LEAST_SHARE: float = _KNOWN["LEAST_SHARE"]
"""A smaller share of attention is what rounding leaves: pages say that nothing differs, and nothing is drawn."""

FORMULA: str = _KNOWN["FORMULA"]
"""How a text begins that a spreadsheet would take for a formula, as a regular expression: what OWASP lists as CSV
injection, the wide signs of Chinese and Japanese keyboards too, and whatever spaces precede it."""

# How pictures travel and are drawn.

LETTER_SIZE: int = _KNOWN["LETTER_SIZE"]
"""Pixels of the usual letters in figures; more on a projector."""

MOST_WRITTEN: int = _KNOWN["MOST_WRITTEN"]
"""A picture of up to so many rows and columns brings the texts of its cells; the browser decides whether they fit."""

VECTOR_NUMBERS: int = _KNOWN["VECTOR_NUMBERS"]
"""Numbers that a vector of the whole model is drawn with, at most: means of neighbours."""

HEAD_ACROSS: int = _KNOWN["HEAD_ACROSS"]
"""Cells that the picture of a head measures across there, at most."""

INKS: str = _KNOWN["INKS"]
"""The signs for a cell of a drawn picture, from 0 to 16."""

CODE_STEPS: int = _KNOWN["CODE_STEPS"]
SCALE_STEPS: int = _KNOWN["SCALE_STEPS"]
"""The largest code of a weight of attention, in 10 bits, and the largest scale of a row; see `views/payload.py`."""

TILE_STEPS: int = _KNOWN["TILE_STEPS"]
TILE_MASKED: int = _KNOWN["TILE_MASKED"]
"""In the thumbnail of a head: the number of a weight of 1, and that of a cell without any."""
