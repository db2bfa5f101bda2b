"""The models from before the transformer: their equations in numpy, and what they can see."""

from typing import Any, get_args

import numpy as np
import pytest
import torch
from torch import nn

from tests.cases import each
from tests.model.helpers import assert_close, flat, lively, normal, record, token_ids
from tests.model.sizes import BATCH, LENGTH, VOCAB
from tfmviz.analysis.efficient import state_space as formulas
from tfmviz.model.build import build, parameter_shapes
from tfmviz.model.config import MAX_PARAMETERS
from tfmviz.model.earlier import (
    Alignment,
    Directions,
    EarlierConfig,
    LabellerConfig,
    RecurrentConfig,
    Seq2SeqConfig,
    StateSpaceConfig,
    WindowConfig,
    read_config,
)
from tfmviz.model.generate import continue_ids
from tfmviz.model.recurrent import RecurrentModel
from tfmviz.model.state_space import StateSpace
from tfmviz.model.window import WindowModel
from tfmviz.record.edits import Patch
from tfmviz.record.tap import NO_TAP, STEPWISE

N_WINDOW, D_MODEL, D_HIDDEN, N_LAYERS = 3, 5, 11, 2
CONFIGS: dict[str, EarlierConfig] = {
    "window": WindowConfig(vocab_size=VOCAB, max_len=13, n_window=N_WINDOW, d_model=D_MODEL, d_hidden=D_HIDDEN),
    "rnn": RecurrentConfig(vocab_size=VOCAB, max_len=13, d_model=D_MODEL, n_layers=N_LAYERS),
    "ssm": StateSpaceConfig(vocab_size=VOCAB, max_len=13, d_model=D_MODEL, n_state=7, d_ff=19, n_layers=N_LAYERS),
}

every_one = each("name", list(CONFIGS))

SIZES: dict[str, Any] = {"vocab_size": VOCAB, "max_len": 13}
SHAPES: dict[str, EarlierConfig | LabellerConfig | Seq2SeqConfig] = {
    **CONFIGS,
    **{way: LabellerConfig(directions=way, n_labels=3, d_model=6, n_layers=2, **SIZES) for way in get_args(Directions)},
    **{kind: Seq2SeqConfig(attention=kind, d_model=5, **SIZES) for kind in get_args(Alignment)},
}
"""Of every kind from before the transformer."""


def model_of(name: str) -> Any:
    return lively(build(CONFIGS[name]))


