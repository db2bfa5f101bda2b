"""Counted multiplications against torch's own count of layers and models; slopes and crossings of known powers."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from tests.cases import each
from tests.model.helpers import config, inputs_of, lively, lively_model
from tests.model.sizes import ARCHITECTURES, D_HEAD
from tfmviz.analysis.complexity import KINDS, MEASURED, Sizes, continued, crosses, slope
from tfmviz.analysis.multiplications import PARTS, Shape, by_part, in_model, multiplications, overtakes
from tfmviz.model import layer_costs
from tfmviz.model.cache import Cache
from tfmviz.model.transformer import build
from tfmviz.record.facts import Architecture
from tfmviz.record.tap import STEPWISE, InTurn
from tfmviz.ui.shapes import shapes_of

KIND = {kind.name: kind for kind in KINDS}


@each("n, d", [(128, 7), (192, 11), (64, 13)])
@each("name", ["self-attention", "convolution", "restricted attention"])
def test_multiplications_are_those_that_torch_counts(name: str, n: int, d: int) -> None:
    layer = layer_costs.layers(d, "cpu")[name]
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        layer(torch.randn(n, d))
    sizes = Sizes(n=n, d=d, k=layer_costs.KERNEL, r=layer_costs.NEIGHBOURS)
    assert counter.get_total_flops() == 2 * KIND[name].multiplications(sizes)


def test_a_recurrent_layer_multiplies_by_two_matrices_at_every_step() -> None:
    """Torch's counter knows no `nn.RNN` (it counts unknown operations as 0), so the recurrence is written out here."""
    n, d = 5, 7
    x, (W, U) = torch.randn(n, d), torch.randn(2, d, d)
    with FlopCounterMode(display=False) as counter:
        h = torch.zeros(1, d)
        for token in x:
            h = torch.tanh(token[None] @ W.T + h @ U.T)
    assert counter.get_total_flops() == 2 * KIND["recurrent"].multiplications(Sizes(n=n, d=d, k=3, r=3))
    assert layer_costs.layers(d, "cpu")["recurrent"](x).shape == (n, d)


@each("kind", list(KIND))
def test_the_claimed_exponents_are_those_of_the_counts(kind: str) -> None:
    sizes, base = 2.0 ** np.arange(7, 14), {"n": 128, "d": 128, "k": 3, "r": 64}
    for name, exponent in zip("nd", KIND[kind].exponents, strict=True):
        counts = [KIND[kind].multiplications(Sizes(**base | {name: int(size)})) for size in sizes]
        assert slope(sizes, np.array(counts, float)) == pytest.approx(exponent)


def test_lines_cross_where_their_powers_are_equal_and_news_travels_as_the_table_says() -> None:
    path = {kind.name: kind.path(Sizes(n=81, d=5, k=3, r=9)) for kind in KINDS}
    assert path == {"self-attention": 1, "recurrent": 81, "convolution": 4, "restricted attention": 9}
    assert KINDS[2].path(Sizes(n=82, d=5, k=3, r=9)) == 5
    x = 2.0 ** np.arange(4, 13)
    assert crosses(x, 2.0 * x**2, 600.0 * x) == pytest.approx(300)
    assert crosses(x, x, 2 * x) is None
    assert crosses(x, 2 * x, x) is None
    assert crosses(x, np.where(x < 100, 5 * x, 1e-9 * x), x) is None


@each("power", [0.5, 1.0, 2.0, 3.0])
def test_the_slope_of_a_power_is_its_exponent_whatever_hides_at_small_sizes(power: float) -> None:
    x = 2.0 ** np.arange(4, 13)
    y = 3e-7 * x**power
    y[:3] += 1.0
    assert slope(x, y) == pytest.approx(power)
    assert continued(x, y, 65_536) == pytest.approx(3e-7 * 65_536**power)
    assert slope(x, y, last=9) < power
    assert np.isnan(slope(x, np.full(9, np.nan)))


