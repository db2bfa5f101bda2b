"""French as people type it, and phrases cut from pairs of sentences.

A translator trained only on tidy sentences fails on "je suis etudiant" and "la voiture rouge". Only sources vary;
translations stay tidy.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import numpy as np

from tfmviz.text.pairs import Pair, bare

LONGEST_PHRASE = 6
"""In words."""

TIMES = {1: 40, 2: 10, 3: 10}
"""Typed copies of a source by its number of words; longer ones have one."""

FRAMES = {
    "C'est": ("It's", "It is", "That's", "That is", "This is"),
    "Ce sont": ("These are", "Those are", "They're", "They are"),
    "Il est": ("He's", "He is", "It's", "It is"),
    "Elle est": ("She's", "She is", "It's", "It is"),
    "Je suis": ("I'm", "I am"),
    "Tu es": ("You're", "You are"),
    "Vous êtes": ("You're", "You are"),
    "Nous sommes": ("We're", "We are"),
    "Ils sont": ("They're", "They are"),
    "Elles sont": ("They're", "They are"),
    "J'ai": ("I have", "I've got", "I've"),
    "Tu as": ("You have", "You've got", "You've"),
    "Vous avez": ("You have", "You've got", "You've"),
    "Il a": ("He has", "He's got"),
    "Elle a": ("She has", "She's got"),
    "Nous avons": ("We have", "We've got", "We've"),
    "Ils ont": ("They have", "They've got", "They've"),
    "Il y a": ("There's", "There is", "There are"),
    "Voici": ("Here's", "Here is", "Here are", "This is"),
    "Où est": ("Where's", "Where is"),
    "Où sont": ("Where are",),
    "Je vois": ("I see", "I can see"),
    "J'ai vu": ("I saw",),
    "J'ai acheté": ("I bought",),
    "J'ai trouvé": ("I found",),
    "J'ai perdu": ("I lost",),
    "J'aime": ("I like", "I love"),
    "J'adore": ("I love",),
    "Il aime": ("He likes", "He loves"),
    "Elle aime": ("She likes", "She loves"),
    "Je veux": ("I want",),
    "Il veut": ("He wants",),
    "Elle veut": ("She wants",),
    "Donne-moi": ("Give me",),
    "Donnez-moi": ("Give me",),
    "Regarde": ("Look at",),
    "Regardez": ("Look at",),
}
"""Beginnings of sentences with their translations: the remainders mean the same."""

ARTICLES = (
    re.compile(r"(?:un|une|le|la|les|des|du|ce|cette|mon|ma|mes)\s+|l'"),
    re.compile(r"(?:an?|the|some|this|my)\s+"),
)
"""Words that may precede a noun, in French and in English."""


def without_mark(source: str) -> str:
    """Without the final punctuation, or unchanged if it is only punctuation."""
    return re.sub(r"\s*[.!?…]+$", "", source) or source


def small_first(source: str) -> str:
    return source[:1].lower() + source[1:]


def without_accents(source: str) -> str:
    """Without accents and cedillas; œ and æ become two letters each."""
    parts = unicodedata.normalize("NFD", source.translate({0x153: "oe", 0x152: "Oe", 0xE6: "ae", 0xC6: "Ae"}))
    return unicodedata.normalize("NFC", "".join(part for part in parts if not unicodedata.combining(part)))


def closed_up(source: str) -> str:
    """Without spaces before punctuation, where French has them."""
    return re.sub(r"\s+([.,!?;:…])", r"\1", source)


def spaced(source: str) -> str:
    """With a space before every group of punctuation marks."""
    return re.sub(r"(?<=\w)([.,!?;:…]+)", r" \1", source)


VARIANTS: Mapping[str, Callable[[str], str]] = {
    "no final mark": without_mark,
    "first letter small": small_first,
    "all small": str.lower,
    "no accents": without_accents,
    "capitals": str.upper,
    "no space before marks": closed_up,
    "space before marks": spaced,
}
"""The ways in which people alter sentences."""


def typed(source: str, rng: np.random.Generator) -> str:
    """A random variant of the source, all properties drawn independently.

    50 % lack the final punctuation, and 30 % the accents. The letters are unchanged (35 %), begin in lower case (25 %),
    are all lower case (15 %) or all capitals (25 %). 30 % have no space before punctuation, and 10 % have one before
    all of it.
    """
    mark, accents, case, space = rng.random(4)
    if mark < 0.5:
        source = without_mark(source)
    if space < 0.4:
        source = closed_up(source) if space < 0.3 else spaced(source)
    if accents < 0.3:
        source = without_accents(source)
    if case < 0.35:
        return source
    return small_first(source) if case < 0.60 else source.lower() if case < 0.75 else source.upper()


def with_variants(
    pairs: Sequence[Pair], *, seed: int, unseen: Collection[Pair] = (), often: bool = False
) -> list[Pair]:
    """The pairs, each again with its source as `typed`, and all `phrases` likewise.

    Args:
        unseen: held-out pairs, whose sentences may not be phrases.
        often: repeats short sources `TIMES`, which are rare among sentences.
    """
    rng = np.random.default_rng(seed)
    sources, targets = ({bare(pair[side]) for pair in unseen} for side in (0, 1))
    cut = [one for one in phrases(pairs) if bare(one[0]) not in sources and bare(one[1]) not in targets]

    def again(side: Sequence[Pair]) -> list[Pair]:
        return [(typed(pair[0], rng), pair[1]) for pair in side for _ in range(times(pair[0]) if often else 1)]

    sentences = again(pairs)
    capital = [(source[:1].upper() + source[1:] if rng.random() < 0.5 else source, target) for source, target in cut]
    return [*pairs, *sentences, *cut, *again(capital)]


def times(source: str) -> int:
    return TIMES.get(len(bare(source).split()), 1)


def phrases(pairs: Sequence[Pair]) -> list[Pair]:
    """Parts of pairs that translate one another, each once.

    After `FRAMES` the remainders translate one another: "C'est une voiture." and "It's a car." give "une voiture", "a
    car", and, as both are an article and one word, also "voiture" and "car".
    """
    found: dict[Pair, None] = {}
    for source, target in pairs:
        for phrase in _cut(without_mark(source), without_mark(target)):
            found[phrase] = None
    return list(found)


def _cut(source: str, target: str) -> Iterator[Pair]:
    """The phrase in a pair, and the word in it, if it is an article and a single word."""
    for french, translations in FRAMES.items():
        for english in translations:
            rest = source.removeprefix(f"{french} "), target.removeprefix(f"{english} ")
            if rest[0] == source or rest[1] == target or not all(map(_is_phrase, rest)):
                continue
            yield rest
            words = tuple(article.sub("", side, count=1) for article, side in zip(ARTICLES, rest, strict=True))
            if all(word != side and " " not in word for word, side in zip(words, rest, strict=True)):
                yield words[0], words[1]
            return


def _is_phrase(rest: str) -> bool:
    return 0 < len(rest.split()) <= LONGEST_PHRASE and not re.search(r"[.!?…;:,\"]", rest)
