"""A model in the address that does not exist: the page is about one that it can be about, and says so once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.app import forget, open_page
from tfmviz import zoo

MODEL = zoo.MODELS / "tiny-english"

NEAR = {"frnch-english": "french-english", "tiny-englsh": "tiny-english", "twins-rop": "twins-rope"}
"""Damaged names, and the models that they are near to."""

FAR = ("j-cut", "h-list", "french", "<b>`x`", "..", "english-french" * 30)


@pytest.mark.parametrize(
    ("page", "usual"),
    [("explorer", "tiny-english"), ("positions_rope", "tiny-english"), ("translating", "french-english")],
)
def test_a_damaged_name_is_the_one_near_it_where_the_page_can_be_about_that(page: str, usual: str) -> None:
    kinds = {entry.name: entry.config.architecture for entry in zoo.catalogue() if entry.config is not None}
    fits = [name for name, kind in kinds.items() if page != "translating" or kind == "encoder-decoder"]
    for asked, near in (NEAR | dict.fromkeys(FAR, usual)).items():
        app = open_page(page, model=asked)
        assert app.selectbox(key="model").value == (near if near in fits else usual), asked
        said = [note.value for note in app.info if "There is no model" in note.value]
        assert len(said) == 1, asked
        assert not app.error, asked


def test_an_empty_name_is_none() -> None:
    assert open_page("translating", model="").selectbox(key="model").value == "french-english"


def test_a_model_near_the_name_that_cannot_be_loaded_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh: None
) -> None:
    for name in ("tiny-english", "r-token", "r-tokens"):
        shutil.copytree(MODEL, tmp_path / name)
    monkeypatch.setattr(zoo.catalogue, "__defaults__", (tmp_path,))
    monkeypatch.setattr(zoo.load, "__defaults__", (tmp_path,))
    for damaged, taken in (("r-token", "r-tokens"), ("r-tokens", "tiny-english")):
        (tmp_path / damaged / "tokenizer.json").write_text("{}")  # seen only when the model is loaded
        forget()
        app = open_page(model="r-tokn")
        assert app.selectbox(key="model").value == taken
        assert not app.error
