"""The map of heads and what is said of the chosen one: of one truth with the explorer."""

from __future__ import annotations

from typing import Any

import numpy as np

import tfmviz
from tests.app import open_page, sent, words
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


def test_every_head_is_a_point_with_its_picture_on_the_sentence() -> None:
    opens = page(layer="4", head="3")
    assert [opens.selectbox(key=key).value for key in ("map_x", "map_y")] == [next(iter(MEASURES)), "sharpness"]
    drawn = sent(page(layer="4", head="3", map_x="copying", map_y="damage"), "heads_map")
    trace = tfmviz.load("tiny-english").trace(TEXT)
    assert len(drawn["points"]) == 48
    assert drawn["points"][drawn["chosen"]]["name"] == "head 4.3"
    seen = np.tri(len(trace.tokens), dtype=bool)
    for point, (layer, head, found) in zip(drawn["points"], book_of("tiny-english").all(), strict=True):
        assert (point["x"], point["y"], point["held"]) == (found.copying, found.damage[0], bool(found.held))
        shown = np.array(list(point["cells"])).reshape(seen.shape)
        assert (shown[~seen] == " ").all()
        weights = trace[f"{layer}.pattern"][head][seen]
        assert np.abs(shown[seen].astype(float) / 9 - np.sqrt(weights)).max() < 0.06


def test_the_digits_of_a_picture_are_ninths_as_near_as_they_can_be() -> None:
    shades = np.arange(255, dtype=np.uint8)
    digits = np.array(list(heads.cells(shades[None], masked=255)), dtype=float)
    assert np.abs(digits / 9 - shades / 254).max() <= 1 / 18 + 1e-9
    assert heads.cells(np.array([[255, 254, 0, 7]], dtype=np.uint8), masked=7) == "990 "


def test_the_page_and_the_explorer_say_one_thing_of_a_head() -> None:
    """4.3 of the flagship was called induction 0.90 in one place and 0.11 in another."""
    for model, kind, text, layer in (
        ("tiny-english", "", TEXT, "decoder.2.self_attn"),
        ("french-english", "cross-attention", "Le chat est assis.", "decoder.2.cross_attn"),
        ("fill-in", "", TEXT, "encoder.2.self_attn"),
    ):
        app, book = page(model, text, layer="2", head="3", **({"kind": kind} if kind else {})), book_of(model)
        said = in_words.said(book.heads[layer][3], book)
        assert said.replace("%", "") in words(app).replace("\\", "").replace("%", "")
        header = read_payload(models.payload(models.load(model), text))[0]
        entry = next(one for one in header["kinds"] if one["layers"][2]["name"] == layer)
        assert entry["said"][2][3] == said
        assert entry["verdicts"][2][3][0] == book.heads[layer][3].name
        assert entry["repeats"] == []


def test_examples_and_heads_like_it_are_listed() -> None:
    app, book, model = page("twins-rope", layer="1", head="2"), book_of("twins-rope"), tfmviz.load("twins-rope")
    chosen = book.heads["decoder.1.self_attn"][2]
    lines = (zoo.MODELS.parent / "texts" / book.texts).read_text(encoding="utf-8").splitlines()
    text, query, key, _ = chosen.examples[0]
    tokens = model.trace(lines[text]).tokens
    first = sent(app, "head_examples")["rows"][0]
    assert (first[0], first[2]) == (f"{visible(tokens[query])} → {visible(tokens[key])}", lines[text])
    text, place, rise = chosen.worst[0]
    dearest = model.trace(lines[text]).tokens[place + 1]
    assert f"cost most more: “{visible(dearest)}” (+{rise:.2f})" in words(app).replace("\\", "")
    alike = [row[0] for row in sent(app, "heads_alike")["rows"]]
    *_, name, layer, head = min(
        (other.name != chosen.name, unlike(chosen, other), name, layer, head)
        for name in zoo.available(zoo.MODELS)
        for layer, head, other in book_of(name).all()
        if (name, layer, head) != ("twins-rope", "decoder.1.self_attn", 2)
    )
    assert alike[0].startswith(f"{name} ")
    assert alike[0].endswith(f"{layer.split('.')[1]}.{head}")
    assert "twins-rope 1.2" not in alike


def test_odd_texts_have_a_map_too() -> None:
    for text in ("a", "<img src=x onerror=alert(1)>", "😀 שלום", "word " * 500):
        assert len(sent(page("induction", text), "heads_map")["points"]) == 8, text
