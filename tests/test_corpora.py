"""Training text: what a document is, which documents are kept out of training, and the sequences without a corpus."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from scripts import prepare_english
from tfmviz.text.corpora import PASSAGE, CorpusError, is_held_out, read_documents, split_documents
from tfmviz.text.tasks import repeated_random

WORDS = ("time", "water", "people", "house", "night", "morning", "garden", "little", "river", "always", "another")


def paragraph(seed: int, n_words: int) -> str:
    rng = np.random.default_rng(seed)
    return " ".join(rng.choice(WORDS, size=n_words))


def documents(path: Path) -> list[str]:
    return list(read_documents(path))


# Layouts.


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("stories.txt", "One.\n\nStill one.\n<|endoftext|>\nTwo.<|endoftext|>", ["One.\n\nStill one.", "Two."]),
        ("lines.txt", "The first.\n  The second. \nThe third.", ["The first.", "The second.", "The third."]),
        ("book.txt", "It was\na dark  night.\n\nIt\nrained.\n", ["It was a dark night.\nIt rained."]),
        ("blank with spaces.txt", "One\nline.\n \t\nTwo.", ["One line.\nTwo."]),
        ("one line.txt", "Alone.", ["Alone."]),
        (
            "story.md",
            "# Title\n\nOnce\nupon.\n\n## Part\nA time.\n\n* License: CC\n* Text: X\n",
            ["Once upon.\nA time."],
        ),
        ("only marks.txt", "<|endoftext|>\n<|endoftext|>", []),
        ("only blanks.txt", " \n\n \n", []),
        ("empty.txt", "", []),
        ("empty.md", "", []),
    ],
)
def test_the_layout_of_a_file_decides_what_a_document_is(
    tmp_path: Path, name: str, text: str, expected: list[str]
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert documents(tmp_path / name) == expected


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\n \n\n"], ids=ascii)
@pytest.mark.parametrize("start", ["", "\n\n"], ids=ascii)
def test_blank_lines_around_a_list_of_sentences_do_not_make_it_a_book(start: str, end: str) -> None:
    assert list(split_documents(f"{start}One.\nTwo.\nThree.{end}")) == ["One.", "Two.", "Three."]


@pytest.mark.parametrize("text", ["One.\nTwo.\n", "A\nparagraph.\n\nAnother.\n", "One.\n\nOne.\n<|endoftext|>\nTwo."])
def test_windows_line_ends_change_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "unix.txt").write_bytes(text.encode())
    (tmp_path / "windows.txt").write_bytes(text.replace("\n", "\r\n").encode())
    assert documents(tmp_path / "windows.txt") == documents(tmp_path / "unix.txt")


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "notepad.txt").write_text("One.\nTwo.", encoding="utf-8-sig")
    assert documents(tmp_path / "notepad.txt") == ["One.", "Two."]


def test_any_script_is_read_as_it_is(tmp_path: Path) -> None:
    lines = ["你好，世界。", "Привет 👩‍👩‍👧", "שלום", "<img onerror=alert(1)> $x$", "e\u0301"]
    (tmp_path / "lines.txt").write_text("\n".join(lines), encoding="utf-8")
    assert documents(tmp_path / "lines.txt") == lines


# Passages.


def test_a_book_is_cut_at_the_first_paragraph_end_past_the_size() -> None:
    paragraphs = [paragraph(seed, 37 + 11 * seed) for seed in range(101)]
    passages = [passage.split("\n") for passage in split_documents("\n\n".join(paragraphs))]
    assert [p for passage in passages for p in passage] == paragraphs  # nothing lost, nothing torn apart
    assert len(passages) > 3
    for passage in passages[:-1]:
        assert sum(map(len, passage)) >= PASSAGE
    for passage in passages:
        assert sum(map(len, passage[:-1])) < PASSAGE


def test_a_paragraph_longer_than_a_passage_stays_whole() -> None:
    long = paragraph(0, PASSAGE)
    assert list(split_documents(f"{long}\n\nShort.\n\nShorter.")) == [long, "Short.\nShorter."]


# Folders.


def test_a_folder_is_read_in_the_order_of_its_names(tmp_path: Path) -> None:
    for name in ("b.txt", "a.md", "c/z.txt", "c/a.txt", "notes.csv", "code.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"From {name}.", encoding="utf-8")
    assert documents(tmp_path) == ["From a.md.", "From b.txt.", "From c/a.txt.", "From c/z.txt."]


def test_a_folder_and_its_files_hold_the_same_documents(tmp_path: Path) -> None:
    for index in range(5):
        (tmp_path / f"{index}.txt").write_text(f"One of {index}.\nTwo of {index}.\n", encoding="utf-8")
    assert documents(tmp_path) == [d for file in sorted(tmp_path.iterdir()) for d in documents(file)]


@pytest.mark.parametrize("content", [b"caf\xe9", "One.".encode("utf-16"), b"\xed\xa0\x80"], ids=ascii)
@pytest.mark.parametrize("ask_for_the_folder", [False, True], ids=["file", "folder"])
def test_text_that_is_not_utf8_is_refused_by_name(tmp_path: Path, content: bytes, ask_for_the_folder: bool) -> None:
    (tmp_path / "fine.txt").write_text("Fine.", encoding="utf-8")
    (tmp_path / "latin.txt").write_bytes(content)
    with pytest.raises(CorpusError, match=r"latin\.txt cannot be read as UTF-8"):
        documents(tmp_path if ask_for_the_folder else tmp_path / "latin.txt")


@pytest.mark.parametrize("name", ["missing.txt", "missing"])
def test_a_missing_source_is_refused_by_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(CorpusError, match=name):
        documents(tmp_path / name)


def test_a_folder_without_text_is_refused_by_name(tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    (folder / "cat.png").write_bytes(b"\x89PNG")
    with pytest.raises(CorpusError, match=r"no \.txt or \.md files in .*pictures"):
        documents(folder)


# The held-out share.


@pytest.mark.parametrize("per_mille", [10, 50, 500])
def test_about_the_named_share_is_held_out(per_mille: int) -> None:
    n, share = 10_000, per_mille / 1000
    held_out = sum(is_held_out(f"Document number {index}.", per_mille=per_mille) for index in range(n))
    assert abs(held_out - n * share) < 3 * (n * share * (1 - share)) ** 0.5


def test_a_larger_share_holds_out_the_smaller_one_too() -> None:
    texts = [f"Document number {index}." for index in range(1000)]
    shares = [{text for text in texts if is_held_out(text, per_mille=n)} for n in (0, 10, 200, 1000)]
    assert shares[0] == set()
    assert shares[0] < shares[1] < shares[2] < shares[3]
    assert shares[3] == set(texts)


def test_the_side_of_a_document_is_the_same_in_every_process() -> None:
    """Otherwise a resumed run would train on what it is measured with."""
    ask = "from tfmviz.text.corpora import is_held_out as h; print([i for i in range(2000) if h(f'Text {i}, 世界.')])"
    told = [
        subprocess.run(
            [sys.executable, "-c", ask], env={"PYTHONPATH": ":".join(sys.path), "PYTHONHASHSEED": seed}, stdout=-1
        ).stdout.decode()
        for seed in ("1", "2")
    ]
    here = [index for index in range(2000) if is_held_out(f"Text {index}, 世界.")]
    assert told == [f"{here}\n"] * 2
    assert here


# Sequences without a corpus.


@pytest.mark.parametrize("length", [11, 23, 257])
def test_a_random_segment_repeats_at_least_twice_with_periods_of_all_sizes(length: int) -> None:
    rng, periods = np.random.default_rng(3), []
    for _ in range(97):
        ids = repeated_random(rng, length=length, vocab_size=6007)
        assert ids.shape == (length,)
        assert ids.dtype == np.int64
        periods.append(next(p for p in range(1, length) if (ids[p:] == ids[:-p]).all()))
    assert min(periods) == 4
    assert length // 4 <= max(periods) <= length // 2


def test_a_segment_is_drawn_from_the_whole_vocabulary_but_for_the_mark() -> None:
    rng = np.random.default_rng(3)
    drawn = {index for _ in range(97) for index in repeated_random(rng, length=23, vocab_size=13).tolist()}
    assert drawn == set(range(1, 13))


# Preparing the English corpora.

TATOEBA = [f"{name} saw {WORDS[i % 7]} {chr(97 + i)}." for i in range(20) for name in ("Tom", "Mary", "Ann")]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The documents of each file that the script writes for a toy set of corpora."""
    corpora, out = tmp_path_factory.mktemp("corpora"), tmp_path_factory.mktemp("out")
    (corpora / "tatoeba.txt").write_text("\n".join(TATOEBA), encoding="utf-8")
    voice = [
        "It rains.",
        "it rains!",
        "It rains.",
        "Go to 3.",
        "Go to 12.",
        "That is shit.",
        "Kiss the class.",
        "…",
        "7",
    ]
    (corpora / "common_voice.txt").write_text("\n".join(voice), encoding="utf-8")
    (corpora / "storybooks").mkdir()
    for index in range(3):
        text = f"# Title\n\nOnce upon {WORDS[index]}.\n\nThe end.\n\n* License: CC-BY\n"
        (corpora / "storybooks" / f"{index}.md").write_text(text, encoding="utf-8")
    (corpora / "tinystories.txt").write_text("A story.\n\nIts end.\n<|endoftext|>\nAnother.\n", encoding="utf-8")
    (corpora / "books").mkdir()
    book = "\n\n".join(f"Chapter {chr(97 + i)}. " + paragraph(i, PASSAGE // 4) for i in range(5))
    (corpora / "books" / "book.txt").write_text(book, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["prepare_english.py", str(corpora), str(out)])
        prepare_english.main()
    return {file.stem: documents(file) for file in out.iterdir()}


def test_rude_lines_and_repetitions_are_dropped(prepared: dict[str, list[str]]) -> None:
    assert prepared["common_voice"] == ["It rains.", "Go to 3.", "Kiss the class."]


def test_one_in_ten_sentences_about_tom_or_mary_is_kept_and_all_others(prepared: dict[str, list[str]]) -> None:
    named = [sentence for sentence in TATOEBA if re.match("Tom|Mary", sentence)]
    others = [sentence for sentence in TATOEBA if sentence.startswith("Ann")]
    assert [s for s in prepared["tatoeba"] if s in named] == named[9::10]
    assert [s for s in prepared["tatoeba"] if s not in named] == others


def test_stories_stay_whole(prepared: dict[str, list[str]]) -> None:
    assert prepared["storybooks"] == [f"Once upon {WORDS[index]}.\nThe end." for index in range(3)]
    assert prepared["tinystories"] == ["A story.\n\nIts end.", "Another."]


def test_every_second_passage_of_the_books_is_kept(prepared: dict[str, list[str]]) -> None:
    assert [passage[:10] for passage in prepared["books"]] == ["Chapter a.", "Chapter c.", "Chapter e."]
