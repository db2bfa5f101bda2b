"""The models that a browser computes, as files: whole, under names that change with them, and nothing else."""

from collections.abc import Iterator
from hashlib import sha256
from itertools import product

import pytest
from starlette.requests import Request
from starlette.responses import Response

from tfmviz.paths import PROJECT
from tfmviz.ui import weights
from tfmviz.views import engine

FILES = ("tokenizer.json", "model.safetensors")

MODELS = PROJECT / "assets" / "models"


@pytest.fixture(autouse=True)
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(weights, "_served", True)
    yield
    weights._package.cache_clear()


def answer(name: str, part: int) -> Response:
    return weights._answer(Request({"type": "http", "path_params": {"name": f"{name}/{part}"}}))


def test_the_parts_make_up_the_files_of_the_model() -> None:
    for model in ("tiny-english", "induction"):
        parcel = weights.parcel(model)
        assert parcel
        name = parcel["at"].removeprefix("weights/")
        answers = [answer(name, n) for n in range(parcel["parts"])]
        whole = b"".join(bytes(found.body) for found in answers)
        assert len(whole) == parcel["bytes"]
        assert sha256(whole).hexdigest() == parcel["digest"]
        assert whole.endswith(b"".join((MODELS / model / of).read_bytes() for of in FILES))
        for found in answers:
            assert len(found.body) <= 4_000_000
            assert "immutable" in found.headers["cache-control"]
            assert found.headers["content-type"] == "application/octet-stream"
            assert found.headers["content-encoding"] == "identity", "Streamlit would compress each answer anew"
        assert answer(name, parcel["parts"]).status_code == 404


def test_other_files_have_another_address(monkeypatch: pytest.MonkeyPatch) -> None:
    before = weights.parcel("induction")
    weights._package.cache_clear()
    monkeypatch.setattr(weights, "package", lambda folder: engine.package(folder) + b"!")
    after = weights.parcel("induction")
    assert before
    assert after
    assert before["at"] != after["at"]
    assert answer(before["at"].removeprefix("weights/"), 0).status_code == 404


def test_a_model_that_the_browser_does_not_compute_has_no_address_and_none_has_where_nothing_serves_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for model in ("french-english", "twins-linear", "../models/induction", "", "my-own"):
        assert weights.parcel(model) is None, model
    monkeypatch.setattr(weights, "_served", False)
    assert weights.parcel("induction") is None


def test_nothing_else_is_served_and_no_file_of_an_unknown_model_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    unknown = ("../../app.py-0", "../models/induction-0", "reverse-0")
    names = ("", "-", "induction", "induction-", "induction-0123", *unknown)
    for name, part in product(names, (0, 10**30)):
        assert answer(name, part).status_code == 404, name
    monkeypatch.setattr(weights, "package", lambda folder: pytest.fail(f"{folder} was read"))
    for name in unknown:
        assert answer(name, 0).status_code == 404, name
