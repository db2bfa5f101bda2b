"""The page about training: its numbers, its shipped runs, its address, what it says."""

import json
import re
from itertools import islice
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tests.app import alt, charts, forget, open_page, sent, series, spaces, words
from tests.pages import plain
from tests.pages.claims import number, numbers_in
from tfmviz import zoo
from tfmviz.analysis import smoothing
from tfmviz.analysis.calibration import log_softmax
from tfmviz.analysis.mask_effect import next_token_losses
from tfmviz.constants import MASK
from tfmviz.record.trace import Array, Trace
from tfmviz.ui import models, recipe
from tfmviz.ui.recipe import targets
from tfmviz.words.numbers import decimal, rounded

PAGE = "recipe"
TEXT = "The cat sat on the mat."


def losses(name: str = "tiny-english") -> Array:
    """−ln P of each next token."""
    trace = zoo.load(name).trace(TEXT)
    return next_token_losses(trace["logits"], trace.target.ids)


def numbers(column: list[str]) -> Array:
    return np.array([number(cell) for cell in column])


def test_teacher_forcing_shows_the_losses_and_their_mean_and_a_clicked_row_explains_its_own() -> None:
    app = open_page(PAGE, text=TEXT)
    shown, expected = sent(app, "forcing"), losses()
    assert np.allclose(numbers([row[3] for row in shown["rows"]]), expected, atol=6e-4)
    tokens = [token.strip() for token in zoo.load("tiny-english").tokenizer.encode(TEXT, max_len=99).tokens]
    assert [row[0].split(" ", 1)[1] for row in shown["rows"]] == tokens[:-1]
    assert [row[1] for row in shown["rows"]] == tokens[1:]
    assert f"**{expected.mean():.3f}**" in words(app)
    assert f"perplexity, is {rounded(np.exp(expected.mean()))}." in words(app)
    for text, dots in (("The cat sat.", ""), ("The cat sat on.", " + …")):  # three terms, and four
        assert re.search(
            rf"\d{re.escape(dots)}\) / {len(plain.ids_of(text)) - 1} = ", words(open_page(PAGE, text=text))
        )
    shown = sent(open_page(PAGE, text=TEXT, token="2"), "forcing")
    assert shown["picked"] == 2
    p = rounded(np.exp(-expected[2]))
    assert f"P(“on” | everything up to “sat”) = {p}, and −ln {p} = {expected[2]:.3f};" in shown["about"]
    assert "no next token" in words(open_page(PAGE, text="x"))


def test_a_translator_is_forced_on_its_own_translation_and_who_sees_answers_is_not_kept_from_them() -> None:
    app = open_page(PAGE, model="french-english", text="Je suis étudiant.")
    shown = sent(app, "forcing")
    assert len(shown["rows"]) == len(zoo.writing.generate(zoo.load("french-english"), "Je suis étudiant.").ids)
    assert "what the model itself writes" in words(app)
    assert "The target is the input" not in words(app)
    said = words(open_page(PAGE, model="twins-unmasked", text=TEXT))
    assert "trained without that mask" in said
    assert "mask keeps each from seeing" not in said
    assert "mask keeps each from seeing" in words(open_page(PAGE, model="twins-rope", text=TEXT))


def test_masked_losses_are_the_fill_in_model_s_and_the_next_token_s_of_one_that_sees_the_left_side() -> None:
    drawn = [sent(open_page(PAGE, recipe="Three tasks", text=TEXT, draw=str(n)), "tasks")["rows"] for n in range(4)]
    for row in (1, 2):
        assert len({json.dumps(rows[row]["pieces"]) for rows in drawn}) > 1
    causal, masked, *_ = drawn[3]
    assert np.allclose(numbers([box[-1] for box in causal["pieces"]]), losses(), atol=6e-3)
    ids, boxes = plain.ids_of(TEXT, "fill-in"), masked["pieces"]
    assert not any(kind == "new" for _, kind, *_ in boxes)  # draw 3 puts no random token in, so this is what was read:
    read = tuple(MASK if kind == "mark" else index for (_, kind, *_), index in zip(boxes, ids, strict=True))
    assert MASK in read
    logs = log_softmax(zoo.load("fill-in").trace(read)["logits"])
    asked = [n for n, box in enumerate(boxes) if len(box) > 2]
    assert np.allclose(numbers([boxes[n][-1] for n in asked]), [-logs[n, ids[n]] for n in asked], atol=6e-3)
    app = open_page(PAGE, recipe="Three tasks", model="french-english", text=TEXT)
    assert "so this is `` tiny-" in words(app)
    own = open_page(PAGE, recipe="Three tasks", text=TEXT)
    assert sent(app, "tasks")["rows"][0] == sent(own, "tasks")["rows"][0]


