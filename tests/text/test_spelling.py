"""One spelling: the tokenizer file brings its own, and every token still knows the characters that were typed."""

import random
import re
import unicodedata

import pytest

from tests.cases import each
from tests.text.texts import SENTENCES, VOCAB_SIZE, any_text
from tfmviz import zoo
from tfmviz.text.spelling import CAPITALS, one_spelling, one_spelling_and_case
from tfmviz.text.tokenizer import Tokenizer

TYPED = {
    "narrow spaces and guillemets": ("Il dit\u00a0: «\u202fVa\u00a0!\u202f»", 'Il dit : "Va !"'),
    "apostrophes": ("L’eau d‘ici, aujourdʼhui", "L'eau d'ici, aujourd'hui"),
    "curly marks": ("“Oui”, „non“", '"Oui", "non"'),
    "dashes": ("peut–être—oui", "peut-être-oui"),
    "separate accents": ("e\u0301te\u0301 c\u0327a E\u0302", "été ça Ê"),
    "spaces": ("  trop   d'\tair \n", "trop d' air"),
    "no width": ("mai\u00adson\u200b rouge", "maison rouge"),
}
whole_characters = re.compile(r"(?!.* \d(–\d)?/\d$)", re.DOTALL)
"""A token that is no part of a character."""


@pytest.fixture(scope="module")
def spelling(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """A tokenizer with the spelling, as it comes back from its file."""
    path = tmp_path_factory.mktemp("spelling") / "tokenizer.json"
    Tokenizer.train(SENTENCES, vocab_size=VOCAB_SIZE, spelling=one_spelling()).save(path)
    return Tokenizer.load(path)


@each("text, expected", TYPED.values())
def test_what_is_typed_in_many_ways_is_read_in_one(spelling: Tokenizer, text: str, expected: str) -> None:
    encoding = spelling.encode(text, max_len=100)
    assert spelling.decode(encoding.ids) == expected
    assert encoding.ids == spelling.encode(expected, max_len=100).ids == tuple(spelling.encode_batch([text])[0])
    assert encoding.text == text
    alone = one_spelling()
    for token, (start, end) in zip(encoding.tokens, encoding.offsets, strict=True):
        assert 0 <= start < end <= len(text)
        if whole_characters.match(token):
            assert alone.normalize_str(text[start:end]).strip() == token.strip()


@any_text
def test_any_text_is_read_and_its_spans_are_in_order(spelling: Tokenizer, text: str) -> None:
    encoding = spelling.encode(text, max_len=100_000)
    assert spelling.decode(encoding.ids) == spelling.spelled(text)
    assert all(0 <= start < end <= len(text) for start, end in encoding.offsets)
    assert sorted(encoding.offsets) == list(encoding.offsets)
    assert spelling.encode(" \u00a0\u200b\n", max_len=9).ids == ()


def test_the_spelling_is_composed_and_a_separate_accent_no_span_of_its_own(spelling: Tokenizer) -> None:
    spell = one_spelling().normalize_str
    for text, _ in TYPED.values():
        assert spell(spell(text)) == spell(text) == unicodedata.normalize("NFC", spell(text))
    encoding = spelling.encode("e\u0301x", max_len=9)
    assert [encoding.text[start:end] for start, end in encoding.offsets][-1] == "x"
    assert {encoding.text[start:end] for start, end in encoding.offsets[:-1]} == {"e\u0301"}


IN_CAPITALS = {
    **{"JE SUIS LÀ.": "Je suis là.", "« L’ŒUF ! »": '"L\'œuf !"', "I.": "I.", " À ": "À", "12 !": "12 !"},
    "E\u0301COLE D\u2019E\u0301TE\u0301": "École d'été",
    **{"😀 MERCI": "😀 Merci", "12 ANS": "12 ans", "DEMAIN MA\u00adTIN": "Demain matin", "\ue000 AB": "\ue000 Ab"},
    **{"Je SUIS LÀ": "Je SUIS LÀ", "STRAßE": "STRAßE"},  # a small letter, and one that is always small
    **{"İSTANBUL": "İstanbul", "ΣΑΣ 東京 ABC": "ΣΑΣ 東京 abc"},  # the small one is two characters; other alphabets
}


@pytest.fixture(scope="module")
def translators() -> Tokenizer:
    return Tokenizer.load(zoo.MODELS / "french-english" / "tokenizer.json")


@each("text, expected", IN_CAPITALS.items())
def test_a_text_in_capitals_is_read_in_small_letters(translators: Tokenizer, text: str, expected: str) -> None:
    encoding = translators.encode(text, max_len=100)
    assert translators.decode(encoding.ids) == translators.spelled(text) == expected
    assert encoding.ids == translators.encode(expected, max_len=100).ids
    alone = one_spelling()
    for token, (start, end) in zip(encoding.tokens, encoding.offsets, strict=True):
        if whole_characters.match(token):
            assert alone.normalize_str(text[start:end]).strip().lower() == token.strip().lower()


def in_small_letters(text: str) -> str:
    """The rule once more, with Python's own tables."""
    if any(unicodedata.category(one) == "Ll" for one in text):
        return text
    first = next((n for n, one in enumerate(text) if unicodedata.category(one)[0] in "LN"), len(text))
    return text[: first + 1] + "".join(one.lower() if one in CAPITALS else one for one in text[first + 1 :])


def test_the_rule_for_capitals_is_this_one_on_random_texts(translators: Tokenizer) -> None:
    rng = random.Random(0)
    letters = CAPITALS + " .'!«»’–\u00a0\u202f\u200b\u00ad\u0301\u0327\t\n0123中😀İΣЖ_ªß"
    plain, case = one_spelling().normalize_str, one_spelling_and_case().normalize_str
    texts = ["".join(rng.choices(letters, k=rng.randrange(40))) for _ in range(2000)]
    changed = [text for text in texts if case(text) != plain(text)]
    assert all(case(text) == in_small_letters(plain(text)) for text in texts)
    assert all(translators.spelled(text) == case(text) for text in texts)
    assert (translators.spells, Tokenizer.load(zoo.MODELS / "tiny-english" / "tokenizer.json").spells) == (True, False)
    assert 500 < len(changed) < len(texts)
