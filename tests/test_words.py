"""Words and numbers as the pages write them: labels of tokens, a reader's text within our Markdown, numbers."""

import math
import unicodedata
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.app import open_page
from tests.cases import each
from tests.traces import decoder, translation
from tfmviz.constants import LABEL_LENGTH
from tfmviz.words import markdown, numbers
from tfmviz.words.labels import of_queries, quoted, said_of_queries, visible
from tfmviz.words.numbers import decimal, in_seconds, in_words, per_cent, rounded, tiny, which_way


def colour(text: str) -> tuple[int, ...]:
    return tuple(int(text[i : i + 2], 16) for i in (1, 3, 5))


LABELS = {
    **{token: token for token in ("", "the", "7", "<s>", "中", "中 1/3", "[byte E4]", "नमस्ते", "é", "🙂")},
    **{" the": "the", " New York": "New York", " 中": "中", " ": "␣", "  ": "␣␣", "\n": "⏎", "\n\n": "⏎⏎", " \n": "␣⏎"},
    **{"\t": "⇥", "\r\n": "[0D]⏎", ".\n": ".⏎", "\x00": "[00]", "\x1b[1m": "[1B][1m", "\x7f": "[7F]"},
    **{"\u00a0": "[00A0]", "\u2028": "[2028]", "\u3000": "[3000]", "\ufeff": "[FEFF]"},
    **{"\u00ad": "[00AD]", "\u200b": "[200B]", "a\u200db": "a[200D]b"},  # a soft hyphen, and what has no width
    **{"\u200f": "[200F]", "\u202eabc": "[202E]abc", "\U000e0041": "[E0041]"},  # right to left, and a letter of a tag
}


def test_a_label_is_as_a_person_would_point_at_a_token_with_white_space_seen_and_never_empty() -> None:
    assert {token: visible(token) for token in LABELS} == LABELS
    for label in map(visible, ("  the", "the ", " the ", " \nthe")):
        assert label == label.strip() != "the"
    characters = [chr(code) for code in range(0x10000) if unicodedata.category(chr(code)) != "Cs"]
    assert [ascii(one) for one in characters if not visible(one).strip()] == []
    assert [ascii(one) for one in "\ufe0e\ufe0f" if visible(one) == one] == []


@each("token", [" internationalisation", "supercalifragilisticexpialidocious", "=" * 40 + "end."])
def test_a_long_token_is_shortened_in_its_middle(token: str) -> None:
    start, end = visible(token).split("…")
    assert len(visible(token)) == LABEL_LENGTH
    assert min(len(start), len(end)) >= 4
    assert token.strip().startswith(start)
    assert token.endswith(end)


def test_a_token_of_the_greatest_length_is_left_whole() -> None:
    assert visible("x" * LABEL_LENGTH) == visible(" " + "x" * LABEL_LENGTH) == "x" * LABEL_LENGTH


def test_a_row_of_cross_attention_says_what_is_read_and_what_is_about_to_be_written() -> None:
    trace = translation((" un", " étudiant"), ("<|endoftext|>", " a", " student"))
    assert of_queries(trace, "decoder.1.cross_attn") == ["<START> → a", "a → student", "student → …"]
    assert said_of_queries(trace, "decoder.1.cross_attn")[1] == "“a”, about to write “student”"
    assert of_queries(trace, "decoder.1.self_attn") == ["<START>", "a", "student"]
    assert of_queries(trace, "encoder.1.self_attn") == ["un", "étudiant"]
    assert said_of_queries(trace, "encoder.1.self_attn") == ["“un”", "“étudiant”"]
    assert of_queries(decoder((" a", " student")), "decoder.0.self_attn") == ["a", "student"]


HOSTILE = "x\r\n\r\n# Hello\n\n[click](https://example.org) ![i](https://example.org/i.png)\n==="


@each("shown", [markdown.plain(HOSTILE), markdown.code(HOSTILE)])
def test_no_line_of_a_readers_text_begins_a_block(shown: str) -> None:
    assert len(shown.splitlines()) == 1


@each("key", ["model", "kind"])
def test_an_address_is_quoted_in_one_line(key: str) -> None:
    notes = [note.value for note in open_page("explorer", **{key: HOSTILE}).info]
    assert any("Hello" in note for note in notes)
    assert all("\n" not in note for note in notes)


