"""Single words, names and Chinese sentences for training."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from scripts import prepare_chinese, prepare_words
from scripts.prepare_words import WORDS, asked, forms, in_frames, learned, made_up, names_in
from scripts.translating import FIRST, endless
from tfmviz.text.pairs import bare, read_pairs
from tfmviz.text.variants import without_accents

ANIMALS = [("le chat", "the cat"), ("le chien", "the dog"), ("un chat", "a cat"), ("un chien", "a dog")] * 4


def test_words_that_always_stand_together_are_learned() -> None:
    assert dict(learned(ANIMALS)) == {"le": "the", "un": "a", "chat": "cat", "chien": "dog"}
    assert learned(ANIMALS[:4]) == []  # too seldom
    assert ("france", "France") not in learned([("j'aime la France", "I love France")] * 4)


def test_a_form_says_the_same_with_the_same_mark_and_first_letter() -> None:
    rng = np.random.default_rng(0)
    drawn = set(forms(("été", "summer"), 400, rng))
    assert {"été", "Été.", "ete", "Été !", "été?"} <= {source for source, _ in drawn}
    for source, target in drawn:
        assert bare(without_accents(source)) == "ete"
        assert bare(target) == "summer"
        assert source[0].isupper() == target[0].isupper()
        assert re.sub(r"[\w\s]", "", source) == re.sub(r"[\w\s]", "", target)
    assert all(target.startswith("Monday") for _, target in forms(("lundi", "Monday"), 40, rng))
    assert all(source.startswith("Rose") for source, _ in forms(("Rose", "Rose"), 40, rng, small=False))
    assert {source[0] for source, _ in forms(("pierre", "stone"), 40, rng, large=False)} == {"p"}


def test_frames_name_the_same_on_both_sides_and_names_stand_with_a_capital() -> None:
    for source, target in read_pairs(WORDS / "frames.tsv"):
        assert set(re.findall(r"\{.\}", source)) == set(re.findall(r"\{.\}", target)) != set()
    for source, target in in_frames(["Zoé", "Xy"], 30, np.random.default_rng(1)):
        said = without_accents(source).casefold()
        assert any(name in said and name in without_accents(target).casefold() for name in ("zoe", "xy"))
    assert names_in(["I saw Ana and Will there.", "Will you come? You will see Ana."]) == ["Ana"]
    found = made_up(["Anna", "Arianna", "Marie", "Daria"], n=9, rng=np.random.default_rng(0))
    assert 0 < len(set(found)) == len(found) <= 9
    assert not {"Anna", "Arianna", "Marie", "Daria"} & set(found)


def test_names_that_are_measured_are_left_out_of_the_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs, english, out = tmp_path / "pairs.tsv", tmp_path / "english.txt", tmp_path / "words.tsv"
    rows = [*ANIMALS, *((f"mot {n}", f"word {n}") for n in range(400))]
    pairs.write_text("".join(f"{source}\t{target}\n" for source, target in rows), encoding="utf-8")
    english.write_text("I know Xanthippe and " + " and ".join(sorted(asked())), encoding="utf-8")
    monkeypatch.setattr(prepare_words, "MADE_UP", 5)
    monkeypatch.setattr(sys, "argv", ["prepare_words", str(pairs), str(english), str(out)])
    prepare_words.main()
    targets = {bare(target) for _, target in read_pairs(out)}
    assert {"xanthippe", "hello"} <= targets
    assert len(asked()) == 300
    own = {bare(target) for _, target in read_pairs(WORDS / "lexicon.tsv")}
    assert not targets & ({bare(name) for name in asked()} - own)


def test_the_first_of_the_lexicon_are_common_and_what_goes_round_is_found() -> None:
    first = [source for source, _ in list(read_pairs(WORDS / "lexicon.tsv"))[:FIRST]]
    assert {"oui", "bonjour", "dix-sept", "violet", "dimanche", "décembre"} <= set(first)
    fine = {"oui": "yes", "bon": "good good"}
    assert endless({"Tom": "TomTomTomTom", "Paris": "sisisis", "mot": "the the the"} | fine) == 3


def test_chinese_sentences_are_about_two_people_and_the_second_bears_it() -> None:
    name = f"[{''.join(prepare_chinese.BEFORE_NAMES)}][{''.join(prepare_chinese.SURNAMES)}]"
    for sentence in prepare_chinese.generated(200, seed=1):
        found = re.fullmatch(rf"({name})( ?)(\w+?)\2({name})(?:，({name})\2(\w+))?。?", sentence)
        assert found, sentence
        one, _, verb, other, again, then = found.groups()
        assert one != other
        assert verb in prepare_chinese.VERBS
        assert again in {None, other}
        assert then in {None, prepare_chinese.VERBS[verb]}


def test_a_collection_that_names_the_two_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = tmp_path / "cmn.txt"
    monkeypatch.setattr(sys, "argv", ["prepare_chinese", str(tmp_path), str(tmp_path / "out.txt")])
    pairs.with_suffix(".tsv").write_text("Hi.\t老王，你好。\n", encoding="utf-8")
    with pytest.raises(SystemExit):
        prepare_chinese.main()
