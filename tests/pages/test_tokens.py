"""The page about tokens: what it shows against the `tokenizers` library and numpy, its address, odd input."""

import json
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tokenizers
from streamlit.testing.v1 import AppTest

from tests.app import charts, matrices, open_page, sent, series, words
from tests.pages.claims import numbers_in, told
from tests.pages.plain import softmax
from tfmviz import zoo
from tfmviz.ui import models, tokens
from tfmviz.ui.tokens import vectors
from tfmviz.views.pieces import MOST_PIECES

PAGE = "tokens"


def backend(name: str = "tiny-english") -> tokenizers.Tokenizer:
    found = tokenizers.Tokenizer.from_file(str(zoo.MODELS / name / "tokenizer.json"))
    found.encode_special_tokens = True
    return found


def rows(app: AppTest, key: str) -> dict[str, Any]:
    return {row["name"]: (row["note"], row["pieces"]) for row in sent(app, key)["rows"]}


def test_four_ways_to_cut_with_their_counts_of_a_long_text_too() -> None:
    text = "Où est Zoë? 中"
    shown = rows(app := open_page(PAGE, text=text), "four_ways")
    n_tokens = len(backend().encode(text).ids)
    assert shown["characters"][0] == f"{len(text)} characters"
    assert [row["left_out"] for row in sent(app, "four_ways")["rows"]] == [0] * 4
    assert shown["bytes (UTF-8)"][0] == f"{len(text.encode())} bytes"
    assert shown["words and punctuation"][0] == "5 words"
    assert shown["tokens of tiny-english"][0] == f"{n_tokens} tokens"
    longer = len(text.encode()) / n_tokens
    assert told(app, "bytes cost (.*) times as many") == pytest.approx([longer**2], abs=0.051)
    assert "a frequent word is one of 6,144 entries" in words(app)
    assert " ".join([box[0] for box in shown["bytes (UTF-8)"][1] if box[1] == "part"]) == "C3 B9 C3 AB E4 B8 AD"
    data = sent(open_page(PAGE, text="ab " * 1_600), "four_ways")
    (characters, *_) = data["rows"]
    assert characters["note"] == "4,800 characters"
    assert len(characters["pieces"]) == MOST_PIECES
    assert characters["left_out"] == 4_800 - MOST_PIECES


def test_merges_end_with_the_library_s_tokens_and_name_their_priorities() -> None:
    """Of the text as the tokenizer spells it. Pieces of a word that was cut are not called tokens."""

    def merges(text: str, model: str = "tiny-english") -> AppTest:
        return open_page(PAGE, tokens="Merge by merge", text=text, model=model)

    shown = rows(merges("unbelievable strawberries"), "merges")
    listed = json.loads(backend().to_str())["model"]["merges"]
    library = [token.replace("Ġ", "␣") for token in backend().encode(" strawberries").tokens]
    assert [box[0] for box in shown.pop("tokens")[1]] == library
    for note, boxes in shown.values():
        left, right = (box[0].replace("␣", "Ġ") for box in boxes if box[1] == "next")
        assert note == f"next: {listed.index([left, right]):,}"
    spelled = rows(merges("LES MAISONS", "french-english"), "merges")["tokens"][1]
    assert "".join(box[0] for box in spelled) == "␣maisons"
    app = merges("我爱北京天安门" * 4)
    assert "tokens" not in rows(app, "merges")
    assert "Only the first 60 of the word's 84 bytes" in words(app)


def test_numbers_are_the_library_s_and_a_mark_is_read_as_asked() -> None:
    text = "a<|endoftext|>b"
    as_text = rows(open_page(PAGE, tokens="Numbers", text=text), "numbers")["your text"][1]
    assert [int(box[-1]) for box in as_text] == backend().encode(text).ids
    as_mark = rows(open_page(PAGE, tokens="Numbers", text=text, marks_are="a mark"), "numbers")["your text"][1]
    assert [box[0] for box in as_mark] == ["a", "<|endoftext|>", "b"]
    assert as_mark[1] == ["<|endoftext|>", "mark", "special", "0"]
    assert 0 not in [int(box[-1]) for box in as_text]
    app = open_page(PAGE, tokens="Numbers", text="a", model="fill-in", marks_are="a mark")  # it has two marks
    pieces = rows(app, "numbers")["a text with a special token"][1]
    assert [box[0] for box in pieces if box[1] == "mark"] == ["<|endoftext|>"]


