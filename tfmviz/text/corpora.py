"""Readers of training text: documents from files and folders, in a reproducible order.

A document goes entirely into the training text or the held-out text.
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


MAX_FILE = 4 * 10**9
"""Largest file in bytes."""


class CorpusError(ValueError):
    """A text cannot be trained on; the message names the file and the reason."""


def read_documents(path: Path) -> Iterator[str]:
    """All documents of a file, or of every `.txt` and `.md` file in a folder, sorted by name.

    A document of a `.txt` file is the text between two `<|endoftext|>` separators; without any, but with blank lines, a
    passage of about `PASSAGE` characters, in which the lines of a paragraph are joined; otherwise a line. A `.md` file
    is one document, without its headings and list items.

    Raises:
        CorpusError: there is nothing at `path`, or it cannot be read as UTF-8.
    """
    for file in files_in(path, suffixes=SUFFIXES):
        yield from split_documents(read_text(file), markdown=file.suffix == ".md")


def files_in(path: Path, *, suffixes: Sequence[str]) -> list[Path]:
    """The file itself, or a folder's files with these suffixes, sorted by name. Raises: CorpusError."""
    if not path.exists():
        raise CorpusError(f"{path} does not exist.")
    if not path.is_dir() and not path.is_file():
        raise CorpusError(f"{path} is neither a file nor a folder.")
    files = sorted(p for p in path.rglob("*") if p.suffix in suffixes) if path.is_dir() else [path]
    if not files:
        raise CorpusError(f"There are no {' or '.join(suffixes)} files in {path}.")
    return files


def read_text(file: Path) -> str:
    """The text of a file.

    Raises:
        CorpusError: the file is too large, or it cannot be read as UTF-8.
    """
    try:
        if (size := file.stat().st_size) > MAX_FILE:
            raise CorpusError(f"{file} has {size:,} bytes; {MAX_FILE:,} are allowed.")
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"{file} cannot be read as UTF-8 text ({error}).") from error


def split_documents(text: str, *, markdown: bool = False) -> Iterator[str]:
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
    """True if a document is held out from training. Copies are on the same side."""
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
