"""The four uses of a recurrent network: labels and classes against the equations in numpy, odd texts, links."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from tests.app import alt, charts, forget, matrices, open_page, pictures, series, words
from tests.pages.plain import weights
from tests.pages.tabs import rows
from tfmviz import zoo
from tfmviz.places import PROJECT
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.ui.ladder.uses import SENTENCES, doubt, listed

TEXT = "Attention, I would like un café."
TAB = "Four uses"
NAMES = ("label-both", "label-forward", "label-text")


def ids_of(text: str) -> list[int]:
    return Tokenizer.load(zoo.MODELS / NAMES[0] / "tokenizer.json").ids(text)[:64]


def by_position(name: str) -> dict[str, list[float]]:
    return dict(json.loads((PROJECT / f"assets/training/{name}-by-position.json").read_text()))


def states(w: dict[str, np.ndarray], prefix: str, x: np.ndarray) -> np.ndarray:
    """The states of one recurrent layer that reads x from its first row to its last."""
    W_x, W_h, b_x, b_h = (w[f"{prefix}gru.{n}_l0"] for n in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
    h, found = np.zeros(W_h.shape[1]), []
    for x_t in x:
        (x_r, x_z, x_n), (h_r, h_z, h_n) = np.split(W_x @ x_t + b_x, 3), np.split(W_h @ h + b_h, 3)
        r, z = 1 / (1 + np.exp(-x_r - h_r)), 1 / (1 + np.exp(-x_z - h_z))
        h = (1 - z) * np.tanh(x_n + r * h_n) + z * h
        found.append(h)
    return np.array(found)


def logits(name: str, ids: list[int]) -> np.ndarray:
    """(len, 2)."""
    w = weights(name)
    x = np.sqrt(w["W_E"].shape[1]) * w["W_E"][ids]
    for layer in ("rnn.0.", "rnn.1."):
        if name == "label-both":
            after = states(w, f"{layer}from_right.", x[::-1])[::-1]
            x = np.hstack((states(w, f"{layer}from_left.", x), after))
        else:
            x = states(w, layer, x)
    return x @ w["W_L.weight"].T + w["W_L.bias"]


def french(scores: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(scores[:, 1] - scores[:, 0]))


def test_labels_and_classes_are_those_of_the_equations() -> None:
    """The three networks read the same tokens."""
    assert len({(zoo.MODELS / name / "tokenizer.json").read_bytes() for name in NAMES}) == 1
    app, ids = open_page("ladder", text=TEXT, ladder=TAB), ids_of(TEXT)
    both, forward, single = (logits(name, ids) for name in NAMES)
    mean = single.cumsum(axis=0) / np.arange(1, len(ids) + 1)[:, None]
    for key, expected in (("labels", (both, forward)), ("classes", (single, mean))):
        picture, drawn = pictures(app)[key]
        for row, scores, written in zip(drawn[0], expected, picture["texts"], strict=True):
            p = french(scores)
            np.testing.assert_allclose(row, p, atol=5e-4)
            assert all(abs(float(share) - 100 * q) < 0.6 for share, q in zip(written, p, strict=True))
    assert f"{french(single)[-1]:.0%} from the last state" in words(app) or french(single)[-1] < 0.095


def test_what_comes_later_helps_with_the_first_word() -> None:
    """“Attention” is a word of both languages: only the network that has read on can know which it is."""
    texts = ("Attention à la marche.", "Attention, the door is open.")
    assert set(texts) <= set(SENTENCES)
    ids = [ids_of(text) for text in texts]
    one, other = (french(logits("label-both", tokens))[:4] for tokens in ids)
    assert (one > 0.9).all()
    assert (other < 0.1).all()
    one, other = (french(logits("label-forward", tokens))[:4] for tokens in ids)
    np.testing.assert_allclose(one, other)
    both, forward = map(by_position, NAMES[:2])
    assert all(both[place][0] > forward[place][0] + 0.05 for place in ("position", "after a change"))


REST = ("ention", ",", "I", "would", "like", "un", "café", ".")


def test_tokens_at_which_the_two_differ_are_named() -> None:
    app, ids = open_page("ladder", text=TEXT, ladder=TAB), ids_of(TEXT)
    both, forward = (french(logits(name, ids)) > 0.5 for name in NAMES[:2])
    names = np.array(["“A”", "“t” (token 1)", "“t” (token 2)", *(f"“{name}”" for name in REST)])

    def named(chosen: np.ndarray) -> str:
        return ", ".join(names[chosen])

    assert (both != forward).sum() in range(1, 9)
    assert f"They differ at {named(both != forward)}." in words(app).replace("\\", "")
    assert alt(app, "labels") == f"In French: both directions: {named(both)}; forward alone: {named(forward)}"
    assert "They agree." in words(open_page("ladder", text="It is late.", ladder=TAB))


def test_of_many_tokens_the_first_are_named_and_the_others_counted() -> None:
    text = zoo.load("tiny-english").encode("a b c d e f g h i")
    for n, said in ((0, "nothing"), (1, "“a”"), (8, "“h”"), (9, "“h” and 1 more")):
        assert listed(text, np.arange(len(text.tokens)) < n).endswith(said)


def test_held_out_curves_are_those_of_the_files() -> None:
    both, forward, whole = map(by_position, NAMES)
    places = {
        "after a change": {"both directions": both["after a change"], "forward alone": forward["after a change"]},
        "whole texts": {"last state": whole["position"], "mean of the states": whole["mean of the states"]},
    }
    for place, expected in places.items():
        drawn = series(charts(open_page("ladder", text=TEXT, ladder=TAB, sorted=place))["right"])
        assert set(drawn) == set(expected)
        for name, curve in drawn.items():
            np.testing.assert_allclose(curve, expected[name])


def test_a_text_for_which_they_were_not_made_gets_a_sentence() -> None:
    few, other = "So few letters", "Not all letters are Latin"
    texts = {
        "Je pense que the weather is nice.": "",
        "à": few,
        "3.14 + 42 = 😀": few,
        "老王 批评 老李": other,
        "Привет, je pense à toi": other,
        "<b>hello</b> $x$": "",
        "le nº un et la 2ª": "",
        "je vois α": other,
    }
    assert [text for text, said in texts.items() if said not in doubt(text) or bool(said) != bool(doubt(text))] == []


def test_odd_texts_are_met_kindly() -> None:
    app = open_page("ladder", text="\u200b", ladder=TAB)
    assert "holds nothing that these networks read" in words(app)
    assert not app.error
    for text in ("👩‍👩‍👧" * 300, "x" * 5000):
        assert matrices(open_page("ladder", text=text, ladder=TAB))["labels"].shape == (1, 2, 64)


def test_a_tab_whose_models_are_missing_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("tiny-english", *NAMES[:2]):
        (tmp_path / name).symlink_to(zoo.MODELS / name)
    monkeypatch.setattr(zoo, "MODELS", tmp_path)
    forget()
    app = open_page("ladder", text=TEXT, ladder=TAB)
    assert "This part needs the model `` label-text ``" in words(app)
    assert not app.error
    monkeypatch.undo()
    forget()


def test_a_sentence_from_the_menu_becomes_the_text() -> None:
    app = open_page("ladder", text=TEXT, ladder=TAB)
    app.selectbox(key="mixed").select(SENTENCES[0]).run()
    assert app.session_state["text"] == SENTENCES[0]
    assert app.query_params["text"] == SENTENCES[0]
    assert matrices(app)["labels"].shape[-1] == len(ids_of(SENTENCES[0]))


def test_links_lead_to_pages_and_tabs_that_there_are() -> None:
    links = re.findall(r"\]\(\./([^)]*)\)", words(open_page("ladder", text="a (b) | c", ladder=TAB)))
    assert [urlsplit(link).path for link in links] == ["ladder", "writing", "counting", "bottleneck"]
    for link in links:
        page, choices = urlsplit(link).path, parse_qs(urlsplit(link).query)
        titles = rows(PROJECT / "pages" / f"{page}.py")
        for key in titles.keys() & choices.keys():
            assert choices[key][0] in titles[key]
        assert choices["text"][0] == ("a (b) | c" if page != "bottleneck" else "Je suis étudiant.")
    long = words(open_page("ladder", text="x " * 999, ladder=TAB))
    assert re.findall(r"\]\(\./writing([^)]*)\)", long) == ["?"]
