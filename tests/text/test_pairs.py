"""Sentence pairs: reading them, and keeping some out of training."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.cases import each
from tfmviz.text.corpora import CorpusError, is_held_out
from tfmviz.text.pairs import bare, groups, joined, read_pairs, split_pairs


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


def random_pairs(n: int) -> list[tuple[str, str]]:
    rng = np.random.default_rng(4)
    return [(f"Phrase {a}.", f"Sentence {b}!") for a, b in rng.integers(2 * n, size=(n, 2)) // 2]


def test_no_sentence_is_on_both_sides_of_the_split() -> None:
    pairs = random_pairs(4001)
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
