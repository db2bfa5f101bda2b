"""The page that counts words: its numbers against `collections.Counter`, its address, odd input."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.app import alt, charts, open_page, series, views, words
from tests.model import numpy_model
from tfmviz import zoo
from tfmviz.counting import shipped
from tfmviz.counting.smoothing import Smoothing
from tfmviz.counting.words import words_of
from tfmviz.text.tokenizer import END, Tokenizer
from tfmviz.ui.counting import choices
from tfmviz.ui.counting.choices import DELTAS, METHODS, PROMPTS

PAGE = "counting"

TABS = ("A whole sentence", "Write with it", "Never seen", "The text")

OWN = "The cat sat. The cat ran. The dog sat! A cat ran to the dog."


def table(app: AppTest, key: str = "counts") -> dict[str, Any]:
    return json.loads(views(app)[key].json)


@cache
def lines() -> tuple[tuple[str, ...], ...]:
    """The sentences of the shipped text as words, with a mark at both ends."""
    text = shipped.read(shipped.NAMES[0])
    return tuple(("⟨s⟩", *(word.name for word in words_of(line)), "⟨s⟩") for line in text.split("\n"))


def followers(*context: str) -> Counter[str]:
    """What follows a context in the shipped text."""
    n = len(context)
    return Counter(
        line[i + n] for line in lines() for i in range(len(line) - n) if line[i : i + n] == context and line[i + n :]
    )


@pytest.mark.parametrize(
    ("text", "n", "context"),
    [
        ("Today the price of", 3, ("price", "of")),
        ("today the", 3, ("today", "the")),
        ("today the", 2, ("the",)),
        ("the students opened their", 2, ("their",)),
        ("I went home. He was", 4, ("⟨s⟩", "he", "was")),
        ("She said, “I don’t know.”", 3, ("don't", "know")),
    ],
)
def test_the_counts_are_those_of_a_counter(text: str, n: int, context: tuple[str, ...]) -> None:
    shown = table(open_page(PAGE, text=text, n=str(n)))
    counter = followers(*context)
    total = sum(counter.values())
    assert f"h = “{' '.join(context)}”" in shown["caption"]
    assert shown["rows"]
    for name, count, of, fraction in shown["rows"]:
        assert count == f"{counter['⟨s⟩' if name.startswith('⟨s⟩') else name]:,}"
        assert of == f"{total:,}"
        assert fraction.startswith(f"{count}/{of} = ")
    counts = [int(row[1].replace(",", "")) for row in shown["rows"]]
    assert counts == sorted(counter.values(), reverse=True)[: len(counts)]
    assert shown["shares"] == pytest.approx([count / total for count in counts])  # a whole bar is certainty


def test_a_click_on_a_row_shows_its_sentences_and_goes_into_the_address() -> None:
    app = open_page(PAGE, text="the price of", counted="his")
    shown = table(app)
    assert shown["rows"][shown["picked"]][0] == "his"
    count = followers("price", "of")["his"]
    assert len(shown["sentences"]) == min(count, 6) > 0
    for before, marked, after in shown["sentences"]:
        assert marked.lower() == "price of his"
        assert f"{before}{marked}{after}".strip("…") in shipped.read(shipped.NAMES[0])
    for hostile in ("", "zyx", "9", "<b>", "⟨unknown⟩"):
        assert table(open_page(PAGE, text="the price of", counted=hostile))["picked"] == 0


def test_a_text_of_ones_own_is_counted() -> None:
    app = open_page(PAGE, text="the cat", source="yours", own=OWN, n="3")
    shown = table(app)
    assert shown["rows"] == [["sat", "1", "2", "1/2 = 50%"], ["ran", "1", "2", "1/2 = 50%"]]
    assert shown["sentences"] == [["", "The cat sat", "."]]
    blank = open_page(PAGE, text="the cat", source="yours", own="  ", n="3")
    assert "holds no word yet" in words(blank)
    assert table(blank) == table(open_page(PAGE, text="the cat", n="3"))


def test_the_mark_before_a_text_is_neither_predicted_nor_one_of_its_words() -> None:
    own = {"source": "yours", "own": "the cat sat.", "n": "1"}
    rows = {row[0]: row for row in table(open_page(PAGE, text="the", **own))["rows"]}
    assert len(rows) == 5
    assert {cells[3] for cells in rows.values()} == {"1/5 = 20%"}
    said = words(open_page(PAGE, text="the", counted_in="The text", **own))
    assert "1 sentence, 4 tokens, 4 different" in said


@pytest.mark.parametrize(("text", "said"), [("나 는 학생", False), ("わたし", True), ("我", True), ("a ・ ー", False)])
def test_only_a_sign_that_is_a_word_of_its_own_is_said_to_be_one(text: str, said: bool) -> None:
    assert ("counts as one word" in words(open_page(PAGE, text=text))) is said


def test_one_is_not_written_as_several() -> None:
    own = {"source": "yours", "own": "cat"}
    assert "1 sentence, 1 token, 1 different" in words(open_page(PAGE, text="cat", counted_in="The text", **own))
    assert "The only factor, with smoothing" in words(open_page(PAGE, text="cat", counted_in=TABS[0]))
    assert "All other words together get nothing" in table(open_page(PAGE, text="cat", n="1", **own))["caption"]
    assert "on the one before it" in words(open_page(PAGE, text="cat", n="2", counted_in=TABS[1]))
    assert "on the 2 before it" in words(open_page(PAGE, text="cat", n="3", counted_in=TABS[1]))


def test_the_drawn_word_is_among_the_bars_however_improbable_it_is() -> None:
    for place in map(str, range(12)):
        app = open_page(PAGE, text="today the", n="1", counted_in="Write with it", draw_seed="4", drawn=place)
        labels = [row[0] for row in json.loads(views(app)["drawn_from"].json)]
        assert len(labels) == 10
        assert sum(label.startswith("→") for label in labels) == 1


@pytest.mark.parametrize("smoothing", METHODS[1:])
def test_smoothing_fills_the_gaps(smoothing: str) -> None:
    """After a context that never occurs, counting has nothing to say, and every smoothing something."""
    prompt = PROMPTS[0]
    bare = open_page(PAGE, text=prompt)
    counter = followers("their")
    for name, *numbers in table(bare)["rows"]:
        assert counter[name] >= sorted(counter.values())[-8]
        assert numbers == ["0", "0", "0/0"]
    assert "“opened their” never occurs, so every fraction is 0/0" in words(bare)
    shown = table(open_page(PAGE, text=prompt, smoothing=smoothing))
    assert shown["rows"]
    assert shown["columns"][-1] == f"P, {smoothing}"


def test_add_delta_is_its_formula_on_the_page() -> None:
    counter = followers("price", "of")
    vocabulary = {word for line in lines() for word in line} | {"⟨unknown⟩"}
    app = open_page(PAGE, text="the price of", smoothing="add-δ", delta="1.0")
    for name, count, _, _, p in table(app)["rows"]:
        expected = (counter[name] + 1) / (sum(counter.values()) + len(vocabulary))
        assert int(count) == counter[name.removesuffix(" (end)")]
        mantissa, power = p.split("·10⁻")
        assert float(mantissa) == pytest.approx(expected * 10 ** "⁰¹²³⁴⁵⁶⁷⁸⁹".index(power), abs=0.051)
    assert f"V = {len(vocabulary):,}" in "".join(caption.value for caption in app.caption)


def test_the_address_carries_every_choice() -> None:
    app = open_page(PAGE, n="5", smoothing="add-δ", delta="0.003", source="yours", own=OWN)
    assert app.button_group[0].value == 5
    assert app.selectbox(key="smoothing").value == "add-δ"
    assert app.select_slider(key="delta").value == 0.003
    assert app.text_area(key="own").value == OWN
    app = open_page(PAGE, smoothing="interpolation", **{"lambda": "0.25"}, counted_in="Write with it", draw_seed="17")
    assert app.slider(key="lambda").value == 0.25
    assert app.number_input(key="draw_seed").value == 17


def test_hostile_values_are_corrected() -> None:
    hostile = {"n": "99", "smoothing": "<b>", "delta": "-1", "lambda": "1e999", "source": "../etc", "draw_seed": "1e9"}
    plain = open_page(PAGE, counted_in="Write with it")
    app = open_page(PAGE, counted_in="Write with it", drawn="-7", **hostile)
    assert table(app) == table(plain)
    assert table(app, "steps_written") == table(plain, "steps_written")
    assert table(open_page(PAGE, counted_in="Write with it", drawn="999"), "steps_written")["picked"] == 24
    for value in ("9", "nan", "0.7"):
        app = open_page(PAGE, smoothing="add-δ", delta=value)
        assert app.select_slider(key="delta").value in DELTAS


def test_what_is_written_begins_with_the_typed_words_and_every_step_is_its_bar() -> None:
    app = open_page(PAGE, text="today the", n="2", counted_in="Write with it", draw_seed="3", drawn="1")
    steps = table(app, "steps_written")
    text = app.code[0].value
    assert text.startswith(f"today the {steps['rows'][0][0]}")
    assert steps["picked"] == 1
    first, second = steps["rows"][:2]
    assert (first[1], second[1]) == ("the", first[0])
    counter = followers(first[0])
    bars = json.loads(views(app)["drawn_from"].json)
    for name, p, _ in bars:
        word = name.removeprefix("→ ").removesuffix(" (end)")
        assert p == pytest.approx(counter[word] / sum(counter.values()))
    assert [name for name, _, _ in bars if name.startswith("→")] == [f"→ {second[0]}"]
    other = open_page(PAGE, text="today the", n="2", counted_in="Write with it", draw_seed="4")
    assert other.code[0].value != text


def test_the_factors_of_the_transformer_are_those_of_an_independent_forward_pass() -> None:
    text = "The students didn't open their notebooks."
    app = open_page(PAGE, text=text, smoothing="Kneser–Ney")
    ids = (END, *Tokenizer.load(zoo.MODELS / "tiny-english" / "tokenizer.json").encode(text, max_len=256).ids)
    _, _, logits = numpy_model.forward(zoo.MODELS / "tiny-english", ids)
    logs = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
    total = -sum(float(logs[i - 1, ids[i]]) for i in range(1, len(ids)))
    drawn = series(charts(app)["chain"], "value", by="series")
    assert drawn["tiny-english"].sum() == pytest.approx(total, rel=1e-4)
    assert f"({total:.1f} nats)** by tiny-english" in words(app)
    rows = table(app, "factors")["rows"]
    assert [row[0] for row in rows] == ["The", "students", "didn't", "open", "their", "notebooks", "."]
    assert sum(int(row[3]) for row in rows) == len(ids) - 1
    assert drawn["3-gram"].sum() == pytest.approx(
        float(words(app).split(" nats)** by counting")[0].split("(")[-1]), abs=0.06
    )


def test_an_impossible_sentence_is_called_that() -> None:
    app = open_page(PAGE, text="The animal zyxes.")
    assert "**undefined: one factor is 0/0** by counting" in words(app)
    assert "NaN" not in json.dumps(charts(app))
    app = open_page(PAGE, text="The animal zyxes.", n="1")
    assert "**0: one factor is 0** by counting" in words(app)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ("The animal", "Both are the same."),
        ("The animal eats", "One goes on where the other ends."),
        ("The", "One goes on where the other ends."),
        ("The woman", "They part at word 2: “animal” and “woman”."),
    ],
)
def test_two_sentences_are_said_to_part_where_they_do(other: str, said: str) -> None:
    assert said in words(open_page(PAGE, text="The animal", b=other, **{"with": "another sentence"}))


def test_the_charts_hold_what_a_set_of_n_grams_says() -> None:
    app = open_page(PAGE, counted_in="Never seen")
    for n in (1, 2, 3):
        grams = {line[i : i + n] for line in lines() for i in range(len(line) - n + 1)}
        held = [
            ("⟨s⟩", *(word.name for word in words_of(line)), "⟨s⟩")
            for line in shipped.read(shipped.NAMES[1]).split("\n")
        ]
        found = [line[i : i + n] for line in held for i in range(1 if n == 1 else 0, len(line) - n + 1)]
        drawn = charts(app)
        assert series(drawn["table_size"])["rows of the table"][n - 1] == len(grams)
        expected = np.mean([gram not in grams for gram in found])
        assert series(drawn["never_seen"])["never seen"][n - 1] == pytest.approx(expected)
    own = open_page(PAGE, counted_in="Never seen", source="yours", own=OWN)
    assert "These charts measure the app's own text" in words(own)
    np.testing.assert_array_equal(
        series(charts(own)["never_seen"])["never seen"], series(charts(app)["never_seen"])["never seen"]
    )


def test_the_best_delta_is_the_lowest_point_of_its_line() -> None:
    app = open_page(PAGE, counted_in="Never seen", smoothing="add-δ", delta="0.01")
    by_delta, by_n = (series(charts(app)[f"perplexity_{x}"]) for x in ("delta", "n"))
    for n in range(1, 6):
        best = DELTAS[int(by_delta[f"n = {n}"].argmin())]
        assert f"n = {n}: δ = {best:g}, {by_delta[f'n = {n}'].min():,.0f}" in alt(app, "perplexity_delta")
        assert by_delta[f"n = {n}"][DELTAS.index(0.01)] == by_n["add-δ, δ = 0.01"][n - 1]
    assert (by_n["Kneser–Ney"] < by_n["add-δ, δ = 0.01"]).all()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("zyxwv", "The text lacks “zyxwv”"),
        ("老王 批评 老李", "sign counts as one word"),
        ("😀", "The text lacks “😀”"),
        ("<img src=x onerror=alert(1)> $x$ **b**", "The text lacks"),
        ("...", ""),
        ("\u200b", "The text lacks"),
        ("word " * 1000, ""),
        ("a" * 4999, "The text lacks “aaaaaaaaaaa…aaaa”"),
    ],
)
def test_every_text_gets_a_sentence_and_no_tab_breaks(text: str, said: str) -> None:
    for tab in TABS:
        for smoothing in ("none", "Kneser–Ney"):
            app = open_page(PAGE, text=text, counted_in=tab, smoothing=smoothing)
            assert not app.error
            assert not app.warning
            assert said in words(app)
            assert "nan" not in words(app).lower().split()
            assert table(app)["rows"]
            assert "NaN" not in json.dumps(table(app))


def test_a_word_of_thousands_of_letters_is_shortened_wherever_it_stands() -> None:
    long = "a" * 4_900
    app = open_page(PAGE, text=f"see {long}", source="yours", own=f"See {long} there. See {long} now.", n="2")
    assert len(json.dumps(table(app))) < 3_000
    assert len(words(app)) < 3_000
    app = open_page(PAGE, text=f"see {long}", source="yours", own=f"See {long}.", n="2", counted_in="Write with it")
    assert len(app.code[0].value) < 1_000


def test_markup_reaches_the_browser_as_text_only() -> None:
    app = open_page(PAGE, text="<img src=x>", source="yours", own="<img src=x> <b>**bold**</b> $x$", n="2")
    assert "<img" not in words(app)
    assert "<b>" not in words(app)
    assert table(app)["rows"] == [[sign, "1", "3", "1/3 = 33%"] for sign in "<*$"]
    assert table(app)["sentences"] == [["<img src=x", "> <", "b>**bold**</b> $x$"]]


def test_without_smoothing_and_with_back_off_the_perplexity_is_infinite_as_the_page_says() -> None:
    assert "it is infinite" in words(open_page(PAGE, counted_in="Never seen"))
    for method in ("none", "back-off"):
        assert np.isinf(choices.measured().perplexity(Smoothing(method))).all()


def test_an_address_with_far_too_long_a_text_of_ones_own_still_opens() -> None:
    shown = table(open_page(PAGE, text="word", source="yours", own="word " * 3000, n="2"))
    assert shown["rows"]
