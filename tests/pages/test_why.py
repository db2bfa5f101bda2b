"""The page "Why there": its numbers against an independent forward pass, its words, and what it cannot take apart."""

import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.app import charts, columns, matrices, open_page, pictures, series, views, words
from tests.pages import plain
from tests.pages.claims import number, told
from tfmviz import zoo
from tfmviz.analysis.why.copying import eigenvalue_scores
from tfmviz.ui import models
from tfmviz.ui.why import TAB as BELIEVE

TEXT = "The animal didn't cross the street because it was too tired."
TWICE = "Once upon a time there was a little girl. Once upon a"
PATTERNS = plain.forward(TEXT)[0]
"""(layer, head, len, len)"""
IT, ANIMAL = 8, 1
SUM, WRITES = "The score as a sum", "What it then writes"
COMPOSE, SINK = "Which head reads which", "The first token"


def page(tab: str = SUM, **address: str) -> AppTest:
    return open_page("why", why=tab, **address)


def said(app: AppTest, pattern: str) -> list[float]:
    return told(app, pattern.replace("{}", r"\*\*([+−]?[\d.]+)\*\*"))


def test_it_opens_on_it_and_animal_and_the_cells_sum_to_the_score() -> None:
    app = page()
    (score,) = said(app, "From “it” to “animal” the score is {}, the largest of 9")
    assert "its share is **89%**" in words(app)
    assert matrices(app)["terms"].sum() == pytest.approx(score, abs=0.01)
    assert re.search(r"the sum is ([\d.]+), the score \1\.", str(app.caption[0].value))
    row = np.log(PATTERNS[3, 2, IT, : IT + 1])  # scores, up to a constant
    scores = zoo.load("tiny-english").trace(TEXT)["decoder.3.self_attn.scores"][2, IT, : IT + 1]
    np.testing.assert_allclose(row - row[ANIMAL], scores - scores[ANIMAL], atol=1e-3)
    assert score == pytest.approx(scores[ANIMAL], abs=0.006)
    for key in (0, 2, IT):
        place = 1 + int((scores > scores[key]).sum())
        standing = "the largest" if place == 1 else f"rank {place}"
        assert f", {standing} of {len(scores)} in its row" in words(page(to=str(key))), key


def test_the_list_holds_the_largest_terms_and_the_chosen_one_has_a_frame() -> None:
    app = page(layer="2", head="5", token="6", to="2")
    terms = [number(text) for text in columns(app, "largest_terms")["adds"]]
    assert len(terms) == 10
    assert np.abs(terms).tolist() == sorted(np.abs(terms), reverse=True)
    (cells,) = matrices(app)["terms"]
    header = pictures(app)["terms"][0]
    assert (abs(cells - terms[0]) < 0.01).any()
    assert header["frames"]
    (size,) = told(app, r"the sum of \*\*(\d+) terms")
    assert header["rows"]["names"][-1] == f"{size**0.5 - 11:.0f} others"
    for term in ("9999.1", "1", "<b>", "0.0"):  # in the address it is taken or ignored
        label = "Remove the embedding" if term == "0.0" else "Remove the biases"
        assert page(term=term).button(key="remove_query").label.startswith(label), term


def test_a_removal_opens_the_other_tab_with_that_path() -> None:
    app = page(term="0.3")
    app.button(key="remove_key").click().run()
    assert app.query_params["taken"] in ("k3", ["k3"])
    assert app.session_state["why"] == BELIEVE
    assert re.search(r"Without head 0\.\d in the key of “animal”: predicted", words(app))


def test_a_removed_path_changes_only_this_head_and_those_that_share_its_keys() -> None:
    app = page(BELIEVE)
    predicted, measured = said(app, "Without MLP 0 in the key of “animal”: predicted {}, measured {}")
    row = PATTERNS[3, 2, IT]
    share = row[ANIMAL] * np.exp(measured) / (1 - row[ANIMAL] + row[ANIMAL] * np.exp(measured))
    shown = series(charts(app)["row_without"], "value", by="series")
    np.testing.assert_allclose(shown["as it is"], row, atol=1e-4)
    assert shown["without the path"][ANIMAL] == pytest.approx(share, abs=0.002)
    paths = dict(zip(*columns(app, "paths").values(), strict=True))
    assert number(paths["MLP 0 → key of “animal”"]) == pytest.approx(predicted)
    assert predicted < measured < 0
    shares = told(app, r"Its share goes from (\S+) to (\S+)\.")
    assert shares == pytest.approx([row[ANIMAL], share], abs=0.006)
    trace = zoo.load("tiny-english").trace(TEXT)
    stream, mlp = (trace[f"decoder.{site}"][ANIMAL] for site in ("3.resid_pre", "0.mlp.out"))
    scales = told(app, r"Predicted with σ = (\S+), which becomes (\S+)\.")
    assert scales == pytest.approx([stream.std(), (stream - mlp).std()], rel=0.05)
    for taken in ("k0", "q0"):
        told_of = words(page(BELIEVE, model="twins-gqa", taken=taken, head="2"))
        assert ("Heads 2, 3 share keys and values." in told_of) == ("share keys" in told_of) == (taken == "k0")


