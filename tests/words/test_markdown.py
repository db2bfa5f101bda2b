"""Text of a reader within our Markdown."""

from tests.app import open_page
from tests.cases import each
from tfmviz.words import markdown

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
