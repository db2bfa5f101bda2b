"""The engine computes what PyTorch computes, at every site, with and without edits."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.cases import each
from tests.engine import MODELS, Engine
from tests.engine.parity import check_model, difference, same_order
from tests.engine.random_models import CASES, Case, check_case
from tests.node import call
from tests.views.test_records import plain
from tfmviz.record.trace import NotCaptured
from tfmviz.views.engine import KNOWN
from tfmviz.words.labels import visible
from tfmviz.zoo import load


@each("name", KNOWN)
def test_a_shipped_model_leaves_the_same_record(engine: Engine, name: str) -> None:
    check_model(engine, name, 4)


@each("case", CASES[::11])
def test_a_random_model_leaves_the_same_record(engine: Engine, tmp_path: Path, case: Case) -> None:
    shutil.copy(MODELS / "induction" / "tokenizer.json", tmp_path)
    check_case(engine, tmp_path, case)


def test_what_is_asked_for_is_kept_and_nothing_else(engine: Engine) -> None:
    engine.load("twins-rope", MODELS / "twins-rope")
    model, wanted = load("twins-rope"), ("*.1.*.pattern", "decoder.norm")
    _, arrays = engine.trace("twins-rope", "The cat sat.", sites=wanted)
    trace = model.trace("The cat sat.", sites=wanted)
    assert set(arrays) == set(trace.sites) == {"decoder.1.self_attn.pattern", "decoder.norm"}
    for site in trace:
        difference(site, arrays[site], trace[site])


@each("site", ["decoder.9.mlp.out", "decoder.1.cross_attn.*", "nothing"])
def test_a_site_that_is_not_there_is_refused_in_the_same_words(engine: Engine, site: str) -> None:
    engine.load("twins-none", MODELS / "twins-none")
    there = load("twins-none").trace("The cat sat.").sites
    with pytest.raises(ValueError, match="No site named") as ours:
        engine.trace("twins-none", "The cat sat.", sites=(site,))
    assert str(ours.value) == str(NotCaptured(site, there))


@each("name", ["twins-postnorm", "fill-in"])
def test_the_next_word_is_read_off_any_position(engine: Engine, name: str) -> None:
    engine.load(name, MODELS / name)
    model, text = load(name), "The cat ___ on the mat."
    logits = model.trace(text)["logits"]
    engine.trace(name, text, sites=["*.pattern"])
    for position, row in [(0, 0), (3, 3), (None, -1)]:
        answer = engine.ask("next", name=name, position=position)
        difference("logits", np.array(answer["logits"]), logits[row])
        assert sum(answer["probabilities"]) == pytest.approx(1, abs=1e-5)
        same_order(np.array([answer["probabilities"]]) * 1e3, logits[row : row + 1 or None])


def test_the_explorer_reads_what_the_engine_leaves_behind(engine: Engine) -> None:
    engine.load("twins-gqa", MODELS / "twins-gqa")
    text = "The cat sat on the mat, ___ 😀."
    facts, arrays = engine.trace("twins-gqa", text, sites=["*.pattern", "*.mask"])
    shown = """(() => {
        const attention = new module.Attention(given);
        const layers = attention.kinds[0].layers.map(({ name }) => name);
        const weights = layers.map((_, l) => [0, 1, 2, 3].map((h) => [...attention.matrix(0, l, h).weights]));
        return [attention.kinds.length, layers, weights, [...attention.mask(0, 3).allowed], attention.keys(0)];
    })()"""
    trace = load("twins-gqa").trace(text)
    kinds, layers, weights, mask, keys = call("explorer/payload.ts", shown, plain(arrays, **facts))
    assert kinds == 1
    assert tuple(layers) == trace.layers
    for layer, ours in zip(layers, weights, strict=True):
        difference("pattern", np.array(ours), trace[f"{layer}.pattern"].reshape(4, -1))
    assert np.array_equal(np.array(mask, dtype=bool), trace["decoder.3.self_attn.mask"].ravel())
    assert keys["tokens"] == list(trace.tokens)
    assert keys["labels"] == [visible(token) for token in trace.tokens]


def test_the_comparison_sees_a_wrong_site_and_a_wrong_order() -> None:
    right = np.array([[3.0, 2.0, 1.0]])
    difference("x", right + 2e-4, right)
    same_order(right[:, [0, 1, 2]] + np.array([[0, 5e-4, 0]]), right)
    with pytest.raises(AssertionError):
        difference("x", right + 4e-4, right)
    with pytest.raises(AssertionError):
        same_order(right[:, [1, 0, 2]], right)
