"""The names of the models: every shipped one has its own, and their sizes are those of the config."""

from itertools import pairwise
from pathlib import Path

import pytest

from tests.app import forget, menu, open_page
from tests.browser import ROOT
from tests.model.helpers import flat
from tfmviz import paths, zoo
from tfmviz.ui.menu import COMMAND
from tfmviz.ui.model_names import YOURS, name_of, named

SHIPPED = {entry.name: entry.config for entry in zoo.catalogue(zoo.MODELS) if entry.config}


def test_every_shipped_model_has_a_name_a_line_and_its_size_and_groups_stand_together() -> None:
    found = named(SHIPPED)
    assert sorted(one.model for one in found) == sorted(SHIPPED)
    assert YOURS not in {one.group for one in found}, "list it in assets/models.toml"
    for value in ("name", "line"):
        assert len({getattr(one, value) for one in found}) == len(found)
    assert all(len(one.line.split()) <= 12 and one.line.endswith(".") for one in found)
    groups = [one.group for one in named(SHIPPED)]
    assert sum(a != b for a, b in pairwise(groups)) == len(set(groups)) - 1
    sizes = {one.model: one.size for one in named(SHIPPED)}
    assert sizes["tiny-english"] == "6 layers × 8 heads, 6.29 million parameters"
    assert sizes["reverse"] == "1 + 1 layers × 4 heads, 508,032 parameters"
    assert sizes["twins-gqa"] == "4 layers × 4 heads, 983,040 parameters"


def test_a_model_that_is_not_listed_stands_under_yours_with_what_its_config_says() -> None:
    one_head = flat(**SHIPPED["tiny-english"].to_dict() | {"n_layers": 1, "n_heads": 1, "n_kv_heads": 1})
    *_, own = named({"gpt<b>": one_head} | SHIPPED)
    assert (own.model, own.name, own.group) == ("gpt<b>", "gpt<b>", YOURS)
    assert own.line == "Writes on, like GPT."
    assert own.size.startswith("1 layer × 1 head, ")
    assert name_of("gpt<b>") == "gpt<b>"


def test_the_menu_offers_what_can_be_loaded_and_does_not_tell_whose_home_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = menu(open_page(model="reverse"))
    assert sent["chosen"] == "reverse"
    assert {one.model for one in sent["models"]} == set(zoo.available())
    assert sent["command"] == COMMAND
    assert COMMAND in " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    monkeypatch.setenv("TFMVIZ_MODELS", str(Path.home() / "models"))
    assert menu(open_page())["folder"] == "~/models"


def test_a_converted_model_is_in_the_menu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").symlink_to(zoo.MODELS / "reverse")
    monkeypatch.setenv("TFMVIZ_MODELS", str(tmp_path))
    forget()
    sent = menu(open_page(model="mine"))
    assert sent["models"][-1].group == YOURS
    assert (sent["models"][-1].name, sent["chosen"]) == ("mine", "mine")
    assert sent["folder"] == str(paths.own_models())
    monkeypatch.undo()
    forget()
