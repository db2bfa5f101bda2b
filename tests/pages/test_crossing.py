"""Cross-attention: on every page that shows it, a row says the word that is read and the one that is written."""

from __future__ import annotations

import json

import pytest

from tests.app import open_page, pictures, views, words
from tests.traces import read_blob

ADDRESS = {"model": "french-english", "text": "Je suis étudiant.", "kind": "cross-attention", "layer": "1", "head": "0"}
ROWS = ["<START> → I", "I → 'm", "'m → a", "a → student", "student → .", ". → <END>"]


def test_the_explorer_names_both_words() -> None:
    header, _ = read_blob(bytes(views(open_page(**ADDRESS))["explorer"].bytes))
    assert header["texts"]["rows"]["labels"] == ROWS
    assert header["texts"]["rows"]["said"][3] == "“a”, about to write “student”"
    assert {kind["name"]: kind["queries"] for kind in header["kinds"]}["decoder.cross_attn"] == "rows"


def test_step_by_step_names_both_words() -> None:
    header, _ = read_blob(bytes(views(open_page("step_by_step", **ADDRESS))["steps"].bytes))
    assert header["queries"] == ROWS
    assert header["keys"] == ["Je", "suis", "étudiant", "."]


def test_masks_name_both_words() -> None:
    app = open_page("masks", **ADDRESS)
    assert json.loads(views(app)["masks"].json)["queries"] == ROWS


@pytest.mark.parametrize(
    ("page", "tab"), [("masks", {"effect": "Attention"}), ("step_by_step", {"part": "Heads or their mean?"})]
)
def test_maps_of_heads_say_both_words_of_a_row(page: str, tab: dict[str, str]) -> None:
    drawn = [header for header, _ in pictures(open_page(page, **ADDRESS, **tab)).values()]
    assert any("“a → student”" in json.dumps(header, ensure_ascii=False) for header in drawn)


def test_the_tokens_to_choose_from_say_both_words() -> None:
    app = open_page("why", **ADDRESS, token="3", to="2")
    assert app.selectbox(key="chosen_token").options == [f"{n}  {row}" for n, row in enumerate(ROWS)]


def test_a_fuzzy_hash_table_says_who_asks() -> None:
    assert "“a”, about to write “student” asks" in words(
        open_page("step_by_step", **ADDRESS, token="3", part="A fuzzy hash table")
    )


def test_the_whole_model_names_both_words_where_a_head_crosses() -> None:
    header, _ = read_blob(bytes(views(open_page("whole_model", **ADDRESS, zoom="head"))["whole_model"].bytes))
    assert [lane["tokens"] for lane in header["lanes"]] == [["Je", "suis", "étudiant", "."], ROWS]
