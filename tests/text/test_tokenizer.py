"""The tokenizer: any text comes back, and every token knows which of the reader's characters it stands for."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from tokenizers.pre_tokenizers import ByteLevel

from tests.cases import each
from tests.text.texts import SENTENCES, TEXTS, VOCAB_SIZE, any_text, bytes_of
from tfmviz.constants import MASK, MASK_TOKEN
from tfmviz.text.tokenizer import END, END_OF_TEXT, SPANS, Tokenizer, _byte_of_character


@any_text
def test_any_text_and_its_tokens_come_back(tokenizer: Tokenizer, library: tokenizers.Tokenizer, text: str) -> None:
    encoding, expected = tokenizer.encode(text, max_len=100_000), library.encode(text)
    assert tokenizer.decode(encoding.ids) == encoding.text == text
    assert encoding.n_dropped == 0
    assert (list(encoding.ids), list(encoding.offsets)) == (expected.ids, expected.offsets)
    assert tuple(tokenizer.encode_batch([text])[0]) == encoding.ids
    assert tokenizer.encoding_of(encoding.ids, max_len=100_000) == encoding


def test_no_text_has_no_tokens_and_a_typed_mark_is_text(tokenizer: Tokenizer) -> None:
    encoding = tokenizer.encode(f"a{END_OF_TEXT}b", max_len=100)
    assert END not in encoding.ids
    assert END not in tokenizer.encode_batch([f"a{END_OF_TEXT}b"])[0]
    assert END_OF_TEXT not in encoding.tokens
    encoding = tokenizer.encode("", max_len=7)
    assert (encoding.ids, encoding.tokens, encoding.offsets, encoding.n_dropped) == ((), (), (), 0)
    assert len(encoding) == 0
    assert tokenizer.encoding_of((), max_len=7) == encoding
    assert tokenizer.decode([]) == ""


def test_a_character_in_pieces_says_which_and_decodes_as_the_replacement_in_part() -> None:
    no_merges = Tokenizer.train(["a"], vocab_size=257)
    for text, shown in {"世": "\ufffd", "a👩": "a\ufffd", "éé": "é\ufffd"}.items():
        assert no_merges.decode(no_merges.encode(text, max_len=100).ids[:-1]) == shown
    part = no_merges.encoding_of(no_merges.encode("a中é", max_len=9).ids[2:], max_len=9)
    assert part.tokens == ("[byte B8]", "[byte AD]", "é 1/2", "é 2/2")
    assert (part.text, part.offsets) == ("\ufffd\ufffdé", ((0, 1), (1, 2), (2, 3), (2, 3)))
    assert no_merges.encode("中é", max_len=9).tokens == ("中 1/3", "中 2/3", "中 3/3", "é 1/2", "é 2/2")
    across = Tokenizer.train(
        ["中文", "中斈"] * 5 + ["中斉", "中斊"] * 3, vocab_size=261
    )  # they differ in the last byte
    assert across.encode("中文", max_len=9).tokens == ("中文 1–2/3", "文 3/3")


@each("text, place", [("\ud800", 1), ("ab\udc80c", 3), ("中👩\udfff", 3), ("a\ud83d \udc69", 2)])
def test_half_a_surrogate_pair_is_refused_by_its_place(tokenizer: Tokenizer, text: str, place: int) -> None:
    with pytest.raises(ValueError, match=rf"Character {place} of the text is not valid Unicode"):
        tokenizer.encode(text, max_len=100)


@any_text
def test_a_token_reads_as_its_span_or_names_the_bytes_it_holds(
    tokenizer: Tokenizer, library: tokenizers.Tokenizer, library_bytes: dict[str, int], text: str
) -> None:
    encoding, spellings = tokenizer.encode(text, max_len=100_000), library.encode(text).tokens
    n_whole = 0
    for token, (start, end), spelling in zip(encoding.tokens, encoding.offsets, spellings, strict=True):
        held = bytes(library_bytes[character] for character in spelling)
        if held == text[start:end].encode():
            assert token == text[start:end]
            n_whole += 1
        else:
            assert bytes_of(token) == held
            assert re.sub(r" \d(–\d)?/\d", "", token) == text[start:end]
    assert n_whole > 0 or not text.isascii()


@each("text", [TEXTS["english"], TEXTS["emoji"], TEXTS["chinese"]])
def test_a_long_text_is_cut_at_a_token_and_the_rest_is_counted(tokenizer: Tokenizer, text: str) -> None:
    whole = tokenizer.encode(text, max_len=1000)
    for max_len in (1, 2, 5, 13):
        cut = tokenizer.encode(text, max_len=max_len)
        for name in ("ids", "tokens", "offsets"):
            assert getattr(cut, name) == getattr(whole, name)[:max_len]
        assert len(cut) + cut.n_dropped == len(whole)
        assert cut.text == text
    assert tokenizer.encode(text, max_len=len(whole)) == whole


def test_every_gap_is_a_mask_and_too_many_tokens_are_counted(tokenizer: Tokenizer, with_mask: Tokenizer) -> None:
    encoding = tokenizer.encoding_of(range(2, 19), max_len=7)
    assert (encoding.ids, encoding.n_dropped) == (tuple(range(2, 9)), 10)
    assert len(encoding.tokens) == len(encoding.offsets) == 7
    assert with_mask.encode("a ___ b __ ___", max_len=100).ids.count(MASK) == 2
    assert with_mask.encode("___ ___ ___", max_len=2).n_dropped == 1
    assert MASK not in with_mask.encode("<|mask|>", max_len=100).ids


@each("index", [-1, VOCAB_SIZE, 10**9])
def test_an_index_outside_the_vocabulary_is_refused_by_its_number(tokenizer: Tokenizer, index: int) -> None:
    with pytest.raises(ValueError, match=rf"0 to {VOCAB_SIZE - 1}, but {index} "):
        tokenizer.encoding_of((1, index), max_len=7)


@pytest.fixture(scope="module")
def with_mask() -> Tokenizer:
    return Tokenizer.train(SENTENCES, vocab_size=300, with_mask=True)


@each("before, gap, after", [("The cat", " ___", " on."), ("", "_____", " a"), ("a", " ___", "")])
def test_a_gap_is_a_mask_between_the_tokens_around_it(with_mask: Tokenizer, before: str, gap: str, after: str) -> None:
    left, right = with_mask.encode_batch([before, after])
    encoding = with_mask.encode(before + gap + after, max_len=100)
    assert list(encoding.ids) == [*left, MASK, *right]
    assert encoding.tokens[len(left)] == gap
    assert [encoding.text[start:end] for start, end in encoding.offsets] == list(encoding.tokens)


def test_marks_of_spans_follow_the_first_mark_and_are_text_if_somebody_types_them(tokenizer: Tokenizer) -> None:
    spans = Tokenizer.train(SENTENCES, vocab_size=300, n_spans=3)
    assert spans.vocabulary[SPANS : SPANS + 3] == ("<|span-1|>", "<|span-2|>", "<|span-3|>")
    assert spans.vocab_size == 300
    assert not spans.fills_gaps
    typed = spans.encode("The <|span-1|> ___", max_len=100).ids
    assert not set(typed) & set(range(SPANS + 3))
    assert spans.decode(typed) == "The <|span-1|> ___"
    assert tokenizer.decode(tokenizer.encode("The ___", max_len=100).ids) == "The ___"


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