def test_losses_on_spans_are_those_of_the_model_of_spans() -> None:
    """Torch computes the losses of what the boxes say is read and written."""
    text = " ".join(["The old dog slept under the table while the children were playing in the garden."] * 2)
    spans = zoo.load("spans", recipe.SPAN_MODELS)
    *_, reads, writes = sent(open_page(PAGE, recipe="Three tasks", text=text, draw="2"), "tasks")["rows"]
    boxes, ids = writes["pieces"], iter(spans.tokenizer.ids(text))
    hidden: dict[str, int] = {}
    for word, kind, _ in boxes:
        hidden |= {word: 0} if kind == "mark" else {list(hidden)[-1]: hidden[list(hidden)[-1]] + 1}
    src, tgt = [], []
    for word, kind, *_ in reads["pieces"]:
        src.append(int(word.strip("⟨⟩")) if kind == "mark" else next(ids))
        tgt += [src[-1], *islice(ids, hidden[word])] if kind == "mark" else []
    assert not list(ids)
    tgt.append(len(hidden))
    assert list(hidden) == ["⟨1⟩", "⟨2⟩", "⟨3⟩"]
    assert [word for word, kind, _ in boxes if kind != "mark"] == [
        spans.vocabulary[index].strip() for index in tgt if index > len(hidden)
    ]
    with torch.inference_mode():
        logits = spans.module(torch.tensor([src]), torch.tensor([[0, *tgt]]))[0, :-1]
    expected = F.cross_entropy(logits, torch.tensor(tgt), reduction="none").numpy()
    assert np.allclose(numbers([box[2] for box in boxes]), expected, atol=6e-3)
    counted = [loss for loss, (_, kind, _) in zip(expected, boxes, strict=True) if kind != "mark"]
    assert numbers([writes["note"].removeprefix("loss ")])[0] == pytest.approx(np.mean(counted), abs=6e-3)


def test_what_the_page_says_of_the_model_of_spans_stands_on_its_card() -> None:
    card, said = (
        (recipe.SPAN_MODELS / "spans" / "CARD.md").read_text("utf-8"),
        words(open_page(PAGE, recipe="Three tasks")),
    )
    (left_out,) = re.findall(r"held-out loss on what was left out \| ([\d.]+) nats", card)
    (unigram,) = re.findall(r"unigram cross-entropy on the same tokens \| ([\d.]+) nats", card)
    assert f"{float(left_out):.2f} nats per token" in said
    assert f"{float(unigram):.2f}." in said


def test_without_the_model_of_spans_the_tab_has_the_other_two_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "SPAN_MODELS", zoo.MODELS)
    forget()
    app = open_page(PAGE, recipe="Three tasks", text=TEXT)
    assert [row["name"] for row in sent(app, "tasks")["rows"]] == ["the next token", "masked tokens"]
    assert "needs a model that is missing" in words(app)
    forget()


def test_the_schedules_are_the_published_formula_and_what_is_said_holds_within_the_run() -> None:
    app = open_page(PAGE, recipe="Learning rate", rate_width="256", warmup="1000", rate_steps="10000")
    steps, drawn = series(charts(app)["schedules"], "x"), series(charts(app)["schedules"])
    at = steps["2017 (Noam)"]
    assert np.allclose(drawn["2017 (Noam)"], 256**-0.5 * np.minimum(at**-0.5, at * 1000**-1.5))
    peak = (256 * 1000) ** -0.5
    assert np.allclose(drawn["constant"], peak)
    assert drawn["cosine"].max() <= peak * (1 + 1e-12)
    assert drawn["cosine"][-1] == pytest.approx(peak / 10, rel=1e-3)
    for warmup in ("1900", "2000", "10000"):
        app = open_page(PAGE, recipe="Learning rate", warmup=warmup, rate_steps="2000")
        assert ("cosine falls to a tenth of the peak" in words(app)) == (int(warmup) < 2000), warmup


