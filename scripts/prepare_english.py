"""Filters the English corpora for `tiny-english` and writes them into one folder, ready for `tfmviz.training`.

    python -m scripts.prepare_english CORPORA/english runs/english

It drops rude lines, exact duplicates and lines that differ only in case, marks or digits. It keeps one in ten sentences
about Tom or Mary, who appear in a fifth of Tatoeba, and every second passage of the books, whose English is dated.
docs/models.md says where to find the corpora.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from tfmviz.text.corpora import read_documents
from tfmviz.text.tokenizer import END_OF_TEXT
from tfmviz.training.files import replacing

RUDE = re.compile(
    r"\b(fuck\w*|shit\w*|bitch\w*|cunt\w*|whore\w*|slut\w*|bastard\w*|ass|asshole\w*|dick|penis\w*|vagina\w*|"
    r"nigg\w*|rape[sd]?|raping|rapist\w*|porn\w*|masturbat\w*|prostitut\w*|sex|sexual\w*|suicide\w*|crap|piss\w*|tits?)\b",
    re.IGNORECASE,
)
NAMES = re.compile(r"\b(Tom|Mary)\b")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    write(args.out / "tatoeba.txt", thin_names(clean(read_documents(args.corpora / "tatoeba.txt"))), "\n")
    write(args.out / "common_voice.txt", clean(read_documents(args.corpora / "common_voice.txt")), "\n")
    for name in ("storybooks", "tinystories.txt"):
        write(args.out / f"{Path(name).stem}.txt", clean(read_documents(args.corpora / name)), f"\n{END_OF_TEXT}\n")
    books = (p for i, p in enumerate(clean(read_documents(args.corpora / "books"))) if i % 2 == 0)
    write(args.out / "books.txt", books, f"\n{END_OF_TEXT}\n")


def clean(documents: Iterable[str]) -> Iterator[str]:
    seen: set[str] = set()
    for document in documents:
        letters = re.sub(r"[^a-z]+", " ", document.lower()).strip()
        if letters and letters not in seen and not RUDE.search(document):
            seen.add(letters)
            yield document


def thin_names(sentences: Iterable[str]) -> Iterator[str]:
    named = 0
    for sentence in sentences:
        if NAMES.search(sentence):
            named += 1
            if named % 10:
                continue
        yield sentence


def write(path: Path, documents: Iterable[str], separator: str) -> None:
    documents = list(documents)
    with replacing(path) as (place,):
        place.write_text(separator.join(documents) + "\n", encoding="utf-8")
    print(f"{path}: {len(documents):,} documents, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
