from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tfmviz.record.facts import Architecture
from tfmviz.record.marks import BARS


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence of the lectures. Of all heads of its kind of attention, the one named links the two words most
    strongly.

    Attributes:
        layer: path of an attention layer.
        word: the query's token, without the space before it.
        to: the token that it attends to.
    """

    text: str
    layer: str = ""
    head: int = 0
    word: str = ""
    to: str = ""


OF_CHINESE = (Example("老王 批评 老李"), Example("老李 批评 老王"), Example("___王帮助老李。"))

POND = (
    "I walked along the pond, and noticed that one of the trees along the bank had fallen into the water after the "
    "storm."
)

EXAMPLES = {
    "tiny-english": (
        Example(
            "The animal didn't cross the street because it was too tired.", "decoder.3.self_attn", 2, "it", "animal"
        ),
        Example(POND),
        Example("I went to the store. At the store, I bought fresh strawberries."),
        Example("The students opened their", "decoder.3.self_attn", 2, "their", "students"),
        Example("Today the price of", "decoder.0.self_attn", 5, "of", "price"),
        Example("The chef who went to the stores and cooked for everyone was"),
        Example("Man eats small dinosaur."),
        Example("Of course we know. We know that, of course."),
        Example("Once upon a time there was a little girl. Once upon a"),
        Example("The cat sat on the mat.", "decoder.1.self_attn", 2, "sat", "cat"),
    ),
    "french-english": (
        Example("J'ai une voiture rouge.", "decoder.1.cross_attn", 1, "a", "rouge"),
        Example("Je suis étudiant.", "decoder.1.cross_attn", 0, "a", "étudiant"),
        Example("Elle ne mange jamais de viande."),
        Example("Où est la gare ?"),
    ),
    "fill-in": (
        Example("The cat ___ on the mat.", "encoder.0.self_attn", 6, "___", "cat"),
        Example(POND, "encoder.2.self_attn", 2, "bank", "pond"),
        Example("She drinks a cup of ___."),
        Example("He went to the ___ to get some money."),
        Example("The book is ___ the table."),
    ),
    "chinese-none": OF_CHINESE,
    "chinese-sinusoidal": OF_CHINESE,
    "reverse": (Example("attention"), Example("stressed"), Example("transformer"), Example("abcdefgh")),
}
"""Sentences from lectures on transformers, and others that show something immediately. Pages open with the first."""


PAIR = Example(f"The cat sat on the mat. {BARS} The cat lay on the rug.")
"""For models that read two sentences together."""


def examples_for(model: str) -> tuple[Example, ...]:
    """A model without a list gets those of tiny-english, without their heads."""
    own = EXAMPLES.get(model)
    return tuple(Example(example.text) for example in EXAMPLES["tiny-english"]) if own is None else own


OTHERS = {
    "animal": "child",
    "pond": "road",
    "store": "park",
    "students": "children",
    "price": "news",
    "chef": "boy",
    "dinosaur": "fish",
    "girl": "dragon",
    "river": "town",
    "cat": "dog",
    "cup": "glass",
    "money": "fish",
    "book": "cat",
    "voiture": "maison",
    "étudiant": "malade",
    "viande": "pain",
    "gare": "plage",
}
"""Words of the lectures' sentences, and their replacements in a second sentence."""


def changed(text: str) -> str:
    """The text with a word of `OTHERS` replaced, or else its two longest words exchanged.

    In a text of one word, the first letter moves to the end.
    """
    parts = re.split(r"([\W_]+)", text)  # words at even places
    if (known := next((n for n, part in enumerate(parts) if part in OTHERS), None)) is not None:
        parts[known] = OTHERS[parts[known]]
        return "".join(parts)
    words = [n for n in range(0, len(parts), 2) if parts[n]]
    first = max(words, key=lambda n: len(parts[n]), default=0)
    other = max((n for n in words if parts[n] != parts[first]), key=lambda n: (len(parts[n]), n), default=None)
    if other is None:
        return text[1:] + text[:1]
    parts[first], parts[other] = parts[other], parts[first]
    return "".join(parts)


PRONOUNS = {"it", "he", "she", "they", "him", "her", "them"}
"""Words that stand for an earlier one."""


def opening(tokens: Sequence[str], word: str = "") -> int:
    """Position of the last `word`, else the first pronoun after another word, else the last token with a letter or
    digit.
    """
    if word and (places := [n for n, token in enumerate(tokens) if token.strip() == word]):
        return places[-1]
    if pronouns := [n for n, token in enumerate(tokens) if n and token.strip() in PRONOUNS]:
        return pronouns[0]
    words = [n for n, token in enumerate(tokens) if any(map(str.isalnum, token))]
    return words[-1] if words else len(tokens) - 1


HOW_IT_READS: dict[Architecture, str] = {
    "decoder-only": "This model writes from left to right; later tokens are masked.",
    "encoder-only": "This model fills in missing words; every word attends to all others. Write `___` for a gap.",
    "encoder-decoder": "This model reads your text both ways and writes an answer.",
}

WHAT_IT_PREDICTS: dict[Architecture, str] = {
    "decoder-only": "Most probable next tokens",
    "encoder-only": "Most probable tokens here",
    "encoder-decoder": "Most probable next tokens of the answer",
}


def nearest(tokens: Sequence[str], chosen: int | None, *, model: str, text: str, first: int | None = None) -> int:
    """Position of the token that figures are about.

    Args:
        chosen: in this text or another one; None without a choice.
        text: the reader's sentence; one of the model's menu has a default token.
        first: the default; None: the page's.
    """
    if chosen is not None:
        return min(chosen, len(tokens) - 1)
    word = next((example.word for example in examples_for(model) if example.text == text), "")
    return opening(tokens, word) if first is None else first


def in_one_line(text: str) -> str:
    """Pasted lines are one text."""
    return text.replace("\r", "").replace("\n", " ")
