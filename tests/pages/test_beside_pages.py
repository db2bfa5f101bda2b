"""A and B side by side on the pages with figures of their own for it, against numbers computed here."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tokenizers
from streamlit.testing.v1 import AppTest

from tests.app import open_page, views, words
from tfmviz import zoo

RIVER, MONEY = "We sat on the bank of the river.", "We put the money in the bank of the town."


def compare(page: str, what: str = "another sentence", **address: str) -> AppTest:
    return open_page(page, **({"text": RIVER, "with": what} | address))


def rows(app: AppTest) -> list[tuple[str, str, list[list[str]]]]:
    """Title, note and boxes of A and of B; a box is its text, its kind and the lines below it."""
    return [(row["name"], row["note"], row["pieces"]) for row in json.loads(views(app)["side_rows"].json)["rows"]]


def only(pieces: list[list[str]]) -> list[str]:
    """The boxes that are marked."""
    return [text for text, kind, *_ in pieces if kind == "only"]


def backend(name: str) -> tokenizers.Tokenizer:
    return tokenizers.Tokenizer.from_file(str(zoo.MODELS / name / "tokenizer.json"))


def test_two_sentences_are_cut_in_two_rows_and_what_only_one_has_is_marked() -> None:
    app = compare("tokens", b=MONEY)
    a, b = rows(app)
    for (_, note, pieces), text in ((a, RIVER), (b, MONEY)):
        n = len(backend("tiny-english").encode(text).ids)
        assert len(pieces) == n
        assert note == f"{n} tokens"
        assert f"{n} tokens of {len(text) / n:.1f} characters" in words(app)
    assert only(a[2]) == ["␣sat", "␣on", "␣river"]
    assert sorted(only(b[2])) == ["␣in", "␣money", "␣put", "␣the", "␣town"]
    assert f"Only {len(a[2]) - 3} of them are the same in both." in words(app)


def test_two_models_cut_one_sentence() -> None:
    text = "J'ai une voiture."
    app = compare("tokens", "another model", text=text, b_model="french-english")
    (_, _, a), (title, _, b) = rows(app)
    assert title == "B, french-english"
    spans = [{tuple(s) for s in backend(name).encode(text).offsets} for name in ("tiny-english", "french-english")]
    assert (len(a), len(b)) == (len(spans[0]), len(spans[1]))
    assert len(a) - len(only(a)) == len(b) - len(only(b)) == len(spans[0] & spans[1])
    assert "All are the same." in words(compare("tokens"))
    assert "None is the same in both." in words(compare("tokens", b="xyzzy"))


ODD = [
    {"with": "another sentence", "b": "\u200b"},
    {"with": "another sentence", "b": "word " * 990},
    {"with": "another sentence", "b": "<img src=x onerror=alert(1)>"},
    {"with": "another sentence", "b": "我爱北京 😀"},
    {"with": "another model", "b_model": "no such model"},
    {"with": "another model", "b_model": "fill-in"},
    {"with": "another head"},
    {"with": "nonsense"},
]


@pytest.mark.parametrize("page", ["tokens"])
@pytest.mark.parametrize("address", ODD)
def test_odd_addresses_raise_nothing(page: str, address: dict[str, str]) -> None:
    app = open_page(page, text=RIVER, **address)
    assert not app.error
