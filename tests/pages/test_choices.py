"""What is chosen is what is shown: a token, layer and head that are not those a page opens with.

Words and text equivalents are compared with numbers computed here, not with one another.
"""

import csv
import io
import json
import re
from dataclasses import fields

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.app import alt, lesson, matrices, open_page, pictures, sent, views, words
from tests.pages.claims import number, numbers_in
from tests.pages.plain import softmax
from tests.traces import FORMULAS, decoder, read_blob
from tfmviz.analysis import lens, mask_effect, residual
from tfmviz.record.trace import Trace
from tfmviz.ui import models
from tfmviz.ui.stream import lens as lens_page
from tfmviz.ui.switch_off import copying

TEXT = "The dog saw a small bird, and the bird saw the dog."
LAYER, HEAD, TOKEN = 2, 5, 6


@pytest.fixture(scope="module")
def trace() -> Trace:
    return models.load("tiny-english").trace(TEXT)


def page(name: str, **address: str) -> AppTest:
    return open_page(name, text=TEXT, layer=str(LAYER), head=str(HEAD), token=str(TOKEN), **address)


def test_shares_are_those_of_the_pinned_token(trace: Trace) -> None:
    app = open_page(text=TEXT, token=str(TOKEN), view="Residual stream")
    share = residual.stream(trace, "decoder").attention_share
    shown = [number(found) for found in re.findall(r"attention: [^;]*?(−?[\d.]+%)", alt(app, "writes"))]
    assert shown == pytest.approx(share[:, TOKEN], abs=0.0051)
    assert np.abs(share[:, TOKEN] - share[:, -1]).max() > 0.05


def test_the_strongest_heads_are_those_of_the_largest_amounts_whatever_their_sign() -> None:
    app = page("residual_stream", stream="Who made the word", word="saw")
    shown = [numbers_in(button.label)[-1] for button in app.button if str(button.key).startswith("look_at_")]
    heads = matrices(app)["head_scores_map"][0][:, :8].ravel()  # beside them the feed-forward layers
    assert shown == pytest.approx(sorted(heads, key=lambda score: -abs(score))[:4], abs=0.011)
    assert min(shown) < 0 < max(shown), "this sentence has a head that speaks against the word among the strongest"


def test_the_word_that_suffers_is_the_one_that_is_predicted(trace: Trace) -> None:
    app = page("switch_off", removed="Loss", off="d1.2,d4.3,dm3")
    old = mask_effect.next_token_losses(trace["logits"], trace.target.ids)
    said = re.findall(r"(\d+\.\d+) in A, (\d+\.\d+) in B", alt(app, "losses"))
    before, after = np.array([(float(a), float(b)) for a, b in said]).T
    assert before == pytest.approx(old, abs=6e-4)
    worst = int((after - old).argmax())
    assert f"loss of “{trace.tokens[worst + 1].strip()}” rises most" in words(app)
    assert trace.tokens[worst + 1] != trace.tokens[worst]


def test_a_copy_is_judged_at_the_position_that_is_asked_for() -> None:
    model, pair = models.load("tiny-english"), ("The cat sat on the mat.", "The dog sat on the mat.")
    found = [copying._recovered(model, *pair, "resid_pre", "decoder", position) for position in (2, 5)]
    assert np.abs(found[0] - found[1]).max() > 0.05
    assert np.allclose(found[0][:, 3:], 0, atol=1e-4), "what comes after position 2 cannot change its answer"


