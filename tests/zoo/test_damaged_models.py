"""What is wrong with damaged models. Each kind of damage is done to one model; the others must go on working."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.cases import each
from tests.zoo.models import CONFIGS, TEXT
from tfmviz import zoo
from tfmviz.text.tokenizer import Tokenizer

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
    "weights cut in the header": (truncate("model.safetensors", 0.001), "damaged"),
    "weights empty": (truncate("model.safetensors", 0), "damaged"),
    "weights a web page": (replace_by("model.safetensors", b"<html>404 Not Found</html>"), "damaged"),
    "config empty": (replace_by("config.json", b""), "damaged"),
    "config cut short": (truncate("config.json", 0.5), "damaged"),
    "config not UTF-8": (replace_by("config.json", b"\xff\xfe{}"), "damaged"),
    "config a list": (replace_by("config.json", b"[1, 2]"), "damaged"),
    "config a number": (replace_by("config.json", b"7"), "damaged"),
    "config nested without end": (replace_by("config.json", b"[" * 100_000), "damaged"),
    "no heads": (configure(n_heads=0), "n_heads .* 0"),
    "heads that do not divide": (configure(n_heads=4, n_kv_heads=4), "d_model = 18 .* n_heads = 4"),
    "half a layer": (configure(n_layers=1.5), r"n_layers .* 1\.5"),
    "a width in words": (configure(d_model="eighteen"), "d_model .* 'eighteen'"),
    "an unknown position scheme": (configure(positions="backwards"), "positions .* 'backwards'"),
    "dropout above one": (configure(dropout=1.5), r"dropout .* 1\.5"),
    "an unknown entry": (configure(n_wheels=4), "n_wheels"),
    "an entry too few": (configure(d_ff=None), "d_ff"),
    "too many parameters": (configure(d_ff=10**9), "parameters"),
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
    "a thousand layers": (configure(n_layers=1000), r"lacks 15968 of 16003 arrays, first decoder\.blocks\.2\."),
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
    "infinity": (change_weights(lambda weights: weights["embedding.W_E"][3].fill_(torch.inf)), "W_E .* finite"),
    "tokenizer not JSON": (replace_by("tokenizer.json", b"not JSON"), r"tokenizer\.json"),
    "tokenizer cut short": (truncate("tokenizer.json", 0.9), r"tokenizer\.json"),
    "tokenizer with fewer entries": (another_tokenizer(269), "269.*283|283.*269"),
    "tokenizer with no merges": (another_tokenizer(257), "257.*283|283.*257"),
}


@each("case", SEEN_ON_LOADING)
def test_what_does_not_fit_is_refused_with_its_reason(shipped: Path, tmp_path: Path, case: tuple[Damage, str]) -> None:
    folder, (damage, reason) = shutil.copytree(shipped, tmp_path / "models"), case
    damage(folder / VICTIM)
    assert_refused(folder, reason)
