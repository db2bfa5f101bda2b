"""Weights are read as the library reads them, in parts too; what came damaged, cut or not at all is refused."""

import re
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load, save

from tests.cases import each
from tests.engine import MODELS, Engine
from tests.engine.parity import check
from tests.node import call
from tfmviz import zoo
from tfmviz.record.trace import Array
from tfmviz.views.engine import package

READ = """(() => {
    const tensors = Object.entries(module.tensorsOf(Uint8Array.from(given)));
    return Object.fromEntries(tensors.map(([name, { shape, data }]) => [name, [shape, [...data]]]));
})()"""


def test_every_float16_there_is_and_float32_are_read_as_the_library_reads_them() -> None:
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    singles = np.array([[1.5, -2e-39], [3e38, -0.0]], dtype=np.float32)
    arrays: dict[str, Array] = {"halves": halves[np.isfinite(halves)].reshape(-1, 2), "singles": singles}
    data = save(arrays, {"format": "pt"})
    for name, (shape, numbers) in call("engine/view.ts", READ, list(data)).items():
        theirs: Array = load(data)[name].astype(np.float32)
        assert tuple(shape) == theirs.shape
        np.testing.assert_array_equal(np.float32(numbers), theirs.ravel())


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
