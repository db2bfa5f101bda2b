"""The page that counts words: its numbers against `collections.Counter`, its address, its sentences."""

import json
from collections import Counter
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.app import alt, captions, charts, open_page, press, sent, series, words
from tests.model import numpy_model
from tests.pages.claims import number
from tests.pages.plain import ids_of, losses
from tfmviz import zoo
from tfmviz.counting import shipped
from tfmviz.counting.smoothing import Smoothing
from tfmviz.counting.words import words_of
from tfmviz.text.tokenizer import END
from tfmviz.ui import counting
from tfmviz.ui.counting import DELTAS, METHODS, PROMPTS
from tfmviz.ui.counting.table import _about

PAGE = "counting"
FAKE: Any = SimpleNamespace(spoken=lambda _: "x")
OWN = "The cat sat. The cat ran. The dog sat! A cat ran to the dog."


@cache
def lines() -> tuple[tuple[str, ...], ...]:
    """The sentences of the shipped text as words, with a mark at both ends."""
    text = shipped.read_corpus(shipped.NAMES[0])
    return tuple(("⟨s⟩", *(word.name for word in words_of(line)), "⟨s⟩") for line in text.split("\n"))


def followers(*context: str) -> Counter[str]:
    n = len(context)
    return Counter(
        line[i + n] for line in lines() for i in range(len(line) - n) if line[i : i + n] == context and line[i + n :]
    )


def test_the_counts_are_those_of_a_counter() -> None:
    for text, n, context in (
        ("Today the price of", 3, ("price", "of")),
        ("the students opened their", 2, ("their",)),
        ("I went home. He was", 4, ("⟨s⟩", "he", "was")),
        ("She said, “I don’t know.”", 3, ("don't", "know")),
    ):
        shown, counter = sent(open_page(PAGE, text=text, n=str(n)), "counts"), followers(*context)
        total = sum(counter.values())
        assert f"h = “{' '.join(context)}”" in shown["caption"]
        for name, count, of, fraction in shown["rows"]:
            assert count == f"{counter['⟨s⟩' if name.startswith('⟨s⟩') else name]:,}"
            assert of == f"{total:,}"
            assert fraction.startswith(f"{count}/{of} = ")
        counts = [number(row[1]) for row in shown["rows"]]
        assert counts == sorted(counter.values(), reverse=True)[: len(counts)] != []
        assert shown["shares"] == pytest.approx([count / total for count in counts])  # a whole bar is certainty


def test_a_click_on_a_row_shows_its_sentences_and_goes_into_the_address() -> None:
    shown = sent(open_page(PAGE, text="the price of", counted="his"), "counts")
    assert shown["rows"][shown["picked"]][0] == "his"
    assert len(shown["sentences"]) == min(followers("price", "of")["his"], 6) > 0
    for count, said in ((0, "never occurs in the text."), (1, "occurs once:"), (6, "occurs 6 times:")):
        assert _about(FAKE, (), 0, count) == f"“x” {said}"
    assert _about(FAKE, (), 0, 7) == "“x” occurs 7 times; these are the first 6:"
    for before, marked, after in shown["sentences"]:
        assert marked.lower() == "price of his"
        assert f"{before}{marked}{after}".strip("…") in shipped.read_corpus(shipped.NAMES[0])
    for hostile in ("", "zyx", "9", "<b>", "⟨unknown⟩"):
        assert sent(open_page(PAGE, text="the price of", counted=hostile), "counts")["picked"] == 0, hostile


def test_a_text_of_ones_own_is_counted() -> None:
    app = open_page(PAGE, text="the cat", source="yours", own=OWN, n="3")
    assert sent(app, "counts")["rows"] == [["sat", "1", "2", "1/2 = 50%"], ["ran", "1", "2", "1/2 = 50%"]]
    assert sent(app, "counts")["sentences"] == [["", "The cat sat", "."]]
    blank = open_page(PAGE, text="the cat", source="yours", own="  ", n="3")
    assert "has no word yet" in words(blank)
    assert sent(blank, "counts") == sent(open_page(PAGE, text="the cat", n="3"), "counts")
    own = {"text": "the", "source": "yours", "own": "the cat sat.", "n": "1"}
    alone = sent(open_page(PAGE, **own), "counts")
    assert [cells[3] for cells in alone["rows"]] == ["1/5 = 20%"] * 5
    assert alone["caption"].startswith("h is empty.")
    assert "1 sentence, 4 tokens, 4 different" in captions(open_page(PAGE, counted_in="The text", **own))


