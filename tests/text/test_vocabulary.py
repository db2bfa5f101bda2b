"""The tokenizer's vocabulary, and its files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from tokenizers.pre_tokenizers import ByteLevel

from tests.text.texts import SENTENCES, VOCAB_SIZE, any_text
from tfmviz.constants import MASK, MASK_TOKEN
from tfmviz.text.tokenizer import END, END_OF_TEXT, Tokenizer, _byte_of_character

# The vocabulary.


def test_our_table_of_bytes_is_the_librarys(library_bytes: dict[str, int]) -> None:
    ours = _byte_of_character()
    assert set(ours) == set(ByteLevel.alphabet())
    assert sorted(ours.values()) == list(range(256))
    assert set(range(256)) - set(library_bytes.values()) == {0xC0, 0xC1, *range(0xF5, 0x100)}  # never in UTF-8
    assert library_bytes.items() <= ours.items()


def test_vocabulary_entries_are_readable(
    tokenizer: Tokenizer, library: tokenizers.Tokenizer, library_bytes: dict[str, int]
) -> None:
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


def test_every_entry_reads_differently(tokenizer: Tokenizer) -> None:
    assert len(set(tokenizer.vocabulary)) == tokenizer.vocab_size


def test_the_vocabulary_decodes_to_its_own_readings(tokenizer: Tokenizer) -> None:
    whole = [index for index, entry in enumerate(tokenizer.vocabulary) if not entry.startswith("[byte ")]
    assert [tokenizer.decode([index]) for index in whole] == [tokenizer.vocabulary[index] for index in whole]


@pytest.mark.parametrize("vocab_size", [257, 283, 331])
def test_training_stops_at_the_wanted_size(vocab_size: int) -> None:
    assert Tokenizer.train(SENTENCES, vocab_size=vocab_size).vocab_size == vocab_size


def test_training_twice_gives_the_same_vocabulary(tokenizer: Tokenizer) -> None:
    assert Tokenizer.train(SENTENCES, vocab_size=VOCAB_SIZE).vocabulary == tokenizer.vocabulary


def test_training_merges_what_is_frequent(tokenizer: Tokenizer) -> None:
    assert tokenizer.encode("on the house", max_len=9).tokens == ("on", " the", " house")


# Files.


@any_text
def test_a_saved_tokenizer_comes_back_the_same(tokenizer: Tokenizer, saved: Path, text: str) -> None:
    loaded = Tokenizer.load(saved)
    assert loaded.encode(text, max_len=100_000) == tokenizer.encode(text, max_len=100_000)


def test_a_saved_vocabulary_comes_back_the_same(tokenizer: Tokenizer, saved: Path) -> None:
    assert Tokenizer.load(saved).vocabulary == tokenizer.vocabulary


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: b"this is not JSON",
        lambda content: b"\xff\xfe\x00",
        lambda content: b"[1, 2]",
        lambda content: b"{}",
        lambda content: b'{"vocab": {"a": 0}}',
        lambda content: content[: len(content) // 2],
        lambda content: content[:-2],
    ],
    ids=["empty", "no JSON", "no UTF-8", "a list", "an empty object", "another object", "half", "no last brace"],
)
def test_a_damaged_file_is_refused_by_name(saved: Path, tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(damage(saved.read_bytes()))
    with pytest.raises(ValueError, match=r"tokenizer\.json"):
        Tokenizer.load(path)


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"tokenizer\.json"):
        Tokenizer.load(tmp_path / "tokenizer.json")


def swap_first_entries(content: dict[str, Any]) -> None:
    vocab: dict[str, int] = content["model"]["vocab"]
    vocab[END_OF_TEXT], vocab["!"] = vocab["!"], vocab[END_OF_TEXT]
    content["added_tokens"][0]["id"] = vocab[END_OF_TEXT]


def leave_a_hole(content: dict[str, Any]) -> None:
    content["model"]["vocab"]["x"] = 9999


def words_instead_of_bytes(content: dict[str, Any]) -> None:
    content["model"] = {"type": "WordLevel", "vocab": {END_OF_TEXT: 0, "the": 1, "cat": 2}, "unk_token": "the"}


def lower_case(content: dict[str, Any]) -> None:
    content["normalizer"] = {"type": "Lowercase"}


def no_byte_level(content: dict[str, Any]) -> None:
    content["pre_tokenizer"] = None


def space_in_front(content: dict[str, Any]) -> None:
    content["pre_tokenizer"]["add_prefix_space"] = True


def cut_at_three_tokens(content: dict[str, Any]) -> None:
    content["truncation"] = {"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0}


@pytest.mark.parametrize(
    "change",
    [
        swap_first_entries,
        leave_a_hole,
        words_instead_of_bytes,
        lower_case,
        no_byte_level,
        space_in_front,
        cut_at_three_tokens,
    ],
)
def test_a_tokenizer_that_would_not_give_the_text_back_is_refused(
    saved: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    content = json.loads(saved.read_text(encoding="utf-8"))
    change(content)
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ValueError, match=r"tokenizer\.json"):
        Tokenizer.load(path)


def test_a_tokenizer_with_a_mask_reads_a_typed_mask_as_text(tmp_path: Path) -> None:
    Tokenizer.train(["some text"], vocab_size=263, with_mask=True).save(tmp_path / "tokenizer.json")
    tokenizer = Tokenizer.load(tmp_path / "tokenizer.json")
    assert tokenizer.vocabulary[MASK] == MASK_TOKEN
    ids = tokenizer.encode_batch([f"a {MASK_TOKEN}"])[0]
    assert MASK not in ids
    assert tokenizer.decode(ids) == f"a {MASK_TOKEN}"