def test_calibration_is_that_of_the_measured_bins() -> None:
    shown = sent(open_page(PAGE, recipe="Calibration"), "calibrated")["rows"]
    data = json.loads(targets.MEASURED.read_text())
    for row, name in zip(shown[:2], (targets.WITHOUT, targets.WITH), strict=True):
        measured = data["models"][name]["measured"][data["temperatures"].index(1.0)]
        count, said, right = (np.array(measured[key], dtype=float) for key in ("count", "confidence", "accuracy"))
        means = [f"{np.nansum(count * shares) / count.sum():.0%}" for shares in (right, said)]
        assert row[1:4] == [f"{measured['loss']:.3f}", *means]
        error = np.nansum(count * np.abs(said - right)) / count.sum()
        assert float(row[4].rstrip("%")) / 100 == pytest.approx(error, abs=5e-3)
    errors = [float(row[4].rstrip("%")) for row in shown]
    assert errors[0] > errors[1] > errors[2]  # smoothing helps, and the right temperature helps more


def test_an_address_of_the_translators_opens_what_is_said_of_them() -> None:
    data = json.loads(targets.TRANSLATORS.read_text())["models"]
    for name, up in (("perplexity", "raises perplexity"), ("bleu", "BLEU")):
        plain_runs, smooth = (
            np.array([run[name] for key, run in sorted(data.items()) if f"-{e}-" in key]) for e in ("0", "0.1")
        )
        for address in ({"recipe": "Label smoothing", "smooth": "Translators"}, {"recipe": "Translators"}):
            said = words(open_page(PAGE, **address))
            assert f"{up} in **{(smooth > plain_runs).sum()} of {len(smooth)}**" in said, address


def test_label_smoothing_shows_its_divergence_and_slope() -> None:
    app, ids = open_page(PAGE, recipe="Label smoothing", text=TEXT, token="2", epsilon="0.3"), plain.ids_of(TEXT)
    log_p = log_softmax(zoo.load("tiny-english").trace(TEXT)["logits"])[2]
    q = smoothing.smoothed(ids[3], epsilon=0.3, vocab_size=len(log_p))
    assert f"**{smoothing.divergence(q, log_p):.3f}**" in words(app)
    n = len(log_p)
    assert f"= {0.7 + 0.3 / n:.4f} to “on” and ε/{n:,} = {rounded(0.3 / n)} to every other" in words(app)
    none = open_page(PAGE, recipe="Label smoothing", text=TEXT, token="2", epsilon="0.0")
    assert f"−ln p = **{-log_p[ids[3]]:.3f}**, the ordinary loss" in words(none)
    slope = numbers([sent(app, "slopes")["rows"][0][3]])
    assert slope[0] == pytest.approx(smoothing.gradient(q, log_p)[ids[3]], abs=6e-5)


def test_dropout_draws_ten_runs_around_the_model_s_own_losses() -> None:
    app = open_page(PAGE, recipe="Dropout", text=TEXT, p="0.1")
    drawn = series(charts(app)["dropped"])
    assert np.allclose(drawn["without"], losses(), atol=1e-4)
    hover = charts(app)["dropped"]["tables"]["rows"]["hover"]
    assert (", without: " in hover[0], ", with dropout: " in hover[-1]) == (True, True)
    runs = drawn["10 runs with dropout"].reshape(10, -1)
    most = runs[:, runs.std(axis=0).argmax()]
    assert f"(from {most.min():.2f} to {most.max():.2f} nats)" in words(app)
    none = series(charts(open_page(PAGE, recipe="Dropout", text=TEXT, p="0.0"))["dropped"])
    assert np.allclose(none["10 runs with dropout"].reshape(10, -1), none["without"], atol=1e-4)
    said = words(open_page(PAGE, recipe="Dropout", p="0.0", model="twins-rope"))
    assert "With p = 0 nothing is dropped." in said
    assert "trained without dropout." in said


