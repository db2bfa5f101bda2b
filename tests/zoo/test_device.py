"""Large models compute on a GPU where there is one, and give the same numbers there.

No line of a model may make a number on another device than its weights are, or leave one there. Without a GPU,
`Far` stands in for it: every test below runs a model here and there.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest
import tokenizers
import torch
from tokenizers.models import BPE
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from tests.app import open_page
from tests.cases import each
from tests.model.helpers import lively_model
from tests.zoo.models import CONFIGS, TEXT, traced
from tfmviz import zoo
from tfmviz.model import device, reading_out
from tfmviz.positions.schemes import SCHEMES
from tfmviz.record.decoding import Rules
from tfmviz.record.edits import AblateHead, Edit, Patch, Scale, SetMask
from tfmviz.record.marks import Marks
from tfmviz.record.weights import PositionEffects
from tfmviz.text.foreign import ForeignTokenizer
from tfmviz.zoo import ZooModel

IDS = (2, 3, 5, 7, 11)

KINDS: dict[str, dict[str, Any]] = {
    **{f"positions {name}": {"positions": name} for name in SCHEMES if name not in ("none", "sines-first")},
    "linear": {"positions": "learned", "attention": "linear"},
    "window": {"window": 3},
    "gemma 2": {"norm_position": "both", "norm": "rms", "score_cap": 3.0, "logit_cap": 5.0, "feed_forward": "geglu"},
    "qwen 3": {"qk_norm": "present", "head_width": 10, "embedding_scale": "sqrt_d_model"},
    "pythia": {"residual": "parallel", "rope_theta": (1.0, 0.1, 0.0), "embedding_norm": "present"},
    "bert": {"architecture": "encoder-only", "head": "transform", "segment": "present", "positions": "learned"},
    "bert without a head": {"architecture": "encoder-only", "head": "none", "norm_position": "post"},
    "bart": {"architecture": "encoder-decoder", "head": "bias", "positions": "learned", "norm_position": "post"},
    "marian": {"architecture": "encoder-decoder", "positions": "sines-first"},
    "t5": {"architecture": "encoder-decoder", "positions": "t5", "score_divisor": 1.0, "n_kv_heads": 1},
}

Models = tuple[ZooModel, ZooModel]

close: Callable[..., None] = partial(np.testing.assert_allclose, rtol=1e-4, atol=1e-5)
"""Torch has other kernels for other devices, so last digits differ."""


@contextmanager
def both(kind: str) -> Iterator[Models]:
    sizes = {"vocab_size": 13, "max_len": 11, "d_model": 18, "n_layers": 2, "d_ff": 7}
    module = lively_model(**sizes | KINDS[kind]).requires_grad_(False)
    tokenizer = ForeignTokenizer(tokenizers.Tokenizer(BPE()), marks=Marks(start=1), vocab_size=13)
    here = ZooModel(name="here", config=module.config, tokenizer=tokenizer, module=module)
    with pytest.MonkeyPatch.context() as patch, reachable():
        patch.setattr(torch._C, "_InferenceMode", lambda mode: torch.set_grad_enabled(not mode))  # knows no wrappers
        patch.setattr(reading_out, "LONG", 1)  # rows are computed when they are asked for
        there = replace(here, name="there", module=deepcopy(module).to(ELSEWHERE))
        assert (here.device, there.device) == ("cpu", ELSEWHERE)
        yield here, there


every_kind = each("kind", list(KINDS))


def target_of(model: ZooModel) -> dict[str, Any]:
    return {"target": IDS[:4]} if model.config.architecture == "encoder-decoder" else {}


def edits_of(model: ZooModel) -> tuple[Edit, ...]:
    """One of each kind, in the last layer of attention."""
    layer, n = model.config.layers[-1], len(IDS)
    mask = tuple(tuple(q >= k for k in range(n)) for q in range(n))
    return (
        SetMask(layer=layer, mask=mask),
        SetMask(layer=layer, mask=mask, heads=(True, False, True)),
        AblateHead(layer=layer, head=1),
        Patch(site=f"{layer}.z", head=0, position=2, vector=(0.5,) * model.config.d_head),
        Patch(site=f"{layer}.out", vector=(0.5,) * model.config.d_model),
        Scale(site=layer.rpartition(".")[0] + ".resid_mid", factor=0.5, coordinate=3),
    )


@every_kind
def test_records_edits_and_logits_cross_over(kind: str) -> None:
    with both(kind) as models:
        here, _ = models
        for edits in ((), edits_of(here)):
            expected, found = (model.trace(IDS, edits, **target_of(model)) for model in models)
            assert found.sites == expected.sites
            for site in expected:
                close(found[site], expected[site])
        if here.config.head != "none":
            variants = [(edit,) for edit in edits_of(here) if not isinstance(edit, SetMask)]
            close(*(zoo.experiments.logits_under(model, IDS, variants, [0, 2], **target_of(model)) for model in models))


@every_kind
def test_weights_and_positions_cross_over(kind: str) -> None:
    with both(kind) as (here, there):
        close(there.weights.W_U, here.weights.W_U)
        for stack, weights in here.weights.stacks.items():
            for layer, attention in weights.attention.items():
                close(there.weights.attention(layer).W_Q, attention.W_Q)
            for entry in fields(PositionEffects):
                expected, found = (getattr(model.position_effects(stack, 7), entry.name) for model in (here, there))
                assert (found is None) == (expected is None)
                if expected is not None:
                    close(found, expected)
            x = np.linspace(-1, 1, 36).reshape(2, 18)
            close(there.weights.stacks[stack].readout.logits(x), weights.readout.logits(x))


@every_kind
def test_writing_is_the_same_everywhere(kind: str) -> None:
    with both(kind) as (here, there):
        if here.config.architecture == "encoder-only":  # fills in words
            return
        edits = tuple(edit for edit in edits_of(here)[2:] if not (isinstance(edit, Patch) and edit.position))
        ways: list[Callable[[ZooModel], Any]] = [
            lambda model: zoo.writing.generate(model, IDS, edits=edits, given=(4,), max_new_tokens=4).ids,
            lambda model: [text.ids for text in zoo.writing.samples(model, IDS, rules=[Rules()] * 2, max_new_tokens=3)],
            lambda model: zoo.writing.search(model, IDS, width=2, max_new_tokens=2).ids,
        ]
        if here.config.architecture == "encoder-decoder":
            ways.append(lambda model: zoo.writing.generate(model, IDS, at=1, edits=edits, max_new_tokens=3).ids)
        for way in ways:
            assert way(there) == way(here)


@each("kind", [kind for kind, choices in KINDS.items() if "architecture" not in choices])
def test_what_pages_ask_of_a_language_model_is_the_same_everywhere(kind: str) -> None:
    with both(kind) as (here, there):
        longest = 11 if here.config.scheme.table else 13
        questions: list[Callable[[ZooModel], Any]] = [
            lambda model: zoo.experiments.logits(model, range(longest), cached=2),
            lambda model: zoo.experiments.values_at(model, "decoder.1.resid_post", [IDS, IDS]),
            lambda model: zoo.experiments.pull(model, IDS),
            lambda model: zoo.experiments.scores_from(model, IDS, first=3),
            lambda model: zoo.experiments.losses_with_dropout(model, IDS, dropout=0.5, runs=2)[1],
            lambda model: list(zoo.experiments.gradient_lengths(model, IDS).values()),
            lambda model: list(zoo.experiments.gradient_lengths(model, IDS, untrained=1).values()),
            lambda model: len(zoo.experiments.step_times(model, [5], rounds=1)),
        ]
        for ask in questions:
            close(ask(there), ask(here))


@each(
    "wish, n_gpus, n_parameters, chosen",
    [
        ("", 1, device.LARGE + 1, "cuda"),
        ("", 1, device.LARGE, "cpu"),
        ("", 0, device.LARGE + 1, "cpu"),
        ("cpu", 1, device.LARGE + 1, "cpu"),
        ("cuda", 1, 1, "cuda"),
        ("cuda:1", 2, 1, "cuda:1"),
    ],
)
def test_size_decides(monkeypatch: pytest.MonkeyPatch, wish: str, n_gpus: int, n_parameters: int, chosen: str) -> None:
    with_gpus(monkeypatch, n_gpus)
    monkeypatch.setenv(device.SETTING, wish)
    assert device.chosen_for(n_parameters) == torch.device(chosen)
    if not wish:
        monkeypatch.delenv(device.SETTING)
        assert device.chosen_for(n_parameters) == torch.device(chosen)


@each("wish", ["cuda:1", "gpu", "mps", "meta", "cpu; rm", "cuda:-1"])
def test_an_absent_device_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, shipped: Path, wish: str) -> None:
    with_gpus(monkeypatch, 1)
    monkeypatch.setenv(device.SETTING, wish)
    with pytest.raises(zoo.ModelUnavailable, match=f"TFMVIZ_DEVICE is {wish!r}"):
        zoo.load("decoder-only", folder=shipped)


def test_only_large_models_are_moved_when_they_are_loaded(monkeypatch: pytest.MonkeyPatch, shipped: Path) -> None:
    with_gpus(monkeypatch, 1)
    moved: list[torch.device] = []

    def to(self: nn.Module, where: torch.device) -> nn.Module:
        moved.append(where)
        return self

    monkeypatch.setattr(nn.Module, "to", to)
    zoo.load("decoder-only", folder=shipped)
    monkeypatch.setattr(device, "LARGE", 1)
    zoo.load("decoder-only", folder=shipped)
    assert moved == [torch.device("cpu"), torch.device("cuda")]


def test_a_gpu_without_room_is_said_and_what_to_do(monkeypatch: pytest.MonkeyPatch, shipped: Path) -> None:
    def to(self: nn.Module, where: torch.device) -> nn.Module:
        raise torch.OutOfMemoryError

    monkeypatch.setattr(nn.Module, "to", to)
    with pytest.raises(zoo.ModelUnavailable, match=r"cpu has no room for its weights\. TFMVIZ_DEVICE=cpu keeps"):
        zoo.load("decoder-only", folder=shipped)


def test_a_page_says_when_a_model_runs_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "This model runs on a GPU (cuda:0)."
    monkeypatch.setattr(ZooModel, "device", "cuda:0")
    app = open_page("size")
    assert said in [caption.value for caption in app.caption]
    monkeypatch.undo()
    assert said not in [caption.value for caption in app.run().caption]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@each("name", list(CONFIGS))
def test_a_real_gpu_computes_the_same(shipped: Path, name: str) -> None:
    on_cpu = zoo.load(name, folder=shipped)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(device.SETTING, "cuda")
        on_gpu = zoo.load(name, folder=shipped)
    assert (on_cpu.device, on_gpu.device) == ("cpu", "cuda:0")
    edit = AblateHead(layer=on_cpu.config.layers[0], head=1)
    expected, found = traced(on_cpu, (edit,)), traced(on_gpu, (edit,))
    assert found.sites == expected.sites
    for site in expected:
        np.testing.assert_allclose(found[site], expected[site], rtol=1e-3, atol=1e-4)
    if name != "encoder-only":
        there, here = (zoo.writing.generate(model, TEXT, max_new_tokens=5).ids for model in (on_gpu, on_cpu))
        assert there == here


def with_gpus(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: n > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: n)


ELSEWHERE = "lazy:0"
"""A kind of device that every build of torch can name and that nothing here uses."""

CROSSINGS = (torch.ops.aten._to_copy.default, torch.ops.aten.copy_.default)


class Far(Tensor):
    """A tensor of a device that is not the processor, on machines that have no other: it holds one of the processor's.

    What it has of a GPU is the strictness: an operation on tensors of two devices raises, and no tensor of it becomes
    an array before it is copied to the processor. It also refuses indices of the processor's, which a GPU would allow.
    """

    near: Tensor

    @staticmethod
    def __new__(cls: type[Self], near: Tensor) -> Self:
        how: dict[str, Any] = {"storage_offset": near.storage_offset(), "dtype": near.dtype, "device": ELSEWHERE}
        far = torch.Tensor._make_wrapper_subclass(cls, near.size(), near.stride(), **how)
        far.near = near
        return far

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore[override]
        return carried_out(func, args, kwargs or {})


class Factories(TorchDispatchMode):
    """Lets torch make tensors on that device."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return carried_out(func, args, kwargs or {})