def test_the_lens_as_a_table_holds_the_answers_probability_the_top_words_and_no_formula(trace: Trace) -> None:
    model = models.load("tiny-english")
    readout = model.weights.stacks["decoder"].readout
    stages = residual.stages(trace, "decoder", "layers")
    found = lens.read_stages(trace, list(stages.values()), readout)
    rows = list(csv.DictReader(io.StringIO(lens_page._csv(found, list(stages), trace, model.vocabulary))))
    assert len(rows) == len(trace.tokens) * len(stages)
    row = rows[TOKEN * len(stages) + 2]
    p = softmax(readout.logits(trace[list(stages.values())[2]][TOKEN]))
    answer = int(trace["logits"][TOKEN].argmax())
    assert [float(row["p"]), float(row["p of answer"])] == pytest.approx([p.max(), p[answer]], rel=1e-3)
    assert (row["top word"], row["final answer"]) == (model.vocabulary[p.argmax()], model.vocabulary[answer])
    assert p.argmax() != answer, "at this place the two differ"
    zeros = np.zeros((1, len(FORMULAS)))
    of_formulas = {field.name: zeros for field in fields(lens.Lens)} | {"top": np.arange(len(FORMULAS))[None]}
    text = lens_page._csv(lens.Lens(**of_formulas), ["embedding"], decoder(FORMULAS), FORMULAS)
    for row, token in zip(csv.DictReader(io.StringIO(text, newline="")), FORMULAS, strict=True):
        assert [row[name] for name in ("token", "top word", "final answer")] == 3 * [f"'{token}"]
    assert '"\'=HYPERLINK(""http://x"")"' in text


def test_effects_are_shares_of_the_whole(trace: Trace) -> None:
    said = alt(page("step_by_step", part="What heads add"), "look_effects")
    attention, effect = (
        np.array(re.findall(rf", {kind}: ([\d.]+)", said), dtype=float) for kind in ("attention", "effect")
    )
    layer = f"decoder.{LAYER}.self_attn"
    weights, v = trace[f"{layer}.pattern"][HEAD, TOKEN], trace[f"{layer}.v"][HEAD]
    np.testing.assert_allclose(attention, weights, atol=0.0051)
    assert effect.sum() == pytest.approx(1, abs=0.005 * len(effect))
    W_O = models.load("tiny-english").weights.attention(layer).W_O[HEAD]
    lengths = weights * np.linalg.norm(v @ W_O, axis=-1)
    np.testing.assert_allclose(effect, lengths / lengths.sum(), atol=0.0051)


def test_each_model_and_sentence_has_a_short_name_which_links_may_hold_for_good() -> None:
    """Also a sentence with half a pair of surrogates, which no text in UTF-8 has."""
    layer = "decoder.0.self_attn"
    pairs = [(model, text) for model in ("tiny-english", "twins-rope") for text in ("The cat", "The dog", "a\ud83d")]
    names = [lesson(model, text, layer).short_name for model, text in pairs]
    assert names[:2] == ["f2126c65cef5", "abab99d470bf"]
    assert len(set(names)) == len(names)


FRENCH = {"model": "french-english", "text": "Je suis étudiant."}
CROSSING = FRENCH | {"kind": "cross-attention", "layer": "1", "head": "0"}
KEYS = ["Je", "suis", "étudiant", "."]
ROWS = ["<START> → I", "I → 'm", "'m → a", "a → student", "student → .", ". → <END>"]


def test_every_page_names_the_word_that_is_read_and_the_one_that_is_written() -> None:
    header, _ = read_blob(bytes(views(open_page(**CROSSING))["explorer"].bytes))
    assert header["texts"]["rows"]["labels"] == ROWS
    assert header["texts"]["rows"]["said"][3] == "“a”, about to write “student”"
    assert {kind["name"]: kind["queries"] for kind in header["kinds"]}["decoder.cross_attn"] == "rows"
    header, _ = read_blob(bytes(views(open_page("step_by_step", **CROSSING))["steps"].bytes))
    assert (header["queries"], header["keys"]) == (ROWS, KEYS)
    header, _ = read_blob(bytes(views(open_page("whole_model", **CROSSING, zoom="head"))["whole_model"].bytes))
    assert [lane["tokens"] for lane in header["lanes"]] == [KEYS, ROWS]
    assert sent(open_page("masks", **CROSSING), "masks")["queries"] == ROWS
    offered = open_page("why", **CROSSING, token="3", to="2").selectbox(key="chosen_token").options
    assert offered == [f"{n}  {row}" for n, row in enumerate(ROWS)]
    hashed = open_page("step_by_step", **CROSSING, token="3", part="A fuzzy hash table")
    assert "“a”, about to write “student”" in words(hashed)
    for name, tab in (("masks", {"effect": "Attention"}), ("step_by_step", {"part": "Heads or their mean?"})):
        drawn = [header for header, _ in pictures(open_page(name, **CROSSING, **tab)).values()]
        assert any("“a → student”" in json.dumps(header, ensure_ascii=False) for header in drawn), name