def test_smoothing_fills_the_gaps() -> None:
    """After a context that never occurs, counting has nothing to say, and every smoothing something."""
    bare, counter = open_page(PAGE, text=PROMPTS[0]), followers("their")
    for name, *numbers in sent(bare, "counts")["rows"]:
        assert counter[name] >= sorted(counter.values())[-8]
        assert numbers == ["0", "0", "0/0"]
    assert "“opened their” never occurs, so every fraction is 0/0" in words(bare)
    for smoothing in METHODS[1:]:
        app = open_page(PAGE, text=PROMPTS[0], smoothing=smoothing)
        assert sent(app, "counts")["rows"], smoothing
        assert sent(app, "counts")["columns"][-1] == f"P, {smoothing}"
    n_words = len({word for line in lines() for word in line} | {"⟨unknown⟩"})
    assert f"V = {n_words:,}" in captions(open_page(PAGE, text="the price of", smoothing="add-δ", delta="1.0"))


def test_the_address_carries_every_choice() -> None:
    app = open_page(PAGE, n="5", smoothing="add-δ", delta="0.003", source="yours", own=OWN)
    chosen = (
        app.button_group[0],
        app.selectbox(key="smoothing"),
        app.select_slider(key="delta"),
        app.text_area(key="own"),
    )
    assert [box.value for box in chosen] == [5, "add-δ", 0.003, OWN]
    app = open_page(PAGE, smoothing="interpolation", **{"lambda": "0.25"}, counted_in="Write with it", draw_seed="17")
    assert (app.slider(key="lambda").value, app.number_input(key="draw_seed").value) == (0.25, 17)
    far = open_page(PAGE, text="word", source="yours", own="word " * 3000, n="2")
    assert sent(far, "counts")["rows"], "far too long a text still opens"


def test_hostile_values_are_corrected() -> None:
    hostile = {"n": "99", "smoothing": "<b>", "delta": "-1", "lambda": "1e999", "source": "../etc", "draw_seed": "1e9"}
    plain, app = (open_page(PAGE, counted_in="Write with it", **address) for address in ({}, hostile | {"drawn": "-7"}))
    for key in ("counts", "steps_written"):
        assert sent(app, key) == sent(plain, key)
    assert sent(open_page(PAGE, counted_in="Write with it", drawn="999"), "steps_written")["picked"] == 24
    for value in ("9", "nan", "0.7"):
        assert open_page(PAGE, smoothing="add-δ", delta=value).select_slider(key="delta").value in DELTAS


def test_what_is_written_begins_with_the_typed_words_and_every_step_is_among_its_bars() -> None:
    here = {"text": "today the", "n": "2", "counted_in": "Write with it"}
    app = open_page(PAGE, **here, draw_seed="3", drawn="1")
    steps, text = sent(app, "steps_written"), app.code[0].value
    first, second = steps["rows"][:2]
    assert text.startswith(f"today the {first[0]}")
    assert steps["picked"] == 1
    assert f"Word 2, “{second[0]}”, was drawn from" in words(app).replace("\\", "")
    assert (first[1], second[1]) == ("the", first[0])
    counter, bars = followers(first[0]), sent(app, "drawn_from")
    for name, p, _ in bars:
        word = name.removeprefix("→ ").removesuffix(" (end)")
        assert p == pytest.approx(counter[word] / sum(counter.values()))
    assert [name for name, _, _ in bars if name.startswith("→")] == [f"→ {second[0]}"]
    press(app, "Write another")
    assert app.number_input(key="draw_seed").value == 4
    assert app.code[0].value != text
    for place in map(str, range(12)):
        app = open_page(PAGE, text="today the", n="1", counted_in="Write with it", draw_seed="4", drawn=place)
        labels = [row[0] for row in sent(app, "drawn_from")]
        assert (len(labels), sum(label.startswith("→") for label in labels)) == (10, 1), place


