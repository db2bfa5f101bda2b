"""Sentences beside live numbers follow from them, on every text: none says of equal numbers that they differ."""

import json
import re

import numpy as np

from tests.app import charts, matrices, open_page, words
from tfmviz import load
from tfmviz.analysis.mask_effect import next_token_losses
from tfmviz.paths import PROJECT
from tfmviz.ui.recipe import optimiser
from tfmviz.words.labels import of_queries
from tfmviz.words.numbers import decimal

TEXTS = ("Je suis étudiant.", "Le chat dort", "x")


def test_what_is_said_of_a_second_time_follows_from_this_text() -> None:
    """“More probable the second time” stood beside every text; for twins-window it was false of many."""
    ways = set()
    for name, text in (
        ("twins-window", "The animal didn't cross the street because it"),
        ("twins-window", "A b c d. " * 40),
        ("twins-t5", "The animal didn't cross the street because it was too tired."),
        ("tiny-english", "Once upon a time"),
    ):
        model = load(name)
        app = open_page("writing", behind="Repetition", model=name, text=text)
        assert not any("only the last 1 " in note.value for note in app.info)
        ids = model.encode(text).ids[-(model.config.max_len // 2) :]
        losses = next_token_losses(model.trace((*ids, *ids), sites=("logits",))["logits"], (*ids, *ids))
        first, second = (round(float(part.mean()), 2) for part in (losses[: len(ids) - 1], losses[len(ids) :]))
        assert f"**{decimal(first)}** nats per token the first time, **{decimal(second)}** the second" in words(app)
        ways.add("more probable than" if second < first else "less probable than")
        assert f"once is {'more' if second < first else 'less'} probable than before" in words(app), (name, text)
    assert len(ways) == 2


def test_the_row_that_explains_a_row_is_one_of_this_answer() -> None:
    """It was “a → student” for every sentence."""
    for text in TEXTS:
        trace = load("french-english").trace(text)
        named = re.findall(r"“(\S+ → \S+)”", words(open_page("explorer", model="french-english", text=text)))
        assert named, text
        assert {row.replace("\\", "") for row in named} <= set(of_queries(trace, "decoder.0.cross_attn")), text


def test_a_share_is_said_to_be_negative_where_one_is() -> None:
    """“A share may be negative (the least is 0.063)”."""
    signs, twins = set(), {"experiment": "Decision card", "left": "none", "right": "rope"}
    for text in ("The cat sat on the mat.", " ".join("abcdefghijklmnopqrstuvwxyz")):
        said = words(open_page("positions_compare", **twins, text=text))
        found = re.search(r"here (some are|none is) \(the least is ([−\d.]+)\)", said)
        assert found, said
        assert (found[1] == "some are") == found[2].startswith("−"), text
        signs.add(found[1])
    assert len(signs) == 2


def test_no_sentence_leads_from_a_number_to_the_same_number() -> None:
    """“Predicted with σ = 1.1, which becomes 1.1.” and “Its share goes from 89% to 89%.”"""
    pattern = r"σ = ([\d.]+), which becomes ([\d.]+)\.(?!\d)|share goes from (\S+%) to (\S+%)"
    kinds = set()
    for taken in ("q1", "q4", "q9", "k1", "k9", "k10"):
        for found in re.finditer(pattern, words(open_page("why", why="Test it", taken=taken))):
            before, after = (part for part in found.groups() if part)
            assert before != after, (taken, found[0])
            kinds.add(found[0][0])
    assert kinds == {"σ", "s"}, "both sentences are asked"


def test_what_changes_most_is_not_said_to_change_where_both_runs_agree() -> None:
    """“4.1% with them, 4.1% without”."""
    kinds, text = set(), "The cat sat on the mat, and the dog"
    for neuron in range(0, 400, 40):
        address = {"layer_part": "Neurons", "layer": "2", "token": "4", "neuron": str(neuron)}
        said = words(open_page("feed_forward", text=text, **address))
        found = re.search(r"\*\*(\S+%)\*\* with them, \*\*(\S+%)\*\* without", said)
        assert found is None or found[1] != found[2], neuron
        assert found or "hardly changes" in said, said
        kinds.add(found is None)
    assert True in kinds


def test_the_part_that_is_missed_most_is_not_named_twice() -> None:
    """“Grows most with 0.6 off; of the heads, with 0.6”."""
    heads_first = 0
    for text in ("The cat sat on the mat.", "Once upon a time", "I am happy", "He said that she"):
        app = open_page("switch_off", removed="Every part in turn", text=text, model="twins-attention-only")
        found = re.search(r"The loss grows most with [^.]*\.[^;]*;[^.]*(\.\d[^.]*)*\.", words(app))
        names = re.findall(r"\*\*(\d\.\d)\*\*", found[0]) if found else []
        assert len(set(names)) == len(names), found
        heads_first += bool(names)
        assert (np.nan_to_num(matrices(app)["damage_map"][0]) > 0).any()
    assert heads_first


def test_the_curves_of_warm_up_bear_the_losses_that_were_logged() -> None:
    words_at = charts(open_page("recipe", recipe="Warm-up"))["warm_up_runs"]["tables"]["words"]["word"]
    told = [word.replace("\n", " ") for word in words_at]
    for name, file in optimiser.RUNS.items():
        lines = (PROJECT / "assets" / "recipe" / f"{file}.jsonl").read_text(encoding="utf-8").splitlines()
        mean = np.mean([json.loads(line)["loss"] for line in lines][-optimiser.LAST :])
        assert f"{name} {decimal(float(mean))}" in told
