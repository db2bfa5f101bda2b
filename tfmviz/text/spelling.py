"""One spelling for what keyboards and typesetters write in several ways.

The translator learned from text that was prepared so. Its tokenizer file holds the same rules, so whatever reads text
with that file (training, the app, Python) sees the same spelling.
"""

from __future__ import annotations

from tokenizers import Regex
from tokenizers.normalizers import NFC, Normalizer, Prepend, Replace, Sequence, Strip

CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZÀÂÆÇÈÉÊËÎÏÔÖŒÙÛÜŸ"
"""Those of English and French. Each has one small letter, so that characters stay one for one."""


def one_spelling() -> Normalizer:
    """Rules that give a text one kind of space, apostrophe, dash and quotation mark: « L’eau » becomes "L'eau".

    Letters and their accents become one character each (Unicode's form NFC). Soft hyphens and spaces of no width go,
    and so do spaces at both ends; several spaces in a row become one.
    """
    return Sequence(
        [
            NFC(),
            Replace(Regex("[\u200b\u00ad]"), ""),
            Replace(Regex("[\u2018\u2019\u02bc]"), "'"),
            Replace(Regex("[\u2013\u2014]"), "-"),
            Replace(Regex(r"(?<=«)\s+|\s+(?=»)"), ""),
            Replace(Regex("[«»“”„]"), '"'),  # one character for one, so that the library knows which it stands for
            Replace(Regex(r"\s+"), " "),
            Strip(),
        ]
    )


def one_spelling_and_case() -> Normalizer:
    """Rules that also turn the `CAPITALS` of a text without small letters into small ones, but for its first letter.

    "JE SUIS LÀ." becomes "Je suis là."; a text with a small letter keeps its capitals, and so do "I" and "À".

    A rule cannot know what the text was before the rule above it changed a letter. So a text without small letters is
    first marked with a space at its beginning, where `one_spelling` leaves none; the last rule takes it away.
    """
    since_mark_or_last_match = r"\G(?:\A (?>[^\p{L}\p{N}]*).|(?!\A))"
    return Sequence(
        [
            one_spelling(),
            Prepend(" "),
            Replace(Regex(r"\A (?=\P{Ll}*\p{Ll})"), ""),
            *(Replace(Regex(rf"{since_mark_or_last_match}[^{one}]*\K{one}"), one.lower()) for one in CAPITALS),
            Replace(Regex(r"\A "), ""),
        ]
    )
