"""The page on recurrent translators: its numbers are those of the models; its address, its notes, old files."""

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.app import charts, forget, matrices, open_page, pictures, press, sent, series, words
from tests.pages.claims import number
from tfmviz import zoo
from tfmviz.record.trace import Trace
from tfmviz.ui.bottleneck import measured
from tfmviz.ui.bottleneck.choices import doubt
from tfmviz.ui.translators import KINDS, SAID
from tfmviz.words.numbers import per_cent

PAGE = "bottleneck"
TEXT = "Elle a une voiture rouge."
WITH_ATTENTION = [kind for kind in KINDS if kind != "none"]
MODELS = [f"seq2seq-{kind}" for kind in KINDS]


def recorded(kind: str) -> tuple[zoo.RecurrentTranslator, Trace]:
    model = zoo.load(f"seq2seq-{kind}", kind=zoo.RecurrentTranslator)
    return model, model.trace(TEXT)


def test_every_translation_is_that_of_its_model_and_the_sizes_are_those_of_the_cards() -> None:
    """The page opens on a sentence that one vector loses and attention keeps."""
    apps = open_page(PAGE), open_page(PAGE, text=TEXT)
    opens, rows = ({model: text for model, _, text in sent(app, "translations")["rows"]} for app in apps)
    assert {kind for kind in KINDS if "you the way to the station" in opens[SAID[kind]]} == set(WITH_ATTENTION)
    expected = {SAID[kind]: translation(kind) for kind in KINDS}
    transformer = zoo.writing.generate(zoo.load("french-english"), TEXT).text.strip()
    assert list(rows.items()) == [*expected.items(), ("transformer", transformer)]
    cards = [(zoo.MODELS / name / "CARD.md").read_text("utf-8") for name in (*MODELS, "french-english")]
    *sizes, large = (number(re.findall(r"\| parameters \| ([\d,]+) \|", card)[0]) for card in cards)
    said, least, most = words(apps[1]), min(sizes), max(sizes)
    assert f"{least:,.0f} to {most:,.0f} parameters" in said
    assert f"the transformer {large / most:.0f} to {large / least:.0f} times as many" in said


def translation(kind: str, n: int | None = None) -> str:
    """Its first tokens, or all."""
    model, trace = recorded(kind)
    return model.tokenizer.decode(trace.target.ids[1:][:n]).strip()


def test_alignments_and_one_sum_are_those_of_the_record() -> None:
    word, place = 2, 17
    for kind in WITH_ATTENTION:
        address = {"attention": kind, "word": str(word), "state": "1", "coordinate": str(place)}
        app, (model, trace) = open_page(PAGE, text=TEXT, seen="Alignments", **address), recorded(kind)
        header, drawn = pictures(app)["alignment"]
        np.testing.assert_allclose(drawn[0], trace["decoder.alpha"], atol=2e-4, err_msg=kind)
        assert header["rows"]["names"] == [*(model.vocabulary[n].strip() for n in trace.target.ids[1:]), "⟨end⟩"]
        assert [(frame["top"], frame["left"]) for frame in header["frames"]] == [(word, 1)]
        shown = sent(app, "sum")
        assert f"coordinate {place} of 128" in shown["caption"]
        found = np.array([[number(cell) for cell in row[1:]] for row in shown["rows"]])
        scores, alpha = trace["decoder.scores"][word], trace["decoder.alpha"][word]
        h = trace["encoder.hidden"][:, place]
        np.testing.assert_allclose(found[:, :2].T, (scores, np.exp(scores - scores.max())), atol=0.006, err_msg=kind)
        np.testing.assert_allclose(found[:, 2:].T, (alpha, h, alpha * h), atol=2e-4, err_msg=kind)
        sums = [number(found) for found in re.findall(r"[+−]\d\.\d{4}", shown["about"])]
        assert sums == pytest.approx([alpha @ h, trace["decoder.context"][word, place]], abs=3e-4), kind


