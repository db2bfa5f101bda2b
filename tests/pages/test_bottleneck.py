"""The page on recurrent translators: its numbers against the equations in numpy, its address, odd texts, old files."""

from __future__ import annotations

import json
import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from tests.app import alt, charts, forget, matrices, open_page, pictures, series, words
from tests.model import numpy_seq2seq
from tests.pages.anew import sent
from tests.pages.claims import number
from tfmviz import zoo
from tfmviz.record.trace import Array
from tfmviz.text.tokenizer import END, Tokenizer
from tfmviz.ui.bottleneck import measured
from tfmviz.ui.bottleneck.choices import doubt
from tfmviz.ui.translators import KINDS, SAID

PAGE = "bottleneck"
TEXT = "Elle a une voiture rouge."
WITH_ATTENTION = [kind for kind in KINDS if kind != "none"]


def independent(kind: str, text: str = TEXT) -> tuple[Tokenizer, list[int], dict[str, Array]]:
    """The tokenizer, the greedy translation and all values of a shipped model, in plain numpy."""
    folder = zoo.MODELS / f"seq2seq-{kind}"
    tokenizer, weights = Tokenizer.load(folder / "tokenizer.json"), numpy_seq2seq.read(folder)
    src = list(tokenizer.encode(text, max_len=96).ids)
    ids = numpy_seq2seq.translate(weights, kind, src, mark=END, most=95)
    return tokenizer, ids, numpy_seq2seq.forward(weights, kind, src, [END, *ids])


def test_the_sizes_on_the_page_are_those_of_the_cards() -> None:
    def size(name: str) -> int:
        (found,) = re.findall(r"\| parameters \| ([\d,]+) \|", (zoo.MODELS / name / "CARD.md").read_text("utf-8"))
        return int(found.replace(",", ""))

    said = words(open_page(PAGE, text=TEXT))
    sizes = [size(f"seq2seq-{kind}") for kind in KINDS]
    assert f"{min(sizes):,} to {max(sizes):,} trained numbers" in said
    larger, least = (size("french-english") / n for n in (min(sizes), max(sizes)))
    assert f"the transformer {least:.0f} to {larger:.0f} times as many" in said


def test_what_is_left_out_is_counted() -> None:
    model = zoo.load("seq2seq-dot", kind=zoo.RecurrentTranslator)
    for dropped, said in ((1, "the last one of your text was left"), (2, "the last 2 of your text were left")):
        text = next(text for n in range(1, 500) if model.encode(text := "a" * n).n_dropped == dropped)
        assert said in doubt(text, model)


def test_every_translation_is_that_of_the_equations_in_numpy() -> None:
    """The page opens on a sentence that one vector loses and attention keeps."""
    opens, rows = (
        {model: text for model, _, text in sent(app, "translations")["rows"]}
        for app in (open_page(PAGE), open_page(PAGE, text=TEXT))
    )
    assert {kind for kind in KINDS if "you the way to the station" in opens[SAID[kind]]} == set(WITH_ATTENTION)
    expected = {SAID[kind]: found[0].decode(found[1]).strip() for kind in KINDS if (found := independent(kind))}
    transformer = zoo.writing.generate(zoo.load("french-english"), TEXT).text.strip()
    assert list(rows.items()) == [*expected.items(), ("transformer", transformer)]


def test_alignments_and_one_sum_are_those_of_the_equations_in_numpy() -> None:
    word, place = 2, 17
    for kind in WITH_ATTENTION:
        address = {"attention": kind, "word": str(word), "state": "1", "coordinate": str(place)}
        app = open_page(PAGE, text=TEXT, seen="Alignments", **address)
        tokenizer, ids, expected = independent(kind)
        header, drawn = pictures(app)["alignment"]
        np.testing.assert_allclose(drawn[0], expected["decoder.alpha"], atol=2e-4, err_msg=kind)
        assert header["rows"]["names"] == [*(tokenizer.vocabulary[index].strip() for index in ids), "⟨end⟩"]
        assert [(frame["top"], frame["left"]) for frame in header["frames"]] == [(word, 1)]
        shown = sent(app, "sum")
        assert f"number {place} of 128" in shown["caption"]
        found = np.array([[number(cell) for cell in row[1:]] for row in shown["rows"]])
        scores, alpha = expected["decoder.scores"][word], expected["decoder.alpha"][word]
        h = expected["encoder.hidden"][:, place]
        columns = (scores, np.exp(scores - scores.max()), alpha, h, alpha * h)
        np.testing.assert_allclose(found.T, columns, atol=0.006, err_msg=kind)
        np.testing.assert_allclose(found[:, 2:].T, columns[2:], atol=2e-4, err_msg=kind)
        sums = [number(found) for found in re.findall(r"[+−]\d\.\d{4}", shown["about"])]
        assert sums == pytest.approx([alpha @ h, expected["decoder.context"][word, place]], abs=3e-4), kind


