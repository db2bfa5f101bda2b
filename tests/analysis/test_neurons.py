"""Where neurons fire most: found among known numbers, kept in a file, and refused if it belongs to other weights."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from tests.model.helpers import lively_model
from tests.model.sizes import D_FF
from tests.traces import encoding, words
from tfmviz.analysis import neurons
from tfmviz.analysis.neurons import KEPT, NoPeaks, Peaks
from tfmviz.model.weights import weights_of
from tfmviz.record.trace import Array, Trace
from tfmviz.record.weights import ModelWeights

SITE = "decoder.0.mlp"


@pytest.fixture(scope="module")
def weights() -> ModelWeights:
    return weights_of(lively_model())


def texts(n: int = 7) -> list[Array]:
    """(len, d_ff) for texts of different lengths."""
    rng = np.random.default_rng(0)
    return [rng.standard_normal((length, D_FF)).astype(np.float32) for length in range(3, 3 + n)]


def traces(posts: list[Array]) -> list[Trace]:
    return [Trace(target=encoding(words(len(post))), edits=(), values={f"{SITE}.post": post}) for post in posts]


def test_the_largest_values_are_found_and_come_back_from_their_file(tmp_path: Path, weights: ModelWeights) -> None:
    posts = texts()
    peaks = neurons.find(traces(posts), [SITE])[SITE]
    for neuron in range(D_FF):
        largest = sorted(((float(np.abs(post[:, neuron]).max()), n) for n, post in enumerate(posts)), reverse=True)
        assert peaks.text[neuron].tolist() == [n for _, n in largest[:KEPT]]
        for text, token, value in zip(peaks.text[neuron], peaks.token[neuron], peaks.value[neuron], strict=True):
            assert posts[text][token, neuron] == pytest.approx(value, rel=1e-3)
            assert abs(posts[text][token, neuron]) == np.abs(posts[text][:, neuron]).max()
    saved(tmp_path / neurons.FILE, dict.fromkeys(neurons.layers_of(weights), peaks), weights)
    name, loaded = neurons.load(tmp_path / neurons.FILE, weights)
    assert name == "english.txt"
    assert list(loaded) == list(neurons.layers_of(weights)) == ["decoder.0.mlp", "decoder.1.mlp"]
    for field in dataclasses.fields(Peaks):
        np.testing.assert_array_equal(getattr(loaded["decoder.1.mlp"], field.name), getattr(peaks, field.name))


def saved(path: Path, peaks: dict[str, Peaks], weights: ModelWeights) -> None:
    with path.open("wb") as file:
        neurons.save(file, peaks, texts="english.txt", weights=weights)


def test_a_file_that_is_missing_damaged_or_of_other_weights_is_refused(tmp_path: Path, weights: ModelWeights) -> None:
    path, peaks = tmp_path / neurons.FILE, neurons.find(traces(texts()), [SITE])
    with pytest.raises(NoPeaks, match=r"neurons\.npz is missing"):
        neurons.load(path, weights)
    saved(path, peaks, weights)  # the second layer is not in it
    whole = path.read_bytes()
    for content in (whole, b"PK" + bytes(60)):
        path.write_bytes(content)
        with pytest.raises(NoPeaks, match="cannot be read"):
            neurons.load(path, weights)
    others = weights_of(lively_model(feed_forward="relu", n_layers=1))
    others.stacks["decoder"].feed_forward[SITE].b_in[0] += 1
    path.write_bytes(whole)
    with pytest.raises(NoPeaks, match="other weights"):
        neurons.load(path, others)
    assert neurons.layers_of(weights_of(lively_model(feed_forward="none"))) == ()
