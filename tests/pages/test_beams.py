"""Beam search on the page that translates: the tree, a text that is chosen in it, two trees side by side."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest

from tests.app import sent, trees, views, words
from tests.pages.claims import number
from tests.pages.translating import TEXT, log_p, open_translating
from tfmviz import load, zoo
from tfmviz.words import markdown
from tfmviz.words.labels import visible
from tfmviz.words.numbers import decimal
from tfmviz.zoo import ZooModel


@pytest.fixture(scope="module")
def model() -> ZooModel:
    return load("french-english")


def test_the_tree_shows_a_window_of_steps_whose_edges_meet() -> None:
    address = {"translation": "Beam search", "beams": "8"}
    long = "Je pense que tu as raison, mais je ne sais pas si nous avons le temps."
    nodes = trees(open_translating(**address, text=long))["tree"]
    steps = sorted({node["step"] for node in nodes})
    assert len(steps) == 12
    places = {(node["step"], node["rank"]) for node in nodes}
    assert len(places) == len(nodes)
    assert all(node["step"] == steps[0] or (node["step"] - 1, node["parent"]) in places for node in nodes)
    earlier = trees(open_translating(**address, text=long, tree_steps="5"))["tree"]
    assert sorted({node["step"] for node in earlier}) == [1, 2, 3, 4, 5]


def coded(ids: Sequence[int]) -> str:
    return ".".join(np.base_repr(token, 36).lower() for token in ids)


def test_a_chosen_hypothesis_is_summed_word_by_word(model: ZooModel) -> None:
    """One that ran on, one that is complete and one that was dropped, against a pass over the whole text."""
    found = zoo.writing.search(model, TEXT, width=3, length_penalty=0.6, max_new_tokens=40).beams
    dropped = next(one for one in found[2].candidates if one.fate == "dropped")
    texts = {
        "went on": found[3].running[2].ids,
        "was complete": found[-1].complete[1].ids,
        "was dropped": (*found[1].running[dropped.parent].ids, dropped.token),
    }
    winner = found[-1].complete[0].ids
    for fate, ids in texts.items():
        app = open_translating(translation="Beam search", alpha="0.6", hypothesis=coded(ids))
        rows = sent(app, "hypothesis_words")["rows"]
        for columns, tokens in (((1, 2), ids), ((4, 3), winner)):
            terms = log_p(model, TEXT, list(tokens[:-1]))[range(len(tokens)), tokens]
            for column, expected in zip(columns, (terms, np.cumsum(terms)), strict=True):
                shown = [number(row[column]) for row in rows if row[column]]
                np.testing.assert_allclose(shown, expected, atol=6e-3)
        said = words(app)
        assert fate in said
        total = log_p(model, TEXT, list(ids[:-1]))[range(len(ids)), ids].sum()
        assert f"= **{decimal(total / len(ids) ** 0.6, '.3f')}**" in said
        part = next(n for n, both in enumerate(zip(ids, winner, strict=False)) if both[0] != both[1])
        assert f"leaves the winner at word {part + 1}: “{markdown.plain(visible(model.vocabulary[ids[part]]))}”" in said


def test_a_chosen_hypothesis_is_marked_and_belongs_to_its_text(model: ZooModel) -> None:
    ids = zoo.writing.search(model, TEXT, width=3, max_new_tokens=40).beams[-1].complete[0].ids
    app, begins = (open_translating(translation="Beam search", hypothesis=coded(some)) for some in (ids, ids[:2]))
    tree = sent(app, "tree")
    picked = tree["nodes"][tree["picked"]]
    assert (picked["step"], picked["kind"]) == (len(ids), "best")
    assert "It is the winner." in words(app)
    assert "It is how the winner begins." in words(begins)
    app.text_area(key="text").set_value("Merci beaucoup !").run()
    assert "hypothesis" not in app.query_params
    assert "hypothesis_words" not in views(app)
    for code in ("zzzz", "0.0", "x y", "1." * 200, "<b>"):
        app = open_translating(translation="Beam search", hypothesis=code)
        assert "hypothesis_words" not in views(app)
        assert ("not one that this search considered" in words(app)) == (code in ("zzzz", "0.0")), code


def test_two_trees_stand_side_by_side_and_the_second_is_that_of_the_new_source() -> None:
    """It is the tree that the tab of the beam search draws of this source."""
    address, texts = {"beams": "2", "alpha": "0.6"}, {"tree_before": TEXT}
    texts["tree_after"] = "Elle ne mange jamais de poisson."
    app = open_translating(translation="Two trees", swapped="5 viande.", becomes="poisson.", **address)
    assert trees(app).keys() == texts.keys()
    for key, drawn in trees(app).items():
        whole = trees(open_translating(translation="Beam search", text=texts[key], **address))["tree"]
        steps = {node["step"] for node in drawn}
        assert drawn == [node for node in whole if node["step"] in steps]
        assert 1 < len(steps) <= 6
    assert "viande" in words(app)
    assert re.search("With the change: “.*fish", words(app))
