"""A browser gets a model in parts; what came cut, changed or not at all is refused with a sentence."""

import re
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.cases import each
from tests.engine import MODELS, Engine
from tests.engine.parity import check
from tfmviz.views.engine import package
from tfmviz.zoo import load

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
    check(engine, load("induction"), "The cat sat. The cat")


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