def test_the_factors_of_the_transformer_are_those_of_an_independent_forward_pass() -> None:
    text = "The students didn't open their notebooks."
    app = open_page(PAGE, text=text, smoothing="Kneser–Ney")
    ids = (END, *ids_of(text))
    total = losses(numpy_model.forward(zoo.MODELS / "tiny-english", ids).logits, ids).sum()
    drawn, said = series(charts(app)["chain"], "value", by="series"), words(app)
    assert drawn["tiny-english"].sum() == pytest.approx(total, rel=1e-4)
    assert f"({total:.1f} nats)** by tiny-english" in said
    rows = sent(app, "factors")["rows"]
    assert [row[0] for row in rows] == ["The", "students", "didn't", "open", "their", "notebooks", "."]
    assert sum(int(row[3]) for row in rows) == len(ids) - 1
    for n, about in ((30, ""), (31, "The first 30 of 31 factors.")):
        assert sent(open_page(PAGE, text="the " * n, smoothing="Kneser–Ney"), "factors")["about"] == about
    counted = float(said.split(" nats)** by counting")[0].split("(")[-1])
    assert drawn["3-gram"].sum() == pytest.approx(counted, abs=0.06)


def test_an_impossible_sentence_is_called_that() -> None:
    for n, said in (
        ("3", "**undefined, because a factor is 0/0** by counting"),
        ("1", "**0, because a factor is 0** by counting"),
    ):
        app = open_page(PAGE, text="The animal zyxes.", n=n)
        assert said in words(app)
        assert "NaN" not in json.dumps(charts(app))


def test_the_charts_hold_what_was_counted_of_the_apps_own_text() -> None:
    app, own = (open_page(PAGE, counted_in="Never seen", **one) for one in ({}, {"source": "yours", "own": OWN}))
    sizes = series(charts(app)["table_size"])["rows of the table"]
    for n in (1, 2, 3):
        assert sizes[n - 1] == len({line[i : i + n] for line in lines() for i in range(len(line) - n + 1)})
    assert "These charts use the app's own text" in words(own)
    for one in (app, own):
        unseen = series(charts(one)["never_seen"])["never seen"]
        np.testing.assert_allclose(unseen, counting.measured().never_seen())


def test_the_best_delta_is_the_lowest_point_of_its_line() -> None:
    app = open_page(PAGE, counted_in="Never seen", smoothing="add-δ", delta="0.01")
    by_delta, by_n = (series(charts(app)[f"perplexity_{x}"]) for x in ("delta", "n"))
    for n in range(1, 6):
        line = by_delta[f"n = {n}"]
        assert f"n = {n}, δ = {DELTAS[int(line.argmin())]:g}: {line.min():,.0f}" in alt(app, "perplexity_delta")
        assert line[DELTAS.index(0.01)] == by_n["add-δ, δ = 0.01"][n - 1]
    assert (by_n["Kneser–Ney"] < by_n["add-δ, δ = 0.01"]).all()
    assert "it is infinite" in words(open_page(PAGE, counted_in="Never seen"))
    for method in ("none", "back-off"):
        assert np.isinf(counting.measured().perplexity(Smoothing(method))).all()


def test_a_text_with_words_that_were_never_counted_gets_a_sentence_and_long_words_are_shortened() -> None:
    for text, said in (
        ("zyxwv", "The text does not contain “zyxwv”"),
        ("老王 批评 老李", "character counts as one word"),
        ("qa qb qc qd qe qf qg", "“qe” and 2 more, so the model"),
        ("😀", "The text does not contain “😀”"),
        ("\u200b", "The text does not contain"),
        ("a" * 4999, "The text does not contain “aaaaaaaaaaa…aaaa”"),
    ):
        app = open_page(PAGE, text=text)
        assert not [*app.error, *app.warning], text[:9]
        assert said in words(app), text[:9]
        assert sent(app, "counts")["rows"], text[:9]
    own = {"text": "<img src=x>", "source": "yours", "own": "<img src=x> <b>**bold**</b> $x$", "n": "2"}
    assert sent(open_page(PAGE, **own), "counts")["sentences"] == [["<img src=x", "> <", "b>**bold**</b> $x$"]]
    for text, is_one in (("나 는 학생", False), ("わたし", True), ("我", True), ("a ・ ー", False)):
        assert ("counts as one word" in words(open_page(PAGE, text=text))) is is_one, text
    here = {"text": f"see {'a' * 4900}", "source": "yours", "own": f"See {'a' * 4900} there. " * 2, "n": "2"}
    app = open_page(PAGE, **here)
    assert max(len(json.dumps(sent(app, "counts"))), len(words(app))) < 3_000
    assert len(open_page(PAGE, **here, counted_in="Write with it").code[0].value) < 1_000
