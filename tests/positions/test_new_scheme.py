"""Adding a scheme: with its class and its entry in the table, everything that has to do with positions takes it."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.cases import each
from tests.model.helpers import assert_close, flat, lively_model, token_ids
from tests.positions import recipe
from tests.positions.clocks import ENTRY, STEP
from tests.training.runs import run
from tfmviz import zoo
from tfmviz.model.cache import Cache
from tfmviz.model.config import ModelConfig
from tfmviz.positions.schemes import SCHEMES, Scheme
from tfmviz.zoo import ZooModel


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> str:
    """The scheme's name, while it is in the table."""
    monkeypatch.setitem(SCHEMES, "clocks", ENTRY)
    return "clocks"


def train(out: Path, scheme: str) -> int:
    return run("task", out.parent, out, positions=scheme, steps=2, layers=2)


@pytest.fixture
def trained(clocks: str, tmp_path: Path) -> ZooModel:
    """A translator with the new scheme, made by the training command and read by the zoo."""
    assert train(tmp_path / "toy", clocks) == 0
    return zoo.load("toy", folder=tmp_path)


def test_a_config_takes_a_new_scheme_and_checks_what_its_entry_asks_for(clocks: str) -> None:
    sizes = {"vocab_size": 41, "max_len": 13, "n_layers": 1, "n_heads": 3, "n_kv_heads": 3, "d_ff": 37}
    assert ModelConfig.from_dict(flat(**sizes, d_model=30, positions=clocks).to_dict()).scheme.title == "Clocks"
    with pytest.raises(ValueError, match="Clocks takes coordinates in pairs, but d_head = 33 / 3 is odd"):
        flat(**sizes, d_model=33, positions=clocks)


def test_a_trained_model_with_a_new_scheme_computes_what_the_scheme_says(trained: ZooModel) -> None:
    assert trained.config.positions.kind == "clocks"
    trace = trained.trace("attention", target="noitnet")
    for layer in trace.layers:
        q, k = (trace[f"{layer}.{name}"].astype(np.float64) for name in "qk")
        rate = STEP * np.arange(1, q.shape[-1] // 2 + 1) if layer.endswith("self_attn") else np.zeros(q.shape[-1] // 2)
        q, k = ((x[..., ::2] + 1j * x[..., 1::2]) * np.exp(1j * np.outer(np.arange(x.shape[1]), rate)) for x in (q, k))
        scores = np.einsum("hid,hjd->hij", q, k.conj()).real / math.sqrt(10)
        seen = np.broadcast_to(trace[f"{layer}.mask"], scores.shape)
        np.testing.assert_allclose(trace[f"{layer}.scores"][seen], scores[seen], rtol=1e-4, atol=1e-6)
        assert (f"{layer}.rot_q" in trace) is layer.endswith("self_attn")


def test_writing_with_a_new_scheme_is_reading_each_prefix_anew(trained: ZooModel) -> None:
    ids = zoo.writing.generate(trained, "stressed", max_new_tokens=9).ids
    logits = trained.trace("stressed", sites=("logits",), target=ids)["logits"]
    assert logits.argmax(axis=-1)[: len(ids)].tolist() == list(ids)


@torch.inference_mode()
def test_a_cache_keeps_the_logits_of_a_new_scheme(clocks: str) -> None:
    model, ids, cache = lively_model(positions=clocks), token_ids(11), Cache()
    pieces = [model(ids[:, first:last], cache, past=first) for first, last in ((0, 1), (1, 6), (6, 11))]
    assert_close(torch.cat(pieces, dim=1), model(ids))
    assert not torch.allclose(model(ids), lively_model(positions="none")(ids), atol=1e-2)


def test_the_recipe_works_to_the_letter_and_its_bias_on_any_device(monkeypatch: pytest.MonkeyPatch) -> None:
    tests = recipe.follow(monkeypatch)
    assert tests
    for test in tests.values():
        test()
    assert lively_model(positions=recipe.NAME).to("meta")(token_ids(7).to("meta")).device.type == "meta"


@each(
    "code, error", [("tfmviz.positions.xpos:Xpos", ModuleNotFoundError), ("tfmviz.positions.rope:Xpos", AttributeError)]
)
def test_a_scheme_without_code_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, error: type[Exception]
) -> None:
    """Such a name once trained and saved a model without positions."""
    monkeypatch.setitem(SCHEMES, "xpos", Scheme(name="xPos", formula="?", idea="?", acts="rotate", code=code))
    with pytest.raises(error, match=r"[xX]pos"):
        train(tmp_path / "toy", "xpos")
    assert list(tmp_path.iterdir()) == []