def test_contexts_are_static_without_attention_and_dynamic_with_it() -> None:
    drawn = matrices(open_page(PAGE, text=TEXT, seen="One c, or many", attention="dot"))
    for kind in ("none", "dot"):
        np.testing.assert_allclose(drawn[f"contexts_{kind}"][0], independent(kind)[2]["decoder.context"], atol=2e-3)
    static, dynamic = drawn["contexts_none"][0], drawn["contexts_dot"][0]
    assert np.ptp(static, axis=0).max() == 0
    assert np.ptp(dynamic, axis=0).max() > 0.1


def test_the_transformers_own_cross_attention_stands_beside() -> None:
    app = open_page(PAGE, text=TEXT, seen="Alignments", model="french-english", layer="2", head="3")
    trace = zoo.load("french-english").trace(TEXT)
    np.testing.assert_allclose(matrices(app)["cross"][0], trace["decoder.2.cross_attn.pattern"][3], atol=2e-4)
    assert "layer 2, head 3" in pictures(app)["cross"][0]["scale"]["title"]


def test_the_matrix_grows_with_the_translation() -> None:
    tokenizer, ids, expected = independent("additive")
    here = {"text": TEXT, "seen": "Alignments", "attention": "additive"}
    header, drawn = pictures(open_page(PAGE, **here, written="3"))["alignment"]
    np.testing.assert_allclose(drawn[0][:3], expected["decoder.alpha"][:3], atol=2e-4)
    assert np.isnan(drawn[0][3:]).all()
    assert set(header["rows"]["names"][3:]) == {""}
    shown = sent(open_page(PAGE, text=TEXT, written="3"), "translations")["rows"][-2][-1]
    assert shown == tokenizer.decode(ids[:3]).strip() + " …"
    nothing = open_page(PAGE, **here, written="0")
    assert np.isnan(matrices(nothing)["alignment"]).all()
    assert "nothing is written yet" in alt(nothing, "alignment")


def test_buttons_write_one_token_more_and_all() -> None:
    app = open_page(PAGE, text=TEXT, seen="Alignments", attention="additive", written="1")
    for label, written in (("Next token", "2"), ("All", None)):
        next(button for button in app.button if button.label == label).click().run()
        assert app.query_params.get("written") == written
        rows = np.isfinite(matrices(app)["alignment"][0]).all(axis=1)
        assert rows.sum() == (2 if written else len(rows))


def test_an_unusable_place_in_the_address_shows_all() -> None:
    for value in ("", "-1", "x", "99999", "²", "<b>"):
        app = open_page(PAGE, text=TEXT, seen="Alignments", written=value, word=value, state=value)
        assert not app.error, value
        assert np.isfinite(matrices(app)["alignment"]).all(), value


def test_a_model_that_does_not_translate_is_replaced() -> None:
    for model, instead in (("twins-rope", "french-english"), ("reverse", "reverse")):
        app = open_page(PAGE, model=model)
        assert app.selectbox(key="model").value == instead
        assert not app.error


NOTES = {
    "老王 批评 老李。": "learned French alone",
    "😀 !": "nothing to translate",
    "12 + 3": "nothing to translate",
    "<img src=x onerror=alert(1)>": "ends without a mark",
    "Je suis étudiant": "ends without a mark",
    "Il dort. " * 555: "were left out",
    "«Je dors.»": "",
    "Où est la gare ?": "",
    "º.": "",
}