def test_a_window_is_read_by_the_equations_in_numpy() -> None:
    model, ids = model_of("window"), token_ids(LENGTH, batch=1)
    assert isinstance(model, WindowModel)
    W_E, W, b_1, U, b_2 = (weight.detach().numpy() for weight in model.parameters())
    vectors = [*np.zeros((N_WINDOW - 1, D_MODEL)), *W_E[ids[0].numpy()]]
    values = record(model, ids)
    assert list(values) == ["embed", "window", "hidden", "logits"]
    for t in range(LENGTH):
        e = np.concatenate(vectors[t : t + N_WINDOW])
        h = np.tanh(W @ e + b_1)
        np.testing.assert_allclose(values["window"][0, t], e, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(values["hidden"][0, t], h, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(values["logits"][0, t], U @ h + b_2, rtol=1e-4, atol=1e-5)


def test_the_recurrent_model_is_torchs_gru_of_as_many_layers() -> None:
    model, ids = model_of("rnn"), token_ids(LENGTH)
    assert isinstance(model, RecurrentModel)
    library = nn.GRU(D_MODEL, D_MODEL, num_layers=N_LAYERS, batch_first=True)
    with torch.no_grad():
        for index in range(N_LAYERS):
            for name, weight in model.get_submodule(f"rnn.{index}.gru").named_parameters():
                library.get_parameter(name.replace("l0", f"l{index}")).copy_(weight)
        states, _ = library(nn.functional.embedding(ids, model.W_E) * D_MODEL**0.5)
        expected = states @ model.W_E.T + model.b
    values = record(model, ids)
    assert_close(values["logits"], expected)
    assert [site for site in values if "." not in site] == ["embed", "logits"]
    assert {site.split(".")[1] for site in values if site.startswith("rnn.")} == {"0", "1"}
    assert all(values[site].shape == (BATCH, LENGTH, D_MODEL) for site in values if site.startswith("rnn."))


@every_one
def test_recording_changes_nothing_and_a_greedy_text_is_the_most_probable_at_each_step(name: str) -> None:
    model, ids = model_of(name), token_ids(LENGTH)
    values = record(model, ids)
    assert torch.equal(values["logits"], model(ids, tap=STEPWISE))
    assert_close(values["logits"], model(ids))
    model, ids = model_of(name), token_ids(2, batch=1)[0]
    written = continue_ids(model, ids, max_new_tokens=15)  # longer than the context of 13
    assert len(written) == 17
    for end in range(2, 17):
        assert model(written[None, max(0, end - 13) : end])[0, -1].argmax() == written[end]


@every_one
def test_an_edit_acts_on_what_follows(name: str) -> None:
    site, width = {
        "window": ("hidden", D_HIDDEN),
        "rnn": ("rnn.1.hidden", D_MODEL),
        "ssm": ("ssm.1.hidden", 7 * D_MODEL),
    }[name]
    edit = Patch(site=site, vector=(0.5,) * width, position=3)
    model, ids = model_of(name), token_ids(LENGTH, batch=1)
    moved = (record(model, ids, edits=[edit])["logits"] - record(model, ids)["logits"])[0].abs().amax(dim=-1)
    last = 4 if name == "window" else LENGTH
    assert (moved[3:last] > 0).all()
    assert (torch.cat((moved[:3], moved[last:])) == 0).all()


@each("name", list(SHAPES))
def test_config_and_model_agree_and_what_describes_no_model_is_refused(name: str) -> None:
    config = SHAPES[name]
    model = build(config)
    assert read_config(config.to_dict()) == config
    assert config.n_parameters == sum(parameter.numel() for parameter in model.parameters())
    assert parameter_shapes(config) == {key: tuple(value.shape) for key, value in model.state_dict().items()}
    good = config.to_dict()
    for size in [entry for entry, value in good.items() if isinstance(value, int)]:
        for value in (0, -1, True, 2.0, "3", None):
            with pytest.raises(ValueError, match=size):
                read_config(good | {size: value})
    with pytest.raises(ValueError, match="n_heads"):
        read_config(good | {"n_heads": 2})
    with pytest.raises(ValueError, match="not complete"):
        read_config({"architecture": good["architecture"]})
    with pytest.raises(ValueError, match=f"{MAX_PARAMETERS:,}"):
        read_config(good | {"d_model": 10**9})


def test_any_other_architecture_is_left_to_the_transformers() -> None:
    config = flat(vocab_size=7, max_len=5, d_model=4, n_layers=1, n_heads=2, n_kv_heads=2, d_ff=3)
    assert read_config(config.to_dict()) == config
    for architecture in ("lstm", None, ["rnn"]):
        with pytest.raises(ValueError, match="architecture"):
            read_config(config.to_dict() | {"architecture": architecture})


WIDTH, STATE, LAYERS = 11, 5, 2

CONFIG = StateSpaceConfig(vocab_size=VOCAB, max_len=13, d_model=WIDTH, n_state=STATE, d_ff=37, n_layers=LAYERS)


@torch.no_grad()
def test_each_channel_is_the_recurrence_and_the_convolution_of_numpy() -> None:
    layer, v = lively(StateSpace(CONFIG)), normal(BATCH, LENGTH, WIDTH)
    a = np.exp(-np.exp(layer.log_rate.double().numpy()))
    b, c = np.sqrt(1 - a**2), layer.C.double().numpy()
    found = layer.convolve(v).double().numpy()
    for channel in range(WIDTH):
        x = v[:, :, channel].double().numpy().T  # (len, batch): numpy's coordinates do not mix
        expected = formulas.recurrence(x, a[channel], b[channel], c[channel])
        np.testing.assert_allclose(found[:, :, channel].T, expected, atol=1e-5)
        kernel = formulas.kernel(LENGTH, a[channel], b[channel], c[channel])
        np.testing.assert_allclose(layer.kernel(LENGTH)[channel].numpy(), kernel, atol=1e-5)
        np.testing.assert_allclose(formulas.convolution(x, kernel), expected, atol=1e-12)


def test_the_recorded_state_is_the_sum_of_all_past_tokens_each_faded_by_its_age() -> None:
    a, b = lively(StateSpace(CONFIG)).decay()
    assert ((a > 0) & (a < 1)).all()
    assert_close(a**2 + b**2, torch.ones_like(a))
    assert NO_TAP.watches("hidden") is False
    layer, x = lively(StateSpace(CONFIG)), normal(BATCH, LENGTH, WIDTH)
    values = record(layer, x)
    h = values["hidden"].unflatten(-1, (WIDTH, STATE)).double()
    v, (a, b) = layer.W_in(x).double(), (part.double() for part in layer.decay())
    for t in range(LENGTH):
        assert_close(h[:, t], sum(a ** (t - j) * b * v[:, j, :, None] for j in range(t + 1)))