def test_contexts_are_static_without_attention_and_dynamic_with_it() -> None:
    drawn = matrices(open_page(PAGE, text=TEXT, seen="One c, or many", attention="dot"))
    for kind, moves in (("none", False), ("dot", True)):
        contexts = drawn[f"contexts_{kind}"][0]
        own = recorded(kind)[1]["decoder.context"]
        np.testing.assert_allclose(contexts, own, atol=2e-3)
        assert (np.ptp(own, axis=0).max() > 0.1) == moves
    without = open_page(PAGE, text=TEXT, seen="Alignments", attention="none")
    assert "there is no α" in words(without)
    assert set(matrices(without)) == {"cross"}


def test_a_number_of_a_state_is_what_its_gates_make_of_sums_of_products() -> None:
    here = {"text": TEXT, "seen": "One c, or many", "attention": "additive", "unit": "7", "gate": "1"}
    trace = recorded("additive")[1]
    for word in (0, 2):
        app = open_page(PAGE, **here, word=str(word))
        own = {site: float(trace[f"decoder.{site}"][word, 7]) for site in ("reset", "update", "candidate", "hidden")}
        shown = sent(app, "state_step")
        found = np.array([[number(cell) for cell in row[1:]] for row in shown["rows"]])
        np.testing.assert_allclose(found[:, -1], (own["reset"], own["update"], own["candidate"]), atol=6e-4)
        np.testing.assert_allclose(found[:, :-2].sum(axis=1), found[:, -2], atol=0.03)
        assert number(shown["caption"].rsplit("= ", 1)[1]) == pytest.approx(own["hidden"], abs=6e-4)
        products = sent(app, "products")
        _, value, weight, product = zip(*products["rows"], strict=True)
        for a, b, c in zip(value, weight, product, strict=True):
            assert number(a) * number(b) == pytest.approx(number(c), abs=0.03)
        others, rest = map(number, re.findall(r"The other (\d+) add up to (\S+)\.", products["about"])[0])
        assert others == 3 * 128 - len(product)
        assert "are times r" not in products["about"]
        assert sum(map(number, product)) + rest == pytest.approx(found[1, :3].sum(), abs=0.06)


def test_the_matrix_grows_with_the_translation_and_buttons_write_one_token_more_and_all() -> None:
    alpha = recorded("additive")[1]["decoder.alpha"]
    here = {"text": TEXT, "seen": "Alignments", "attention": "additive"}
    app = open_page(PAGE, **here, written="3")
    header, drawn = pictures(app)["alignment"]
    np.testing.assert_allclose(drawn[0][:3], alpha[:3], atol=2e-4)
    assert np.isnan(drawn[0][3:]).all()
    assert set(header["rows"]["names"][3:]) == {""}
    for label, written in (("Next token", "4"), ("All", None)):
        press(app, label)
        assert app.query_params.get("written") == written
        rows = np.isfinite(matrices(app)["alignment"][0]).all(axis=1)
        assert rows.sum() == (4 if written else len(rows))
    whole = len(alpha) - 1  # the last row writes the end
    for n, more in ((3, " …"), (whole, " …"), (whole + 1, "")):
        shown = sent(open_page(PAGE, text=TEXT, written=str(n)), "translations")["rows"][-2][-1]
        assert shown == translation("additive", min(n, whole)) + more, n
    nothing = open_page(PAGE, **here, written="0")
    assert np.isnan(matrices(nothing)["alignment"]).all()


