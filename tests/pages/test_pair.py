"""A pair of words: it is in the address of every page, and Python finds the heads that link them in a long text."""

from __future__ import annotations

import numpy as np
import pytest

from tests.app import open_page
from tests.pages.test_controls import selection
from tfmviz import views
from tfmviz.ui import models

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


def test_heads_of_a_long_text_are_ranked_by_their_attention_between_the_two_tokens() -> None:
    trace = models.load("tiny-english").trace(LONG)
    assert not views.travels_whole(trace)
    found = selection(open_page(text=LONG, token="9", to="1"))["links"]
    weights = np.stack([trace[f"{layer}.pattern"][:, 9, 1] for layer in trace.layers])
    best = sorted(np.ndindex(*weights.shape), key=lambda at: -weights[at])
    assert (found["row"], found["column"]) == (9, 1)
    assert [(head["layer"], head["head"]) for head in found["heads"]] == best
    assert found["heads"][0]["weight"] == pytest.approx(weights.max())


def test_a_forbidden_look_has_no_head_nonsense_is_no_pair_and_a_short_text_needs_no_help() -> None:
    assert selection(open_page(text=LONG, token="1", to="5"))["links"]["heads"] == []
    odd: list[dict[str, str]] = [{}, {"to": "99999", "token": "1"}, {"to": "x", "token": "3"}, {"to": "-1"}]
    assert [one for one in odd if selection(open_page(text=LONG, **one))["links"] is not None] == []
    assert selection(open_page(text=TEXT, token="9", to="1"))["links"] is None
