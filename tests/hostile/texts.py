"""The worst texts that fit into the sentence box, each worst for something else."""

from __future__ import annotations

import random
from itertools import product

from tfmviz.ui.controls import MAX_CHARACTERS

_WORDS = ("".join(letters) for letters in product("bdfgklmnprst", "aeiou", "bdfgklmnprst", "ae"))

WORST = {
    "one letter": "a" * MAX_CHARACTERS,
    "emoji": "😀" * MAX_CHARACTERS,
    "DNA": "".join(random.Random(0).choices("ACGT", k=MAX_CHARACTERS)),
    "spaces": f"a{' ' * (MAX_CHARACTERS - 2)}b",
    "all different": "".join(chr(0x4E00 + n) for n in range(MAX_CHARACTERS)),
    "990 words": " ".join(word for word, _ in zip(_WORDS, range(990), strict=False)),
}
"""By what they are made of: long tokens, many tokens for each character, many pairs, few tokens, a large vocabulary, \
many words."""
