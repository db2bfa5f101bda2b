"""A model in the address that does not exist: the page is about one that it can be about, and says so once."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.app import forget, open_page
from tests.pages.plain import MODEL
from tfmviz import zoo

NEAR = {"frnch-english": "french-english", "tiny-englsh": "tiny-english", "twins-rop": "twins-rope"}
"""Damaged names, and the models that they are near to."""

FAR = ("j-cut", "h-list", "french", "<b>`x`", "..", "english-french" * 30)


def test_a_damaged_name_is_the_one_near_it_where_the_page_can_be_about_that() -> None:
    kinds = {entry.name: entry.config.architecture for entry in zoo.catalogue() if entry.config is not None}
    for page, usual in (
        ("explorer", "tiny-english"),
        ("positions_rope", "tiny-english"),
        ("translating", "french-english"),
    ):
        fits = [name for name, kind in kinds.items() if page != "translating" or kind == "encoder-decoder"]
        for asked, near in (NEAR | dict.fromkeys(FAR, usual)).items():
            app = open_page(page, model=asked)
            assert app.selectbox(key="model").value == (near if near in fits else usual), (page, asked)
            assert sum("There is no model" in note.value for note in app.info) == 1, (page, asked)
            assert not app.error, (page, asked)
    assert open_page("translating", model="").selectbox(key="model").value == "french-english"


def test_a_model_near_the_name_that_cannot_be_loaded_is_not_taken(own_zoo: Path) -> None:
    for name in ("tiny-english", "r-token", "r-tokens"):
        shutil.copytree(MODEL, own_zoo / name)
    for damaged, taken in (("r-token", "r-tokens"), ("r-tokens", "tiny-english")):
        (own_zoo / damaged / "tokenizer.json").write_text("{}")  # seen only when the model is loaded
        forget()
        app = open_page(model="r-tokn")
        assert app.selectbox(key="model").value == taken
        assert not app.error
