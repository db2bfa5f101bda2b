"""Sources as people type them, and phrases out of pairs."""

from collections import Counter

import numpy as np

from tfmviz.text.pairs import bare
from tfmviz.text.variants import FRAMES, TIMES, VARIANTS, phrases, typed, with_variants, without_accents, without_mark

SOURCE = "Où est l'œuf de Zoé ?"
PAIRS = [("C'est une voiture rouge.", "It's a red car."), ("J'ai un chien !", "I have a dog.")]
PAIRS += [("Voici ma clé.", "Here is my key."), ("C'est lui, le roi.", "It's him, the king.")]
PAIRS += [("Je suis étudiant.", "I'm a student."), ("J'ai faim.", "I'm hungry."), ("C'est ici.", "This place is here.")]


def test_each_variant_is_what_its_name_says() -> None:
    assert {name: change(SOURCE) for name, change in VARIANTS.items()} == {
        "no final mark": "Où est l'œuf de Zoé",
        "first letter small": "où est l'œuf de Zoé ?",
        "all small": "où est l'œuf de zoé ?",
        "no accents": "Ou est l'oeuf de Zoe ?",
        "capitals": "OÙ EST L'ŒUF DE ZOÉ ?",
        "no space before marks": "Où est l'œuf de Zoé?",
        "space before marks": SOURCE,
    }
    assert VARIANTS["space before marks"]("Oui, je viens...") == "Oui , je viens ..."
    assert [without_mark(text) for text in ("...", "", "Ah…", "Va !", "3.5")] == ["...", "", "Ah", "Va", "3.5"]
    assert without_accents("ÇŒæ中😀") == "COeae中😀"


def test_a_typed_source_says_the_same_and_every_kind_is_drawn() -> None:
    rng = np.random.default_rng(0)
    drawn = [typed(SOURCE, rng) for _ in range(400)]
    close = [typed("Oui, je viens.", rng) for _ in range(400)]
    marked = [text for text in drawn if text.endswith("?")]
    assert {bare(without_accents(text)) for text in drawn} == {bare(without_accents(SOURCE))}
    assert {"Où est l'œuf de Zoé ?", "ou est l'oeuf de zoe"} <= set(drawn)
    assert 0.42 < len(marked) / 400 < 0.58
    assert 0.18 < np.mean([text == text.upper() for text in drawn]) < 0.32
    assert 0.22 < np.mean([text.casefold() == without_accents(text).casefold() for text in drawn]) < 0.38
    assert 0.2 < np.mean([not text.endswith(" ?") for text in marked]) < 0.4
    assert 0.05 < np.mean([" ," in text for text in close]) < 0.15


def test_phrases_are_what_follows_the_same_beginning_on_both_sides() -> None:
    found = {"une voiture rouge": "a red car", "un chien": "a dog", "chien": "dog", "ma clé": "my key", "clé": "key"}
    assert phrases(PAIRS) == [*found.items(), ("étudiant", "a student")]
    assert all(FRAMES.values())
    for french, translations in FRAMES.items():
        assert [french, *translations] == [one.strip() for one in (french, *translations)]


def test_pairs_come_first_the_rest_depends_on_the_seed_and_short_ones_are_typed_often_on_demand() -> None:
    found = with_variants(PAIRS, seed=3)
    assert found[: len(PAIRS)] == PAIRS
    assert [target for _, target in found[len(PAIRS) : 2 * len(PAIRS)]] == [target for _, target in PAIRS]
    assert len(found) == 2 * len(PAIRS) + 2 * len(phrases(PAIRS))
    assert found == with_variants(PAIRS, seed=3) != with_variants(PAIRS, seed=4)
    times = Counter(target for _, target in with_variants(PAIRS, seed=0, often=True))
    expected = {target: 1 + TIMES.get(len(bare(source).split()), 1) for source, target in (*PAIRS, *phrases(PAIRS))}
    assert times == expected


def test_no_phrase_is_a_sentence_that_is_held_out() -> None:
    found = with_variants(PAIRS, seed=0, unseen=[("Un chien !", "A hound!"), ("Mes clés", "My key.")])
    cut = {bare(source) for source, _ in found[2 * len(PAIRS) :]}
    assert "une voiture rouge" in cut
    assert not cut & {"un chien", "ma clé"}
