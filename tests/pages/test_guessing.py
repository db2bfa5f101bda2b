"""A class guesses the next word: what a guess costs, against independent passes, and the score."""

from __future__ import annotations

import numpy as np
import pytest

from tests.app import charts, series, words
from tests.model import numpy_model
from tests.pages.plain import MODEL, ids_of, losses, softmax
from tests.pages.test_writing import TEXT, open_writing
from tfmviz import load, zoo


def test_a_guess_costs_what_one_pass_over_the_text_with_it_says() -> None:
    """The pass is the numpy model's, over the text and the word together; tokens are added up."""
    n = len(ids_of(TEXT))
    for word, several in (("books", False), ("encyclopaedias", True)):
        app, ids = open_writing(behind="Your guess", guessed=word), ids_of(f"{TEXT} {word}")
        assert (len(ids) - n > 1) is several
        logits = numpy_model.forward(MODEL, ids)[2]
        loss = losses(logits, ids)[n - 1 :].sum() / np.log(2)
        drawn = series(charts(app)["guesses"], "value", by="series")
        assert drawn["your word"] == pytest.approx([loss], rel=2e-3)
        assert drawn["the model's first choice"] == pytest.approx([-np.log2(softmax(logits[n - 1]).max())], rel=2e-3)
        assert f"costs **{loss:.1f} bits**" in words(app)
        assert ("The losses of its" in words(app)) is several


def test_the_score_is_kept_over_the_places_and_the_first_guess_at_each_counts() -> None:
    app = open_writing(behind="Your guess")
    assert charts(app) == {}
    for word in ("books", "eyes"):
        app.text_input(key="guessed").set_value(word).run()
    (first,) = series(charts(app)["guesses"], "value", by="series")["your word"]
    assert "Only your first guess at this place counts" in words(app)
    app.text_area(key="text").set_value("Once upon a").run()
    assert app.text_input(key="guessed").value == ""
    app.text_input(key="guessed").set_value("time").run()
    own, best = series(charts(app)["guesses"], "value", by="series").values()
    assert own[0] == first
    assert own[1] == best[1]
    assert f"yours {own.mean():.1f} bits, the model's first choices {best.mean():.1f} bits**; 1 of yours" in words(app)
    app.button(key="new_score").click().run()
    assert charts(app) == {}


def test_odd_guesses_are_scored_or_refused_in_a_sentence() -> None:
    odd = {"   ": "Type a word above", "😀" * 9: "More than a word", "<b>$x$": "costs", "中": "costs"}
    for word, said in odd.items():
        assert said in words(open_writing(behind="Your guess", guessed=word)), word


def test_a_first_word_of_a_translation_is_guessed_without_a_space() -> None:
    app = open_writing(model="french-english", text="Je suis étudiant.", behind="Your guess", guessed="I'm")
    own, best = series(charts(app)["guesses"], "value", by="series").values()
    model = load("french-english")
    steps = zoo.writing.generate(model, "Je suis étudiant.", given=model.tokenizer.encode("I'm", max_len=9).ids).steps
    assert own[0] == pytest.approx(-sum(np.log2(step.probability) for step in steps[:2]), rel=1e-3)
    assert best[0] == pytest.approx(-np.log2(steps[0].stages[0].probabilities.max()), rel=1e-3)
