"""Texts that change their language: whose words they are, and which token belongs to which part."""

from itertools import groupby

import numpy as np

from tests.cases import each
from tfmviz.text.mixed import Texts, drawn, joined_parts, languages_of
from tfmviz.text.tokenizer import Tokenizer

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
