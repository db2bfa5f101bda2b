"""Counted multiplications against torch's own count, in models of every architecture."""

from dataclasses import replace

import torch
from torch.utils.flop_counter import FlopCounterMode

from tests.cases import each
from tests.model.helpers import config, inputs_of, lively, lively_model
from tests.model.sizes import ARCHITECTURES, D_HEAD
from tfmviz.analysis.multiplications import PARTS, Shape, by_part, in_model, multiplications, overtakes
from tfmviz.model.cache import Cache
from tfmviz.model.transformer import build
from tfmviz.record.facts import Architecture
from tfmviz.record.tap import STEPWISE, InTurn
from tfmviz.ui.shapes import shapes_of


@each("feed_forward", ["gelu", "swiglu", "none"])
@each("heads", [{"n_heads": 3}, {"n_heads": 4, "n_kv_heads": 2}])
def test_multiplications_are_those_that_torch_counts(feed_forward: str, heads: dict[str, int]) -> None:
    d_model = heads["n_heads"] * D_HEAD
    model = lively_model(positions="learned", feed_forward=feed_forward, d_model=d_model, **heads)
    shape, cache = shapes_of(model.config)["decoder"], Cache()
    for read, past in ((torch.arange(11)[None], 0), (torch.tensor([[7]]), 11)):
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            model(read, InTurn(STEPWISE, cache), past=past)
        new = read.shape[1]
        assert counter.get_total_flops() == 2 * multiplications(shape, new=new, length=past + new)


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


def test_the_parts_are_those_of_the_modules_that_torch_names() -> None:
    model = lively_model(positions="learned")
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(torch.arange(11)[None], STEPWISE)
    found = {name: sum(counts.values()) // 2 for name, counts in counter.get_flop_counts().items()}
    counted = by_part(shapes_of(model.config)["decoder"], new=11, length=11)
    linear = sum(count for name, count in found.items() if name.endswith(("W_Q", "W_K", "W_V", "W_O")))
    assert counted["projections"] == linear
    attention = sum(count for name, count in found.items() if name.endswith(".self_attn"))
    assert counted["scores"] + counted["values"] == attention - linear
    assert counted["feed-forward"] == sum(count for name, count in found.items() if name.endswith(".mlp"))


def test_attention_overtakes_at_the_length_where_both_cost_the_same() -> None:
    base = Shape(
        n_layers=6, d_model=512, n_heads=8, n_kv_heads=8, d_head=64, n_matrices=2, d_ff=2048, vocab_size=37_000
    )
    odd = Shape(n_layers=2, d_model=30, n_heads=3, n_kv_heads=1, d_head=14, n_matrices=3, d_ff=56, vocab_size=41)
    assert [overtakes(shape) for shape in (base, odd, replace(odd, n_matrices=0))] == [2048, 60, None]
    counts = by_part(odd, new=5, length=60)
    assert counts["scores"] + counts["values"] == counts["feed-forward"]
