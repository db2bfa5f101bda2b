"""Texts that come back from a tokenizer, or do not, and the words of toy corpora."""

import random
import re
from pathlib import Path

import numpy as np

from tests.cases import each
from tfmviz.text.corpora import read_documents
from tfmviz.text.tokenizer import END_OF_TEXT

SENTENCES = (
    "The cat sat on the mat. The dog ate my homework, and the cat did not mind.",
    "Once upon a time there was a little girl who lived in the house on the hill.",
    "我们今天去公园。你今天去学校。世界很大，中国很大。",
    "Привет, мир! Мир большой.",
) * 3

VOCAB_SIZE = 389


def random_text(seed: int, length: int) -> str:
    """Code points of one to four bytes in UTF-8, equally often; no surrogates."""
    rng = random.Random(seed)
    blocks = ((0x00, 0x7F), (0x80, 0x7FF), (0x800, 0xD7FF), (0x10000, 0x10FFFF))
    return "".join(chr(rng.randint(*rng.choice(blocks))) for _ in range(length))


TEXTS = {
    "english": "The cat sat on the mat, didn't it?",
    "chinese": "你好，世界。我们今天去中国。",
    "unseen characters": "龘 鬱 ꙮ ﷽",
    "emoji": "a👩‍👩‍👧‍👦b 🏳️‍🌈 👍🏽 🇩🇪",
    "combining marks": "e\u0301 a\u0308\u0304 Z\u0351\u036b\u0343 \u0301",
    "right to left": "שלום עולם، مرحبا بالعالم \u202eabc\u202c",
    "control characters": "\x00\x01 a\x07\x1b[31m\x7f\x85\ufeff",
    "markup": "<img onerror=alert(1)>&amp;&lt;",
    "formula": "$x$ \\frac{1}{2} `code`",
    "typed control token": f"a {END_OF_TEXT}{END_OF_TEXT} <|endoftext b",
    "line breaks": "one\ntwo\r\nthree\rfour\tfive\n\n\n",
    "spaces": "   a    b\u00a0c\u2003d  ",
    "one character": "x",
    "last code point": "\U0010ffff\ue000\ufffe",
    "5,000 characters": ("The cat, 世界 and 👩‍👧 sat. " * 200)[:5000],
}
TEXTS |= {f"random {seed}": random_text(seed, 61) for seed in range(5)}

any_text = each("text", TEXTS.values())

WORDS = ("time", "water", "people", "house", "night", "morning", "garden", "little", "river", "always", "another")


def paragraph(seed: int, n_words: int) -> str:
    return " ".join(np.random.default_rng(seed).choice(WORDS, size=n_words))


def documents(path: Path) -> list[str]:
    return list(read_documents(path))


def bytes_of(label: str) -> bytes:
    """The bytes that the label of a token speaks of, such as "a中 1–2/3"."""
    held = b""
    for character, low, high, size in re.findall(r"(.)(?: (\d)(?:–(\d))?/(\d))?", label, re.DOTALL):
        encoded = character.encode()
        if low:
            assert 1 <= int(low) <= int(high or low) <= int(size) == len(encoded)
            encoded = encoded[int(low) - 1 : int(high or low)]
        held += encoded
    return held
