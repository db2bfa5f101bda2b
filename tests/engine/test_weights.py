"""Weights are read as the library reads them, in parts too; what came damaged, cut or not at all is refused."""

import json
import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load, save

from tests.cases import each
from tests.engine import MODELS, Engine
from tests.engine.parity import check
from tests.model.helpers import flat
from tests.node import call
from tfmviz import zoo
from tfmviz.record.trace import Array
from tfmviz.views.engine import package

READ = """(() => {
    try {
        const tensors = module.tensorsOf(Uint8Array.from(given));
        return Object.fromEntries(Object.entries(tensors).map(([name, { shape, data }]) => [name, [shape, [...data]]]));
    } catch ({ message }) {
        return message;
    }
})()"""


def read(data: bytes) -> Any:
    return call("engine/safetensors.ts", READ, list(data))


def test_every_float16_there_is_and_float32_are_read_as_the_library_reads_them() -> None:
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    singles = np.array([[1.5, -2e-39], [3e38, -0.0]], dtype=np.float32)
    arrays: dict[str, Array] = {"halves": halves[np.isfinite(halves)].reshape(-1, 2), "singles": singles}
    data = save(arrays)
    for name, (shape, numbers) in read(data).items():
        theirs: Array = load(data)[name].astype(np.float32)
        assert tuple(shape) == theirs.shape
        np.testing.assert_array_equal(np.float32(numbers), theirs.ravel())


