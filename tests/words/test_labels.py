"""What a token looks like as a label, and the colours of both modes."""

import unicodedata

from tests.cases import each
from tests.traces import decoder, translation
from tfmviz.constants import LABEL_LENGTH
from tfmviz.words.labels import of_queries, said_of_queries, visible


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


def test_a_token_as_a_person_would_point_at_it() -> None:
    assert {token: visible(token) for token in LABELS} == LABELS


def test_white_space_at_the_ends_is_visible_but_for_the_one_space_that_begins_a_word() -> None:
    """HTML swallows it otherwise, a picture hides it, and different tokens look alike."""
    for label in map(visible, ("  the", "the ", " the ", " \nthe")):
        assert label == label.strip() != "the"


def test_no_character_alone_makes_an_empty_label() -> None:
    """A variation selector has no width of its own; after an emoji it is often a token of its own."""
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
