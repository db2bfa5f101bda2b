"""Byte-pair encoding step by step, against the `tokenizers` library: words, merges with their ties, learning."""

import json
import random
from collections import Counter
from itertools import pairwise
from unittest.mock import patch

import tokenizers

from tests.cases import each
from tests.text.texts import SENTENCES, TEXTS, any_text
from tfmviz.text import bpe
from tfmviz.text.tokenizer import Tokenizer

ODD = "ab'sd ?!1 9é中²\n\t\u00a0\x1c<>&_\u3000\x7f\x85\x00"
"""Letters, digits, signs and white space of ASCII and beyond, of which GPT-2's pattern joins some and not others."""


def odd_text(seed: int, alphabet: str = ODD, length: int = 40) -> str:
    return "".join(random.Random(seed).choices(alphabet, k=length))


def learned(text: str, n_merges: int) -> Tokenizer:
    return Tokenizer.train([text], vocab_size=257 + n_merges)


def listed(tokenizer: Tokenizer) -> list[tuple[str, str]]:
    return [(a, b) for a, b in json.loads(tokenizer._backend.to_str())["model"]["merges"]]


def with_first(tokenizer: Tokenizer, n: int) -> tokenizers.Tokenizer:
    """The library's own tokenizer with the first merges alone."""
    file = json.loads(tokenizer._backend.to_str())
    file["model"]["merges"] = file["model"]["merges"][:n]
    return tokenizers.Tokenizer.from_str(json.dumps(file))


def spelled(tokenizer: tokenizers.Tokenizer, text: str) -> list[str]:
    return tokenizer.encode(text).tokens


@each("text", [*TEXTS.values(), *map(odd_text, range(300))])
def test_words_are_counted_as_the_library_cuts_them(text: str) -> None:
    assert bpe.count_words(text) == Counter(word for word, _ in bpe.words_of(text))


@any_text
def test_a_text_is_cut_as_the_library_cuts_it(tokenizer: Tokenizer, text: str) -> None:
    ours = [symbol for word, _ in bpe.words_of(text) for symbol in bpe.cut(word, tokenizer.ranks)]
    assert ours == [tokenizer._backend.id_to_token(index) for index in tokenizer.ids(text)]


def test_the_left_of_two_equal_pairs_is_merged_and_no_place_joined_twice() -> None:
    ranks = {("a", "a"): 0, ("aa", "a"): 1}
    steps = [(step.place, step.symbols) for step in bpe.merges("aaaa", ranks)]
    assert steps == [(0, ("a", "a", "a", "a")), (1, ("aa", "a", "a"))]
    backend = tokenizers.Tokenizer(tokenizers.models.BPE(vocab={"a": 0, "aa": 1, "aaa": 2}, merges=list(ranks)))
    for text, cut in {"aaaa": ["aa", "aa"], "aaaaa": ["aa", "aaa"]}.items():
        assert spelled(backend, text) == list(bpe.cut(text, ranks)) == cut
    with patch.object(bpe._Learner, "_join", autospec=True, side_effect=bpe._Learner._join) as join:
        assert len(list(bpe.learn({"ab" * 4_096: 1}, n_merges=300))) == 13
    assert join.call_count == 8_191


def test_every_step_takes_the_lowest_rank_and_the_last_leaves_none(tokenizer: Tokenizer) -> None:
    for word, _ in bpe.words_of(SENTENCES[0]):
        steps = list(bpe.merges(word, tokenizer.ranks))
        for step in steps:
            assert step.ranks[step.place] == min(rank for rank in step.ranks if rank is not None)
        symbols = bpe.cut(word, tokenizer.ranks)
        assert "".join(symbols) == word
        assert len(symbols) == len(word) - len(steps)


@each("n", [0, 1, 13, 97, 132])
def test_the_first_merges_are_a_smaller_vocabulary(tokenizer: Tokenizer, n: int) -> None:
    text = SENTENCES[0] + SENTENCES[2]
    (count,) = bpe.tokens_by_merges(bpe.count_words(text), tokenizer.ranks, [n])
    assert count == len(spelled(with_first(tokenizer, n), text))


def test_learning_finds_the_library_s_merges_in_its_order_ties_included() -> None:
    alphabets = ["abcdefghij éü中😀\n'"[:n] + " " for n in (2, 3, 5, 11, 17)]
    texts = {odd_text(seed, alphabets[seed % 5], length=(5, 61, 401)[seed % 3]): 31 for seed in range(60)}
    for text, n in (texts | {" ".join(SENTENCES): 60}).items():
        assert [step.pair for step in bpe.learn(bpe.count_words(text), n_merges=n)] == listed(learned(text, n)), text


def test_the_table_counts_all_pairs_and_the_winner_stands_first() -> None:
    words = bpe.count_words("low low low lower lowest newer newer wider")
    first, second = list(bpe.learn(words, n_merges=2, shown=100))
    counted: Counter[tuple[str, str]] = Counter()
    for word, often in words.items():
        for pair in pairwise(word):
            counted[pair] += often
    assert dict(first.table) == counted
    assert [often for _, often in first.table] == sorted(counted.values(), reverse=True)
    assert first.pair == ("l", "o")  # as often as "ow", and l is older than o
    assert (("lo", "w"), 5) in second.table


ENDLESS = ("a" * 5_000, "😀" * 2_000, odd_text(1, "ab", 5_000), "".join(map(chr, range(0x4E00, 0x4E00 + 3_000))))


@each("text", ENDLESS)
def test_a_word_without_end_is_learned_and_cut_as_the_library_does(text: str) -> None:
    words, library = bpe.count_words(text), learned(text, 80)
    ours = [step.pair for step in bpe.learn(words, n_merges=80)]
    assert ours == listed(library)
    ranks = {pair: rank for rank, pair in enumerate(ours)}
    cut = [symbol for word, _ in bpe.words_of(text) for symbol in bpe.cut(word, ranks)]
    assert cut == spelled(library._backend, text)
    assert bpe.tokens_by_merges(words, ranks, [len(ours)]) == [len(cut)]


def test_the_tokens_of_a_word_are_those_of_its_last_step() -> None:
    source = random.Random(0)
    for seed in range(200):
        word = odd_text(seed, "ab", 30)
        symbols = ["a", "b"]
        ranks: dict[bpe.Pair, int] = {}
        for rank in range(12):
            ranks.setdefault((source.choice(symbols), source.choice(symbols)), rank)
            symbols = sorted({*symbols, *map("".join, ranks)})
        steps = list(bpe.merges(word, ranks))
        assert bpe.cut(word, ranks) == bpe.after(word, steps)
        n_first = [bpe.tokens_by_merges({word: 1}, ranks, [n])[0] for n in (0, 12)]
        assert n_first == [len(word), len(word) - len(steps)]