def test_restricted_attention_is_attention_under_its_mask() -> None:
    n, d, r = 48, 7, 8
    x = torch.randn(n, d, generator=torch.Generator().manual_seed(1))
    piece = torch.arange(n) // (r // 2)
    apart = piece[:, None] - piece
    mask = (apart == 0) | (apart == 1)
    exact = torch.where(mask, (x * d**-0.5) @ x.T, -torch.inf).softmax(dim=-1) @ x
    torch.testing.assert_close(layer_costs.restricted(x, r)[r // 2 :], exact[r // 2 :])
    torch.testing.assert_close(layer_costs.restricted(x, n), layer_costs.stepwise(x))
    torch.testing.assert_close(layer_costs.fused(x), layer_costs.stepwise(x))


def test_the_most_bytes_held_at_once_are_those_of_the_matrices() -> None:
    """Scores and pattern are two n × n matrices of 4 bytes each, and the fused kernel holds neither."""
    n, d = 512, 8
    x = torch.randn(n, d)
    assert 0 <= layer_costs.peak_of(layer_costs.stepwise, x) - 4 * 2 * n * n <= 4 * 3 * n * d
    assert layer_costs.peak_of(layer_costs.fused, x) < 4 * n * n


def test_the_share_of_the_work_that_is_done_grows_to_1(monkeypatch: pytest.MonkeyPatch) -> None:
    places = [("n", 2, 8), ("n", 3, 8), ("d", 2, 16)]
    monkeypatch.setattr(layer_costs, "places", lambda: places)
    monkeypatch.setattr(layer_costs, "devices", lambda: ["cpu"])
    found = list(layer_costs.measurements())
    assert [one["share"] for one in found] == pytest.approx([third / 3 for third in (1, 2, 3) for _ in MEASURED])
    assert {(one["against"], one["n"], one["d"]) for one in found} == {*places}
    assert json.loads(json.dumps(found)) == found
    assert all(one["seconds"] > 0 for one in found)
    assert list(layer_costs.measurements(seconds=-1.0)) == []


@each("feed_forward", ["gelu", "swiglu", "none"])
@each("heads", [{"n_heads": 3}, {"n_heads": 4, "n_kv_heads": 2}])
def test_multiplications_of_a_models_parts_are_those_of_the_modules_that_torch_names(
    feed_forward: str, heads: dict[str, int]
) -> None:
    d_model = heads["n_heads"] * D_HEAD
    model = lively_model(positions="learned", feed_forward=feed_forward, d_model=d_model, **heads)
    shape, cache = shapes_of(model.config)["decoder"], Cache()
    for read, past in ((torch.arange(11)[None], 0), (torch.tensor([[7]]), 11)):
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            model(read, InTurn(STEPWISE, cache), past=past)
        sizes = {"new": read.shape[1], "length": past + read.shape[1]}
        assert counter.get_total_flops() == 2 * multiplications(shape, **sizes)
        found = {name: sum(counts.values()) // 2 for name, counts in counter.get_flop_counts().items()}
        counted = by_part(shape, **sizes)
        linear = sum(count for name, count in found.items() if name.endswith(("W_Q", "W_K", "W_V", "W_O")))
        assert counted["projections"] == linear
        attention = sum(count for name, count in found.items() if name.endswith(".self_attn"))
        assert counted["scores"] + counted["values"] == attention - linear
        assert counted["feed-forward"] == sum(count for name, count in found.items() if name.endswith(".mlp"))


@each("architecture", ARCHITECTURES)
@each("head", ["linear", "transform", "none"])
def test_a_whole_model_multiplies_what_torch_counts(architecture: Architecture, head: str) -> None:
    made = config(architecture=architecture, head=head, positions="learned")
    model, texts = lively(build(made)), inputs_of(architecture, batch=1)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(*texts, tap=STEPWISE)
    counted = in_model(shapes_of(made), source=texts[0].shape[1], target=texts[-1].shape[1])
    assert counter.get_total_flops() == 2 * sum(counted.values())
    assert tuple(counted) == PARTS


def test_attention_overtakes_at_the_length_where_both_cost_the_same() -> None:
    base = Shape(
        n_layers=6, d_model=512, n_heads=8, n_kv_heads=8, d_head=64, n_matrices=2, d_ff=2048, vocab_size=37_000
    )
    odd = Shape(n_layers=2, d_model=30, n_heads=3, n_kv_heads=1, d_head=14, n_matrices=3, d_ff=56, vocab_size=41)
    assert [overtakes(shape) for shape in (base, odd, replace(odd, n_matrices=0))] == [2048, 60, None]
    counts = by_part(odd, new=5, length=60)
    assert counts["scores"] + counts["values"] == counts["feed-forward"]
