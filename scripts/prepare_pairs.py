"""Filters the Tatoeba pairs for `french-english` and writes them as `french<TAB>english`, ready for `tfmviz.training`.

    python -m scripts.prepare_pairs CORPORA/fra-eng/fra.txt runs/pairs/fra-eng.tsv

It puts French first and gives both languages one spelling (`tfmviz.text.spelling`), as the tokenizer does. It drops
rude lines and pairs that differ from an earlier one only in case or marks, and keeps one in ten pairs about Tom or
Mary. docs/models.md says where to find the pairs.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from scripts.prepare_english import NAMES, RUDE
from tfmviz.text.pairs import Pair, bare, read_pairs
from tfmviz.text.spelling import one_spelling
from tfmviz.training.files import replacing

RUDE_FRENCH = re.compile(
    r"\b(merd\w*|put(?:e|es|ain|ains)|salop\w*|salaud\w*|connard\w*|connass\w*|encul\w*|bordel\w*|"
    r"bites?|couill\w*|chi(?:er|ant|ée?)|viol(?:er|ée?|eur\w*)|suicid\w*|sexe\w*|sexuel\w*|p[ée]nis|nichon\w*|"
    r"prostitu\w*)\b",
    re.IGNORECASE,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path, help="english<TAB>french, one pair a line")
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    args.out.parent.mkdir(parents=True, exist_ok=True)
    spelled = one_spelling().normalize_str
    pairs = list(thin_names(clean((spelled(french), spelled(english)) for english, french in read_pairs(args.pairs))))
    with replacing(args.out) as (place,):
        place.write_text("".join(f"{french}\t{english}\n" for french, english in pairs), encoding="utf-8")
    print(f"{args.out}: {len(pairs):,} pairs, {args.out.stat().st_size:,} bytes")


def clean(pairs: Iterable[Pair]) -> Iterator[Pair]:
    seen: set[Pair] = set()
    for french, english in pairs:
        pair = bare(french), bare(english)
        if pair not in seen and not RUDE.search(english) and not RUDE_FRENCH.search(french):
            seen.add(pair)
            yield french, english


def thin_names(pairs: Iterable[Pair]) -> Iterator[Pair]:
    named = 0
    for french, english in pairs:
        if NAMES.search(english):
            named += 1
            if named % 10:
                continue
        yield french, english


if __name__ == "__main__":
    main()