@each(
    "text, first",
    [
        ("One. Two.", "One."),
        ("**A claim.** Its reason.", "**A claim.**"),
        ("**Bold. Still bold** to here. Two.", "**Bold. Still bold** to here."),
        ("It gives 0.5 of it (Su et al. 2021). Two.", "It gives 0.5 of it (Su et al. 2021)."),
        (f"“{markdown.plain('A cat. It')}” and {markdown.code('a. B')} are quoted. Two.", None),
        ("Only one", "Only one"),
    ],
)
def test_the_first_sentence_ends_at_a_full_stop_of_ours(text: str, first: str | None) -> None:
    found, others = markdown.first_sentence(text)
    assert found == (first or text.removesuffix(" Two."))
    assert f"{found} {others}".strip() == text


WRITTEN = (
    (tiny, {0: "0", 1: "1.0·10⁰", 1.5e-6: "1.5·10⁻⁶", 9.97e-12: "1.0·10⁻¹¹", 0.031: "3.1·10⁻²", 12: "1.2·10¹"}),
    (rounded, {0: "0", 14.2: "14", 9.96: "10", 0.254: "0.25", 0.00123: "0.0012", 6.2e-6: "6.2·10⁻⁶"}),
    (rounded, {1: "1.0", 142: "142", 1.5e-4: "1.5·10⁻⁴"}),
    (
        in_words,
        {999_999: "999,999", 1e6: "1 million", 999.4e6: "999 million", 1e9: "1 billion", 2.5e12: "2.5 trillion"},
    ),
    (in_words, {999e12: "999 trillion", 1e15: "1.0·10¹⁵", 1e12: "1 trillion", 999.5e6: "1000 million"}),
    (numbers.in_bytes, {0: "0 bytes", 64: "64 bytes", 1024: "1 KiB", 1536: "1.5 KiB", 100.5 * 2**20: "100 MiB"}),
    (in_seconds, {2.5: "2.5 s", 3.14e-3: "3.14 ms", 4.5e-5: "45 µs", 1200: "1,200 s", 1: "1 s", 0.9995: "1,000 ms"}),
    (numbers.of_logarithm, {-math.inf: "0", 0: "1.0·10⁰", math.log(9.97): "1.0·10¹", -1036.1: "1.1·10⁻⁴⁵⁰"}),
    (per_cent, {1: "100%", 0.294: "29%", 0.034: "3.4%", 0.0002: "0.02%", 0: "0.00%", -1e-8: "0.00%", 0.095: "10%"}),
)


@each("write, texts", WRITTEN)
def test_numbers_are_written_as_people_read_them(write: Callable[[float], str], texts: dict[float, str]) -> None:
    assert {value: write(value) for value in texts} == texts


def test_minus_signs_are_true_zero_has_none_and_more_is_what_is_written_so() -> None:
    assert [decimal(value) for value in (-0.254, -0.004, 2)] == ["−0.25", "0.00", "2.00"]
    assert [decimal(value, "+.1f") for value in (-2, 0.5, -0.01)] == ["−2.0", "+0.5", "+0.0"]
    said = [which_way(0.5, after, less="less", same="same", more="more") for after in (0.494, 0.496, 0.504, 0.506)]
    assert said == ["less", "same", "same", "more"]


def test_one_has_no_plural_and_tokens_that_look_the_same_are_told_apart_by_their_places() -> None:
    assert [numbers.counted(n, "token") for n in (0, 1, 2, 1024)] == ["0 tokens", "1 token", "2 tokens", "1,024 tokens"]
    assert quoted(("the", " cat", " the")) == ["“the” (token 0)", "“cat”", "“the” (token 2)"]


@each("write", [decimal, numbers.in_bytes, in_seconds, in_words, per_cent, rounded, tiny])
def test_what_is_not_finite_is_a_dash(write: Callable[[float], str]) -> None:
    values: list[Any] = [math.nan, math.inf, -math.inf, np.float32("nan"), np.float64("inf")]
    assert [write(value) for value in values] == ["–"] * 5
    assert [numbers.of_logarithm(value) for value in (math.nan, math.inf)] == ["–"] * 2


@each("write", [decimal, rounded, tiny])
def test_the_smallest_and_largest_numbers_can_be_written(write: Callable[[float], str]) -> None:
    values: list[Any] = [5e-324, 1.7e308, np.float32(1e-45), np.float32(3e38), 0.0]
    assert all(any(map(str.isdigit, write(value))) for value in values)
