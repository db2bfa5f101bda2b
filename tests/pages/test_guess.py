"""Predict, then reveal: every page that shows figures has something for a class to guess."""

from __future__ import annotations

import pytest

from tests.app import open_page, questions
from tfmviz import zoo
from tfmviz.ui import router
from tfmviz.words.labels import visible

LISTS = ("contents", "lectures")
"""Pages without figures."""


@pytest.mark.parametrize("page", [page.name for page in router.PAGES if page.name not in LISTS])
def test_every_page_with_figures_asks_a_question(page: str) -> None:
    address = {"experiment": "Shift all positions"} if page == "positions_compare" else {}
    app = open_page(page, text="The cat sat on the mat.", **address)
    asked = [question["question"] for question in questions(app)]
    assert asked
    assert all(question.endswith("?") for question in asked)


def test_the_question_names_what_is_chosen_and_its_answer_is_the_largest_share() -> None:
    asked = questions(open_page(text="The cat sat on the mat.", token="2", layer="3", head="6"))[0]
    assert asked["question"] == "Layer 3, head 6: which token does “sat” look at most?"
    assert asked["tokens"] == ["The", "cat", "sat", "on", "the", "mat", "."]
    row = zoo.load("tiny-english").trace("The cat sat on the mat.")["decoder.3.self_attn.pattern"][6, 2]
    assert asked["answer"] == f"“{asked['tokens'][row.tolist().index(max(row))]}”, {max(row):.2f}"


@pytest.mark.parametrize(
    ("page", "address", "of_source"),
    [
        ("masks", {"effect": "Attention", "kind": "cross-attention"}, True),
        ("masks", {"effect": "Attention", "kind": "decoder"}, False),
        ("masks", {"effect": "Vectors", "kind": "encoder"}, True),
        ("masks", {"effect": "Vectors", "kind": "cross-attention"}, False),
        ("masks", {"effect": "Loss", "kind": "encoder"}, False),
        ("residual_stream", {"kind": "encoder"}, True),
        ("residual_stream", {"kind": "decoder"}, False),
    ],
)
def test_the_tokens_that_may_be_the_answer_are_those_of_the_figure(
    page: str, address: dict[str, str], of_source: bool
) -> None:
    text = "Le chat dort."
    trace = zoo.load("french-english").trace(text)
    assert trace.source is not None
    (asked,) = [q for q in questions(open_page(page, model="french-english", text=text, **address)) if q["tokens"]]
    of = trace.source if of_source else trace.target
    assert asked["tokens"] == [visible(token) for token in of.tokens]