def test_a_look_that_the_mask_forbids_has_a_score_and_linear_attention_none() -> None:
    app = page(token="1", to="5")
    assert re.search(r"The mask replaces the score \*\*[−\d.]+\*\* from “animal” to “the” with −∞", words(app))
    assert "terms" in views(app)
    assert "The mask keeps the share at 0" in words(page(BELIEVE, token="1", to="5"))
    assert "the largest of 1 in its row; its share is **100%**" in words(page(text="a"))
    for tab in (SUM, BELIEVE):
        app = page(tab, model="twins-linear")
        assert "Linear attention has no scores." in words(app)
        assert not views(app)
    assert "writes" in views(page(WRITES, model="twins-linear"))
    assert "Encoders write no words." in words(page(WRITES, model="french-english", kind="encoder", text="Je suis."))


def test_cross_attention_has_two_lists_of_tokens() -> None:
    app = page(model="french-english", text="Je suis étudiant.", kind="cross-attention", layer="1", head="0", token="3")
    assert "From “a”, about to write “student” to “étudiant” the score is" in words(app)
    header = pictures(app)["terms"][0]
    for axis, token in (("rows", "a"), ("columns", "étudiant")):
        assert f"wrote into “{token}”" in header[axis]["title"]
    written = columns(app, "largest_terms")["wrote into “étudiant”"]
    assert any(name.startswith("head 2.") or "MLP 2" in name for name in written)


def test_what_a_head_writes_adds_up_and_pairs_of_subspaces_are_as_many_as_heads() -> None:
    app = page(WRITES)
    written = matrices(app)["writes"][0][:, 0]
    assert said(app, "raises “bark” most, by {}") == pytest.approx([written.sum()], abs=0.006)
    assert said(app, "adds {}.") == pytest.approx([written.max()], abs=0.006)
    assert app.selectbox(key="chosen_token").label == "Query"
    app = page(COMPOSE, measured="shared directions", side="values", reads="0.20", text=TEXT)
    assert matrices(app)["composition"].shape == (1, 40, 40)
    assert matrices(app)["overlap_mlps"].shape == (1, 48, 6)
    assert "overlap_mlps" not in views(page(COMPOSE, measured="shared directions", model="induction"))
    copies = told(page(COMPOSE, model="induction", text=TWICE), r"head 0\.2 \*\*(\S+)\*\*, .*; head 1\.0 \*\*(\S+)\*\*")
    weights = zoo.load("induction").weights
    scores = [eigenvalue_scores(weights, f"decoder.{layer}.self_attn")[head] for layer, head in ((0, 2), (1, 0))]
    assert copies == pytest.approx(scores, abs=0.006)


