"""What is wrong with damaged models. Each kind of damage is done to one model; the others must go on working."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import tfmviz
from tests.app import forget
from tests.cases import each
from tests.model.helpers import flat
from tests.zoo.models import CONFIGS, TEXT
from tfmviz import zoo
from tfmviz.model import transformer
from tfmviz.model.config import ModelConfig
from tfmviz.model.transformer import Transformer, build, parameter_shapes
from tfmviz.record.facts import Architecture, FeedForwardKind, Norm, NormPosition
from tfmviz.record.trace import Trace
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.ui import models

VICTIM = "decoder-only"
Damage = Callable[[Path], object]


def remove(name: str) -> Damage:
    return lambda folder: (folder / name).unlink()


def replace_by(name: str, content: bytes) -> Damage:
    return lambda folder: (folder / name).write_bytes(content)


def grow(name: str, n_bytes: int) -> Damage:
    """To a size that takes no room on the disk."""

    def damage(folder: Path) -> None:
        with (folder / name).open("ab") as file:
            file.truncate(n_bytes)

    return damage


def many_tensors(folder: Path) -> None:
    listed = {f"t{n}": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for n in range(300_000)}
    header = json.dumps(listed).encode()
    (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)


def truncate(name: str, share: float) -> Damage:
    def damage(folder: Path) -> None:
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data[: int(share * len(data))])

    return damage


def configure(**changes: Any) -> Damage:
    """Changes entries of the config; None takes them away."""

    def damage(folder: Path) -> None:
        values = json.loads((folder / "config.json").read_text(encoding="utf-8")) | changes
        values = {key: value for key, value in values.items() if value is not None}
        (folder / "config.json").write_text(json.dumps(values), encoding="utf-8")

    return damage


def change_weights(change: Callable[[dict[str, torch.Tensor]], object]) -> Damage:
    def damage(folder: Path) -> None:
        weights = load_file(folder / "model.safetensors")
        change(weights)
        save_file(weights, folder / "model.safetensors")

    return damage


def map_weights(change: Callable[[torch.Tensor], torch.Tensor]) -> Damage:
    return change_weights(lambda weights: weights.update({name: change(weight) for name, weight in weights.items()}))


def another_tokenizer(vocab_size: int) -> Damage:
    tokenizer = Tokenizer.train(["The cat sat on the mat."] * 9, vocab_size=vocab_size)
    return lambda folder: tokenizer.save(folder / "tokenizer.json")


SEEN_IN_THE_CATALOGUE: dict[str, tuple[Damage, str]] = {
    "no weights": (remove("model.safetensors"), r"model\.safetensors is missing"),
    "no config": (remove("config.json"), r"config\.json is missing"),
    "no tokenizer": (remove("tokenizer.json"), r"tokenizer\.json is missing"),
    "weights cut short": (truncate("model.safetensors", 0.9), "damaged"),
    "weights empty": (truncate("model.safetensors", 0), "damaged"),
    "weights a web page": (replace_by("model.safetensors", b"<html>404 Not Found</html>"), "damaged"),
    "config empty": (replace_by("config.json", b""), "damaged"),
    "config cut short": (truncate("config.json", 0.5), "damaged"),
    "config not UTF-8": (replace_by("config.json", b"\xff\xfe{}"), "damaged"),
    "config a list": (replace_by("config.json", b"[1, 2]"), "damaged"),
    "config nested without end": (replace_by("config.json", b"[" * 100_000), "damaged"),
    "no heads": (configure(n_heads=0), "n_heads .* 0"),
    "an unknown entry": (configure(n_wheels=4), "n_wheels"),
    "a vocabulary that fills the memory": (configure(vocab_size=10**9), "vocab_size = 1,000,000,000"),
    "a config as long as a book": (grow("config.json", 2_000_000), r"config\.json has 2 MB"),
    "a tokenizer as long as a film": (grow("tokenizer.json", 3_000_000_000), r"tokenizer\.json has 3,000 MB"),
    "marks as long as a book": (grow("tokens.json", 2_000_000), r"tokens\.json has 2 MB"),
    "more values than a vocabulary has": (
        replace_by("tokenizer.json", b"[" + b"[]," * 4_000_000 + b"[]]"),
        r"tokenizer\.json holds 8,\d+,\d+ values",
    ),
    "more tensors than a model has": (many_tensors, "lists its tensors in 20 MB"),
    "positions that fill the memory": (configure(max_len=10**13), "max_len|parameters|memory"),
}


@each("case", SEEN_IN_THE_CATALOGUE)
def test_a_damaged_model_is_listed_with_its_reason(shipped: Path, tmp_path: Path, case: tuple[Damage, str]) -> None:
    folder, (damage, reason) = shutil.copytree(shipped, tmp_path / "models"), case
    damage(folder / VICTIM)
    entries = {entry.name: entry for entry in zoo.catalogue(folder)}
    assert list(entries) == sorted(CONFIGS)
    assert {name for name, entry in entries.items() if entry.problem} == {VICTIM}
    assert entries[VICTIM].config is None
    assert zoo.available(folder) == tuple(sorted(set(CONFIGS) - {VICTIM}))
    assert_refused(folder, reason)


def assert_refused(folder: Path, reason: str) -> None:
    with pytest.raises(zoo.ModelUnavailable, match=f"(?s)^{VICTIM} cannot be loaded: .*(?:{reason})"):
        zoo.load(VICTIM, folder=folder)
    assert zoo.load("encoder-only", folder=folder).trace(TEXT).sites


LAST_MATRIX = "decoder.blocks.1.mlp.W_out.weight"


def fill_last_matrix(weights: dict[str, torch.Tensor]) -> None:
    weights[LAST_MATRIX] = torch.full(weights[LAST_MATRIX].shape, 3e38)


SEEN_ON_LOADING: dict[str, tuple[Damage, str]] = {
    "weights for another width": (
        configure(d_ff=31),
        r"W_in\.weight is \(29, 18\) in model\.safetensors, but \(31, 18\)",
    ),
    "weights for fewer layers": (configure(n_layers=3), r"decoder\.blocks\.2"),
    "weights for another architecture": (configure(architecture="encoder-only"), "encoder"),
    "a matrix too few": (change_weights(lambda weights: weights.pop("embedding.W_E")), r"embedding\.W_E"),
    "a matrix too many": (change_weights(lambda weights: weights.update(extra=torch.zeros(3))), "holds extra"),
    "whole numbers": (map_weights(lambda weight: weight.mul(100).to(torch.int8)), r"W_E holds I8 numbers"),
    "scores that overflow": (
        map_weights(lambda weight: weight.float() * 1e11),
        r"computes on 'The cat sat on the mat\.' is not finite at decoder\.0\.self_attn\.scores\.$",
    ),
    "sums that overflow": (
        change_weights(fill_last_matrix),
        r"computes on 'The cat sat on the mat\.' is not finite at decoder\.1\.mlp\.out\.$",
    ),
    "not a number": (change_weights(lambda weights: weights["embedding.W_E"][3].fill_(torch.nan)), "W_E .* finite"),
    "minus infinity": (
        change_weights(lambda weights: weights["embedding.W_E"][3, 1:2].fill_(-torch.inf)),
        "W_E .* finite",
    ),
    "tokenizer not JSON": (replace_by("tokenizer.json", b"not JSON"), r"tokenizer\.json"),
    "tokenizer with fewer entries": (another_tokenizer(269), "269.*283|283.*269"),
}


@each("case", SEEN_ON_LOADING)
def test_what_does_not_fit_is_refused_with_its_reason(shipped: Path, tmp_path: Path, case: tuple[Damage, str]) -> None:
    folder, (damage, reason) = shutil.copytree(shipped, tmp_path / "models"), case
    damage(folder / VICTIM)
    assert_refused(folder, reason)


def test_all_models_are_listed_by_name(shipped: Path) -> None:
    assert zoo.catalogue(shipped) == tuple(zoo.Entry(name, None, CONFIGS[name]) for name in sorted(CONFIGS))
    assert zoo.available(shipped) == tuple(sorted(CONFIGS))


@each("name", list(CONFIGS))
def test_a_model_loads_ready_to_read(shipped: Path, name: str) -> None:
    model = zoo.load(name, folder=shipped)
    assert (model.name, model.config) == (name, CONFIGS[name])
    assert not model.module.training
    assert {p.dtype for p in model.module.parameters()} == {torch.float32}
    assert not any(p.requires_grad for p in model.module.parameters())
    stored = load_file(shipped / name / "model.safetensors")
    assert {value.dtype for value in stored.values()} == {torch.float16}
    assert all(value.equal(stored[key].float()) for key, value in model.module.state_dict().items())


def test_models_with_the_same_tokenizer_share_it() -> None:
    one, other, another = (zoo.load(name).tokenizer for name in ("twins-rope", "twins-none", "tiny-english"))
    assert one is other is not another


def test_unknown_names_and_folders_without_models_are_answered(tmp_path: Path, shipped: Path) -> None:
    (tmp_path / "README.md").write_text("No models here.", encoding="utf-8")
    for folder in (tmp_path, tmp_path / "missing"):
        assert zoo.catalogue(folder) == ()
        assert zoo.available(folder) == ()
        with pytest.raises(zoo.ModelUnavailable, match="none"):
            zoo.load("any", folder=folder)
    with pytest.raises(zoo.ModelUnavailable, match=r"'gpt-5'.*decoder-only, encoder-decoder, encoder-only"):
        zoo.load("gpt-5", folder=shipped)
    with pytest.raises(zoo.ModelUnavailable, match="no such model"):
        tfmviz.load("no such model")


def test_a_name_never_leads_out_of_the_folder(folder: Path) -> None:
    outside = shutil.copytree(folder / "decoder-only", folder.parent / "outside")
    for name in ("../outside", "decoder-only/../../outside", f"{outside}", "..", ".", "", "\0"):
        with pytest.raises(zoo.ModelUnavailable, match="There is no model named"):
            zoo.load(name, folder=folder)


def shape_of(module: Transformer) -> dict[str, tuple[int, ...]]:
    return {name: tuple(value.shape) for name, value in module.state_dict().items()}


CHOICES = {
    "architecture": get_args(Architecture),
    "norm_position": get_args(NormPosition),
    "norm": get_args(Norm),
    "feed_forward": get_args(FeedForwardKind),
    "embeddings": ("tied", "untied"),
    "n_layers": (3, 1, 2),
}
USUAL = {"vocab_size": 11, "max_len": 7, "d_model": 12, "n_heads": 2, "n_kv_heads": 1, "d_ff": 5}
USUAL |= {name: values[0] for name, values in CHOICES.items()}


@each("names", combinations(CHOICES, 2))
def test_the_shapes_are_right_whatever_two_choices_meet(names: tuple[str, str]) -> None:
    """Blocks are equal from the second on, so any other choice has to meet each number of layers, and no third one."""
    for chosen in product(*(CHOICES[name] for name in names)):
        config = flat(**USUAL | dict(zip(names, chosen, strict=True)))
        assert parameter_shapes(config) == shape_of(build(config)), chosen


def test_misfits_are_refused_before_a_model_is_built(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A config with a thousand layers took ten seconds to refuse."""
    config = folder / "decoder-only" / "config.json"
    config.write_text(config.read_text().replace('"n_layers": 2', '"n_layers": 1000'))
    built: list[int] = []

    def build_and_count(config: ModelConfig) -> Transformer:
        built.append(config.n_layers)
        return build(config)

    monkeypatch.setattr(transformer, "build", build_and_count)
    with pytest.raises(zoo.ModelUnavailable, match="lacks 15968 of 16003"):
        zoo.load("decoder-only", folder=folder)
    assert sum(built) <= 2, "the first layer may differ from the others"


