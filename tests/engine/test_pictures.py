"""What the browser draws of its own record is what Python sends of the same sentence."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cases import each
from tests.engine import MODELS, Engine
from tests.engine.random_models import CASES, Case, random_model
from tests.traces import read_arrays
from tfmviz.record.trace import Array
from tfmviz.ui import whole_model_data
from tfmviz.views import steps, whole_model
from tfmviz.views.whole_model.scene import Zoom
from tfmviz.zoo import load
from tfmviz.zoo.model import ZooModel

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
