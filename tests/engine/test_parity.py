"""The engine computes what PyTorch computes, at every site, with and without edits."""

from __future__ import annotations

import json
import shutil
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.torch import save_file

from tests.engine import MODELS, Engine
from tests.engine.parity import check, difference, edits, same_order, texts
from tests.model.helpers import lively
from tests.node import call
from tests.views.test_records import plain
from tfmviz.model.config import ModelConfig
from tfmviz.model.transformer import build
from tfmviz.positions.schemes import SCHEMES
from tfmviz.record.trace import NotCaptured
from tfmviz.views.engine import KNOWN
from tfmviz.words.labels import visible
from tfmviz.zoo import load
from tfmviz.zoo.files import read_tokenizer
from tfmviz.zoo.model import ZooModel


def test_the_engine_says_which_shipped_models_it_knows() -> None:
    configs = {path.parent.name: json.loads(path.read_text()) for path in sorted(MODELS.glob("*/config.json"))}
    why = call("engine/known.js", "given.map((config) => module.whyUnknown(config))", list(configs.values()))
    assert [name for name, reason in zip(configs, why, strict=True) if reason == ""] == sorted(KNOWN)
    said = dict(zip(configs, why, strict=True))
    assert said["twins-linear"] == "The browser does not compute models with attention = linear."
    assert said["french-english"] == "The browser does not compute models with architecture = encoder-decoder."
    assert said["experts"] == "The browser does not compute models with n_experts = 4."


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("count", [4, pytest.param(200, marks=pytest.mark.soak)])
def test_a_shipped_model_leaves_the_same_record(engine: Engine, name: str, count: int) -> None:
    model = load(name)
    engine.load(name, MODELS / name)
    for n, text in enumerate(texts(model, count, seed=count)):
        check(engine, model, text)
        if n % 2:
            check(engine, model, text, edits(model.trace(text), seed=n))


NORMS: list[dict[str, Any]] = [
    {"norm_position": "post"},
    {"norm_position": "pre", "embedding_scale": "sqrt_d_model", "embeddings": "untied"},
]
ATTENTION: list[dict[str, Any]] = [
    {},
    {"n_kv_heads": 2},
    {"window": 5},
    {"n_kv_heads": 1, "score_divisor": 2.0, "norm_eps": 1e-3},
]
CASES = list(
    product(
        SCHEMES,
        ("decoder-only", "encoder-only"),
        NORMS,
        ("gelu", "relu", "none"),
        ATTENTION,
    )
)
"""Every scheme with everything else."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("random")
    shutil.copy(MODELS / "induction" / "tokenizer.json", made)
    return made


@pytest.mark.parametrize("every", [11, pytest.param(1, marks=pytest.mark.soak)])
def test_random_models_leave_the_same_record(engine: Engine, folder: Path, every: int) -> None:
    for n, (scheme, architecture, norms, feed_forward, attention) in list(enumerate(CASES))[::every]:
        if architecture == "encoder-only" and "window" in attention:
            continue
        kinds = {"architecture": architecture, "positions": scheme, "feed_forward": feed_forward}
        model = random_model(folder, seed=n, **kinds, **norms, **attention)
        engine.load(model.name, folder, model.config.to_dict())
        for length in (1, 2, 29):
            text = "AbcDefGhi jKl, mnO pqRs! tUvwXyz 0123 ?"[:length]
            check(engine, model, text)
            check(engine, model, text, edits(model.trace(text), seed=n))


def random_model(folder: Path, *, seed: int, **entries: Any) -> ZooModel:
    """A model with lively weights, whose file lies in a folder. Its sizes differ and are odd where that is possible."""
    sizes = {"vocab_size": 1024, "max_len": 31, "d_model": 26, "n_layers": 2, "n_heads": 6, "n_kv_heads": 6}
    config = ModelConfig(**sizes | {"d_ff": 37, "head_width": 10} | entries)
    module = lively(build(config), seed=seed).requires_grad_(False)
    save_file({name: value.contiguous() for name, value in module.state_dict().items()}, folder / "model.safetensors")
    return ZooModel(name="random", config=config, tokenizer=read_tokenizer(folder, config), module=module)


def test_what_is_asked_for_is_kept_and_nothing_else(engine: Engine) -> None:
    engine.load("twins-rope", MODELS / "twins-rope")
    model, wanted = load("twins-rope"), ("*.1.*.pattern", "decoder.norm")
    _, arrays = engine.trace("twins-rope", "The cat sat.", sites=wanted)
    trace = model.trace("The cat sat.", sites=wanted)
    assert set(arrays) == set(trace.sites) == {"decoder.1.self_attn.pattern", "decoder.norm"}
    for site in trace:
        difference(site, arrays[site], trace[site])


@pytest.mark.parametrize("site", ["decoder.9.mlp.out", "decoder.1.cross_attn.*", "nothing"])
def test_a_site_that_is_not_there_is_refused_in_the_same_words(engine: Engine, site: str) -> None:
    engine.load("twins-none", MODELS / "twins-none")
    there = load("twins-none").trace("The cat sat.").sites
    with pytest.raises(ValueError, match="No site named") as ours:
        engine.trace("twins-none", "The cat sat.", sites=(site,))
    assert str(ours.value) == str(NotCaptured(site, there))


@pytest.mark.parametrize("name", ["twins-postnorm", "fill-in"])
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
    kinds, layers, weights, mask, keys = call("explorer/payload.js", shown, plain(arrays, **facts))
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
