"""The model as a keyboard: its offers and the keys saved, against typing letter by letter with a pass of our own."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np

from tests.app import open_page, sent, views, words
from tests.model import numpy_model
from tests.pages.plain import ids_of
from tfmviz import zoo
from tfmviz.counting import shipped
from tfmviz.text.tokenizer import Tokenizer

MODEL = zoo.MODELS / "tiny-english"
TEXT = "The little girl opened the door and saw a big d"


def open_keyboard(**address: str) -> Any:
    return open_page("writing", **{"text": TEXT, "behind": "Keyboard", **address})


def known(tokenizer: Tokenizer) -> dict[str, int]:
    """The words of the dictionary and their tokens, counted with a pattern of our own."""
    counts = Counter(re.findall(r"[A-Za-zÀ-ÿ]+(?:['’][A-Za-zÀ-ÿ]+)*", shipped.read(shipped.NAMES[0])))
    return {e[1:]: n for n, e in enumerate(tokenizer.vocabulary) if e[0] == " " and counts[e[1:]] >= 4}


def best(logits: np.ndarray, found: dict[str, int], begins: str) -> list[str]:
    return sorted((w for w in found if w.startswith(begins)), key=lambda word: -logits[found[word]])[:3]


def test_offers_and_keys_are_those_of_typing_by_hand() -> None:
    found, said = known(Tokenizer.load(MODEL / "tokenizer.json")), TEXT.split(" ")
    keys = len(said[0])
    for n, word in enumerate(said[1:], start=1):
        logits = numpy_model.forward(MODEL, ids_of(" ".join(said[:n])))[2][-1]
        typed = next((k for k in range(len(word)) if word in best(logits, found, word[:k])), len(word))
        keys += 1 + len(word) - max(len(word) - typed - 1, 0)  # the space, and the letters
    app = open_keyboard()
    model, offered = sent(app, "keyboard")["rows"][0], sent(app, "offers")
    assert model["note"] == f"{keys} keys"
    assert (offered["words"], offered["before"]) == (best(logits, found, "d"), TEXT[:-1])
    assert sorted(offered["ids"]) == sorted(found.values())
    assert "".join(text for text, *_ in model["pieces"]).replace("␣", " ") == TEXT
    saved = len(TEXT) - keys
    assert sum(len(text) - 1 for text, kind in model["pieces"] if kind == "tap") == saved
    assert f"{saved} keys** ({saved / len(TEXT):.0%}) with the model" in words(app)


def test_odd_texts_are_met_kindly() -> None:
    for text in ("a", "老王 批评 老李", "<img onerror=1> 😀 " * 20, "x" * 5000, "שלום עולם ", "the " * 400):
        assert "keyboard" in views(open_keyboard(text=text)), text
    for model in ("french-english", "induction"):
        assert "a language model with English words" in words(open_keyboard(model=model, text="Le chien est ici"))