def test_loading_runs_one_sentence_and_the_page_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []
    trace = zoo.ZooModel.trace

    def trace_and_count(model: zoo.ZooModel, inputs: Any, *args: Any, **how: Any) -> Trace:
        texts.append(inputs)
        return trace(model, inputs, *args, **how)

    monkeypatch.setattr(zoo.ZooModel, "trace", trace_and_count)
    forget()
    assert models.load("reverse") is models.load("reverse")
    assert texts == [zoo.TRIAL]


def test_every_site_is_looked_at_and_masked_scores_are_fine(model: zoo.ZooModel) -> None:
    trace = model.trace(TEXT)
    assert trace.first_not_finite() is None
    for site, wrong in product(trace, (np.nan, np.inf, -np.inf)):
        if site.endswith(".mask"):
            continue
        values = trace[site].copy()
        values.flat[-1] = wrong
        damaged = replace(trace, values={**trace.values, site: values})
        may_be = site.endswith(".scores") and wrong == -np.inf
        assert damaged.first_not_finite() == (None if may_be else site), (site, wrong)
    first, *others = (site for site in trace if site.endswith((".z", ".out")))
    several = {site: np.full_like(trace[site], np.nan) for site in (*others, first)}
    assert replace(trace, values=dict(trace.values) | several).first_not_finite() == first
