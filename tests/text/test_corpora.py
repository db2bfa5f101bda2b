"""Training text: what a document is, and which documents are kept out of training."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases import each
from tests.text.texts import documents, paragraph
from tfmviz.text.corpora import PASSAGE, CorpusError, is_held_out, split_documents

FILES = {
    "stories.txt": ("One.\n\nStill one.\n<|endoftext|>\nTwo.<|endoftext|>", ["One.\n\nStill one.", "Two."]),
    "lines.txt": ("The first.\n  The second. \nThe third.", ["The first.", "The second.", "The third."]),
    "book.txt": ("It was\na dark  night.\n\nIt\nrained.\n", ["It was a dark night.\nIt rained."]),
    "blank with spaces.txt": ("One\nline.\n \t\nTwo.", ["One line.\nTwo."]),
    "one line.txt": ("Alone.", ["Alone."]),
    "story.md": ("# Title\n\nOnce\nupon.\n\n## Part\nA time.\n\n* License: CC\n* Text: X\n", ["Once upon.\nA time."]),
    "only marks.txt": ("<|endoftext|>\n<|endoftext|>", []),
    "only blanks.txt": (" \n\n \n", []),
    "empty.txt": ("", []),
    "empty.md": ("", []),
}


@each("name", list(FILES))
def test_the_layout_of_a_file_decides_what_a_document_is(tmp_path: Path, name: str) -> None:
    text, expected = FILES[name]
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert documents(tmp_path / name) == expected


@each("end", ["", "\n", "\n\n", "\n \n\n"])
@each("start", ["", "\n\n"])
def test_blank_lines_around_a_list_of_sentences_do_not_make_it_a_book(start: str, end: str) -> None:
    assert list(split_documents(f"{start}One.\nTwo.\nThree.{end}")) == ["One.", "Two.", "Three."]


@each("text", ["One.\nTwo.\n", "A\nparagraph.\n\nAnother.\n", "One.\n\nOne.\n<|endoftext|>\nTwo."])
def test_windows_line_ends_change_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "unix.txt").write_bytes(text.encode())
    (tmp_path / "windows.txt").write_bytes(text.replace("\n", "\r\n").encode())
    assert documents(tmp_path / "windows.txt") == documents(tmp_path / "unix.txt")


def test_any_script_is_read_and_a_folder_in_the_order_of_its_names(tmp_path: Path) -> None:
    lines = ["你好，世界。", "Привет 👩‍👩‍👧", "שלום", "<img onerror=alert(1)> $x$", "e\u0301"]
    for encoding in ("utf-8", "utf-8-sig"):
        (tmp_path / "lines.txt").write_text("\n".join(lines), encoding=encoding)
        assert documents(tmp_path / "lines.txt") == lines
    folder = tmp_path / "many"
    for name in ("b.txt", "a.md", "c/z.txt", "c/a.txt", "notes.csv", "code.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"From {name}.", encoding="utf-8")
    assert documents(folder) == ["From a.md.", "From b.txt.", "From c/a.txt.", "From c/z.txt."]


def test_a_book_is_cut_at_the_first_paragraph_end_past_the_size() -> None:
    paragraphs = [paragraph(seed, 37 + 11 * seed) for seed in range(101)]
    passages = [passage.split("\n") for passage in split_documents("\n\n".join(paragraphs))]
    assert [p for passage in passages for p in passage] == paragraphs  # nothing lost, nothing torn apart
    assert len(passages) > 3
    assert all(sum(map(len, passage)) >= PASSAGE for passage in passages[:-1])
    assert all(sum(map(len, passage[:-1])) < PASSAGE for passage in passages)
    long = paragraph(0, PASSAGE)
    assert list(split_documents(f"{long}\n\nShort.\n\nShorter.")) == [long, "Short.\nShorter."]


@each("content", [b"caf\xe9", "One.".encode("utf-16"), b"\xed\xa0\x80"])
def test_text_that_is_not_utf8_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "fine.txt").write_text("Fine.", encoding="utf-8")
    (tmp_path / "latin.txt").write_bytes(content)
    for source in (tmp_path, tmp_path / "latin.txt"):
        with pytest.raises(CorpusError, match=r"latin\.txt cannot be read as UTF-8"):
            documents(source)


def test_what_holds_no_text_is_refused_by_name(tmp_path: Path) -> None:
    """A device is refused as well: it may never end."""
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "cat.png").write_bytes(b"\x89PNG")
    for source, said in {
        tmp_path / "missing.txt": r"missing\.txt",
        tmp_path / "missing": "missing",
        Path(os.devnull): f"{os.devnull} is neither a file nor a folder",
        tmp_path / "pictures": r"no \.txt or \.md files in .*pictures",
    }.items():
        with pytest.raises(CorpusError, match=said):
            documents(source)


@each("per_mille", [10, 50, 500])
def test_about_the_named_share_is_held_out(per_mille: int) -> None:
    n, share = 10_000, per_mille / 1000
    held_out = sum(is_held_out(f"Document number {index}.", per_mille=per_mille) for index in range(n))
    assert abs(held_out - n * share) < 3 * (n * share * (1 - share)) ** 0.5


def test_a_larger_share_holds_out_the_smaller_one_too() -> None:
    texts = [f"Document number {index}." for index in range(1000)]
    shares = [{text for text in texts if is_held_out(text, per_mille=n)} for n in (0, 10, 200, 1000)]
    assert set() == shares[0] < shares[1] < shares[2] < shares[3] == set(texts)


def test_the_side_of_a_document_is_the_same_in_every_process() -> None:
    """Otherwise a resumed run would train on what it is measured with."""
    ask = "from tfmviz.text.corpora import is_held_out as h; print([i for i in range(2000) if h(f'Text {i}, 世界.')])"
    here = [index for index in range(2000) if is_held_out(f"Text {index}, 世界.")]
    assert here
    for seed in ("1", "2"):
        env = {"PYTHONPATH": ":".join(sys.path), "PYTHONHASHSEED": seed}
        assert subprocess.run([sys.executable, "-c", ask], env=env, stdout=-1).stdout.decode() == f"{here}\n"
