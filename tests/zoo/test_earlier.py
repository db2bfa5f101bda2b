"""Models from before the transformer have a list of their own: no page that needs heads may meet one."""

import json
import shutil
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.cases import each
from tests.zoo.models import MAX_LEN, TEXT, VOCAB_SIZE
from tfmviz import zoo
from tfmviz.counting import pruned
from tfmviz.paths import PROJECT
from tfmviz.record.edits import Scale
from tfmviz.record.trace import NotCaptured
from tfmviz.text.tokenizer import END


def test_each_kind_has_a_list_of_its_own(mixed: Path) -> None:
    lists: dict[type[zoo.Loaded[Any, Any]], tuple[str, ...]] = {
        zoo.ZooModel: ("decoder-only", "encoder-decoder", "encoder-only"),
        zoo.EarlierModel: ("a-window", "rnn", "ssm"),
        zoo.RecurrentTranslator: ("seq2seq-additive", "seq2seq-none"),
        zoo.RecurrentLabeller: ("label-both",),
    }
    found = (zoo.available(mixed), zoo.earlier(mixed), zoo.translators(mixed), zoo.labellers(mixed))
    assert found == tuple(lists.values())
    assert all(entry.config is not None for entry in zoo.catalogue(mixed))
    for kind, (name, *_) in product(lists, lists.values()):
        if name not in lists[kind]:
            with pytest.raises(zoo.ModelUnavailable, match=f"no model named '{name}'. There are: {lists[kind][0]}"):
                zoo.load(name, mixed, kind=kind)


@each("name", ["a-window", "rnn", "ssm"])
def test_a_trace_holds_what_a_plain_forward_pass_computes(mixed: Path, name: str) -> None:
    model = zoo.load(name, folder=mixed, kind=zoo.EarlierModel)
    trace = model.trace(TEXT)
    expected = model.module(torch.tensor([trace.target.ids]))[0].numpy()
    close(trace["logits"], expected)
    assert trace["logits"].shape == (len(trace.tokens), VOCAB_SIZE)
    assert trace.layers == ()
    both = zoo.experiments.values_at(model, "logits", [trace.target.ids, trace.target.ids[::-1]])
    close(both[0], expected)
    for length in (1, 2, len(trace.tokens)):  # shorter than the window, and longer
        texts = [list(trace.target.ids)[:length], list(trace.target.ids)[::-1][:length]]
        close(zoo.experiments.logits_after(model, texts), both[:, length - 1])
    assert len(model.trace(TEXT * 20).tokens) == MAX_LEN
    with pytest.raises(ValueError, match="There is no text"):
        model.trace("")


close = partial(np.testing.assert_allclose, rtol=1e-4, atol=1e-5)


def test_damaged_files_are_named(mixed: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(mixed, tmp_path / "models")
    config = folder / "rnn" / "config.json"
    entries = json.loads(config.read_text(encoding="utf-8"))
    config.write_text(json.dumps(entries | {"d_model": 13}), encoding="utf-8")
    with pytest.raises(zoo.ModelUnavailable, match="rnn cannot be loaded: W_E is"):
        zoo.load("rnn", folder=folder, kind=zoo.EarlierModel)
    config.write_text(json.dumps(entries | {"d_model": 0}), encoding="utf-8")
    assert zoo.earlier(folder) == ("a-window", "ssm")
    assert [entry.name for entry in zoo.catalogue(folder) if entry.problem] == ["rnn"]
    kinds = {"seq2seq-none": zoo.RecurrentTranslator, "label-both": zoo.RecurrentLabeller}
    for name, kind in kinds.items():
        (folder / name / "tokenizer.json").write_text("{}", encoding="utf-8")
        with pytest.raises(zoo.ModelUnavailable, match=f"{name} cannot be loaded"):
            zoo.load(name, folder, kind=kind)


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


def test_a_labeller_leaves_a_record_like_all_models(mixed: Path) -> None:
    model = zoo.load("label-both", mixed, kind=zoo.RecurrentLabeller)
    trace = model.trace(TEXT)
    close(trace["logits"], model.module(torch.tensor([trace.target.ids]))[0].numpy())
    assert trace["rnn.1.backward.hidden"].shape == (len(trace.tokens), 11)
    assert not trace["rnn.1.backward.hidden"].flags.writeable
    np.testing.assert_array_equal(model.trace(trace.target.ids)["logits"], trace["logits"])
    off = model.trace(TEXT, edits=(Scale(site="rnn.0.backward.hidden", factor=0),), sites=("rnn.0.*.hidden", "logits"))
    assert (off["rnn.0.backward.hidden"] == 0).all()
    assert (off["rnn.0.forward.hidden"] != 0).any()
    assert not np.allclose(off["logits"], trace["logits"])
    assert len(model.trace(TEXT * 20, sites=("logits",)).tokens) == MAX_LEN
    with pytest.raises(ValueError, match="no text to run the model on"):
        model.trace("")
    with pytest.raises(NotCaptured, match=r"No site named .rnn\.0\.hidden."):
        model.trace(TEXT, sites=("rnn.0.hidden",))


@each("kind", ["additive", "none"])
def test_a_trace_is_of_the_models_own_translation(mixed: Path, kind: str) -> None:
    model = zoo.load(f"seq2seq-{kind}", mixed, kind=zoo.RecurrentTranslator)
    trace = model.trace(TEXT)
    assert trace.source is not None
    assert trace.source.ids == model.encode(TEXT).ids
    assert trace.target.ids == (END, *zoo.writing.translations(model, [TEXT])[0])
    close(trace["logits"], model.module(torch.tensor([trace.source.ids]), torch.tensor([trace.target.ids]))[0].numpy())
    assert trace["logits"].argmax(axis=-1)[:-1].tolist() == list(trace.target.ids[1:])
    assert ("decoder.alpha" in trace) == (kind != "none")
    assert not trace["decoder.context"].flags.writeable
    assert model.trace(TEXT, target=(7, 9)).target.ids == (END, 7, 9)
    long = model.trace(TEXT * 20)
    assert long.source is not None
    assert len(long.source) == MAX_LEN >= len(long.target)
    with pytest.raises(ValueError, match="no text to run the model on"):
        model.trace("")


def test_a_hash_tells_weights_from_others_and_other_kinds_are_refused(mixed: Path, tmp_path: Path) -> None:
    model = zoo.load("seq2seq-none", mixed, kind=zoo.Loaded)
    with pytest.raises(ValueError, match="seq2seq-none was not loaded as a ZooModel"):
        zoo.experiments.pull(model, (3, 5))
    with pytest.raises(ValueError, match="seq2seq-none has no recurrent layer rnn"):
        zoo.experiments.recurrent_weights(model, "rnn.0")
    names = ("seq2seq-none", "seq2seq-additive", "encoder-decoder")
    hashes = [zoo.weights_hash(name, mixed) for name in names]
    assert len(set(hashes)) == 3
    assert zoo.weights_hash("nobody", mixed) == ""
    data = bytearray((mixed / names[0] / "model.safetensors").read_bytes())
    data[-1] ^= 1
    (tmp_path / names[0]).mkdir()
    (tmp_path / names[0] / "model.safetensors").write_bytes(bytes(data))
    assert zoo.weights_hash(names[0], tmp_path) not in ("", hashes[0])