@contextmanager
def reachable() -> Iterator[None]:
    """Inside, tensors can be made on that device and moved there."""
    before = torch._C._only_lift_cpu_tensors()
    torch._C._set_only_lift_cpu_tensors(True)  # `torch.tensor(…, device=…)` makes them here and moves them
    try:
        with Factories():  # type: ignore[no-untyped-call]
            yield
    finally:
        torch._C._set_only_lift_cpu_tensors(before)


def carried_out(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """An operation of torch with its rule about devices."""
    tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
    n_far = sum(isinstance(tensor, Far) for tensor in tensors)
    n_near = sum(not isinstance(tensor, Far) and tensor.ndim > 0 for tensor in tensors)
    if n_far and n_near and func not in CROSSINGS:
        raise RuntimeError(f"{func} got tensors of two devices.")
    if func is torch.ops.aten._conj.default:  # only a flag, which is not looked at below wrappers
        func = torch.ops.aten.conj_physical.default
    where = kwargs.get("device")
    if where is not None:
        kwargs = kwargs | {"device": "cpu"}
    is_far = n_far > 0 if where is None else torch.device(where).type != "cpu"
    made = func(*tree_map(_near, args), **tree_map(_near, kwargs))
    if func._schema.name.endswith("_") and not func._schema.name.endswith("__"):
        return args[0]
    return tree_map(lambda leaf: Far(leaf) if is_far and isinstance(leaf, Tensor) else leaf, made)


def _near(leaf: Any) -> Any:
    return leaf.near if isinstance(leaf, Far) else leaf
