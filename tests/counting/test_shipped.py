"""The text that comes with the app is what its script, its facts and its licence say."""

import hashlib
import json

from scripts.prepare_counting import HELD_OUT, LONGEST, SHORTEST, UNSUITED
from scripts.prepare_english import RUDE
from tests.browser import ROOT
from tests.cases import each
from tfmviz.counting.shipped import FOLDER, NAMES, read
from tfmviz.text.corpora import is_held_out

FACTS = json.loads((FOLDER / "facts.json").read_text(encoding="utf-8"))


@each("name", NAMES)
def test_size_and_digest_are_those_of_the_facts(name: str) -> None:
    text = (read(name) + "\n").encode()
    digest = hashlib.sha256(text).hexdigest()
    assert FACTS[name] == {"sentences": text.count(b"\n"), "bytes": len(text), "sha256": digest}


@each("name", NAMES)
def test_a_hash_decides_what_is_held_out_and_the_filters_were_at_work(name: str) -> None:
    for line in read(name).split("\n"):
        assert is_held_out(line, per_mille=HELD_OUT) == (name == NAMES[1])
        assert SHORTEST <= len(line.split()) <= LONGEST
        assert " ".join(line.split()) == line
        assert not RUDE.search(line)
        assert not UNSUITED.search(line)


def test_no_sentence_is_there_twice_and_the_folder_holds_text_facts_and_licence() -> None:
    lines = [line for name in NAMES for line in read(name).split("\n")]
    assert len(lines) == len(set(lines))
    assert {path.name for path in FOLDER.iterdir()} == {*NAMES, "facts.json", "LICENCE.md"}
    licence, notice = (FOLDER / "LICENCE.md").read_text(encoding="utf-8"), (ROOT / "NOTICE").read_text(encoding="utf-8")
    for source in ("Common Voice", "CC0", "Tatoeba Project", "tatoeba.org", "CC BY 2.0 FR", "public domain"):
        assert source in licence
        assert source in notice
    assert "assets/texts/counting/" in notice
