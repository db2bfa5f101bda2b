"""The map of heads and what is said of the chosen one: of one truth with the explorer."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import tfmviz
from tests.app import open_page, views, words
from tests.traces import read_payload
from tfmviz import zoo
from tfmviz.analysis.biography import words as in_words
from tfmviz.analysis.biography.file import FILE, Book, load, unlike
from tfmviz.ui import models
from tfmviz.ui.steps.biography import MEASURES
from tfmviz.views import heads
from tfmviz.words.labels import visible

TEXT = "The cat sat on the mat near the cat."


def book_of(name: str) -> Book:
    return load(zoo.MODELS / name / FILE, zoo.load(name).weights)


def page(model: str = "tiny-english", text: str = TEXT, **address: str) -> Any:
    return open_page("step_by_step", part="Find a head", model=model, text=text, **address)


def the_map(app: Any) -> dict[str, Any]:
    found = views(app)["heads_map"]
    return found if isinstance(found, dict) else json.loads(found.json)


def test_the_map_opens_at_the_first_measure_against_sharpness() -> None:
    app = page(layer="4", head="3")
    assert [app.selectbox(key=key).value for key in ("map_x", "map_y")] == [next(iter(MEASURES)), "sharpness"]


def test_every_head_is_a_point_with_its_picture_on_the_sentence() -> None:
    app = page(layer="4", head="3", map_x="copying", map_y="damage")
    drawn, book = the_map(app), book_of("tiny-english")
    trace = tfmviz.load("tiny-english").trace(TEXT)
    assert len(drawn["points"]) == 48
    assert drawn["points"][drawn["chosen"]]["name"] == "head 4.3"
    for point, (layer, head, found) in zip(drawn["points"], book.all(), strict=True):
        assert (point["x"], point["y"]) == (found.copying, found.damage[0])
        assert point["held"] is bool(found.held)
        pattern, n = trace[f"{layer}.pattern"][head], len(trace.tokens)
        shown = np.array(list(point["cells"])).reshape(n, n)
        assert (shown[~np.tri(n, dtype=bool)] == " ").all()
        seen = shown[np.tri(n, dtype=bool)].astype(float)
        assert np.abs(seen / 9 - np.sqrt(pattern[np.tri(n, dtype=bool)])).max() < 0.06


def test_the_digits_of_a_picture_are_ninths_as_near_as_they_can_be() -> None:
    shades = np.arange(255, dtype=np.uint8)
    digits = np.array(list(heads.cells(shades[None], masked=255)), dtype=float)
    assert np.abs(digits / 9 - shades / 254).max() <= 1 / 18 + 1e-9
    assert heads.cells(np.array([[255, 254, 0, 7]], dtype=np.uint8), masked=7) == "990 "


@pytest.mark.parametrize(
    ("model", "kind"), [("tiny-english", ""), ("french-english", "cross-attention"), ("fill-in", "")]
)
def test_the_page_and_the_explorer_say_one_thing_of_a_head(model: str, kind: str) -> None:
    """4.3 of the flagship was called induction 0.90 in one place and 0.11 in another."""
    address = {"kind": kind} if kind else {}
    text = "Le chat est assis." if model == "french-english" else TEXT
    app, book = page(model, text, layer="2", head="3", **address), book_of(model)
    layer = f"{'encoder' if model == 'fill-in' else 'decoder'}.2.{'cross_attn' if kind else 'self_attn'}"
    said = in_words.said(book.heads[layer][3], book)
    assert said.replace("%", "") in words(app).replace("\\", "").replace("%", "")
    header = read_payload(models.payload(models.load(model), text))[0]
    entry = next(one for one in header["kinds"] if one["layers"][2]["name"] == layer)
    assert entry["said"][2][3] == said
    assert entry["verdicts"][2][3][0] == book.heads[layer][3].name
    assert entry["repeats"] == []


def test_examples_and_heads_like_it_are_listed() -> None:
    app, book = page("twins-rope", layer="1", head="2"), book_of("twins-rope")
    chosen = book.heads["decoder.1.self_attn"][2]
    tables = {key: view for key, view in views(app).items() if key in ("head_examples", "heads_alike")}
    assert set(tables) == {"head_examples", "heads_alike"}
    lines = (zoo.MODELS.parent / "texts" / book.texts).read_text(encoding="utf-8").splitlines()
    text, query, key, _ = chosen.examples[0]
    tokens = tfmviz.load("twins-rope").trace(lines[text]).tokens
    first = json.loads(tables["head_examples"].json)["rows"][0]
    assert first[0] == f"{visible(tokens[query])} → {visible(tokens[key])}"
    assert first[2] == lines[text]
    text, place, rise = chosen.worst[0]
    dearest = tfmviz.load("twins-rope").trace(lines[text]).tokens[place + 1]
    assert f"cost most more: “{visible(dearest)}” (+{rise:.2f})" in words(app).replace("\\", "")
    alike = json.loads(tables["heads_alike"].json)["rows"]
    others = [
        (other.name != chosen.name, unlike(chosen, other), name, layer, head)
        for name in zoo.available(zoo.MODELS)
        for layer, head, other in book_of(name).all()
        if (name, layer, head) != ("twins-rope", "decoder.1.self_attn", 2)
    ]
    *_, name, layer, head = min(others)
    assert alike[0][0].startswith(f"{name} ")
    assert alike[0][0].endswith(f"{layer.split('.')[1]}.{head}")
    assert "twins-rope 1.2" not in [row[0] for row in alike]


@pytest.mark.parametrize("text", ["a", "<img src=x onerror=alert(1)>", "😀 שלום", "word " * 500])
def test_odd_texts_have_a_map_too(text: str) -> None:
    app = page("induction", text)
    assert not app.exception
    assert len(the_map(app)["points"]) == 8
