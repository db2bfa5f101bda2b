"""What the explorer is told: of the address only what can be meant, and of two pins the right one."""

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.app import lesson, open_page, questions, sent
from tfmviz import views, zoo
from tfmviz.ui import controls, models, router
from tfmviz.words.labels import visible

SENT = "heads:5.3,show:mean,top:80,least:0.02,order:previous-token"
"""A look as the explorer writes it."""


def test_a_look_reaches_the_browser_only_if_all_of_it_could_be_the_explorers() -> None:
    for look in (SENT, "a" * 300):
        assert sent(open_page(look=look), "explorer_selection")["look"] == look
    for look in (f"{SENT}<b>", f"{SENT}\n", "<b>", "a" * 301):
        assert sent(open_page(look=look), "explorer_selection")["look"] == "", look


def test_the_session_says_what_is_pinned_until_the_back_button_asks_the_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for goes_back, told in ((False, (3, 1)), (True, (5, 2))):
        app = open_page(text="the cat sat on the mat", token="3", to="1")
        app.query_params["token"], app.query_params["to"] = "5", "2"
        with monkeypatch.context() as patch:
            patch.setattr(controls, "goes_back", lambda back=goes_back: back)
            app.run()
        assert (sent(app, "explorer_selection")["token"], sent(app, "explorer_selection")["to"]) == told


def boxes() -> None:
    from tfmviz.ui import inputs

    inputs.number_box("whole", key="whole", value=3, max_value=40)
    inputs.number_box("any", key="any", value=0.5)


def test_a_number_of_the_address_is_taken_only_if_it_is_one() -> None:
    none = ("inf", "-Infinity", "1e400", "9" * 400, "1e17", "nan", "three", "<b>", "")
    for said, whole, number in (*((none, 3, 0.5) for none in none), ("41", 3, 41), ("2e1", 20, 20), ("-7", -7, -7)):
        app = AppTest.from_function(boxes)
        app.query_params["whole"] = app.query_params["any"] = said
        app.run()
        assert [box.value for box in app.number_input] == [whole, number], said
        app.number_input(key="whole").set_value(5).run()
        assert [box.value for box in app.number_input] == [5, number], said


def test_the_first_change_of_a_box_comes_into_an_address_that_said_infinity() -> None:
    app = AppTest.from_function(boxes)
    app.query_params["whole"] = "inf"
    app.run()
    app.number_input(key="whole").set_value(5).run()  # what a browser writes for a bound box, this test does not see
    assert app.query_params["whole"] == "5"
    app.number_input(key="whole").set_value(3).run()
    assert [box.value for box in app.number_input] == [3, 0.5]


TEXT = "The dog saw a small bird, and the bird saw the dog."
LONG = " ".join(f"word{n}" for n in range(200))


def test_the_pair_is_in_the_address_also_of_the_next_page() -> None:
    app = open_page("why", text=TEXT)
    app.selectbox(key="chosen_token").set_value(9).run()
    app.selectbox(key="chosen_to").set_value(1).run()
    assert (app.query_params["token"], app.query_params["to"]) == ("9", "1")
    app.query_params.clear()  # as a link to another page does
    app.switch_page("pages/residual_stream.py").run()
    assert app.query_params["token"] == "9"
    app.text_area(key="text").set_value("A cat.").run()
    assert "token" not in app.query_params
    assert "to" not in app.query_params


def test_heads_of_a_long_text_are_ranked_by_their_attention_between_two_tokens_that_there_are() -> None:
    trace = models.load("tiny-english").trace(LONG)
    assert not views.travels_whole(trace)
    found = sent(open_page(text=LONG, token="9", to="1"), "explorer_selection")["links"]
    weights = np.stack([trace[f"{layer}.pattern"][:, 9, 1] for layer in trace.layers])
    best = sorted(np.ndindex(*weights.shape), key=lambda at: -weights[at])
    assert (found["row"], found["column"]) == (9, 1)
    assert [(head["layer"], head["head"]) for head in found["heads"]] == best
    assert found["heads"][0]["weight"] == pytest.approx(weights.max())
    assert sent(open_page(text=LONG, token="1", to="5"), "explorer_selection")["links"]["heads"] == []
    odd: list[dict[str, str]] = [{}, {"to": "99999", "token": "1"}, {"to": "x", "token": "3"}, {"to": "-1"}]
    assert [one for one in odd if sent(open_page(text=LONG, **one), "explorer_selection")["links"] is not None] == []
    assert sent(open_page(text=TEXT, token="9", to="1"), "explorer_selection")["links"] is None


def test_each_model_and_sentence_has_a_short_name_which_links_may_hold_for_good() -> None:
    """Also a sentence with half a pair of surrogates, which no text in UTF-8 has."""
    layer = "decoder.0.self_attn"
    pairs = [(model, text) for model in ("tiny-english", "twins-rope") for text in ("The cat", "The dog", "a\ud83d")]
    names = [lesson(model, text, layer).short_name for model, text in pairs]
    assert names[:2] == ["f2126c65cef5", "abab99d470bf"]
    assert len(set(names)) == len(names)


def test_every_page_with_figures_asks_a_question() -> None:
    silent = []
    for page in (page.name for page in router.PAGES if page.name not in ("contents", "lectures")):
        address = {"experiment": "Shift all positions"} if page == "positions_compare" else {}
        asked = questions(open_page(page, text="The cat sat on the mat.", **address))
        if not asked or not all(one["question"].endswith("?") for one in asked):
            silent.append(page)
    assert not silent


def test_the_question_names_what_is_chosen_and_its_answer_is_the_largest_share() -> None:
    asked = questions(open_page(text="The cat sat on the mat.", token="2", layer="3", head="6"))[0]
    assert asked["question"] == "Layer 3, head 6: which token does “sat” look at most?"
    assert asked["tokens"] == ["The", "cat", "sat", "on", "the", "mat", "."]
    row = zoo.load("tiny-english").trace("The cat sat on the mat.")["decoder.3.self_attn.pattern"][6, 2]
    assert asked["answer"] == f"“{asked['tokens'][row.tolist().index(max(row))]}”, {max(row):.2f}"


def test_the_tokens_that_may_be_the_answer_are_those_of_the_figure() -> None:
    trace = zoo.load("french-english").trace("Le chat dort.")
    assert trace.source is not None
    for page, address, of in (
        ("masks", {"effect": "Attention", "kind": "cross-attention"}, trace.source),
        ("masks", {"effect": "Attention", "kind": "decoder"}, trace.target),
        ("masks", {"effect": "Loss", "kind": "encoder"}, trace.target),
        ("residual_stream", {"kind": "encoder"}, trace.source),
        ("residual_stream", {"kind": "decoder"}, trace.target),
    ):
        app = open_page(page, model="french-english", text="Le chat dort.", **address)
        (asked,) = [question for question in questions(app) if question["tokens"]]
        assert asked["tokens"] == [visible(token) for token in of.tokens], f"{page}, {address}"


def test_a_label_that_the_list_had_before_pins_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit passes it on as it is, where a new text comes while somebody chooses."""
    pinned: list[tuple[int, str]] = []
    monkeypatch.setattr(controls, "pin", lambda at, key: pinned.append((at, key)))
    for value in ("4  dog", 4):
        monkeypatch.setattr(st, "session_state", {"chosen_token": value})
        controls._take_token("chosen_token", "token")
    assert pinned == [(4, "token")]
