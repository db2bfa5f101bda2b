"""A product with the matrices of a finished model, against torch's own."""

import copy
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.cases import each
from tests.model.helpers import config
from tfmviz.model import linear
from tfmviz.model.linear import READY, Linear, keep_copies, ready_to_read
from tfmviz.model.transformer import build

D_IN, D_OUT = 24, 40
SHAPES = [(D_IN,), (1, D_IN), (7, D_IN), (2, 7, D_IN), (1, 200, D_IN), (0, D_IN)]

Finish = Callable[[Linear], Linear]
"""Makes a layer a finished one."""


def with_copies(layer: Linear) -> Linear:
    keep_copies(ready_to_read(layer))
    return layer


@torch.inference_mode()
def assert_is_product(layer: Linear, x: Tensor) -> None:
    torch.testing.assert_close(layer(x), F.linear(x, layer.weight, layer.bias))


@pytest.fixture(params=[ready_to_read, with_copies], ids=["in place", "with copies"])
def finish(request: pytest.FixtureRequest) -> Finish:
    made: Finish = request.param
    return made


@each("bias", {"bias": True, "no bias": False})
@each("shape", SHAPES)
def test_the_product_is_that_of_torch(finish: Finish, shape: tuple[int, ...], bias: bool) -> None:
    assert_is_product(finish(Linear(D_IN, D_OUT, bias=bias)), torch.randn(shape))


def test_so_it_is_for_one_number_out_rows_that_lie_apart_and_double_precision(finish: Finish) -> None:
    assert_is_product(finish(Linear(D_IN, 1)), torch.randn(3, D_IN))
    layer = finish(Linear(D_IN, D_OUT))
    assert_is_product(layer, torch.randn(D_IN, 5).T)
    assert_is_product(layer, torch.randn(2, 9, D_IN).flip(1)[:, ::2])
    assert_is_product(layer, torch.randn(1, 1, D_IN).expand(4, 3, D_IN))
    assert_is_product(finish(Linear(D_IN, D_OUT)).double(), torch.randn(3, D_IN).double())


def test_weights_changed_in_place_count_where_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    layer, x = ready_to_read(Linear(D_IN, D_OUT)), torch.randn(3, D_IN)
    assert_is_product(layer, x)
    layer.weight.data[:, 3] = 7.0
    assert_is_product(layer, x)
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    layer = with_copies(Linear(D_IN, D_OUT))
    assert not hasattr(layer.weight, READY)
    assert_is_product(layer, torch.randn(3, D_IN))


@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="this torch comes without oneDNN")
def test_small_models_keep_copies_and_large_ones_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    assert getattr(with_copies(Linear(D_IN, D_OUT)).weight, READY).is_mkldnn
    monkeypatch.setattr(linear, "SMALL", D_IN * D_OUT)  # the bias is one parameter too many
    assert getattr(with_copies(Linear(D_IN, D_OUT)).weight, READY) is None


def test_an_exchanged_matrix_counts_and_gradients_pass_through_a_finished_model(finish: Finish) -> None:
    layer, x = finish(Linear(D_IN, D_OUT)), torch.randn(3, D_IN)
    other = {"weight": torch.randn(D_OUT, D_IN), "bias": torch.zeros(D_OUT)}
    with torch.inference_mode():
        torch.testing.assert_close(torch.func.functional_call(layer, other, (x,)), x @ other["weight"].T)
        layer.weight = nn.Parameter(other["weight"])
        torch.testing.assert_close(layer(x), x @ other["weight"].T + layer.bias)
    layer, x = finish(Linear(D_IN, D_OUT)), torch.randn(3, D_IN, requires_grad=True)
    layer(x).sum().backward()
    assert x.grad is not None
    torch.testing.assert_close(x.grad, layer.weight.sum(0).expand(3, -1))


@each("embeddings", ["tied", "untied"])
def test_a_finished_model_computes_what_it_computed_in_training(embeddings: str) -> None:
    model = build(config(embeddings=embeddings)).eval()
    finished = ready_to_read(copy.deepcopy(model))
    keep_copies(finished)
    for length in (1, 2, 9):
        ids = torch.arange(length)[None]
        with torch.inference_mode():
            torch.testing.assert_close(finished(ids), model(ids))
