"""The page that translates: its numbers against independent passes, its address, odd input."""

from __future__ import annotations

import json
import re
from collections import Counter
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from streamlit.testing.v1 import AppTest

from tests.app import matrices, open_page, views, words
from tests.pages import plain
from tests.pages.tabs import addresses
from tests.pages.translating import TEXT, log_p, open_translating, view
from tfmviz import load, zoo
from tfmviz.text.familiar import ENOUGH, Familiar
from tfmviz.ui.translating import references
from tfmviz.words import markdown
from tfmviz.words.labels import END, START, visible
from tfmviz.zoo import ZooModel

REFERENCE = "She never eats any meat."


@pytest.fixture(scope="module")
def model() -> ZooModel:
    return load("french-english")


# Which model.


def test_the_page_opens_with_a_model_that_translates_and_says_which_it_has_replaced() -> None:
    for app in (open_page("translating"), other := open_translating(model="tiny-english")):
        assert app.selectbox(key="model").value == "french-english"
        assert "translating" in views(app)
    assert "tiny-english" in words(other)


# Word by word.


def test_every_step_is_that_of_an_independent_pass(model: ZooModel) -> None:
    ids = list(zoo.writing.generate(model, TEXT).ids)
    names = [visible(model.vocabulary[index]) for index in ids]
    expected = log_p(model, TEXT, ids)
    patterns = [model.trace(TEXT)[f"decoder.{n}.cross_attn.pattern"] for n in range(3)]  # (head, q_len, k_len)
    looks = {
        "one head": patterns[2][5],
        "mean of the layer": patterns[2].mean(0),
        "mean of all layers": np.mean(patterns, (0, 1)),
    }
    for heads, weights in looks.items():
        data = view(open_translating(heads=heads, layer="2", head="5"))
        assert [step["writes"] for step in data["steps"]] == [*names, END]
        assert [step["reads"] for step in data["steps"]] == [START, *names]
        for n, (step, token) in enumerate(zip(data["steps"], [*ids, 0], strict=True)):
            assert expected[n].argmax() == token
            assert step["p"] == pytest.approx(np.exp(expected[n, token]), rel=1e-3)
        np.testing.assert_allclose([step["weights"] for step in data["steps"]], weights, atol=1e-3)


def test_the_recurrent_translators_are_a_click_away_with_the_same_sentence() -> None:
    said = words(open_translating(text="Où (est) l'eau ? [x]"))
    (address,) = re.findall(r"\]\(\./(bottleneck\?[^)\s]*)\)", said)
    asked = parse_qs(urlsplit(address).query)
    assert asked == {"seen": ["Alignments"], "text": ["Où (est) l'eau ? [x]"]}
    assert "bottleneck" not in words(open_page("translating", model="reverse", text="stressed"))
    assert "Alignments" in [tab["seen"] for tab in addresses("bottleneck")]


def test_the_address_says_how_far_it_is_written() -> None:
    app = open_translating(shown="3", at="1")
    chosen = json.loads(views(app)["translating_selection"].json)
    assert (chosen["shown"], chosen["step"]) == (3, 1)
    odd = json.loads(views(open_translating(shown="-1", at="x"))["translating_selection"].json)
    assert (odd["shown"], odd["step"]) == (None, None)


# Force it.


def test_a_forced_beginning_is_followed_by_what_the_model_writes_after_it(model: ZooModel) -> None:
    app = forced("Meat is")
    given = list(model.tokenizer.encode("Meat is", max_len=60).ids)
    made = zoo.writing.generate(model, TEXT, given=given)
    assert list(made.ids[: len(given)]) == given
    scores = log_p(model, TEXT, list(made.ids))
    expected = np.exp([scores[n, token] for n, token in enumerate([*made.ids, 0])])
    np.testing.assert_allclose(matrices(app)["forced"][0, 0], expected, atol=2e-3)
    assert made.text.strip().rstrip(".") in words(app)


def forced(begins: str) -> AppTest:
    return open_translating(translation="Force the beginning", begins=begins)


def test_a_beginning_after_which_the_text_ends_at_once_says_so_and_a_long_one_is_cut(model: ZooModel) -> None:
    assert "ends the text at once" in words(forced(zoo.writing.generate(model, TEXT).text))
    assert "ends the text at once" not in words(forced(""))
    assert matrices(forced("meat " * 59))["forced"].shape[-1] <= 64


def test_losses_are_those_after_the_right_words_and_after_its_own(model: ZooModel) -> None:
    shown = matrices(open_translating(translation="Teacher forcing", references=REFERENCE))["losses"][0]
    ids = list(model.tokenizer.encode(REFERENCE, max_len=60).ids)
    own = [*zoo.writing.generate(model, TEXT).ids, *[0] * len(ids)][: len(ids)]
    for row, read in zip(shown, (ids, own), strict=True):
        expected = log_p(model, TEXT, read[:-1])
        np.testing.assert_allclose(row, [-expected[n, token] for n, token in enumerate(ids)], rtol=2e-2, atol=2e-3)
    same = next(n for n, (a, b) in enumerate(zip(ids, own, strict=True)) if a != b)
    np.testing.assert_allclose(shown[0, : same + 1], shown[1, : same + 1])


# All translators.