def test_the_ground_and_what_the_correction_of_adam_is_good_for_are_described_as_they_are() -> None:
    for address, said, not_said in (
        ({"steep": "30", "eta_plain": "0.1"}, "2/30 = 0.0667, the descent overshoots", "cannot grow"),
        ({"steep": "30", "eta_plain": "0.3", "y": "0.0"}, "cannot grow", "path diverges"),
        ({"steep": "30", "eta_plain": "0.03"}, "yours is below it", "path diverges"),
        ({"steep": "1", "eta_plain": "0.3"}, "goes straight to the bottom", "as steep across"),
        ({"x": "0.0", "y": "0.0"}, "the gradient is 0", "**Gradient descent**"),
    ):
        app = open_page(PAGE, recipe="Adam", **address)
        assert said in words(app), address
        assert not_said not in words(app), address
        assert ("gradient descent diverged" in alt(app, "descents")) == ("path diverges" in words(app))
    for beta1, beta2 in ((0.9, 0.98), (0.9, 0.999), (0.0, 0.0)):
        app = open_page(PAGE, recipe="Adam", beta1=str(beta1), beta2=str(beta2))
        assert f"= {(1 - beta1) / (1 - beta2) ** 0.5:.2f} times as long" in words(app)
        assert [row[0] for row in sent(app, "adam_steps")["rows"]] == [f"t = {t}" for t in (1, 2, 3, 5, 10)]


def test_the_ways_down_lie_on_the_surface_and_end_where_the_page_says() -> None:
    names = {"Adam", "Adam without correction", "gradient descent", "with momentum"}
    for eta in ("0.03", "0.3"):
        (space,) = spaces(open_page(PAGE, recipe="Adam", seen_from="a corner", steep="10", eta_plain=eta))
        rows = space["layout"]["meta"]["values"]["rows"]
        lift = 0.01 * (0.5 * (3.0**2 + 10 * 2.0**2))
        assert {name for name, *_ in rows} == names
        for _, x, y, height in rows:
            assert height == pytest.approx(0.5 * (x**2 + 10 * y**2) + lift)
        ends = {name: decimal(height - lift, ".3g") for name, *_, height in rows}
        ends |= {"gradient descent": "diverged"} if eta == "0.3" else {}
        assert f"gradient descent {ends['gradient descent']}, " in space["layout"]["meta"]["alt"]


def test_gradients_are_those_of_each_layer() -> None:
    rows = charts(open_page(PAGE, recipe="Gradients", text=TEXT))["gradient_lengths"]["tables"]["rows"]
    kinds = zip(rows["layer"], rows["kind"], rows["value"], strict=True)
    (shown,) = [v for layer, kind, v in kinds if layer.endswith(" 3 MLP") and kind.endswith("trained")]
    found = zoo.experiments.gradient_lengths(zoo.load("tiny-english"), TEXT)
    assert shown == pytest.approx(found["decoder.3.mlp"], rel=1e-4)
    assert "no next token" in words(open_page(PAGE, recipe="Gradients", text="a"))


def test_only_tabs_that_read_the_record_run_the_model_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    record = models.trace

    def noted(*inputs: Any) -> Trace:
        read.append(tab)
        return record(*inputs)

    monkeypatch.setattr(models, "trace", noted)
    for tab in ("Learning rate", "Adam", "Gradients", "Teacher forcing"):
        open_page(PAGE, recipe=tab, text=TEXT)
    assert set(read) == {"Teacher forcing"}


def test_a_loss_names_the_most_probable_entry_unless_that_is_the_target() -> None:
    p, ids = plain.softmax(plain.forward(TEXT)[2]), plain.ids_of(TEXT)
    for token in range(4):
        shown = sent(open_page(PAGE, text=TEXT, token=str(token)), "forcing")
        best = int(p[token].argmax())
        said = numbers_in(shown["about"].split(";")[-1])
        assert said == pytest.approx([] if best == ids[token + 1] else [p[token, best]], rel=0.05), token
    assert sent(open_page(PAGE, text=TEXT), "forcing")["picked"] == losses().argmax()
