"""What pages say of what they draw, to those who cannot see it: the cells, words and numbers are the figure's own."""

import re
import sys
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from tests.app import open_page, sent, words
from tests.model import numpy_model
from tests.pages import plain
from tests.pages.claims import number, told
from tests.traces import decoder, translation
from tfmviz import views as pages
from tfmviz.ui import steps, translating
from tfmviz.ui.compare import trials
from tfmviz.ui.explorer import panels
from tfmviz.ui.scheme_comparison import ROUNDING
from tfmviz.ui.tokens import vectors
from tfmviz.views.whole_model import scene
from tfmviz.words import markdown
from tfmviz.words.labels import END, START, UNKNOWN

TEXT = "The cat sat on the mat."


def numbers(text: str) -> list[float]:
    return [number(found) for found in re.findall(r"[-−+]?\d[\d,]*(?:\.\d+)?%?", text)]


def stand(**fields: Any) -> Any:
    """What a function asks of a lesson or a model, and nothing else."""
    return cast("Any", SimpleNamespace(**fields))


# Figures of pages.


def test_a_loss_names_the_most_probable_entry_unless_that_is_the_target() -> None:
    p, ids = plain.softmax(plain.forward(TEXT)[2]), plain.ids_of(TEXT)
    for token in range(4):
        shown = sent(open_page("recipe", text=TEXT, token=str(token)), "forcing")
        said = numbers(shown["about"].split(";")[-1])
        best = int(p[token].argmax())
        assert said == pytest.approx([] if best == ids[token + 1] else [p[token, best]], rel=0.05), token
    losses = -np.log(p[range(len(ids) - 1), ids[1:]])
    assert sent(open_page("recipe", text=TEXT), "forcing")["picked"] == losses.argmax()


@pytest.mark.parametrize("text", ["He said that", "I am not sure what this is, but it works."])
def test_the_lens_says_what_is_read_as_itself_when_half_is_settled_and_what_each_cell_holds(text: str) -> None:
    (_, streams, _), w = plain.forward(text), plain.weights()
    normed = numpy_model.layer_norm(streams, w["decoder.norm.weight"], w["decoder.norm.bias"])
    p = plain.softmax(normed @ w["embedding.W_E"].T)  # (stage, len, vocab)
    top, ids = p.argmax(axis=-1), plain.ids_of(text)
    app = open_page("residual_stream", stream="Logit lens", text=text)
    assert told(app, r"first column (\d+) of (\d+) tokens") == [(top[0] == ids).sum(), len(ids)]
    data = sent(app, "lens")
    (stage,) = re.findall(r"from “([^”]*)” on, half", words(app))
    held = [(top[n:] == top[-1]).all(axis=0).mean() for n in range(len(top))]
    assert data["columns"].index(stage) == next(n for n, share in enumerate(held) if share >= 0.5)
    for token, row in enumerate(data["notes"]):
        for n, note in enumerate(row):
            here, answer = p[n, token], top[-1, token]
            rank, entropy = 1 + int((here > here[answer]).sum()), -(here * np.log(here)).sum()
            distance = (p[-1, token] * np.log(p[-1, token] / here)).sum()
            said = numbers(re.sub(r"“[^”]*”", "", note))
            assert said == pytest.approx([here.max(), rank, here[answer], entropy, distance], abs=0.0051), note


# Words for values that no page of a shipped model reaches at once.


def test_a_number_keeps_three_digits_and_no_change_has_none() -> None:
    for value in (0.0123456, 0.5, -42.55, 99.94, 100.4, -12345.6):
        said = steps.number(value)
        assert float(said.replace(",", "")) == pytest.approx(value, rel=5.1e-3), said
        assert "e" not in said
    for score, share, expected in ((0.0, 0.5, []), (1.0, 0.5, [1, 0.5]), (ROUNDING, 0.5, [0.5])):
        assert numbers(trials._verdict(score, share))[-len(expected) or 99 :] == expected, score


def test_rows_of_a_second_matrix_are_compared_row_by_row() -> None:
    first, last = np.random.default_rng(0).normal(size=(2, 5, 3))
    cosines = [a @ b / np.sqrt((a @ a) * (b @ b)) for a, b in zip(first, last, strict=True)]
    (said,) = numbers(vectors._unlike(stand(weights=stand(W_E=first, W_U=last))))
    assert said == pytest.approx(np.mean(cosines), abs=0.006)


def test_a_translation_that_has_begun_has_one_row_and_ends_where_the_mark_is_most_probable() -> None:
    for target in (("<|endoftext|>",), ("<|endoftext|>", "A"), ("<|endoftext|>", "A", " b")):
        trace = translation(("a", " b"), target)
        here = stand(trace=trace, model=stand(config=stand(architecture="encoder-decoder")))
        assert f"“{'A' if len(target) > 1 else markdown.plain(START)} → " in panels.how_it_reads(here), target
    for best, last in ((0, END), (1, UNKNOWN)):
        trace = stand(row=lambda *_, best=best: np.eye(3)[best], target=stand(ids=(0, 1)), tokens=("<>", " a"))
        assert translating.writes(trace) == ["a", last]


def test_only_a_sink_stands_beside_the_scores() -> None:
    for sink in (None, np.zeros(4)):
        weights = stand(attention=lambda _, sink=sink: stand(is_linear=False, divided_by="√32", sink=sink))
        assert ("s]" in scene.pattern_of(stand(weights=weights), "decoder.0.self_attn")) == (sink is not None)


def test_a_page_without_a_server_holds_every_weight_however_many(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = decoder(("a", " b", " c"))
    whole = pages.html(trace)
    monkeypatch.setattr(sys.modules["tfmviz.views.payload"], "WHOLE", 0)
    assert not pages.travels_whole(trace)
    assert pages.html(trace) == whole
