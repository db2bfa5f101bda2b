"""What a token looks like as a label, and the colours of both modes."""

from __future__ import annotations

import unicodedata
from dataclasses import fields

import pytest

from tests.traces import decoder, translation
from tfmviz.constants import LABEL_LENGTH
from tfmviz.plots.theme import DARK, LIGHT, Theme
from tfmviz.words.labels import of_queries, said_of_queries, visible

every_theme = pytest.mark.parametrize("theme", [pytest.param(LIGHT, id="light"), pytest.param(DARK, id="dark")])


def colour(text: str) -> tuple[int, ...]:
    return tuple(int(text[i : i + 2], 16) for i in (1, 3, 5))


@every_theme
def test_all_colours_of_the_theme_are_colours(theme: Theme) -> None:
    for field in fields(Theme):
        if field.name == "letters":  # pixels
            continue
        value = getattr(theme, field.name)
        for name in [shade for _, shade in value] if field.name in ("norms", "signed") else [value]:
            assert len(colour(name)) == 3


@pytest.mark.parametrize(
    ("token", "label"),
    [
        ("", ""),
        ("the", "the"),
        (" the", "the"),
        (" New York", "New York"),
        ("7", "7"),
        ("<s>", "<s>"),
        ("中", "中"),
        (" 中", "中"),
        ("中 1/3", "中 1/3"),
        ("[byte E4]", "[byte E4]"),
        ("नमस्ते", "नमस्ते"),
        ("é", "é"),
        ("🙂", "🙂"),
        (" ", "␣"),
        ("  ", "␣␣"),
        ("\n", "⏎"),
        ("\n\n", "⏎⏎"),
        (" \n", "␣⏎"),
        ("\t", "⇥"),
        ("\r\n", "[0D]⏎"),
        (".\n", ".⏎"),
        ("\x00", "[00]"),
        ("\x1b[1m", "[1B][1m"),
        ("\x7f", "[7F]"),
        ("\u00a0", "[00A0]"),
        ("\u00ad", "[00AD]"),  # soft hyphen
        ("\u200b", "[200B]"),  # zero-width space
        ("a\u200db", "a[200D]b"),  # zero-width joiner
        ("\u200f", "[200F]"),  # right-to-left mark
        ("\u202eabc", "[202E]abc"),  # right-to-left override
        ("\u2028", "[2028]"),  # line separator
        ("\u3000", "[3000]"),
        ("\ufeff", "[FEFF]"),
        ("\U000e0041", "[E0041]"),  # tag letter
    ],
)
def test_a_token_as_a_person_would_point_at_it(token: str, label: str) -> None:
    assert visible(token) == label


@pytest.mark.parametrize("token", ["  the", "the ", " the ", " \nthe"])
def test_white_space_at_the_ends_is_visible_but_for_the_one_space_that_begins_a_word(token: str) -> None:
    """HTML swallows it otherwise, a picture hides it, and different tokens look alike."""
    assert visible(token) == visible(token).strip()
    assert visible(token) != visible("the")


def test_no_character_alone_makes_an_empty_label() -> None:
    blank = [
        f"U+{ord(character):04X}"
        for character in map(chr, range(0x10000))
        if unicodedata.category(character) != "Cs" and not visible(character).strip()
    ]
    assert blank == []


@pytest.mark.parametrize("character", ["\ufe0e", "\ufe0f"])
def test_a_variation_selector_alone_is_visible(character: str) -> None:
    """It has no width of its own; after an emoji it is often a token of its own."""
    assert visible(character) != character


@pytest.mark.parametrize("token", [" internationalisation", "supercalifragilisticexpialidocious", "=" * 40 + "end."])
def test_a_long_token_is_shortened_in_its_middle(token: str) -> None:
    label = visible(token)
    assert len(label) == LABEL_LENGTH
    start, end = label.split("…")
    assert len(start) >= 4
    assert len(end) >= 4
    assert token.strip().startswith(start)
    assert token.endswith(end)


def test_a_token_of_the_greatest_length_is_left_whole() -> None:
    assert visible("x" * LABEL_LENGTH) == "x" * LABEL_LENGTH
    assert visible(" " + "x" * LABEL_LENGTH) == "x" * LABEL_LENGTH


def test_a_row_of_cross_attention_says_what_is_read_and_what_is_about_to_be_written() -> None:
    trace = translation((" un", " étudiant"), ("<|endoftext|>", " a", " student"))
    assert of_queries(trace, "decoder.1.cross_attn") == ["<START> → a", "a → student", "student → …"]
    assert said_of_queries(trace, "decoder.1.cross_attn")[1] == "“a”, about to write “student”"
    assert of_queries(trace, "decoder.1.self_attn") == ["<START>", "a", "student"]
    assert of_queries(trace, "encoder.1.self_attn") == ["un", "étudiant"]
    assert said_of_queries(trace, "encoder.1.self_attn") == ["“un”", "“étudiant”"]
    assert of_queries(decoder((" a", " student")), "decoder.0.self_attn") == ["a", "student"]
