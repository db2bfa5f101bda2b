"""One spelling for characters that keyboards and typesetters write in several ways.

A translator's tokenizer file holds the rules of its training text.
"""

from __future__ import annotations

from tokenizers import Regex
from tokenizers.normalizers import NFC, Normalizer, Prepend, Replace, Sequence, Strip

CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZÀÂÆÇÈÉÊËÎÏÔÖŒÙÛÜŸ"
"""The capitals of English and French. Each has one lower-case letter."""


def one_spelling() -> Normalizer:
    """Rules that give a text one kind of space, apostrophe, dash and quotation mark: « L’eau » becomes "L'eau".

    Letters and their accents are composed (Unicode's NFC). Soft hyphens, zero-width spaces and spaces at both ends are
    removed; runs of spaces become one.
    """
    return Sequence(
        [
            NFC(),
            Replace(Regex("[\u200b\u00ad]"), ""),
            Replace(Regex("[\u2018\u2019\u02bc]"), "'"),
            Replace(Regex("[\u2013\u2014]"), "-"),
            Replace(Regex(r"(?<=«)\s+|\s+(?=»)"), ""),
            Replace(Regex("[«»“”„]"), '"'),  # one for one, so that the library can align them
            Replace(Regex(r"\s+"), " "),
            Strip(),
        ]
    )


def one_spelling_and_case() -> Normalizer:
    """Rules that also lower the `CAPITALS` of a text without lower-case letters, except its first letter.

    "JE SUIS LÀ." becomes "Je suis là."; a text with a lower-case letter keeps its capitals, and so do "I" and "À".

    A text without lower-case letters is marked with a space at its beginning, which the last rule removes.
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
