"""The engine cuts texts into the same tokens as Python, or says that it cannot."""

import random
import re
from functools import cache
from typing import Any

import pytest

from tests.cases import each
from tests.engine import MODELS, Engine
from tests.hostile.texts import ODD, WORST
from tfmviz.record.trace import Encoding
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.words.labels import visible

SCRIPTS = {
    "Latin": "aeiouNRSTéèüßøÆœﬁı",
    "Cyrillic": "абвгдежзийклмнопрстуфхцчшщъыьэюяЁ",
    "Arabic": "ابتثجحخدذرزسشصضطظعغفقكلمنهويءٱ٣٤۵\u064b\u0651\u0640",
    "Han and kana": "我们的中国人大家老师学习日本語かなカナ。、「」々〇",
}

OTHERS = (
    *(" ", " ", " ", "  ", "\n", "\t", "\r\n", "\u00a0", "\u3000", "\u2028", "\u0085", "\ufeff", "\u200b", "\u200f"),
    *(".", ",", "'s", "'ll", "’t", "!?", "…", "-", "--", "#", "%", "\\", "<b>", "&amp;", "{}", "$x$", "_", "__", "___"),
    *(" ___", "____" * 6, "<|endoftext|>", "<|mask|>", "0", "12", "1999", "½", "²", "Ⅻ", "٣", "e\u0301", "\u0335"),
    *("\ufe0f", "😀", "👩‍👩‍👧🏽", "🇫🇷", "🏴\U000e0067\U000e0062\U000e007f", "𝒙", "𠀀", "\x00", "\x1b", "\x7f"),
    *("नमस्ते", "ไม่มี", "한국어"),
)


def odd_text(rng: random.Random) -> str:
    """A few words of one script and of others, with all that may stand between them."""
    letters = rng.choice(list(SCRIPTS.values()))
    words = ("".join(rng.choices(letters, k=rng.randint(1, 9))) for _ in range(9))
    return "".join([rng.choice([next(words), rng.choice(OTHERS), " "]) for _ in range(rng.randint(1, 9))])


def python_says(encoding: Encoding) -> dict[str, Any]:
    return {
        "ids": list(encoding.ids),
        "tokens": list(encoding.tokens),
        "offsets": [list(span) for span in encoding.offsets],
        "dropped": encoding.n_dropped,
        "labels": [visible(token) for token in encoding.tokens],
    }


def assert_cut_alike(engine: Engine, name: str, texts: list[str], max_len: int) -> None:
    ours = engine.ask("encode", name=name, texts=texts, max_len=max_len)
    assert ours == [python_says(tokenizer(name).encode(text, max_len=max_len)) for text in texts]


@each("name", ["tiny-english", "fill-in", "twins-none", "induction", "chinese-none"])
def test_a_thousand_odd_texts_become_the_same_tokens(engine: Engine, name: str) -> None:
    engine.load(name, MODELS / name)
    rng = random.Random(name)
    assert_cut_alike(engine, name, [odd_text(rng) for _ in range(1000)], 17)
    assert_cut_alike(engine, name, [text for text in (*ODD, *WORST.values()) if "\U0010ffff" not in text], 4000)
    assert engine.ask("vocabulary", name=name) == list(tokenizer(name).vocabulary)


@cache
def tokenizer(name: str) -> Tokenizer:
    return Tokenizer.load(MODELS / name / "tokenizer.json")


def test_every_character_stands_in_the_same_word_and_has_the_same_label(engine: Engine) -> None:
    """After a letter, a digit and a comma; a character of a kind of its own would join none of them."""
    engine.load("induction", MODELS / "induction")
    plain = range(0x4E00, 0xD7A4, 97)  # Han and Hangul
    blocks = [range(0x4E00), plain, range(0xD7A4, 0xD800), range(0xE000, 0x20000), range(0x2A600, 0x2B000)]
    everything = [chr(n) for block in [*blocks, range(0xE0000, 0xE0200)] for n in block]
    knows = engine.ask("knows", name="induction", texts=everything)
    known = [character for character, is_known in zip(everything, knows, strict=True) if is_known]
    assert len(known) > 30_000
    texts = [" ".join(f"a{c}1{c},{c}" for c in known[at : at + 256]) for at in range(0, len(known), 256)]
    assert_cut_alike(engine, "induction", texts, 9999)


def test_half_a_character_is_refused_in_the_same_words(engine: Engine) -> None:
    engine.load("induction", MODELS / "induction")
    for text in ("\ud800", "The 😀 cat\udfff sat."):
        with pytest.raises(ValueError, match="lone surrogate") as theirs:
            tokenizer("induction").encode(text, max_len=9)
        with pytest.raises(ValueError, match=f"^{re.escape(str(theirs.value))}$"):
            engine.ask("encode", name="induction", texts=[text], max_len=9)
    with pytest.raises(ValueError, match="There is no text to run the model on"):
        engine.trace("induction", "")


@each("text", ["Ꟑ", "\u0897", "𞤀𞤁", "a" * 20_001])
def test_what_it_cannot_be_sure_of_is_left_to_the_server(engine: Engine, text: str) -> None:
    engine.load("induction", MODELS / "induction")
    assert engine.ask("encode", name="induction", texts=["The cat", text], max_len=9)[1] is None
    with pytest.raises(ValueError, match="The server has to tokenise this text"):
        engine.trace("induction", text)
