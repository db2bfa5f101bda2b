"""Predict, then reveal: every page that shows figures has something for a class to guess."""

from __future__ import annotations

from tests.app import open_page, questions
from tfmviz import zoo
from tfmviz.ui import router
from tfmviz.words.labels import visible


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
        ("masks", {"effect": "Vectors", "kind": "encoder"}, trace.source),
        ("masks", {"effect": "Vectors", "kind": "cross-attention"}, trace.target),
        ("masks", {"effect": "Loss", "kind": "encoder"}, trace.target),
        ("residual_stream", {"kind": "encoder"}, trace.source),
        ("residual_stream", {"kind": "decoder"}, trace.target),
    ):
        app = open_page(page, model="french-english", text="Le chat dort.", **address)
        (asked,) = [question for question in questions(app) if question["tokens"]]
        assert asked["tokens"] == [visible(token) for token in of.tokens], f"{page}, {address}"
