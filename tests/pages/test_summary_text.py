"""What pages say of what they draw, to those who cannot see it: the cells, words and numbers are the figure's own."""

import re
import sys
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from tests.app import alt, matrices, open_page, sent, words
from tests.model import numpy_model
from tests.pages import plain
from tests.pages.claims import number, told
from tests.pages.translating import TEXT as FRENCH
from tests.pages.translating import open_translating
from tests.traces import decoder, translation
from tfmviz import views as pages
from tfmviz import zoo
from tfmviz.ui import steps, translating
from tfmviz.ui.compare import trials
from tfmviz.ui.counting import table
from tfmviz.ui.explorer import panels
from tfmviz.ui.feed_forward import neurons
from tfmviz.ui.scheme_comparison import ROUNDING
from tfmviz.ui.tokens import vectors
from tfmviz.views.whole_model import scene
from tfmviz.words import markdown
from tfmviz.words.labels import END, START, UNKNOWN, quoted

TEXT = "The cat sat on the mat."


def numbers(text: str) -> list[float]:
    return [number(found) for found in re.findall(r"[-−+]?\d[\d,]*(?:\.\d+)?%?", text)]


def stand(**fields: Any) -> Any:
    """What a function asks of a lesson or a model, and nothing else."""
    return cast("Any", SimpleNamespace(**fields))


# Figures of pages.


def test_the_encoder_s_last_token_is_said_to_look_where_its_row_is_largest() -> None:
    source = zoo.load("french-english").trace(FRENCH).source
    assert source is not None
    names = quoted(source.tokens)
    for head in ("0", "5"):
        app = open_translating(translation="The encoder", layer="1", head=head)
        ((*_, last),) = matrices(app)["encoder"]
        row = alt(app, "encoder").split("; ")[len(names) - 1]
        assert row.startswith(f"{names[-1]}: {names[last.argmax()]}, "), row


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


def test_the_first_turn_is_said_as_it_is_drawn() -> None:
    app = open_page("positions", lesson="Sinusoidal", wave="A shift is a rotation", width="6", k="7", text=TEXT)
    (matrix,) = matrices(app)["rotation"]
    said = [numbers(row)[-2:] for row in alt(app, "rotation").split("; ")]
    largest = np.abs(matrix).argmax(axis=1)
    np.testing.assert_allclose(said, np.transpose([largest, matrix[range(6), largest]]), atol=1e-4)


def test_the_strongest_pair_of_a_head_and_an_mlp_is_said_as_it_is_drawn() -> None:
    app = open_page("why", why="Which head reads which", measured="shared directions", text=TEXT)
    (values,) = matrices(app)["overlap_mlps"]
    found = [
        [*map(number, row)] for row in re.findall(r"head (\d)\.(\d): MLP (\d), (\S+?)(?:;|$)", alt(app, "overlap_mlps"))
    ]
    layer, head, mlp, value = max(found, key=lambda row: row[-1])
    assert (8 * layer + head, mlp) == np.unravel_index(np.nan_to_num(values).argmax(), values.shape)
    assert value == pytest.approx(np.nanmax(values), abs=6e-4)


def test_a_batch_counts_the_tokens_of_both_sentences() -> None:
    for texts in ((TEXT, "The cat sat."), ("The cat sat.", TEXT)):
        app = open_page("masks", effect="Kinds", text=texts[0], second=texts[1])
        counted = told(app, r"Your sentence \((\d+) tokens\) and the second \((\d+)\)")
        assert counted == [len(plain.ids_of(text)) for text in texts]
        assert len(matrices(app)["causal: by position"][0]) == max(counted)
        assert set(np.isfinite(matrices(app)["padding: by length"][0]).sum(axis=1)) == {min(counted)}


# Words for values that no page of a shipped model reaches at once.


def test_a_number_keeps_three_digits_and_no_change_has_none() -> None:
    for value in (0.0123456, 0.5, -42.55, 99.94, 100.4, -12345.6):
        said = steps.number(value)
        assert float(said.replace(",", "")) == pytest.approx(value, rel=5.1e-3), said
        assert "e" not in said
    for score, share, expected in ((0.0, 0.5, []), (1.0, 0.5, [1, 0.5]), (ROUNDING, 0.5, [0.5])):
        assert numbers(trials._verdict(score, share))[-len(expected) or 99 :] == expected, score


def test_what_occurs_more_often_than_is_listed_says_how_many_are() -> None:
    at = stand(spoken=lambda words: "a b")
    for count in (0, 1, 2, table.SENTENCES, table.SENTENCES + 1, 12_345):
        expected = [count] * (count > 1) + [table.SENTENCES] * (count > table.SENTENCES)
        assert numbers(table._about(at, (), 0, count)) == expected


def test_the_word_on_which_a_neuron_fires_stands_once_among_its_neighbours() -> None:
    tokens = tuple(f" {chr(97 + n)}" for n in range(26))
    for token in (0, 3, neurons.AROUND + 3, 25):
        said = neurons._marked(tokens, token)
        (marked,) = re.findall(r":orange-background\[(.*?)\]", said)
        assert marked == tokens[token].strip()
        shown = re.sub(r":orange-background\[(.*?)\]", r"\1", said).strip("…").split()
        first = max(0, token - neurons.AROUND)
        assert shown == [one.strip() for one in tokens[first : token + neurons.AROUND + 1]]


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
