"""Makes the text that the page "Counting words" counts in, from the English corpora, and writes it into
`assets/texts/counting/`.

    python -m scripts.prepare_counting --corpora CORPORA/english

It takes every second sentence of Common Voice, every seventh of Tatoeba and every sixteenth passage of the books, after
the filters of `scripts.prepare_english`. One sentence is one line. A hash of the sentence decides what is held out.
Sizes and digests go into `facts.json`; sources and licences stand in `LICENCE.md`, which is written by hand.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from scripts.prepare_english import clean, thin_names
from tfmviz.counting.shipped import FOLDER, NAMES
from tfmviz.text.corpora import is_held_out, read_documents
from tfmviz.training.files import replacing

HELD_OUT = 40
"""Per mille of the sentences."""

SHORTEST, LONGEST = 2, 60
"""Words between spaces. A longer line is a list or a sentence whose end was not found."""

UNSUITED = re.compile(
    r"\b(pant(y|ies)|naked|nude|breasts?|sexy|lust\w*|condoms?|virgins?|negro(es)?|gyps(y|ies)|jews?|cocaine|hitler)\b",
    re.IGNORECASE,
)
"""Words that do not belong in a text written at random before a class, however innocent their sentence."""

SENTENCE_END = re.compile(r"(?<=[.!?])(?P<quote>[\"”’]?)\s+(?=[\"“‘]?[A-Z])|\n")
ABBREVIATED = re.compile(r"\b(Mr|Mrs|Ms|Dr|St|Mt|Prof|Capt|No|[A-Z])\.$")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=FOLDER)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    sentences = list(dict.fromkeys(selection(args.corpora)))
    parts = (
        [s for s in sentences if not is_held_out(s, per_mille=HELD_OUT)],
        [s for s in sentences if is_held_out(s, per_mille=HELD_OUT)],
    )
    facts = {name: write(args.out / name, part) for name, part in zip(NAMES, parts, strict=True)}
    with replacing(args.out / "facts.json") as (place,):
        place.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


def selection(corpora: Path) -> Iterator[str]:
    """The sentences of the text, source after source."""
    voice = clean(read_documents(corpora / "common_voice.txt"))
    tatoeba = thin_names(clean(read_documents(corpora / "tatoeba.txt")))
    books = clean(read_documents(corpora / "books"))
    lines = [*islice(voice, 0, None, 2), *islice(tatoeba, 0, None, 7)]
    lines += [sentence for passage in islice(books, 0, None, 16) for sentence in sentences_of(passage)]
    for line in lines:
        if SHORTEST <= len(line.split()) <= LONGEST and not UNSUITED.search(line):
            yield " ".join(line.split())


def sentences_of(passage: str) -> Iterator[str]:
    """The sentences of a passage, with the marks at their ends."""
    begin = 0
    for end in SENTENCE_END.finditer(passage):
        stop = end.end("quote") if end["quote"] else end.start()
        if not ABBREVIATED.search(passage[begin:stop]):
            yield passage[begin:stop].strip()
            begin = end.end()
    yield passage[begin:].strip()


def write(path: Path, sentences: Iterable[str]) -> dict[str, int | str]:
    """Writes sentences as compressed lines.

    Returns:
        The file's entry in `facts.json`; the digest is that of the text, not of the compressed bytes.
    """
    lines = list(sentences)
    text = ("\n".join(lines) + "\n").encode("utf-8")
    with replacing(path) as (place,):
        place.write_bytes(lzma.compress(text, preset=9))
    print(f"{path}: {len(lines):,} sentences, {len(text):,} bytes, {path.stat().st_size:,} compressed")
    return {"sentences": len(lines), "bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()}


if __name__ == "__main__":
    main()