def test_the_pair_that_composes_most_is_shown_on_the_sentence_with_its_birth() -> None:
    app = page(COMPOSE, model="induction", text=TWICE)
    (value,) = said(app, "Head 0.2 composes with the keys of head 1.0: {}.")
    moved, before, after = (float(share) for share in re.findall(r"\*\*([\d.]+)%\*\*", words(app))[:3])
    assert value > 0.2
    assert before > 40 > 10 > after
    assert moved > 20
    assert matrices(app)["composition"].shape == (1, 4, 4)
    first, second, without = np.nan_to_num(matrices(app)["two_heads"])
    trace = zoo.load("induction").trace(TWICE)
    for shown, layer, head in ((first, 0, 2), (second, 1, 0)):
        np.testing.assert_allclose(shown, trace[f"decoder.{layer}.self_attn.pattern"][head], atol=0.002)
    assert np.abs(without - second).sum() / 2 / len(second) == pytest.approx(moved / 100, abs=0.01)
    for reads in ("5.0", "0.0", "9999.1", "x"):  # no pair
        assert "Head 0.2 composes" in words(page(COMPOSE, model="induction", reads=reads)), reads
    app = page(COMPOSE, model="induction", text="a b a b")
    assert "birth" in charts(app)
    catalog = models.book(models.load("induction"))
    assert catalog
    first_with = next(n for n, one in enumerate(catalog.birth) if one.induction >= 0.5)
    before_it, end = catalog.birth[first_with - 1], catalog.birth[-1]
    gains = [one.first - one.again for one in (before_it, end)] + [one.fifth - one.fiftieth for one in (before_it, end)]
    costs = r"At step (\S+) and at the end, random .* by {} and {} nats, a story's .* by {} and {}\."
    assert said(app, costs) == pytest.approx([before_it.step, *gains], abs=0.0051)
    assert re.search(
        r"\*\*How 0\.2 and 1\.0 came to work together\.\*\* The first attends .* from step 761", words(app)
    )
    assert "birth" not in charts(page(COMPOSE, model="twins-rope", text="a b a b"))


def test_values_change_no_pattern_one_layer_has_no_pairs_and_post_norm_removes_none() -> None:
    app = page(COMPOSE, model="twins-gqa", side="values", reads="0.5")
    assert "Head 0.0 composes with the values of head 1.1" in words(app)
    (differs,) = told(app, r"has an output that differs by \*\*(\S+%)\*\* of its norm")
    assert 0 < differs < 1
    assert "Heads 0, 1 share keys and values" in words(app)
    assert len(matrices(app)["two_heads"]) == 2
    app.button(key="choose_1.1").click().run()
    assert (app.session_state["layer"], app.session_state["head"]) == (1, 1)
    assert "no head reads another" in words(page(COMPOSE, model="reverse"))
    app = page(COMPOSE, model="twins-postnorm")
    assert "nothing is removed" in words(app)
    assert len(matrices(app)["two_heads"]) == 2


def test_the_share_of_the_first_token_is_that_of_an_independent_run() -> None:
    app = page(SINK, text=TEXT, layer="3", head="0")
    shares = PATTERNS[:, :, 1:, 0].mean(axis=-1)
    np.testing.assert_allclose(matrices(app)["sinks"][0], shares, atol=0.002)
    assert f"head 3.0 gives **{shares[3, 0]:.0%}**" in words(app)
    whole, one, every = said(app, "Mean surprise: {} nats; without that value in this head {}, in all {}.")
    assert every > whole
    assert whole == pytest.approx(plain.losses(plain.forward(TEXT)[2], plain.ids_of(TEXT)).mean(), abs=0.006)
    assert one != every
    assert "words_without_value" in views(app)
    assert "Type more words." in words(page(SINK, text="a"))


def test_the_twin_with_learned_sinks_stands_beside_the_one_without() -> None:
    app, unused = page(SINK, text=TEXT), []
    for name in ("twins-rope", "twins-sink"):
        trace = zoo.load(name).trace(TEXT)
        pattern = np.stack([trace[f"decoder.{n}.self_attn.pattern"] for n in range(4)]).astype(np.float64)
        expected = [pattern[:, :, 1:, 0].mean(), (1 - pattern.sum(axis=-1)).mean()]
        gives = rf"`` {name} `` gives \*\*([\d.]+%)\*\* to the first token, leaves \*\*([\d.]+%)\*\* unused"
        assert told(app, gives) == pytest.approx(expected, abs=0.006)
        unused.append(expected[1])
    assert unused[0] == pytest.approx(0, abs=1e-5)
    assert unused[1] > 0.01


def test_a_score_before_a_learned_sink_is_a_sum_like_any_other_and_a_bias_of_the_scheme_named_apart() -> None:
    app = page(model="twins-sink", layer="2", head="1", token="6", to="2", text=TEXT)
    found = re.search(r"the sum is ([+−\d.]+), the score ([+−\d.]+)\.", "".join(str(one.value) for one in app.caption))
    assert found
    assert number(found[1]) == pytest.approx(number(found[2]), abs=0.011)
    caption = page(model="twins-alibi", layer="1", head="0", token="5", to="1").caption[0].value
    assert re.search(r"−[\d.]+ is the distance bias", str(caption))