def test_tokens_are_those_that_the_model_reads_gaps_among_them() -> None:
    text = "The cat ___ on"
    for name in ("fill-in", "tiny-english"):
        read = models.load(name).tokenizer.encode(text, max_len=99).ids
        app = open_page(PAGE, tokens="Numbers", text=text, model=name)
        assert [int(box[-1]) for box in rows(app, "numbers")["your text"][1]] == list(read)
        assert ("hree underscores" in words(app)) == (name == "fill-in")
        assert len(rows(open_page(PAGE, text=text, model=name), "four_ways")[f"tokens of {name}"][1]) == len(read)


def test_every_shipped_vocabulary_cuts_the_text() -> None:
    text = "The animal was too tired."
    app = open_page(PAGE, tokens="Every vocabulary", text=text)
    shown = rows(app, "vocabularies")
    assert len(shown) == len({(zoo.MODELS / name / "tokenizer.json").read_bytes() for name in zoo.available()})
    others = [int(found[1]) for name in shown if (found := re.search(r" and (\d+) more$", name))]
    assert len(shown) + sum(others) == len(zoo.available())
    for name, (note, boxes) in shown.items():
        own = backend(name.split(" and ")[0])
        assert note == f"{own.get_vocab_size():,} entries: {len(boxes)} tokens"
        assert len(boxes) == len(own.encode(text).ids)
    lines = series(charts(app)["fertility"])
    assert np.isclose(lines["your text"][-1], len(backend().encode(text).ids) / 5)
    assert np.isclose(lines["your text"][0], len(text.encode()) / 5)
    assert all((np.diff(line) <= 1e-12).all() for line in lines.values())


def test_the_table_of_pairs_and_the_merges_of_a_pasted_text() -> None:
    app = learned_from("aab aab aab ab", "2", text="aab")
    assert sent(app, "pair_counts")["rows"][0] == ["a + ab", "aab", "3"]
    note, boxes = rows(app, "learned_so_far")["merges so far"]
    assert (note, [box[0] for box in boxes]) == ("2, latest first", ["aab", "ab"])


def learned_from(pasted: str, merges: str, **address: str) -> AppTest:
    own = {"learn_from": "yours", "pasted": pasted, "merges_learned": merges}
    return open_page(PAGE, tokens="Learn one", **own, **address)


def test_the_table_says_why_its_first_pair_wins() -> None:
    for pasted, said in (
        ("ab ab cd", "The first row wins"),  # a + b twice, all others once
        ("ab cd", "The first 3 pairs are equally frequent"),  # a + b, c + d, and the space before c
    ):
        table = sent(learned_from(pasted, "1"), "pair_counts")
        often = [row[2] for row in table["rows"]]
        assert table["about"].startswith(said)
        assert (often.count(often[0]) == 1) == ("first row" in said)


def test_any_pasted_text_is_learned_from_until_every_word_is_one_token() -> None:
    for pasted in ("", " ", "a", "0123456789", "<b>bold</b>" * 20, "中" * 500):
        app = learned_from(pasted, "300")
        assert not app.error, pasted
        assert ("Your text is empty" in words(app)) == (not pasted.strip()), pasted
    for pasted, kept in (("ab ab", "ab ab"), ("ab " * 2_000, "")):
        app.text_area(key="pasted").set_value(pasted).run()
        assert app.query_params.get("pasted", "") == kept, "what is too long for the address"
    app = learned_from("ab" * 1_024, "300")
    assert "Learning ended after 11 merges: every word is one token." in words(app)
    assert app.text_area(key="pasted").max_chars == tokens.MOST_CHARACTERS
    app = open_page(PAGE, tokens="Learn one", learn_from="your sentence", text="ab ab ab")
    assert "every word is one token" in app.info[0].value


