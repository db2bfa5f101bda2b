"""The command that looks for the words on which neurons fire most, and what it left beside the shipped models."""

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from scripts import find_neurons
from tfmviz import zoo
from tfmviz.analysis import neurons
from tfmviz.analysis.neurons import KEPT
from tfmviz.record.trace import Array
from tfmviz.zoo import ZooModel

CHECKED = (0, 7, 101)
"""Neurons that are computed again in the last layer of every model."""


def peak(model: ZooModel, text: str, layer: str) -> tuple[Array, Array]:
    """Where each checked neuron is largest in a text, and how large."""
    post = model.trace(text, sites=(f"{layer}.post",))[f"{layer}.post"][:, CHECKED]
    token = np.abs(post).argmax(axis=0)
    return token, np.take_along_axis(post, token[None], axis=0)[0]


def test_what_is_shipped_is_what_the_model_computes() -> None:
    names = [name for name in zoo.available() if neurons.layers_of(zoo.load(name).weights)]
    assert len(names) > 15
    for name in names:
        model = zoo.load(name)
        file, peaks = neurons.load(zoo.MODELS / name / neurons.FILE, model.weights)
        lines = (find_neurons.TEXTS / file).read_text(encoding="utf-8").splitlines()
        assert list(peaks) == list(neurons.layers_of(model.weights))
        layer, found = list(peaks.items())[-1]
        for place, neuron in enumerate(CHECKED):
            for text, token, value in zip(found.text[neuron], found.token[neuron], found.value[neuron], strict=True):
                tokens, values = peak(model, lines[text], layer)
                assert tokens[place] == token, name
                assert values[place] == pytest.approx(float(value), rel=2e-3, abs=2e-3), name
        weakest = np.abs(found.value[list(CHECKED), KEPT - 1].astype(float))
        kept = set(found.text[list(CHECKED)].ravel().tolist())
        for line in [line for n, line in enumerate(lines) if n not in kept][::47]:
            assert (np.abs(peak(model, line, layer)[1]) <= weakest + 2e-3 * weakest).all(), (name, line)


def test_the_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("reverse", "induction"):
        shutil.copytree(zoo.MODELS / name, tmp_path / name, ignore=shutil.ignore_patterns("snapshots", neurons.FILE))
    (tmp_path / "words").write_text("\n".join(("cat", "attention", "bed", "zoo", "queen")), encoding="utf-8")
    monkeypatch.setattr(find_neurons, "TEXTS", tmp_path)
    for name in ("reverse", "induction"):
        find_neurons.find(name, texts="words", folder=tmp_path)
    assert "induction has no feed-forward layers" in capsys.readouterr().out
    texts, peaks = neurons.load(tmp_path / "reverse" / neurons.FILE, zoo.load("reverse", folder=tmp_path).weights)
    assert texts == "words"
    assert {tuple(found.text.shape) for found in peaks.values()} == {(512, KEPT)}
    assert not (tmp_path / "induction" / neurons.FILE).exists()


def test_models_that_read_no_english_get_texts_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: dict[str, str] = {}
    monkeypatch.setattr(find_neurons, "find", lambda name, **found: texts.update({name: found["texts"]}))
    monkeypatch.setattr(sys, "argv", ["find_neurons"])
    find_neurons.main()
    assert set(texts) == set(zoo.available())
    assert all((find_neurons.TEXTS / name).exists() for name in texts.values())
    read = {"french-english": "french.txt", "reverse": "words.txt", "tiny-english": "english.txt"}
    assert texts.items() >= read.items()
