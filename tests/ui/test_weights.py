"""The models that a browser computes, as files: whole, under names that change with them, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

import pytest
from starlette.requests import Request
from starlette.responses import Response

from tfmviz.places import PROJECT
from tfmviz.ui import weights
from tfmviz.views import engine

MODELS = PROJECT / "assets" / "models"


@pytest.fixture(autouse=True)
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(weights, "_served", True)
    yield
    weights._package.cache_clear()


def answer(name: str, part: int) -> Response:
    return weights._answer(Request({"type": "http", "path_params": {"name": f"{name}/{part}"}}))


@pytest.mark.parametrize("model", ["tiny-english", "induction"])
def test_the_parts_make_up_the_files_of_the_model(model: str) -> None:
    parcel = weights.parcel(model)
    assert parcel
    answers = [answer(parcel["at"].removeprefix("weights/"), n) for n in range(parcel["parts"])]
    whole = b"".join(bytes(found.body) for found in answers)
    assert len(whole) == parcel["bytes"]
    assert sha256(whole).hexdigest() == parcel["digest"]
    files = [(MODELS / model / name).read_bytes() for name in ("tokenizer.json", "model.safetensors")]
    assert whole.endswith(b"".join(files))
    for found in answers:
        assert len(found.body) <= 4_000_000
        assert "immutable" in found.headers["cache-control"]
        assert found.headers["content-type"] == "application/octet-stream"
        assert found.headers["content-encoding"] == "identity", "Streamlit would compress each answer anew"
    assert answer(parcel["at"].removeprefix("weights/"), parcel["parts"]).status_code == 404


def test_other_files_have_another_address(monkeypatch: pytest.MonkeyPatch) -> None:
    before = weights.parcel("induction")
    weights._package.cache_clear()
    monkeypatch.setattr(weights, "package", lambda folder: engine.package(folder) + b"!")
    after = weights.parcel("induction")
    assert before
    assert after
    assert before["at"] != after["at"]
    assert answer(before["at"].removeprefix("weights/"), 0).status_code == 404


@pytest.mark.parametrize("model", ["french-english", "twins-linear", "../models/induction", "", "my-own"])
def test_a_model_that_the_browser_does_not_compute_has_no_address(model: str) -> None:
    assert weights.parcel(model) is None


def test_nothing_has_an_address_where_nothing_serves_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "_served", False)
    assert weights.parcel("induction") is None


@pytest.mark.parametrize("name", ["", "-", "induction", "induction-", "induction-0123", "../../app.py-0", "reverse-0"])
@pytest.mark.parametrize("part", [0, 10**30])
def test_nothing_else_is_served(name: str, part: int) -> None:
    assert answer(name, part).status_code == 404


def test_asking_for_unknown_models_reads_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "package", lambda folder: pytest.fail(f"{folder} was read"))
    assert answer("../models/induction-0", 0).status_code == 404
    assert answer("reverse-0", 0).status_code == 404
