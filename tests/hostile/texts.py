"""The worst texts that fit into the sentence box, each worst for something else."""

import random
from itertools import product

from tfmviz.constants import MOST_TYPED

_WORDS = ("".join(letters) for letters in product("bdfgklmnprst", "aeiou", "bdfgklmnprst", "ae"))

WORST = {
    "one letter": "a" * MOST_TYPED,
    "emoji": "😀" * MOST_TYPED,
    "DNA": "".join(random.Random(0).choices("ACGT", k=MOST_TYPED)),
    "spaces": f"a{' ' * (MOST_TYPED - 2)}b",
    "all different": "".join(chr(0x4E00 + n) for n in range(MOST_TYPED)),
    "990 words": " ".join(word for word, _ in zip(_WORDS, range(990), strict=False)),
}
"""By what they are made of: long tokens, many tokens for each character, many pairs, few tokens, a large vocabulary, \
many words."""

ODD = (
    *("0", ".", "___", "___ ___ ___", "-" * 400, "\x00", "\x1b[31mred\x1b[0m", "\ufeffThe cat", "a\u2028b\u2029c"),
    *("\u202eThe cat sat", "e\u0301" * 300, "Z" + "\u0335\u0322" * 500, "ﬃ ﷺ ½ ² İ ß", "\U0010ffff\ufffe\uffff"),
    *("\u200bThe\u200b cat\u200b", "\u00a0\u3000The\u2009cat", "👩‍👩‍👧🏽🇫🇷" * 50, "नमस्ते", "ไม่มีช่องว่าง" * 30, "ا" * 700),
    *("{{7*7}} ${7*7} <%= 7*7 %>", "'; DROP TABLE x; --", "=1+1|cmd", "[a](javascript:alert(1))", "</script><script>"),
    *("&lt;b&gt; &amp;&#0;", ":material/block: :red[x] $\\frac{1}{0}$", "# h\n\n---\n```\n", "|a|b|\n|-|-|\n|1|2|"),
    *("<|endoftext|>" * 300, "<s></s><pad><unk><mask>[MASK][CLS]", "###", "1e400 inf nan -0", "9" * 1000, "3+5=8"),
    *(
        "The " * 1200,
        "a b " * 1200,
        "ab" * 2500,
        "\t" * 100 + "a",
        "a\r\nb\rc\nd",
        "THE CAT SAT " * 60,
        "İstanbul ŒUVRE",
    ),
    "\\",
)
"""Short ones and strange ones; each is read by some page in one test or another."""