def file(header: Mapping[str, Any] | list[int], data: bytes = bytes(8)) -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def entry(**changes: Any) -> dict[str, Any]:
    return {"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]} | changes}


def test_a_whole_file_is_read() -> None:
    assert read(file(entry() | {"__metadata__": {"format": "pt"}})) == {"x": [[2], [0, 0]]}


NO_HEADER = "The weights have no readable header."
DAMAGED = "The header of the weights is damaged."
NO_PLACE = "x has no shape or no place in the weights."
MISFIT = "x does not fit its place in the weights, which may be cut off."


@each(
    "data, said",
    [
        (b"", NO_HEADER),
        (b"\x08\0\0", NO_HEADER),
        ((2**40).to_bytes(8, "little") + bytes(99), NO_HEADER),
        ((1_000_001).to_bytes(8, "little") + bytes(1_000_001), NO_HEADER),
        ((100).to_bytes(8, "little") + b"{}", NO_HEADER),
        ((3).to_bytes(8, "little") + b"{]}", DAMAGED),
        ((4).to_bytes(8, "little") + b'"\xff"}', DAMAGED),
        ((4).to_bytes(8, "little") + b"null", DAMAGED),
        (file([1]), "0 holds undefined numbers; only F32 and F16 are read."),
        (file(entry(dtype="I64")), "x holds I64 numbers; only F32 and F16 are read."),
        (file(entry(dtype="toString")), "x holds toString numbers; only F32 and F16 are read."),
        (file({"x": None}), "x holds undefined numbers; only F32 and F16 are read."),
        (file(entry(shape=[-2])), NO_PLACE),
        (file(entry(shape=[1.5])), NO_PLACE),
        (file(entry(shape="2")), NO_PLACE),
        (file(entry(data_offsets=[0, 2**60])), NO_PLACE),
        (file(entry(data_offsets=[0, 8, 16])), MISFIT),
        (file(entry(data_offsets=[8, 0])), MISFIT),
        (file(entry(data_offsets=[4, 12])), MISFIT),
        (file(entry(shape=[3])), MISFIT),
        (file(entry(shape=[1])), MISFIT),
        (file(entry(), bytes(7)), MISFIT),
        (file(entry(shape=[2**30, 2**30], data_offsets=[0, 2**52])), MISFIT),
    ],
)
def test_a_damaged_file_is_refused(data: bytes, said: str) -> None:
    assert read(data) == said


@pytest.fixture
def config() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((MODELS / "induction" / "config.json").read_text())
    return found


LOAD = """(() => {
    const fs = process.getBuiltinModule("node:fs");
    const tokenizer = JSON.parse(fs.readFileSync(given.tokenizer, "utf8"));
    const tensors = {};
    for (const [name, { shape, value }] of Object.entries(given.tensors)) {
        tensors[name] = { shape, data: new Float32Array(shape.reduce((a, b) => a * b, 1)).fill(value) };
    }
    try { module.Engine.of(given.config, tensors, tokenizer); return ""; } catch ({ message }) { return message; }
})()"""


def complaint(config: dict[str, Any], change: Callable[[dict[str, Any]], object] = lambda _: None) -> str:
    shapes = load((MODELS / "induction" / "model.safetensors").read_bytes())
    tensors = {name: {"shape": list(array.shape), "value": 0.5} for name, array in shapes.items()}
    change(tensors)
    given = {"config": config, "tensors": tensors, "tokenizer": str(MODELS / "induction" / "tokenizer.json")}
    return str(call("engine/engine.ts", LOAD, given))


def test_weights_that_are_not_those_of_the_config_are_refused(config: dict[str, Any]) -> None:
    name = "decoder.blocks.1.self_attn.W_O.bias"
    assert complaint(config) == ""
    assert complaint(config, lambda tensors: tensors.pop(name)) == f"The weights lack {name}."
    said = f"{name} is (64) in the weights, but (128) by the config."
    assert complaint(config, lambda tensors: tensors[name].update(shape=[64])) == said
    said = f"Not all numbers in {name} are finite."
    assert complaint(config, lambda tensors: tensors[name].update(value=float("nan"))) == said


@each(
    "changes, said",
    [
        ({"vocab_size": 1000}, "The tokenizer has 1024 entries, the config says 1000."),
        ({"d_model": 0}, "d_model = 0 is no size."),
        ({"norm": "rms"}, "The browser does not compute models with norm = rms."),
        ({"n_experts": 4}, "The browser does not compute models with n_experts = 4."),
        ({"sparsity": 3}, "The browser does not know what sparsity means."),
        ({"constructor": 3}, "The browser does not know what constructor means."),
    ],
)
def test_a_model_that_is_not_known_is_refused(config: dict[str, Any], changes: dict[str, Any], said: str) -> None:
    assert complaint(config | changes) == said


def test_what_a_config_leaves_out_means_what_it_means_in_python(config: dict[str, Any]) -> None:
    sizes: dict[str, Any] = {"vocab_size": 7, "max_len": 5, "d_model": 12, "n_layers": 2, "n_heads": 3}
    sizes |= {"n_kv_heads": 3, "d_ff": 11}
    ours, theirs = call("engine/known.ts", "module.complete(given)", sizes), flat(**sizes)
    assert ours == theirs.to_dict() | {"d_head": theirs.d_head, "divisor": theirs.divisor}
    assert call("engine/known.ts", "module.whyUnknown(given)", theirs.to_dict()) == ""
    del config["d_ff"]
    assert complaint(config) == "The config does not say d_ff."


PART = 300_000
CHANGED = "The weights were damaged in transit. Reload the page."


def served(folder: Path, change: Callable[[bytes], bytes] = bytes) -> dict[str, Any]:
    """The parts of a model as files, and what a page is told of it."""
    data = package(MODELS / "induction")
    sent = change(data)
    for n, at in enumerate(range(0, len(data), PART)):
        (folder / str(n)).write_bytes(sent[at : at + PART])
    return {"at": "weights/x", "parts": -(-len(data) // PART), "bytes": len(data), "digest": sha256(data).hexdigest()}


def test_what_was_fetched_computes_what_python_computes(engine: Engine, tmp_path: Path) -> None:
    addresses = engine.ask("fetch", name="induction", parcel=served(tmp_path), folder=str(tmp_path), encrypted=True)
    assert addresses == [f"https://app/page/weights/x/{n}" for n in range(2)]
    check(engine, zoo.load("induction"), "The cat sat. The cat")


def damage(data: bytes) -> bytes:
    return data[:400_000] + bytes([data[400_000] ^ 1]) + data[400_001:]


def cut(data: bytes) -> bytes:
    return data[:-1]


@each(
    "change, encrypted",
    [
        *((change, True) for change in (damage, cut, lambda data: data + b"!", lambda data: data[:PART])),
        (cut, False),  # where there are no digests, the length is looked at
    ],
)
def test_weights_that_changed_on_their_way_are_refused(
    engine: Engine, tmp_path: Path, change: Callable[[bytes], bytes], encrypted: bool
) -> None:
    place = {"name": "induction", "folder": str(tmp_path), "encrypted": encrypted}
    engine.ask("fetch", parcel=served(tmp_path), **place)
    with pytest.raises(ValueError, match=re.escape(CHANGED)):
        engine.ask("fetch", parcel=served(tmp_path, change), **place)


def test_weights_that_are_gone_are_refused(engine: Engine, tmp_path: Path) -> None:
    parcel = served(tmp_path)
    (tmp_path / "1").unlink()
    with pytest.raises(ValueError, match="The server no longer has this model"):
        engine.ask("fetch", name="induction", parcel=parcel, folder=str(tmp_path), encrypted=True)
