"""Recurrent translators have a list of their own, and write what a plain forward pass would choose."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from tests.cases import each
from tests.zoo.models import MAX_LEN, TEXT
from tfmviz import zoo
from tfmviz.text.tokenizer import END
from tfmviz.training.evaluation import translations

KINDS = ("additive", "none")


@each("kind", KINDS)
def test_a_trace_is_of_the_models_own_translation(mixed: Path, kind: str) -> None:
    model = zoo.load(f"seq2seq-{kind}", mixed, kind=zoo.RecurrentTranslator)
    trace = model.trace(TEXT)
    assert trace.source is not None
    assert trace.source.ids == model.encode(TEXT).ids
    assert trace.target.ids == (END, *zoo.writing.translations(model, [TEXT])[0])
    expected = model.module(torch.tensor([trace.source.ids]), torch.tensor([trace.target.ids]))[0]
    np.testing.assert_allclose(trace["logits"], expected.numpy(), rtol=1e-4, atol=1e-5)
    assert trace["logits"].argmax(axis=-1)[:-1].tolist() == list(trace.target.ids[1:])
    assert ("decoder.alpha" in trace) == (kind != "none")
    assert not trace["decoder.context"].flags.writeable
    forced = model.trace(TEXT, target=(7, 9))
    assert forced.target.ids == (END, 7, 9)


def test_texts_translated_together_are_those_translated_alone(mixed: Path) -> None:
    model = zoo.load("seq2seq-additive", mixed, kind=zoo.RecurrentTranslator)
    texts = [TEXT, "a", "The dog ran. " * 30, "mat", TEXT]
    alone = [model.tokenizer.decode(zoo.writing.translations(model, [text])[0]) for text in texts]
    assert len(set(alone)) > 2
    assert [model.tokenizer.decode(ids) for ids in zoo.writing.translations(model, texts)] == alone
    found = translations(model.module, model.tokenizer, texts)
    assert [text[: len(one)] for text, one in zip(found, alone, strict=True)] == alone


def test_a_long_text_is_cut_and_an_empty_one_refused(mixed: Path) -> None:
    model = zoo.load("seq2seq-additive", mixed, kind=zoo.RecurrentTranslator)
    trace = model.trace(TEXT * 20)
    assert trace.source is not None
    assert len(trace.source) == MAX_LEN
    assert len(trace.target) <= MAX_LEN
    with pytest.raises(ValueError, match="no text to run the model on"):
        model.trace("")


def test_what_another_kind_of_model_is_asked_is_refused(mixed: Path) -> None:
    model = zoo.load("seq2seq-none", mixed, kind=zoo.Loaded)
    with pytest.raises(ValueError, match="seq2seq-none was not loaded as a ZooModel"):
        zoo.experiments.pull(model, (3, 5))
    with pytest.raises(ValueError, match="seq2seq-none has no recurrent layer 0"):
        zoo.experiments.recurrent_weights(model, 0)


def test_a_hash_tells_weights_from_others(mixed: Path, tmp_path: Path) -> None:
    names = ("seq2seq-none", "seq2seq-additive", "encoder-decoder")
    hashes = [zoo.weights_hash(name, mixed) for name in names]
    assert len(set(hashes)) == 3
    assert zoo.weights_hash("nobody", mixed) == ""
    data = bytearray((mixed / names[0] / "model.safetensors").read_bytes())
    data[-1] ^= 1
    (tmp_path / names[0]).mkdir()
    (tmp_path / names[0] / "model.safetensors").write_bytes(bytes(data))
    assert zoo.weights_hash(names[0], tmp_path) not in ("", hashes[0])
