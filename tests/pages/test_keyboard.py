"""The model as a keyboard: its offers and the keys saved, against typing letter by letter with a pass of our own."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tests.app import open_page, views, words
from tests.model import numpy_model
from tests.pages.anew import sent
from tfmviz import zoo
from tfmviz.counting import shipped
from tfmviz.text.tokenizer import Tokenizer

MODEL = zoo.MODELS / "tiny-english"
TEXT = "The little girl opened the door and saw a big d"


def open_keyboard(**address: str) -> Any:
    return open_page("writing", **{"text": TEXT, "behind": "Keyboard", **address})


def known(tokenizer: Tokenizer) -> dict[str, int]:
    """The words of the dictionary and their tokens, counted with a pattern of our own."""
    text = shipped.read(shipped.NAMES[0])
    counts: dict[str, int] = {}
    for word in re.findall(r"[A-Za-zÀ-ÿ]+(?:['’][A-Za-zÀ-ÿ]+)*", text):
        counts[word] = counts.get(word, 0) + 1
    return {e[1:]: n for n, e in enumerate(tokenizer.vocabulary) if e[0] == " " and counts.get(e[1:], 0) >= 4}


def best(logits: np.ndarray, found: dict[str, int], begins: str) -> list[str]:
    return sorted((w for w in found if w.startswith(begins)), key=lambda word: -logits[found[word]])[:3]


def test_offers_and_keys_are_those_of_typing_by_hand() -> None:
    tokenizer = Tokenizer.load(MODEL / "tokenizer.json")
    found = known(tokenizer)
    keys, said = 0, TEXT.split(" ")
    for n, word in enumerate(said):
        keys += (n > 0) + len(word)  # the space, and the letters
        if n == 0:
            continue
        logits = numpy_model.forward(MODEL, tokenizer.encode(" ".join(said[:n]), max_len=256).ids)[2][-1]
        typed = next((k for k in range(len(word)) if word in best(logits, found, word[:k])), len(word))
        keys -= max(len(word) - typed - 1, 0)
    app = open_keyboard()
    model, _ = sent(app, "keyboard")["rows"]
    offered = sent(app, "offers")
    assert model["note"] == f"{keys} keys"
    assert offered["words"] == best(logits, found, "d")
    assert offered["before"] == TEXT[:-1]
    assert sorted(offered["ids"]) == sorted(found.values())
    whole = "".join(text for text, *_ in model["pieces"]).replace("␣", " ")
    assert whole == TEXT
    assert sum(len(text) - 1 for text, kind in model["pieces"] if kind == "tap") == len(TEXT) - keys
    assert f"{len(TEXT) - keys} keys** ({(len(TEXT) - keys) / len(TEXT):.0%}) with the model" in words(app)


def test_odd_texts_are_met_kindly() -> None:
    for text in ("a", "老王 批评 老李", "<img onerror=1> 😀 " * 20, "x" * 5000, "שלום עולם ", "the " * 400):
        assert "keyboard" in views(open_keyboard(text=text)), text
    for model in ("french-english", "induction"):
        assert "a language model with English words" in words(open_keyboard(model=model, text="Le chien est ici"))


def test_the_old_tab_still_opens() -> None:
    assert "Type a word above" in words(open_page("writing", text=TEXT, behind="Your guess"))
