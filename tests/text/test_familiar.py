"""Whether a translator has met what it is asked to translate."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.cases import each
from tfmviz import zoo
from tfmviz.text.familiar import FILE, MET, Familiar, SingleWords, words_of

SOURCES = [f"Le chat noir dort {'encore ' * n}." for n in range(100)]


@pytest.fixture(scope="module")
def familiar() -> Familiar:
    return Familiar.learn([*SOURCES, *["Une fois."] * (MET - 1)])


def test_words_are_compared_without_case_and_the_shipped_translator_knows_french() -> None:
    found = words_of("L'Été, c'est 2026 : ÇA va_bien œuf 😀中")
    assert found == ["l", "ete", "c", "est", "ca", "va", "bien", "oeuf", "中"]
    familiar = Familiar.load(zoo.MODELS / "french-english")
    assert familiar is not None
    known = dict.fromkeys(["je suis etudiant", "LA VOITURE ROUGE"], (False, False))
    foreign = dict.fromkeys(["The dog sleeps in the house.", "Der Hund schläft im Haus.", "世界"], (True, False))
    expected = known | foreign | {"Je pense que " * 7 + "tu as raison.": (False, True)}
    assert {text: (familiar.doubt(text).is_foreign, familiar.doubt(text).is_long) for text in expected} == expected


def test_unknown_words_are_named_and_a_source_is_long_beyond_99_in_100(familiar: Familiar) -> None:
    assert {"le", "chat", "encore"} <= familiar.words
    assert not {"une", "fois"} & familiar.words
    doubt = familiar.doubt("The CHAT, the dog dort noir.")
    assert doubt.unknown == ("the", "dog")
    assert doubt.is_foreign
    assert not familiar.doubt("Le chat dort bien.").is_foreign
    assert familiar.longest in sorted(len(words_of(source)) for source in SOURCES)[-3:]
    assert not familiar.doubt("chat " * familiar.longest).is_long
    assert familiar.doubt("chat " * (familiar.longest + 1)).is_long


@each("text", ["", "12 345", "😀", "...", "<b>"])
def test_what_holds_no_known_word_is_foreign(familiar: Familiar, text: str) -> None:
    assert familiar.doubt(text).is_foreign


def test_the_facts_come_back_from_their_file_or_are_missing(familiar: Familiar, tmp_path: Path) -> None:
    assert Familiar.load(tmp_path) is None
    for facts in (familiar, replace(familiar, single=SingleWords(n=7, as_they_are=5, typed=2))):
        (tmp_path / FILE).write_text(facts.to_json(), encoding="utf-8")
        assert Familiar.load(tmp_path) == facts
    wrong = ('{"longest": 1, "words": 2}', '{"longest": 1, "words": "a", "single": {"n": 1}}')
    for damaged in ("", "[]", "{}", *wrong, "\ud83d".encode("utf-8", "surrogatepass").decode("latin-1")):
        (tmp_path / FILE).write_text(damaged, encoding="utf-8")
        assert Familiar.load(tmp_path) is None