def test_an_unusable_place_shows_all_and_a_model_that_does_not_translate_is_replaced() -> None:
    for value in ("", "-1", "x", "99999", "²", "<b>"):
        app = open_page(PAGE, text=TEXT, seen="Alignments", written=value, word=value, state=value)
        assert not app.error, value
        header, (drawn,) = pictures(app)["alignment"]
        assert np.isfinite(drawn).all(), value
        row = len(drawn) // 2
        if value in ("", "x", "<b>"):
            assert [(one["top"], one["left"]) for one in header["frames"]] == [(row, drawn[row].argmax())], value
    for model, instead in (("twins-rope", "french-english"), ("reverse", "reverse")):
        app = open_page(PAGE, model=model)
        assert app.selectbox(key="model").value == instead
        assert not app.error


NOTES = {
    "老王 批评 老李。": "learned only French",
    "😀 !": "nothing to translate",
    "12 + 3": "nothing to translate",
    "<img src=x onerror=alert(1)>": "no final punctuation",
    "Je suis étudiant": "no final punctuation",
    "Il dort. " * 555: "were left out",
    "«Je dors.»": "",
    "Où est la gare ?": "",
    "º.": "",
}


def test_a_text_they_were_not_made_for_gets_a_sentence_and_what_is_left_out_is_counted() -> None:
    model = zoo.load("seq2seq-dot", kind=zoo.RecurrentTranslator)
    for text, note in NOTES.items():
        assert note in doubt(text, model), text
        assert bool(note) == bool(doubt(text, model)), text
    for dropped, said in ((1, "the last one of your text was left"), (2, "the last 2 of your text were left")):
        text = next(text for n in range(1, 500) if model.encode(text := "a" * n).n_dropped == dropped)
        assert said in doubt(text, model)
    for seen, text in product(("Translations", "Alignments", "One c, or many"), list(NOTES)[3:7]):
        app = open_page(PAGE, text=text, seen=seen, model="french-english")
        assert not app.error, text
        notes = [element.value for element in app.info]
        assert (doubt(text, model) in notes) == bool(notes) == bool(NOTES[text]), seen


MEASURED: dict[str, Any] = json.loads(measured.FILE.read_text(encoding="utf-8"))


def test_measurements_of_the_shipped_weights_are_shown_with_their_intervals() -> None:
    hashes = {name: zoo.weights_hash(name) for name in MODELS}
    assert MEASURED["weights"] == hashes, f"measure again: {MEASURED['command']}"
    lengths, probed = MEASURED["lengths"], MEASURED["probe"]["lengths"]
    app = open_page(PAGE, seen="Measured")
    drawn = charts(app)
    for key, what, rows in (("bleu", "bleu", lengths), ("first_word", "right", probed)):
        for name, (n, end) in product(rows[0][what], enumerate(("y", "low", "high"))):
            shown = series(drawn[key], end)[measured.NAMES[name]]
            np.testing.assert_allclose(shown, [row[what][name][n] for row in rows], err_msg=f"{key}, {name}, {end}")
    score = "{:.1f} ({:.1f}–{:.1f})".format(*lengths[0]["bleu"][MODELS[0]])
    assert sent(app, "bleu_table")["rows"][0][3] == score
    share = "{} ({} to {})".format(*map(per_cent, probed[-1]["right"][MODELS[0]]))
    for said, key in ((f"pairs alone: {score}", "bleu"), (f"up to {probed[-1]['most']} words: {share}", "first_word")):
        assert f"no attention, {said}" in drawn[key]["tables"]["rows"]["hover"]


@pytest.mark.usefixtures("fresh")
def test_measurements_that_are_missing_or_of_other_weights_are_met_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measured, "FILE", tmp_path / "bottleneck.json")
    others = MEASURED | {"weights": MEASURED["weights"] | {"seq2seq-dot": "0123456789abcdef"}}
    missing, other = "There are no measurements yet", "Measured with other weights of `` seq2seq-dot ``"
    for content, said in ((None, missing), ("", missing), ("{", missing), (json.dumps(others), other)):
        forget()
        if content is not None:
            measured.FILE.write_text(content, encoding="utf-8")
        app = open_page(PAGE, seen="Measured")
        assert said in words(app), content
        assert not charts(app)
