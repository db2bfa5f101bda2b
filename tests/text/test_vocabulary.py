"""The tokenizer's vocabulary, and its files."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from tokenizers.pre_tokenizers import ByteLevel

from tests.cases import each
from tests.text.texts import SENTENCES, VOCAB_SIZE, any_text
from tfmviz.constants import MASK, MASK_TOKEN
from tfmviz.text.tokenizer import END, END_OF_TEXT, Tokenizer, _byte_of_character


def test_our_table_of_bytes_is_the_librarys(library_bytes: dict[str, int]) -> None:
    ours = _byte_of_character()
    assert set(ours) == set(ByteLevel.alphabet())
    assert sorted(ours.values()) == list(range(256))
    assert set(range(256)) - set(library_bytes.values()) == {0xC0, 0xC1, *range(0xF5, 0x100)}  # never in UTF-8
    assert library_bytes.items() <= ours.items()


def test_entries_read_well(tokenizer: Tokenizer, library: tokenizers.Tokenizer, library_bytes: dict[str, int]) -> None:
    byte_of = _byte_of_character() | library_bytes
    assert len(tokenizer.vocabulary) == tokenizer.vocab_size == VOCAB_SIZE
    assert tokenizer.vocabulary[END] == END_OF_TEXT
    assert {" the", "很大", "[byte E4]"} <= set(tokenizer.vocabulary)
    for index, entry in enumerate(tokenizer.vocabulary[1:], start=1):
        held = bytes(byte_of[character] for character in library.id_to_token(index) or "")
        if pieces := re.fullmatch(r"\[byte ((?:[0-9A-F]{2} ?)+)\]", entry):
            assert bytes.fromhex(pieces[1]) == held
            assert "\ufffd" in held.decode("utf-8", errors="replace")
        else:
            assert entry.encode() == held
    assert len(set(tokenizer.vocabulary)) == tokenizer.vocab_size
    whole = {index: entry for index, entry in enumerate(tokenizer.vocabulary) if not entry.startswith("[byte ")}
    assert {index: tokenizer.decode([index]) for index in whole} == whole


def test_training_merges_what_is_frequent_and_stops_at_the_wanted_size(tokenizer: Tokenizer) -> None:
    for vocab_size in (257, 283, 331):
        assert Tokenizer.train(SENTENCES, vocab_size=vocab_size).vocab_size == vocab_size
    assert Tokenizer.train(SENTENCES, vocab_size=VOCAB_SIZE).vocabulary == tokenizer.vocabulary
    assert tokenizer.encode("on the house", max_len=9).tokens == ("on", " the", " house")


@any_text
def test_a_saved_tokenizer_comes_back_the_same(tokenizer: Tokenizer, saved: Path, text: str) -> None:
    loaded = Tokenizer.load(saved)
    assert loaded.encode(text, max_len=100_000) == tokenizer.encode(text, max_len=100_000)
    assert loaded.vocabulary == tokenizer.vocabulary


def swap_first_entries(content: dict[str, Any]) -> None:
    vocab: dict[str, int] = content["model"]["vocab"]
    vocab[END_OF_TEXT], vocab["!"] = vocab["!"], vocab[END_OF_TEXT]
    content["added_tokens"][0]["id"] = vocab[END_OF_TEXT]


WORDS = {"type": "WordLevel", "vocab": {END_OF_TEXT: 0, "the": 1, "cat": 2}, "unk_token": "the"}
THREE_TOKENS = {"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0}

CHANGES: dict[str, Callable[[dict[str, Any]], None]] = {
    "first entries swapped": swap_first_entries,
    "a hole": lambda content: content["model"]["vocab"].update(x=9999),
    "words instead of bytes": lambda content: content.update(model=WORDS),
    "lower case": lambda content: content.update(normalizer={"type": "Lowercase"}),
    "no byte level": lambda content: content.update(pre_tokenizer=None),
    "a space in front": lambda content: content["pre_tokenizer"].update(add_prefix_space=True),
    "cut at three tokens": lambda content: content.update(truncation=THREE_TOKENS),
}


@each("what", list(CHANGES))
def test_a_tokenizer_that_would_not_give_the_text_back_is_refused(saved: Path, tmp_path: Path, what: str) -> None:
    content, path = json.loads(saved.read_text(encoding="utf-8")), tmp_path / "tokenizer.json"
    CHANGES[what](content)
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ValueError, match=r"tokenizer\.json"):
        Tokenizer.load(path)


def test_damaged_files_are_refused_by_name_and_a_typed_mask_is_text(tmp_path: Path, saved: Path) -> None:
    Tokenizer.train(["some text"], vocab_size=263, with_mask=True).save(tmp_path / "with a mask.json")
    tokenizer = Tokenizer.load(tmp_path / "with a mask.json")
    assert tokenizer.vocabulary[MASK] == MASK_TOKEN
    ids = tokenizer.encode_batch([f"a {MASK_TOKEN}"])[0]
    assert MASK not in ids
    assert tokenizer.decode(ids) == f"a {MASK_TOKEN}"
    path, whole = tmp_path / "tokenizer.json", saved.read_bytes()
    others = (b"", b"this is not JSON", b"\xff\xfe\x00", b"[1, 2]", b"{}", b'{"vocab": {"a": 0}}')
    for content in (None, *others, whole[: len(whole) // 2], whole[:-2]):
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(ValueError, match=r"tokenizer\.json"):
            Tokenizer.load(path)