def test_the_look_up_is_a_row_of_the_matrix_and_neighbours_are_the_most_alike() -> None:
    app, (index,) = open_page(PAGE, tokens="A vector", text="The cat sat", token="1"), backend().encode(" cat").ids
    (picture,), table = matrices(app)["look_up"], zoo.load("tiny-english").weights.W_E.astype(float)
    assert np.allclose(picture[[2, -1]], table[index, : picture.shape[1]], atol=1e-6)
    assert f"is entry {index} of 6,144: a **one-hot vector** of 6,143 zeros and a 1" in words(app)
    app = open_page(PAGE, tokens="Neighbours", text="The cat sat", token="1")
    cosines = table @ table[index] / np.linalg.norm(table, axis=1) / np.linalg.norm(table[index])
    drawn = charts(app)["neighbours"]["tables"]["rows"]["value"]
    assert np.allclose(drawn, np.sort(cosines)[-13:-1][::-1], atol=1e-5)


def test_tied_a_model_writes_its_own_words_and_with_another_last_matrix_none() -> None:
    model = zoo.load("tiny-english")
    own = softmax(model.trace(text := "The cat sat on the mat")["logits"][-1])
    for tied in ("true", "false"):
        app = open_page(PAGE, tokens="Neighbours", near="Weight tying", text=text, token="5", tied=tied)
        word, share, _ = sent(app, "tied_words")[0]
        assert (word == model.vocabulary[int(own.argmax())].strip()) == (tied == "true")
        assert (abs(share - own.max()) < 1e-3) == (tied == "true")
        assert f"{model.weights.W_E.size:,}" in words(app)


def test_words_fill_the_map_and_more_of_the_vocabulary_as_one_zooms_in() -> None:
    """Single bytes lie so far away on the plane that all words would stand in a third of its width."""
    for name in ("tiny-english", "fill-in", "french-english"):
        app = open_page(PAGE, tokens="Map", model=name, text="la")
        variances = np.linalg.eigvalsh(np.cov(zoo.load(name).weights.W_E.T))[::-1]
        kept = told(app, r"This plane keeps (\S+) \+ (\S+) of the variance")
        assert kept == pytest.approx(variances[:2] / variances.sum(), abs=0.006), name
        tables = charts(app)["embedding_map"]["tables"]
        for axis in ("x", "y"):
            (low, high), at = tables["ends"][axis], tables["rows"][axis]
            assert np.ptp(at) > 0.8 * (high - low), name
            assert low < min(at) <= max(at) < high, name
    shown = {}
    for zoom in ("1 ×", "4 ×"):
        app = open_page(PAGE, tokens="Map", text="The cat sat", token="1", zoom=zoom)
        table = charts(app)["embedding_map"]["tables"]["rows"]
        shown[zoom] = {words.strip("“”") for words in table["hover"]}
        assert len([word for word in table["word"] if word]) >= 3
        assert table["role"].count("chosen") == 1
    assert {"The", "cat", "sat"} <= shown["1 ×"]
    assert shown["4 ×"] - shown["1 ×"]


def test_that_numbers_are_cut_unevenly_is_said_where_it_is_shown() -> None:
    for model in ("tiny-english", "french-english", "fill-in", "reverse"):
        app = open_page(PAGE, tokens="Hard words", model=model)
        digits = {sum(map(str.isdigit, piece[0])) for piece in rows(app, "hard_words")["a number"][1]} - {0}
        assert ("without regard to their value" in words(app)) == (len(digits) > 1), model
    app = open_page(PAGE, text="a", model="reverse")
    assert "are bytes and special tokens, 257 in all: no merges." in words(app)
    assert told(app, "bytes cost (.*) times as many") == [1]


def test_rows_of_a_second_matrix_are_compared_row_by_row() -> None:
    first, last = np.random.default_rng(0).normal(size=(2, 5, 3))
    cosines = [a @ b / np.sqrt((a @ a) * (b @ b)) for a, b in zip(first, last, strict=True)]
    untied: Any = SimpleNamespace(weights=SimpleNamespace(W_E=first, W_U=last))
    assert numbers_in(vectors._unlike(untied)) == pytest.approx([np.mean(cosines)], abs=0.006)
