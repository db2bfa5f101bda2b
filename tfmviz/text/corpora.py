"""Readers of training text: files and folders in, documents out, the same way every time.

A document is what should not be torn apart between training and held-out text: a story, a passage of a book, a line
of a list of sentences.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tfmviz.text.tokenizer import END_OF_TEXT

SUFFIXES = (".txt", ".md")
PASSAGE = 8_000
"""Characters after which a long text is cut at the next paragraph."""


class CorpusError(ValueError):
    """The named text cannot be trained on; the message says which file and why."""


def read_documents(path: Path) -> Iterator[str]:
    """All documents of a file, or of every `.txt` and `.md` file in a folder, in the order of their names.

    The layout of a `.txt` file decides what a document is: the pieces between `<|endoftext|>` marks if there are
    any; else, if there are blank lines, passages of about `PASSAGE` characters, with lines broken inside a
    paragraph joined; else every line. A `.md` file is one document, without its headings and list items.

    Raises:
        CorpusError: nothing there, not readable, or not UTF-8.
    """
    for file in files_in(path, suffixes=SUFFIXES):
        yield from split_documents(read_text(file), markdown=file.suffix == ".md")


def files_in(path: Path, *, suffixes: Sequence[str]) -> list[Path]:
    """The file itself, or the files of a folder with one of these suffixes, in the order of their names.

    Raises:
        CorpusError: there is none.
    """
    if not path.exists():
        raise CorpusError(f"{path} does not exist.")
    files = sorted(p for p in path.rglob("*") if p.suffix in suffixes) if path.is_dir() else [path]
    if not files:
        raise CorpusError(f"There are no {' or '.join(suffixes)} files in {path}.")
    return files


def read_text(file: Path) -> str:
    """Raises: CorpusError, when the file cannot be read as UTF-8."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"{file} cannot be read as UTF-8 text ({error}).") from error


def split_documents(text: str, *, markdown: bool = False) -> Iterator[str]:
    """The documents in the text of one file; see `read_documents`."""
    if markdown:
        lines = [line for line in text.splitlines() if not re.match(r"#|\s*[*-] ", line)]
        pieces = ["\n".join(_paragraphs("\n".join(lines)))]
    elif END_OF_TEXT in text:
        pieces = text.split(END_OF_TEXT)
    elif re.search(r"\n\s*\n", text.strip()):
        pieces = list(_passages(_paragraphs(text)))
    else:
        pieces = text.splitlines()
    return (stripped for piece in pieces if (stripped := piece.strip()))


def is_held_out(document: str, *, per_mille: int = 10) -> bool:
    """Whether a document is kept out of training: decided by its text alone, so copies stay on one side."""
    digest = hashlib.blake2b(document.encode("utf-8"), digest_size=8).digest()
    return int.from_bytes(digest) % 1000 < per_mille


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", text):
        if joined := " ".join(paragraph.split()):
            yield joined


def _passages(paragraphs: Iterable[str]) -> Iterator[str]:
    passage: list[str] = []
    size = 0
    for paragraph in paragraphs:
        passage.append(paragraph)
        size += len(paragraph)
        if size >= PASSAGE:
            yield "\n".join(passage)
            passage, size = [], 0
    yield "\n".join(passage)