@pytest.mark.parametrize("seen", ["Translations", "Alignments", "One c, or many"])
def test_a_text_they_were_not_made_for_gets_a_sentence(seen: str) -> None:
    for text, note in NOTES.items():
        app = open_page(PAGE, text=text, seen=seen, model="french-english")
        assert not app.error, text
        said = "\n".join(str(element.value) for element in app.info)
        assert note in said, text
        assert bool(note) == bool(said), text


def test_an_empty_box_keeps_the_last_text() -> None:
    app = open_page(PAGE, text=TEXT)
    app.text_area(key="text").set_value("  ").run()
    assert "Type a sentence" in words(app)
    assert sent(app, "translations")["caption"] == f"“{TEXT}”"


def test_without_attention_there_is_no_alpha_and_the_page_says_so() -> None:
    app = open_page(PAGE, text=TEXT, seen="Alignments", attention="none")
    assert "there is no α" in words(app)
    assert set(matrices(app)) == {"cross"}


MODELS = [f"seq2seq-{kind}" for kind in KINDS]


def figures_of(weights: dict[str, str]) -> str:
    """A file of measurements as the script writes it, with numbers of this test."""
    bleu = {name: [10.0 + i, 9.0 + i, 11.5 + i] for i, name in enumerate(MODELS)}
    unsure = {f"{a} − {b}": [-1.0, -2.0, 0.5] for a, b in combinations(MODELS, 2)}
    sure = unsure | {"seq2seq-none − seq2seq-additive": [-3.0, -4.0, -2.0]}
    right = {name: [0.5, 0.4, 0.6] for name in (*MODELS, "always the commonest")}
    size = {"texts": 77, "words": 6.5}
    lengths = [size | {"most": most, "bleu": bleu, "differences": found} for most, found in ((0, unsure), (40, sure))]
    probed = [size | {"most": most, "right": right} for most in (0, 40)]
    return json.dumps(
        {
            "command": "python -m scripts.measure_bottleneck --data x.tsv",
            "seed": 3,
            "draws": 1000,
            "bleu": "nrefs:1",
            "weights": weights,
            "lengths": lengths,
            "probe": {"words": ["je", "il"], "learned": 99, "lengths": probed},
        }
    )


@pytest.fixture
def file(fresh: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(measured, "FILE", tmp_path / "bottleneck.json")
    return measured.FILE


def test_measurements_are_shown_with_what_is_significant(file: Path) -> None:
    file.write_text(figures_of({name: zoo.weights_hash(name) for name in MODELS}), encoding="utf-8")
    app = open_page(PAGE, seen="Measured")
    drawn = charts(app)
    assert {name: found.tolist() for name, found in series(drawn["bleu"]).items()} == {
        measured.NAMES[name]: [10.0 + i, 10.0 + i] for i, name in enumerate(MODELS)
    }
    assert set(series(drawn["bleu"], "low")["additive"]) == {12.0}
    assert set(series(drawn["first_word"], "high")["no attention"]) == {0.6}
    differences = sent(app, "differences")["rows"]
    assert len(differences) == 6
    assert ["no attention less additive", "−1.0 n.s.", "−3.0"] in differences
    assert ["no attention less dot product", "−1.0 n.s.", "−1.0 n.s."] in differences
    assert sent(app, "bleu_table")["rows"][1][3] == "10.0 (9.0–11.5)"
    assert "no attention, pairs alone: 10.0 (9.0–11.5)" in alt(app, "bleu")


def test_measurements_that_are_missing_or_of_other_weights_are_met_with_a_sentence(file: Path) -> None:
    weights = {name: zoo.weights_hash(name) for name in MODELS} | {"seq2seq-dot": "0123456789abcdef"}
    other = "Measured with other weights of `` seq2seq-dot ``"
    missing = "There are no measurements yet"
    for content, said in ((None, missing), ("", missing), ("{", missing), (figures_of(weights), other)):
        forget()
        if content is not None:
            file.write_text(content, encoding="utf-8")
        app = open_page(PAGE, seen="Measured")
        assert said in words(app), content
        assert not charts(app)


def test_the_shipped_measurements_are_of_the_shipped_weights() -> None:
    found = json.loads(measured.FILE.read_text(encoding="utf-8"))
    assert found["weights"] == {name: zoo.weights_hash(name) for name in MODELS}, f"measure again: {found['command']}"