def test_every_translator_with_attention_is_drawn_as_it_translates_alone(model: ZooModel) -> None:
    app = open_translating(translation="All translators", heads="mean of all layers")
    drawn = matrices(app)
    assert set(drawn) == {"aligned_transformer", "aligned_dot", "aligned_bilinear", "aligned_additive"}
    crossing = [model.trace(TEXT)[f"decoder.{n}.cross_attn.pattern"] for n in range(3)]  # (head, q_len, k_len)
    np.testing.assert_allclose(drawn["aligned_transformer"][0], np.mean(crossing, (0, 1)), atol=1e-6)
    for kind in ("dot", "bilinear", "additive"):
        alone = zoo.load(f"seq2seq-{kind}", kind=zoo.RecurrentTranslator).trace(TEXT)
        np.testing.assert_allclose(drawn[f"aligned_{kind}"][0], alone["decoder.alpha"], atol=1e-5)
    files = (plain.weights(name) for name in ("seq2seq-additive", model.name))
    largest, whole = (sum(array.size for array in arrays.values()) for arrays in files)
    assert f"at most {largest / whole:.1%} of the transformer's parameters" in words(app)


def test_translators_of_other_languages_are_not_compared() -> None:
    app = open_page("translating", model="reverse", text="stressed", translation="All translators")
    assert "which read French too" in words(app)
    assert matrices(app) == {}


# References.


def test_scores_are_those_of_sacrebleu(model: ZooModel) -> None:
    said = words(open_translating(translation="References", references=f"{REFERENCE}|Meat she eats never."))
    written, others = zoo.writing.generate(model, TEXT).text.strip(), [REFERENCE, "Meat she eats never."]
    assert f"sentence BLEU **{BLEU(effective_order=True).sentence_score(written, others).score:.1f}**" in said
    assert f"chrF **{CHRF().sentence_score(written, others).score:.1f}**" in said


def test_marked_n_grams_are_as_many_as_bleu_counts() -> None:
    """Of too many equal words the first are marked."""
    others = ["the cat is on the mat .", "there is a cat on the mat ."]
    for written in ("the the the the cat .", "the cat sat on the mat .", "a", "no word at all here"):
        found = references.matches(written.split(), [text.split() for text in others])
        score = BLEU(effective_order=True, tokenize="none").sentence_score(written, others)
        assert np.nansum(found, axis=1).tolist() == score.counts
        assert np.isfinite(found).sum(axis=1).tolist() == score.totals
    found = references.matches(["the", "the", "cat"], [["the", "cat"]])
    assert (found[0].tolist(), found[1, :2].tolist()) == ([1, 0, 1], [0, 1])


def test_without_a_reference_the_page_asks_for_one() -> None:
    assert "Type or paste a translation" in words(open_translating(translation="References", text="Il pleut fort ici."))


# Sources that the model has not learned to translate.


def test_a_source_it_has_not_learned_is_doubted_before_it_is_translated() -> None:
    for text, said in (
        ("The dog sleeps in the house.", "hardly French"),
        ("😀 12", "hardly French"),
        ("Je pense que " * 7 + "tu as raison.", "This source has"),
        ("je suis etudiant", ""),
        ("La VOITURE ROUGE", ""),
    ):
        app = open_translating(text=text)
        shown = "\n".join(str(one.value) for one in app.info)
        assert said in shown, text
        assert bool(said) == bool(shown), text
        assert "translating" in views(app)


def test_capitals_are_translated_as_small_letters_and_the_page_says_so(model: ZooModel) -> None:
    shouted = open_translating(text="LA VOITURE EST ROUGE.")
    assert [str(one.value) for one in shouted.info] == [
        f"A text without small letters is read with small ones: “{markdown.plain('La voiture est rouge.')}”"
    ]
    assert view(shouted)["steps"] == view(open_translating(text="La voiture est rouge."))["steps"]
    assert "".join(view(shouted)["source"]) == "Lavoitureestrouge."
    assert "small ones" not in words(open_translating(text="À"))


def test_a_single_word_is_said_to_be_one_with_what_was_measured_of_such() -> None:
    familiar = Familiar.load(zoo.MODELS / "french-english")
    assert familiar
    assert familiar.single
    said = words(open_translating(text="bonjour"))
    assert "single word" in said
    assert f"Of {familiar.single.n} one-word sentences" in said
    assert f", {familiar.single.typed} if typed small" in said
    assert "single word" not in words(open_translating(text="la maison"))


def test_the_rule_on_the_page_is_the_rule() -> None:
    assert pytest.approx(2 / 3) == ENOUGH
    said = words(open_translating(text="Zyxw vutsr qponm."))
    assert "fewer than two thirds" in said
    assert all(word in said for word in ("zyxw", "vutsr", "qponm"))


def test_no_source_breaks_a_tab() -> None:
    for address in addresses("translating"):
        for text in ("\u200b", "<img src=x onerror=alert(1)> $x$ **b**", "世界 😀", "mot " * 1200):
            app = open_translating(text=text, references=text[:900], begins=text[:200], **address)
            assert not app.error, (address, text)
            assert ("Type at least one character" in words(app)) == (text == "\u200b")


def test_letters_backwards_are_a_translation_too() -> None:
    data = view(open_page("translating", model="reverse", text="stressed"))
    assert [step["writes"] for step in data["steps"]] == [*"desserts", END]
    assert Counter(data["source"]) == Counter("stressed")
