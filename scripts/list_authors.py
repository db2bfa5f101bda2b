"""Lists titles and authors of the texts under CC BY that shipped models learned from, as far as the corpora name them.

    python -m scripts.list_authors CORPORA

writes `assets/AUTHORS.txt`, to which `NOTICE` refers. The cards and read-me files in `assets/` that name a source tell
what was made from it. docs/models.md says where to find the corpora.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tfmviz.paths import PROJECT
from tfmviz.training.files import replacing

ASSETS = PROJECT / "assets"

FILE = ASSETS / "AUTHORS.txt"

STORIES = {
    "asp": ("African Storybook", "africanstorybook.org"),
    "pb": ("StoryWeaver", "storyweaver.org.in, by Pratham Books"),
}
"""Collections by the first letters of a file's name: their names on cards, and their addresses."""

HEAD = """Titles and authors of the texts under CC BY that models and statistics in assets/ were made from, as far as
the sources name them. Made by `python -m scripts.list_authors`. Of the stories only the words were used, and none of
them is here. Their licence is CC BY, of which the collections state no version, unless a line names another.
"""

PEOPLE = re.compile(r"#\d+ \(([^)]+)\)")
"""The attribution of both sentences in a line of Tatoeba's pairs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Story:
    title: str
    text: str
    translation: str
    licence: str

    def __str__(self) -> str:
        translation = f" Translation: {self.translation}." if self.translation else ""
        other = "" if self.licence == "CC-BY" else f" {self.licence}."
        return f"- {self.title}{'' if self.title[-1] in '.!?' else '.'} Text: {self.text}.{translation}{other}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path)
    args = parser.parse_args()
    with replacing(FILE) as (place,):
        place.write_text(listed(args.corpora), encoding="utf-8")
    print(f"{FILE}: {len(FILE.read_text(encoding='utf-8').splitlines()):,} lines")


def listed(corpora: Path) -> str:
    parts = [HEAD]
    for prefix, (name, where) in STORIES.items():
        found = list(stories(corpora / "english" / "storybooks", prefix))
        parts.append(f"{name} ({where}), CC BY, {len(found)} stories\nIn: {made_from(name)}.\n")
        parts.append("\n".join(map(str, found)) + "\n")
    people = sorted(contributors(corpora / "cmn-eng" / "cmn.txt"), key=str.casefold)
    parts.append(
        "Tatoeba Project (tatoeba.org, via www.manythings.org/anki), CC BY 2.0 FR\n"
        f"(creativecommons.org/licenses/by/2.0/fr/)\nIn: {made_from('Tatoeba')}.\n"
    )
    parts.append(
        f"The English and the French sentences came without names; tatoeba.org has them. The {len(people):,} members "
        f"who wrote the Chinese sentences or their translations: {', '.join(people)}.\n"
    )
    return "\n".join(parts)


def stories(folder: Path, prefix: str) -> Iterator[Story]:
    """Those of a collection, in the order of their files. The list of authors holds other languages too."""
    with (folder / "ATTRIBUTION.tsv").open(encoding="utf-8", newline="") as file:
        rows = sorted(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE), key=lambda row: row["file"])
    for row in rows:
        path = folder / row["file"]
        if row["lang"] == "en" and row["file"].startswith(f"{prefix}_"):
            title = path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ").strip()
            yield Story(title=title, text=row["text_by"], translation=row["translation"], licence=row["licence"])


def contributors(pairs: Path) -> set[str]:
    lines = pairs.read_text(encoding="utf-8").splitlines()
    return {name for line in lines for name in PEOPLE.findall(line.rpartition("\t")[2])}


def made_from(name: str) -> str:
    """The folders in assets/ whose cards, read-me files or licences name a source."""
    papers = [path for kind in ("CARD.md", "README.md", "LICENCE.md") for path in ASSETS.rglob(kind)]
    found = {path.parent for path in papers if name in " ".join(path.read_text(encoding="utf-8").split())}
    return ", ".join(sorted(str(folder.relative_to(PROJECT)) for folder in found))


if __name__ == "__main__":
    main()
