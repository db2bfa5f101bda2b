"""The tabs on fine-tuning and on duplicates: what was measured, a run on the server, what its head says of a text."""

import json
from functools import partial

import numpy as np
import pytest
import torch

from tests.app import charts, matrices, open_page, series, words
from tfmviz import zoo
from tfmviz.record.trace import Array
from tfmviz.runs import tuner
from tfmviz.training.tuning import Tuning
from tfmviz.ui import background
from tfmviz.ui.training import tuned
from tfmviz.ui.training.shipped import DUPLICATES, READ
from tfmviz.words.numbers import per_cent

DATA = json.loads(tuned.MEASURED.read_text())
opened = partial(open_page, "training", learned="Fine-tune")


def put(monkeypatch: pytest.MonkeyPatch, **found: object) -> None:
    """As if the server had trained already."""
    record = {"share": 1.0, "accuracy": 0.875, "trained": 1234, **found}
    monkeypatch.setattr(background.Measurement, "found", property(lambda self: ({"share": 0.5, "loss": 0.1}, record)))


def test_curves_are_the_means_of_what_was_measured_of_the_models_and_sizes_of_the_page() -> None:
    for model in ("tiny-english", "fill-in"):
        app = opened(body=model)
        drawn = series(charts(app)["tuning"])
        assert list(drawn) == list(tuned.WAYS)
        for way, method in tuned.WAYS.items():
            np.testing.assert_allclose(drawn[way], [np.mean(runs) for runs in DATA["accuracy"][model][method]])
        new, trained = (np.mean(DATA["accuracy"][model][method][0]) for method in ("scratch", "head"))
        assert new < trained
        assert f"a new model is right in {new:.0%}, a head on the trained one in **{trained:.0%}**" in words(app)
    assert tuple(DATA["sizes"]) == tuned.SIZES
    for model in DATA["accuracy"].values():
        assert {len(runs) for by_size in model.values() for runs in by_size} == {len(DATA["seeds"])}
        assert all(0 <= share <= 1 for by_size in model.values() for runs in by_size for share in runs)


def test_a_run_shows_its_point_which_heads_moved_and_the_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    moved, values = [[0.1, 0.2], [0.4, 0.3]], [4.0, 3.0, 2.0, 1.0, 0.5, 0.0]
    put(monkeypatch, moved=moved, layer=1, spectrum=values, head=[0.0])
    for way, rank in (("low rank", "8"), ("all weights", "4")):
        app = opened(way=way, examples="256", rank=rank)
        assert series(charts(app)["tuning"])["this run"].tolist() == [0.875]
        np.testing.assert_allclose(matrices(app)["moved"][0], moved)
        assert series(charts(app)["spectrum"])["ΔW"].tolist() == values
        said, share = words(app), 30 / 30.25
        assert "1,234 parameters were trained, and **88%** of the answers" in said
        assert "W_Q of head 1.0 changed most" in said
        assert f"Four directions hold {share:.0%} of the change of W_Q in layer 1" in said
        assert ("whose rank is 8" in said) == (way == "low rank")


def last_stream(model: zoo.ZooModel, text: str) -> Array:
    """What the last layer gives to the head of a model, by torch alone: (len, d_model)."""
    found: list[torch.Tensor] = []
    hook = model.module.head.register_forward_pre_hook(lambda module, inputs: found.append(inputs[0]))
    with torch.inference_mode():
        model.module(torch.tensor([model.tokenizer.encode(text, max_len=99).ids]))
    hook.remove()
    return found[0][0].double().numpy()


def test_the_head_reads_the_readers_text_without_its_last_mark_if_any(monkeypatch: pytest.MonkeyPatch) -> None:
    w = np.random.default_rng(1).normal(scale=0.1, size=257)
    put(monkeypatch, head=w.tolist())
    for model in ("tiny-english", "fill-in"):
        for text in ("Is the cat hungry?", "<b>a</b> 😀", "老王批评老李。"):
            stream = last_stream(zoo.load(model), text.rstrip("?.。"))
            x = stream[-1] if model == "tiny-english" else stream.mean(axis=0)
            p = float(1 / (1 + np.exp(-(x @ w[:-1] + w[-1]))))
            assert f"probability **{per_cent(p)}**" in words(opened(body=model, text=text)), (model, text)
    put(monkeypatch, head=[0.0] * 257)
    for text in ("", "?", " .?! "):
        app = opened(text=text)
        assert not app.error
        assert "probability" not in words(app) or not text


def test_the_worker_reads_the_shipped_texts_and_ends_with_an_accuracy() -> None:
    settings = Tuning(method="head", steps=2)
    *_, last = tuner.tuned("tiny-english", settings, 16)
    assert last["share"] == 1
    assert last["trained"] == 257
    assert 0.5 < last["accuracy"] <= 1, "even two steps tell something"


# The tab on duplicates.


FOUND = json.loads(DUPLICATES.read_text(encoding="utf-8"))


def test_the_lines_and_the_sentence_are_what_was_measured() -> None:
    app = open_page("training", learned="Duplicates")
    drawn = series(charts(app)["duplicates"])
    for name, said in READ.items():
        for what, points in FOUND[name]["curve"].items():
            expected = [value for step, value in points if step >= 250]
            np.testing.assert_allclose(drawn[f"{said}, {what}"], expected, rtol=1e-5)
        for part in ("seen", "held_out"):
            assert f"{FOUND[name][part]:.2f}" in words(app)
