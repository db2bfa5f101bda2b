"""The page that translates: its numbers against independent passes, its address, odd input."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from streamlit.testing.v1 import AppTest

from tests.app import charts, matrices, open_page, views, words
from tests.pages.tabs import addresses
from tfmviz import load, zoo
from tfmviz.edits import Edit, Patch, SetMask
from tfmviz.model.transformer import EncoderDecoder
from tfmviz.plots.labels import END, START, visible
from tfmviz.text.familiar import ENOUGH, Familiar
from tfmviz.trace import Array
from tfmviz.ui import controls
from tfmviz.ui.translating import references
from tfmviz.zoo import ZooModel

TEXT = "Elle ne mange jamais de viande."
REFERENCE = "She never eats any meat."


@pytest.fixture(scope="module")
def model() -> ZooModel:
    return load("french-english")


def open_translating(**address: str) -> AppTest:
    return open_page("translating", **{"model": "french-english", "text": TEXT} | address)


def view(app: AppTest) -> dict[str, Any]:
    """What the view in the browser gets."""
    return dict(json.loads(views(app)["translating"].json))


def log_p(model: ZooModel, text: str, target: list[int]) -> Array:
    """Log-probabilities of every next token, read in one pass without cache or record: (len + 1, vocab)."""
    module = model.module
    assert isinstance(module, EncoderDecoder)
    src = torch.tensor([model.tokenizer.encode_batch([text])[0]])  # type: ignore[union-attr]
    with torch.inference_mode():
        return F.log_softmax(module(src, torch.tensor([[0, *target]]))[0], dim=-1).numpy()


# Which model.


def test_the_page_opens_with_a_model_that_translates() -> None:
    app = open_page("translating")
    assert app.selectbox(key="model").value == "french-english"
    assert "translating" in views(app)


def test_a_model_that_does_not_translate_is_replaced_and_named() -> None:
    app = open_translating(model="tiny-english")
    assert app.selectbox(key="model").value == "french-english"
    assert "tiny-english" in words(app)
    assert "translating" in views(app)


# Word by word.


@pytest.mark.parametrize("heads", ["one head", "mean of the layer", "mean of all layers"])
def test_every_step_is_that_of_an_independent_pass(model: ZooModel, heads: str) -> None:
    data = view(open_translating(heads=heads, layer="2", head="5"))
    ids = list(model.generate(TEXT).ids)
    names = [visible(model.vocabulary[index]) for index in ids]
    assert [step["writes"] for step in data["steps"]] == [*names, END]
    assert [step["reads"] for step in data["steps"]] == [START, *names]
    expected = log_p(model, TEXT, ids)
    for n, (step, token) in enumerate(zip(data["steps"], [*ids, 0], strict=True)):
        assert expected[n].argmax() == token
        assert step["p"] == pytest.approx(np.exp(expected[n, token]), rel=1e-3)
    shown = np.array([step["weights"] for step in data["steps"]])
    np.testing.assert_allclose(shown.sum(axis=1), 1, atol=2e-3)
    patterns = [model.trace(TEXT)[f"decoder.{n}.cross_attn.pattern"] for n in range(3)]  # (head, q_len, k_len)
    looks = {
        "one head": patterns[2][5],
        "mean of the layer": patterns[2].mean(0),
        "mean of all layers": np.mean(patterns, (0, 1)),
    }
    np.testing.assert_allclose(shown, looks[heads], atol=1e-3)


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


# Beam search.


def test_the_tree_shows_a_window_of_steps_whose_edges_meet() -> None:
    long = "Je pense que tu as raison, mais je ne sais pas si nous avons le temps."
    tables = charts(open_translating(translation="Beam search", text=long, beams="8"))["tree"]["tables"]
    steps = sorted(set(tables["rows"]["x"]))
    assert len(steps) == 12
    ends = set(zip(tables["edges"]["x2"], tables["edges"]["y2"], strict=True))
    for x, y in zip(tables["edges"]["x"], tables["edges"]["y"], strict=True):
        assert x == steps[0] - 1 or (x, y) in ends
    earlier = charts(open_translating(translation="Beam search", text=long, beams="8", tree_steps="5"))["tree"][
        "tables"
    ]
    assert sorted(set(earlier["rows"]["x"])) == [1, 2, 3, 4, 5]


# What if.


def test_a_closed_look_gets_nothing_and_changes_no_earlier_step(model: ZooModel) -> None:
    reads, writes = (visible(model.vocabulary[index]) for index in model.generate(TEXT).ids[1:3])
    app = open_translating(
        translation="What if", change="close a look", changed_step=f"2 {reads} → {writes}", closed="3 jamais"
    )
    before, after = (matrices(app)[key][0] for key in ("as_it_was", "as_changed"))
    assert after[2, 3] == 0
    assert before[2, 3] > 0
    np.testing.assert_allclose(after.sum(axis=1), 1, atol=1e-3)
    np.testing.assert_allclose(after[:2], before[:2], atol=1e-6)


def written_step_by_step(model: ZooModel, edits: Callable[[int], tuple[Edit, ...]]) -> list[int]:
    """The greedy translation in which every token costs one pass over all before it, under these edits."""
    ids: list[int] = []
    while True:
        ids.append(int(model.trace(TEXT, edits(len(ids) + 1), target=ids)["logits"][-1].argmax()))
        if ids[-1] in model.tokenizer.marks.ends:
            return ids[:-1]


@pytest.mark.parametrize(("how", "key"), [("close a look", "closed"), ("direct a look", "directed")])
def test_several_words_of_a_row_are_closed_or_get_all_attention(model: ZooModel, how: str, key: str) -> None:
    """Against passes over the whole text, without a cache."""
    step, words_chosen = 2, (2, 3)
    reads, writes = (visible(model.vocabulary[index]) for index in model.generate(TEXT).ids[1:3])
    named = [visible(token) for token in model.tokenizer.encode(TEXT, max_len=64).tokens]
    k_len = len(named)
    app = open_translating(translation="What if", change=how)
    app.selectbox(key="changed_step").set_value(f"{step} {reads} → {writes}")
    app.multiselect(key=key).set_value([f"{n} {named[n]}" for n in words_chosen]).run()

    def edits(q_len: int) -> tuple[Edit, ...]:
        if q_len <= step:
            return ()
        if key == "closed":
            mask = tuple(tuple(q != step or k not in words_chosen for k in range(k_len)) for q in range(q_len))
            return tuple(SetMask(layer=f"decoder.{n}.cross_attn", mask=mask) for n in range(3))
        vector = tuple(0.5 if k in words_chosen else 0.0 for k in range(k_len))
        return tuple(Patch(site=f"decoder.{n}.cross_attn.pattern", vector=vector, position=step) for n in range(3))

    expected = model.tokenizer.decode(written_step_by_step(model, edits)).strip()
    assert f"After: “{controls.plain(expected)}”" in words(app)
    row = matrices(app)["as_changed"][0, step]
    assert row[list(words_chosen)].sum() == pytest.approx(0 if key == "closed" else 1, abs=1e-3)
    if key == "directed":
        assert row[2] == pytest.approx(row[3])


def test_two_trees_stand_side_by_side_and_the_second_is_that_of_the_new_source() -> None:
    """It is the tree that the tab of the beam search draws of this source."""
    changed = "Elle ne mange jamais de poisson."
    address = {"beams": "2", "alpha": "0.6"}
    app = open_translating(translation="Two trees", swapped="5 viande.", becomes="poisson.", **address)
    trees = {key: chart["tables"]["rows"] for key, chart in charts(app).items()}
    assert set(trees) == {"tree_before", "tree_after"}
    for key, text in (("tree_before", TEXT), ("tree_after", changed)):
        whole = charts(open_translating(translation="Beam search", text=text, **address))["tree"]["tables"]["rows"]
        steps = sorted(set(trees[key]["x"]))
        shown, expected = (
            {row for row in zip(*(table[name] for name in ("x", "y", "word", "hover")), strict=True) if row[0] in steps}
            for table in (trees[key], whole)
        )
        assert shown == expected
        assert 1 < len(steps) <= 6
    said = words(app)
    assert "viande" in said
    assert re.search("With the change: “.*fish", said)


def test_a_swapped_word_is_translated_as_the_whole_new_source(model: ZooModel) -> None:
    app = open_translating(translation="What if", swapped="5 viande.", becomes="poisson.")
    expected = model.generate("Elle ne mange jamais de poisson.").text.strip()
    assert f"After: “{expected.replace('.', chr(92) + '.')}”" in words(app)
    assert expected != model.generate(TEXT).text.strip()


@pytest.mark.parametrize(
    "address", [{"swapped": "99 x"}, {"change": "close a look", "changed_step": "99", "closed": ""}]
)
def test_what_does_not_exist_is_not_changed(address: dict[str, str]) -> None:
    app = open_translating(translation="What if", **address)
    assert set(matrices(app)) == {"as_it_was", "as_changed"}
    app.text_area(key="text").set_value("Merci beaucoup !").run()  # no place of the old text is one of the new
    assert not app.exception
    assert set(matrices(app)) == {"as_it_was", "as_changed"}


@pytest.mark.parametrize("change", ["swap a word", "close a look"])
def test_a_source_of_one_token_leaves_nothing_to_change(change: str) -> None:
    assert "nothing to change" in words(open_translating(translation="What if", text="a", change=change))


# Force it.


def test_a_forced_beginning_is_followed_by_what_the_model_writes_after_it(model: ZooModel) -> None:
    app = open_translating(translation="Force the beginning", begins="Meat is")
    given = list(model.tokenizer.encode("Meat is", max_len=60).ids)
    made = model.generate(TEXT, given=given)
    assert list(made.ids[: len(given)]) == given
    scores = log_p(model, TEXT, list(made.ids))
    expected = np.exp([scores[n, token] for n, token in enumerate([*made.ids, 0])])
    np.testing.assert_allclose(matrices(app)["forced"][0, 0], expected, atol=2e-3)
    assert made.text.strip().rstrip(".") in words(app)


def test_a_beginning_after_which_the_text_ends_at_once_says_so(model: ZooModel) -> None:
    whole = model.generate(TEXT).text
    assert "ends the text at once" in words(open_translating(translation="Force the beginning", begins=whole))
    assert "ends the text at once" not in words(open_translating(translation="Force the beginning", begins=""))


def test_a_beginning_longer_than_the_model_reads_is_cut() -> None:
    app = open_translating(translation="Force the beginning", begins="meat " * 59)
    assert matrices(app)["forced"].shape[-1] <= 64


def test_losses_are_those_after_the_right_words_and_after_its_own(model: ZooModel) -> None:
    shown = matrices(open_translating(translation="Teacher forcing", references=REFERENCE))["losses"][0]
    ids = list(model.tokenizer.encode(REFERENCE, max_len=60).ids)
    own = [*model.generate(TEXT).ids, *[0] * len(ids)][: len(ids)]
    for row, read in zip(shown, (ids, own), strict=True):
        expected = log_p(model, TEXT, read[:-1])
        np.testing.assert_allclose(row, [-expected[n, token] for n, token in enumerate(ids)], rtol=2e-2, atol=2e-3)
    same = next(n for n, (a, b) in enumerate(zip(ids, own, strict=True)) if a != b)
    np.testing.assert_allclose(shown[0, : same + 1], shown[1, : same + 1])


# References.


def test_scores_are_those_of_sacrebleu(model: ZooModel) -> None:
    said = words(open_translating(translation="References", references=f"{REFERENCE}|Meat she eats never."))
    written, others = model.generate(TEXT).text.strip(), [REFERENCE, "Meat she eats never."]
    assert f"sentence BLEU **{BLEU(effective_order=True).sentence_score(written, others).score:.1f}**" in said
    assert f"chrF **{CHRF().sentence_score(written, others).score:.1f}**" in said


@pytest.mark.parametrize("written", ["the the the the cat .", "the cat sat on the mat .", "a", "no word at all here"])
def test_marked_n_grams_are_as_many_as_bleu_counts(written: str) -> None:
    others = ["the cat is on the mat .", "there is a cat on the mat ."]
    found = references.matches(written.split(), [text.split() for text in others])
    score = BLEU(effective_order=True, tokenize="none").sentence_score(written, others)
    assert np.nansum(found, axis=1).tolist() == score.counts
    assert np.isfinite(found).sum(axis=1).tolist() == score.totals


def test_only_the_first_of_too_many_equal_words_is_marked() -> None:
    found = references.matches(["the", "the", "cat"], [["the", "cat"]])
    assert found[0].tolist() == [1, 0, 1]
    assert found[1, :2].tolist() == [0, 1]


def test_without_a_reference_the_page_asks_for_one() -> None:
    assert "Type or paste a translation" in words(open_translating(translation="References", text="Il pleut fort ici."))


# Sources that the model has not learned to translate.


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The dog sleeps in the house.", "hardly French"),
        ("😀 12", "hardly French"),
        ("Je pense que " * 7 + "tu as raison.", "This source has"),
        ("je suis etudiant", ""),
        ("La VOITURE ROUGE", ""),
    ],
)
def test_a_source_it_has_not_learned_is_doubted_before_it_is_translated(text: str, said: str) -> None:
    app = open_translating(text=text)
    shown = "\n".join(str(one.value) for one in app.info)
    assert said in shown
    assert bool(said) == bool(shown)
    assert "translating" in views(app)


def test_capitals_are_translated_as_small_letters_and_the_page_says_so(model: ZooModel) -> None:
    shouted = open_translating(text="LA VOITURE EST ROUGE.")
    assert [str(one.value) for one in shouted.info] == [
        f"A text without small letters is read with small ones: “{controls.plain('La voiture est rouge.')}”"
    ]
    assert view(shouted)["steps"] == view(open_translating(text="La voiture est rouge."))["steps"]
    assert "".join(view(shouted)["source"]) == "Lavoitureestrouge."
    assert "small ones" not in words(open_translating(text="À"))


def test_a_single_word_is_said_to_be_one_with_what_was_measured_of_such() -> None:
    familiar = Familiar.load(zoo.MODELS / "french-english")
    assert familiar is not None
    assert familiar.single is not None
    said = words(open_translating(text="bonjour"))
    assert "single word" in said
    assert f"Of the {familiar.single.n} one-word sentences" in said
    assert f"and {familiar.single.typed} if they are typed small" in said
    assert "single word" not in words(open_translating(text="la maison"))


def test_the_rule_on_the_page_is_the_rule() -> None:
    assert pytest.approx(2 / 3) == ENOUGH
    said = words(open_translating(text="Zyxw vutsr qponm."))
    assert "fewer than two thirds" in said
    assert all(word in said for word in ("zyxw", "vutsr", "qponm"))


@pytest.mark.parametrize("address", addresses("translating"), ids=lambda address: address["translation"])
@pytest.mark.parametrize(
    "text", ["\u200b", "<img src=x onerror=alert(1)> $x$ **b**", "世界 😀", "mot " * 1200], ids=ascii
)
def test_no_source_breaks_a_tab(address: dict[str, str], text: str) -> None:
    app = open_translating(text=text, references=text[:900], begins=text[:200], **address)
    assert not app.error
    if text == "\u200b":
        assert "nothing that the model reads" in words(app)


def test_letters_backwards_are_a_translation_too() -> None:
    data = view(open_page("translating", model="reverse", text="stressed"))
    assert [step["writes"] for step in data["steps"]] == [*"desserts", END]
    assert Counter(data["source"]) == Counter("stressed")
