"""The model as a keyboard: its offers and the keys saved, as tfmviz.analysis.keyboard counts them."""

from __future__ import annotations

from typing import Any

from tests.app import open_page, sent, words
from tfmviz import zoo
from tfmviz.analysis.keyboard import WORD, Words, taken

MODEL = zoo.MODELS / "tiny-english"
TEXT = "The little girl opened the door and saw a big d"


def open_keyboard(**address: str) -> Any:
    return open_page("writing", **{"text": TEXT, "behind": "Keyboard", **address})


def test_offers_and_keys_are_those_of_typing() -> None:
    app, model = open_keyboard(), zoo.load("tiny-english")
    row, offered = sent(app, "keyboard")["rows"][0], sent(app, "offers")
    offers, saved = Words(tuple(model.vocabulary[n].strip() for n in offered["ids"])), 0
    for word in WORD.finditer(TEXT):
        scores = model.trace(TEXT[: word.start() - 1])["logits"][-1][offered["ids"]]
        saved += taken(word, scores, offers).saved
    best = sorted((n for n in range(len(scores)) if offers.names[n].startswith("d")), key=lambda n: -scores[n])[:3]
    assert (offered["words"], offered["before"]) == ([offers.names[n] for n in best], TEXT[:-1])
    assert "".join(text for text, *_ in row["pieces"]).replace("␣", " ") == TEXT
    assert row["note"] == f"{len(TEXT) - saved} keys"
    assert sum(len(text) - 1 for text, kind in row["pieces"] if kind == "tap") == saved
    assert f"{saved} keys** ({saved / len(TEXT):.0%}) with the model" in words(app)


def test_only_a_language_model_with_english_words_is_a_keyboard() -> None:
    for model in ("french-english", "induction"):
        assert "a language model with English words" in words(open_keyboard(model=model, text="Le chien est ici"))
