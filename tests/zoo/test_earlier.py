"""Models from before the transformer have a list of their own: no page that needs heads may meet one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.cases import each
from tests.zoo.models import MAX_LEN, TEXT, VOCAB_SIZE
from tfmviz import zoo
from tfmviz.counting import pruned
from tfmviz.model.build import build
from tfmviz.model.earlier import EarlierConfig, RecurrentConfig, StateSpaceConfig, WindowConfig
from tfmviz.places import PROJECT
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.training.export import export

CONFIGS: dict[str, EarlierConfig] = {
    "a-window": WindowConfig(vocab_size=VOCAB_SIZE, max_len=MAX_LEN, n_window=3, d_model=5, d_hidden=7),
    "rnn": RecurrentConfig(vocab_size=VOCAB_SIZE, max_len=MAX_LEN, d_model=11, n_layers=2),
    "ssm": StateSpaceConfig(vocab_size=VOCAB_SIZE, max_len=MAX_LEN, d_model=11, n_state=3, d_ff=13, n_layers=2),
}


@pytest.fixture
def mixed(folder: Path) -> Path:
    """Transformers and earlier models in one folder, as training leaves them."""
    tokenizer = Tokenizer.load(folder / "decoder-only" / "tokenizer.json")
    for name, config in CONFIGS.items():
        torch.manual_seed(0)
        export(folder / name, build(config), tokenizer, card=f"# {name}\n")
    return folder


def test_each_kind_has_a_list_of_its_own(mixed: Path) -> None:
    assert zoo.earlier(mixed) == ("a-window", "rnn", "ssm")
    assert zoo.available(mixed) == ("decoder-only", "encoder-decoder", "encoder-only")
    assert all(entry.config is not None for entry in zoo.catalogue(mixed))
    with pytest.raises(zoo.ModelUnavailable, match="no model named 'rnn'"):
        zoo.load("rnn", folder=mixed)
    with pytest.raises(zoo.ModelUnavailable, match=r"no model named 'decoder-only'\. There are: a-window, rnn, ssm"):
        zoo.load("decoder-only", folder=mixed, kind=zoo.EarlierModel)


@each("name", list(CONFIGS))
def test_a_trace_holds_what_a_plain_forward_pass_computes(mixed: Path, name: str) -> None:
    model = zoo.load(name, folder=mixed, kind=zoo.EarlierModel)
    trace = model.trace(TEXT)
    expected = model.module(torch.tensor([trace.target.ids]))[0].numpy()
    np.testing.assert_allclose(trace["logits"], expected, rtol=1e-4, atol=1e-5)
    assert trace["logits"].shape == (len(trace.tokens), VOCAB_SIZE)
    assert trace.layers == ()
    both = zoo.experiments.values_at(model, "logits", [trace.target.ids, trace.target.ids[::-1]])
    np.testing.assert_allclose(both[0], expected, rtol=1e-4, atol=1e-5)
    for length in (1, 2, len(trace.tokens)):  # shorter than the window, and longer
        texts = [list(trace.target.ids)[:length], list(trace.target.ids)[::-1][:length]]
        last = both[:, length - 1]
        np.testing.assert_allclose(zoo.experiments.logits_after(model, texts), last, rtol=1e-4, atol=1e-5)
    assert len(model.trace(TEXT * 20).tokens) == MAX_LEN
    with pytest.raises(ValueError, match="There is no text"):
        model.trace("")


def test_damaged_files_are_named(mixed: Path) -> None:
    config = mixed / "rnn" / "config.json"
    entries = json.loads(config.read_text(encoding="utf-8"))
    config.write_text(json.dumps(entries | {"d_model": 13}), encoding="utf-8")
    with pytest.raises(zoo.ModelUnavailable, match="rnn cannot be loaded: W_E is"):
        zoo.load("rnn", folder=mixed, kind=zoo.EarlierModel)
    config.write_text(json.dumps(entries | {"d_model": 0}), encoding="utf-8")
    assert zoo.earlier(mixed) == ("a-window", "ssm")
    assert [entry.name for entry in zoo.catalogue(mixed) if entry.problem] == ["rnn"]


def test_the_shipped_models_are_of_one_size_and_read_the_same_tokens() -> None:
    """Their figures were measured twice: for the cards, and for the page that compares them."""
    facts = json.loads((PROJECT / "assets" / "ladder" / "measured.json").read_text(encoding="utf-8"))["models"]
    sizes = [model["n_parameters"] for model in facts.values()]
    assert max(sizes) / min(sizes) < 1.06
    tokens = (zoo.MODELS / "twins-rope" / "tokenizer.json").read_bytes()
    for name in ("ladder-window", "ladder-rnn", "twins-rope"):
        assert (zoo.MODELS / name / "tokenizer.json").read_bytes() == tokens
        card = (zoo.MODELS / name / "CARD.md").read_text(encoding="utf-8")
        assert f"| held-out bits per byte | {facts[name]['bits_per_byte']:.3f} " in card
        assert f"| parameters | {facts[name]['n_parameters']:,} |" in card
    for name in ("ladder-window", "ladder-rnn"):
        assert zoo.load(name, kind=zoo.EarlierModel).config.n_parameters == facts[name]["n_parameters"]
    counted = pruned.load(PROJECT / "assets" / "ladder" / "5-gram.npz")
    assert pruned.n_numbers(counted) == facts["5-gram"]["n_parameters"]
    assert all(order.back_off.min() >= 0 for order in counted.orders)
