"""The tokenizer for words, texts as numbers, and the text that comes with the app."""

import hashlib
import json

import numpy as np

from scripts.prepare_counting import HELD_OUT, LONGEST, SHORTEST, UNSUITED
from scripts.prepare_english import RUDE
from tests.browser import ROOT
from tests.cases import each
from tfmviz.counting.shipped import FOLDER, NAMES, read_corpus
from tfmviz.counting.words import MARK, UNKNOWN, encoded, sentences_of, stream_of, words_of
from tfmviz.text.corpora import is_held_out

ODD = (
    *("", "   \n\t ", "老王 批评 老李。老李 批评 老王！", "👩‍👩‍👧 says 😀", "<img src=x onerror=alert(1)> **b** $x$"),
    *("שלום עולם", "a\x00b\x1cc\u2028d\r\ne", "İstanbul 3.5 1,000.25 U.S. don't we’ll rock 'n' roll x_y"),
    *('He said: "Go!" And she went… (Why?) No.', "word " * 1000),
)

TOKENS = {
    "Don’t stop: it's 3.5, x_y!": ["don't", "stop", ":", "it's", "3.5", ",", "x", "_", "y", "!"],
    "老王 ran": ["老", "王", "ran"],
    "'tis 'quoted'": ["'", "tis", "'", "quoted", "'"],
    "<b>Hi</b>": ["<", "b", ">", "hi", "<", "/", "b", ">"],
    " \n": [],
}


def names_of(text: str) -> list[str]:
    return [word.name for word in words_of(text)]


def test_tokens_are_words_numbers_and_single_signs() -> None:
    assert {text: names_of(text) for text in TOKENS} == TOKENS


@each("text", ODD)
def test_sentences_hold_all_tokens_in_order_and_between_them_is_white_space(text: str) -> None:
    words = words_of(text)
    ends, starts = [0, *(word.end for word in words)], [*(word.start for word in words), len(text)]
    assert all(not text[a:b].strip() for a, b in zip(ends, starts, strict=True))
    sentences = sentences_of(text)
    assert [name for sentence in sentences for name in names_of(sentence)] == names_of(text)
    assert all(words_of(sentence) and "\n" not in sentence for sentence in sentences)


def test_a_text_is_cut_at_the_ends_of_its_sentences() -> None:
    cut = ["He left.", '"Why?"', "she asked.", "A title", "3.5 is a number!", "老王来了。", "好。"]
    assert sentences_of('He left. "Why?" she asked.\nA title\n3.5 is a number! 老王来了。好。') == cut


def test_a_stream_is_its_words_with_marks_around_the_sentences() -> None:
    stream, numbers = stream_of(["The cat.", "the dog."])
    names = {number: name for name, number in numbers.items()}
    assert (numbers["⟨s⟩"], numbers["⟨unknown⟩"]) == (MARK, UNKNOWN)
    assert sorted(names) == list(range(len(numbers)))
    assert [names[n] for n in stream] == ["⟨s⟩", "the", "cat", ".", "⟨s⟩", "the", "dog", ".", "⟨s⟩"]
    np.testing.assert_array_equal(encoded(["The cat.", "the dog."], numbers), stream)
    assert encoded(["the ⟨s⟩ mouse"], numbers).tolist() == [MARK, numbers["the"], *[UNKNOWN] * 4, MARK]
    assert stream_of([])[0].tolist() == [MARK]


FACTS = json.loads((FOLDER / "facts.json").read_text(encoding="utf-8"))


@each("name", NAMES)
def test_the_shipped_text_is_that_of_its_facts_and_a_hash_holds_out(name: str) -> None:
    text = (read_corpus(name) + "\n").encode()
    digest = hashlib.sha256(text).hexdigest()
    assert FACTS[name] == {"sentences": text.count(b"\n"), "bytes": len(text), "sha256": digest}
    for line in read_corpus(name).split("\n"):
        assert is_held_out(line, per_mille=HELD_OUT) == (name == NAMES[1])
        assert SHORTEST <= len(line.split()) <= LONGEST
        assert " ".join(line.split()) == line
        assert not RUDE.search(line)
        assert not UNSUITED.search(line)


def test_no_sentence_is_there_twice_and_the_folder_holds_text_facts_and_licence() -> None:
    lines = [line for name in NAMES for line in read_corpus(name).split("\n")]
    assert len(lines) == len(set(lines))
    assert {path.name for path in FOLDER.iterdir()} == {*NAMES, "facts.json", "LICENCE.md"}
    licence, notice = (FOLDER / "LICENCE.md").read_text(encoding="utf-8"), (ROOT / "NOTICE").read_text(encoding="utf-8")
    for source in ("Common Voice", "CC0", "Tatoeba Project", "tatoeba.org", "CC BY 2.0 FR", "public domain"):
        assert source in licence
        assert source in notice
    assert "assets/texts/counting/" in notice
