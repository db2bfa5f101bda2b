"""Sentence pairs: reading them, keeping some out of training, as people type them, and in two languages."""

from collections import Counter
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

from tests.cases import each
from tfmviz.text.corpora import CorpusError, is_held_out
from tfmviz.text.mixed import Texts, drawn, joined_parts, languages_of
from tfmviz.text.pairs import bare, groups, joined, read_pairs, split_pairs
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.text.variants import FRAMES, TIMES, VARIANTS, phrases, typed, with_variants, without_accents, without_mark


def test_pairs_are_the_first_two_columns_and_joined_texts_of_all_lengths(tmp_path: Path) -> None:
    (tmp_path / "b.tsv").write_text("Va !\tGo.\tCC-BY\n\nOui.\t Yes. \n", encoding="utf-8")
    (tmp_path / "a.tsv").write_text("\ufeffNon.\tNo.\r\n", encoding="utf-8")
    (tmp_path / "c.txt").write_text("not pairs", encoding="utf-8")
    assert list(read_pairs(tmp_path)) == [("Non.", "No."), ("Va !", "Go."), ("Oui.", "Yes.")]
    lengths = Counter(len(source.split()) // 5 for source, _ in joined(numbered_pairs(2000), most_words=20))
    assert min(lengths[part] for part in range(4)) > 50


@each("line", ["Only one", "One\t", "\tTwo"])
def test_a_line_without_two_texts_is_refused_by_its_number(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.tsv").write_text(f"Oui.\tYes.\n{line}\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=r"Line 2 of .*a\.tsv"):
        list(read_pairs(tmp_path / "a.tsv"))


def test_groups_are_connected_through_shared_sentences_and_large_ones_trained_on() -> None:
    pairs = [("a", "1"), ("b", "2"), ("a", "3"), ("c", "3"), ("d", "2"), ("1", "a"), ("C!", "9"), ("e", "5")]
    assert groups(pairs) == ["a", "b", "a", "a", "b", "1", "a", "e"]
    hub = next(f"Hub {i}" for i in range(10_000) if is_held_out(bare(f"Hub {i}")))
    pairs = [(hub, f"Sentence {i}") for i in range(500)] + [(f"Z {i}", f"T {i}") for i in range(1000)]
    assert hub not in {source for source, _ in split_pairs(pairs)[1]}


def test_no_sentence_is_on_both_sides_of_the_split() -> None:
    drawn = np.random.default_rng(4).integers(8002, size=(4001, 2)) // 2
    pairs = [(f"Phrase {a}.", f"Sentence {b}!") for a, b in drawn]
    pairs += [(source.upper(), target + "!") for source, target in pairs[::7]]
    train_side, held_out = split_pairs(pairs)
    assert Counter(train_side + held_out) == Counter(pairs)
    for side in (0, 1):
        assert not {bare(pair[side]) for pair in train_side} & {bare(pair[side]) for pair in held_out}
    assert set(split_pairs(pairs[::-1])[1]) == set(held_out)


def numbered_pairs(n: int) -> list[tuple[str, str]]:
    """Sources of one to nine words that say which pair they belong to."""
    return [(" ".join([f"f{i}"] * (1 + i % 9)), f"e{i}") for i in range(n)]


@each("least, most", [(1, 20), (20, 20), (3, 4)])
def test_joined_texts_hold_every_pair_once_and_are_no_longer_than_asked(least: int, most: int) -> None:
    pairs = numbered_pairs(200)
    texts, again, other = (joined(pairs, most_words=most, least_room=least, seed=seed) for seed in (3, 3, 4))
    whole = {target: source for source, target in pairs}
    targets = [target.split() for _, target in texts]
    assert sorted(target for text in targets for target in text) == sorted(whole)
    for (source, _), text in zip(texts, targets, strict=True):
        assert source == " ".join(whole[target] for target in text)
        assert len(text) == 1 or len(source.split()) <= most
    assert texts == again != other
    if least == most == 20:  # each is as full as the next pair allows
        assert min(len(source.split()) for source, _ in texts[:-1]) > 20 - 9


COLUMNS = (("Où est la gare ?", "Je n'ai rien vu.", "Très bien."), ("It is late.", "I saw nothing at all.", "Good."))


@each("texts", ["single", "mixed"])
def test_all_words_come_in_their_order_from_sentences_of_their_language(texts: Texts) -> None:
    n_languages = set()
    for seed in range(60):
        parts = drawn(COLUMNS, np.random.default_rng(seed), texts=texts, n_words=9)
        assert len(joined_parts(parts).split()) >= 9
        assert len(joined_parts(parts[:-1]).split()) < 9
        for language, words in parts:
            sentences = [f" {sentence} ".casefold() for sentence in COLUMNS[language]]
            assert any(f" {words} ".casefold() in sentence for sentence in sentences), words
        n_languages.add(len({language for language, _ in parts}))
    assert n_languages == ({1} if texts == "single" else {1, 2})


def test_every_token_has_the_language_of_the_part_in_which_it_ends() -> None:
    sentences = (sentence for column in COLUMNS for sentence in column)
    tokenizer = Tokenizer.train(sentences, vocab_size=260)  # so few merges that some spaces are tokens
    parts = [(0, "Où est"), (1, "It is late."), (1, "Good."), (0, "été ?")]
    pieces = [tokenizer.bytes_of(index) for index in tokenizer.encode_batch([joined_parts(parts)])[0]]
    languages = languages_of(parts, np.array(list(map(len, pieces)))).tolist()
    runs = groupby(zip(languages, pieces, strict=True), key=lambda pair: pair[0])
    found = [(language, b"".join(piece for _, piece in run).decode()) for language, run in runs]
    assert found == [(0, "Où est"), (1, " It is late. Good."), (0, " été ?")]


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
