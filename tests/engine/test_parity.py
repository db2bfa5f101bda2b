"""The engine computes what PyTorch computes, and what the browser draws of its own record is what Python would send."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cases import each
from tests.engine import MODELS, Engine
from tests.engine.parity import CASES, Case, check_case, check_model, difference, random_model, same_order
from tests.node import call
from tests.traces import read_arrays
from tests.views.test_records import plain
from tfmviz.record.trace import Array, NotCaptured
from tfmviz.ui import whole_model_data
from tfmviz.views import steps, whole_model
from tfmviz.views.engine import KNOWN
from tfmviz.views.whole_model.scene import Zoom
from tfmviz.words.labels import visible
from tfmviz.zoo import load
from tfmviz.zoo.model import ZooModel


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
        const attention = module.attentionOf(given);
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


KINDS = (
    *("tiny-english", "fill-in", "twins-rope", "twins-postnorm", "twins-sinusoidal", "twins-alibi"),
    *("twins-gqa", "twins-attention-only", "twins-window", "chinese-none"),
)
"""Decoders and an encoder, norms before and after, positions that are added, turn or lower scores, shared keys."""

TEXTS = ("A", "The old dog ran", "It was a very 🙂 <b>long</b> day, and " * 4)


def layer_of(model: ZooModel, n: int) -> str:
    return [layer for layer in model.config.layers if layer.endswith("self_attn")][n]


def drawn(model: ZooModel, text: str, zoom: Zoom, layer: str, head: int) -> bytes:
    where, number = whole_model_data.place(zoom, layer, head)
    return whole_model.payload(whole_model_data.subject(model, model.trace(text)), zoom, where, number)


def without_arrays(blob: bytes) -> tuple[dict[str, Any], dict[str, Array]]:
    """What is said, without where arrays lie, and the arrays."""
    header, arrays = read_arrays(blob)
    del header["arrays"]
    return header, arrays


def assert_near(arrays: dict[str, Any], expected: dict[str, Array]) -> None:
    assert arrays.keys() == expected.keys()
    for name, array in expected.items():
        own = np.array(arrays[name], dtype=np.float64)
        assert own.size == array.size, name
        largest = np.abs(array).max(initial=0)
        np.testing.assert_allclose(own, array.ravel(), rtol=0, atol=1e-4 * max(float(largest), 1e-6), err_msg=name)


@each("name", KINDS)
def test_the_whole_model_of_another_sentence_is_what_python_would_send(engine: Engine, name: str) -> None:
    engine.load(name, MODELS / name)
    check_scenes(engine, load(name), TEXTS)


@each("case", CASES[5::29])
def test_so_it_is_with_other_norms_embeddings_and_odd_widths(engine: Engine, tmp_path: Path, case: Case) -> None:
    shutil.copy(MODELS / "induction" / "tokenizer.json", tmp_path)
    model = random_model(tmp_path, seed=3, d_ff=101, **case)  # not so many means of equally many neighbours
    engine.load(model.name, tmp_path, model.config.to_dict())
    check_scenes(engine, model, ("AbcDefGhi jKl, mnO",))


def check_scenes(engine: Engine, model: ZooModel, texts: Sequence[str]) -> None:
    layer, head = layer_of(model, 1), 1
    for zoom in whole_model_data.ZOOMS:
        other, _ = without_arrays(drawn(model, "Once upon a time", zoom, layer, head))
        for text in texts:
            header, arrays = without_arrays(drawn(model, text, zoom, layer, head))
            trace = model.trace(text)
            token = len(trace.target) // 2
            made = engine.ask("scene", name=model.name, text=text, drawn=other, token=token)
            assert made["header"] == header
            assert_near(made["arrays"], arrays)
            where = whole_model_data.place(zoom, layer, head)[0]
            says = whole_model_data.summary_text(model, whole_model_data.subject(model, trace), zoom, where, token)
            assert [made["says"].keys(), zoom == "head"] == [says.keys(), not says]
            for column, (word, p, rank) in says.items():
                assert [made["says"][column][0], made["says"][column][2]] == [word, rank]
                assert made["says"][column][1] == pytest.approx(p, abs=1e-4)


@each("name", KINDS)
def test_step_by_step_of_a_sentence_is_what_python_would_send(engine: Engine, name: str) -> None:
    engine.load(name, MODELS / name)
    model = load(name)
    layer, head = layer_of(model, -1), model.config.attention.n_heads - 1
    for text in TEXTS:
        trace = model.trace(text)
        positions = model.position_effects(layer.split(".")[0], len(trace.target))
        weights = model.weights.attention(layer)
        facts, arrays = without_arrays(steps.payload(trace, layer, head, weights, positions, title=name))
        made = engine.ask("head", name=name, text=text, shown={"title": name, "layer": layer, "head": head})
        assert made["facts"] == facts
        assert_near(made["arrays"], arrays)
