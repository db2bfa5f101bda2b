"""Cross-attention: on every page that shows it, a row says the word that is read and the one that is written."""

from __future__ import annotations

import json

from tests.app import open_page, pictures, views, words
from tests.pages.anew import sent
from tests.traces import read_blob

ADDRESS = {"model": "french-english", "text": "Je suis étudiant.", "kind": "cross-attention", "layer": "1", "head": "0"}
KEYS = ["Je", "suis", "étudiant", "."]
ROWS = ["<START> → I", "I → 'm", "'m → a", "a → student", "student → .", ". → <END>"]


def test_the_explorer_names_both_words() -> None:
    header, _ = read_blob(bytes(views(open_page(**ADDRESS))["explorer"].bytes))
    assert header["texts"]["rows"]["labels"] == ROWS
    assert header["texts"]["rows"]["said"][3] == "“a”, about to write “student”"
    assert {kind["name"]: kind["queries"] for kind in header["kinds"]}["decoder.cross_attn"] == "rows"


def test_other_pages_name_both_words() -> None:
    header, _ = read_blob(bytes(views(open_page("step_by_step", **ADDRESS))["steps"].bytes))
    assert (header["queries"], header["keys"]) == (ROWS, KEYS)
    header, _ = read_blob(bytes(views(open_page("whole_model", **ADDRESS, zoom="head"))["whole_model"].bytes))
    assert [lane["tokens"] for lane in header["lanes"]] == [KEYS, ROWS]
    assert sent(open_page("masks", **ADDRESS), "masks")["queries"] == ROWS
    offered = open_page("why", **ADDRESS, token="3", to="2").selectbox(key="chosen_token").options
    assert offered == [f"{n}  {row}" for n, row in enumerate(ROWS)]
    hashed = open_page("step_by_step", **ADDRESS, token="3", part="A fuzzy hash table")
    assert "“a”, about to write “student” asks" in words(hashed)


def test_maps_of_heads_say_both_words_of_a_row() -> None:
    for page, tab in (("masks", {"effect": "Attention"}), ("step_by_step", {"part": "Heads or their mean?"})):
        drawn = [header for header, _ in pictures(open_page(page, **ADDRESS, **tab)).values()]
        assert any("“a → student”" in json.dumps(header, ensure_ascii=False) for header in drawn), page
