"""The residual-stream page: its numbers are those of the record and of tfmviz.analysis; its words."""

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import fields, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.app import alt, charts, columns, matrices, open_page, pictures, sent, series, spaces, views, words
from tests.model import numpy_model
from tests.pages import plain
from tests.pages.claims import number, numbers_in, told
from tests.pages.plain import softmax
from tests.traces import FORMULAS, decoder
from tfmviz import zoo
from tfmviz.analysis import contributions, deletions, lens, residual
from tfmviz.analysis.in_context import in_context
from tfmviz.model.in_training import untrained
from tfmviz.record.trace import Array, Trace
from tfmviz.ui.stream import lens as lens_page
from tfmviz.ui.stream.pair import FOLDER, NAMES
from tfmviz.words.labels import visible
from tfmviz.words.numbers import per_cent, rounded
from tfmviz.zoo import ZooModel

TEXT = "The cat sat on the mat."
TOKEN = 4


def page(tab: str, **address: str) -> AppTest:
    return open_page("residual_stream", stream=tab, **{"text": TEXT, "token": str(TOKEN)} | address)


def turn_to(app: AppTest, **state: str) -> None:
    """Changes what widgets say and runs the page again; much faster than a new session."""
    for key, value in state.items():
        app.session_state[key] = app.query_params[key] = value
    app.run()
    assert all(app.session_state[key] == value for key, value in state.items())


@cache
def read_out() -> tuple[tuple[str, ...], Trace, lens.Lens, Array]:
    """Vocabulary, record, lens and logits (stage, len, vocab) of the flagship on the sentence."""
    model = zoo.load("tiny-english")
    trace, readout = model.trace(TEXT), model.weights.stacks["decoder"].readout
    sites = list(residual.stages(trace, "decoder", "layers").values())
    logits = np.array([readout.logits(trace[site]) for site in sites])
    return model.vocabulary, trace, lens.read_stages(trace, sites, readout), logits


def test_lengths_are_those_of_the_record() -> None:
    shown = charts(app := page("Lengths"))
    assert {*shown, *matrices(app)} == {"growth", "lengths", "norms_before_after"}
    trace = read_out()[1]
    expected = residual.lengths(trace, list(residual.stages(trace, "decoder", "layers").values()))
    first, last = expected.mean(axis=1)[[0, -1]]
    assert f"from **{first:.2f}** to **{last:.2f}**, a factor of {last / first:.3g}." in words(app)
    of_token = series(shown["growth"], "length", by="kind")["“the”"]
    before = series(shown["norms_before_after"], "value", by="series")["before the norm"]
    for along in (of_token, before):
        np.testing.assert_allclose(along[::2], expected[:, TOKEN], rtol=1e-4)


def test_the_lens_shows_what_is_read_out() -> None:
    vocabulary, _, found, _ = read_out()
    data = sent(app := page("Logit lens"), "lens")
    assert data["columns"] == ["embedding", *(f"after layer {n}" for n in range(6))]
    assert data["texts"] == [[vocabulary[index].removeprefix(" ") for index in row] for row in found.top.T]
    np.testing.assert_allclose(data["shades"], found.top_probability.T, atol=0.001)
    turn_to(app, cells="rank of the answer")
    for row, expected in zip(sent(app, "lens")["texts"], found.answer_rank.T.tolist(), strict=True):
        arrows = ["", *(" ↑" if b < a else " ↓" if b > a else "" for a, b in pairwise(expected))]
        assert row == [f"{rank:,}{arrow}" for rank, arrow in zip(expected, arrows, strict=True)]
    for cells, expected in (("entropy", found.entropy), ("distance to the end", found.divergence)):
        turn_to(app, cells=cells)
        np.testing.assert_allclose(np.array(sent(app, "lens")["texts"], float), expected.T, atol=0.006)
    assert sent(app, "lens")["scale"] == "amount"


def test_a_chosen_cell_shows_its_ten_best_words() -> None:
    vocabulary, _, _, logits = read_out()
    app = page("Logit lens", read="3")
    assert sent(app, "lens_selection")["column"] == 3
    bars = sent(app, "lens_cell")
    p = softmax(logits[3, TOKEN])
    best = np.argsort(-p)[:10]
    assert [label for label, _, _ in bars] == [vocabulary[index].removeprefix(" ") for index in best]
    np.testing.assert_allclose([share for _, share, _ in bars], p[best], atol=1e-5)
    assert sent(page("Logit lens", read="999"), "lens_selection")["column"] == 6
    assert sent(page("Logit lens", read="x"), "lens_selection")["column"] == 3


def test_the_lens_as_a_table_holds_the_answers_probability_the_top_words_and_no_formula() -> None:
    vocabulary, trace, found, logits = read_out()
    stages = list(residual.stages(trace, "decoder", "layers"))
    rows = list(csv.DictReader(io.StringIO(lens_page._csv(found, stages, trace, vocabulary))))
    assert len(rows) == len(trace.tokens) * len(stages)
    row, p, answer = rows[TOKEN * len(stages) + 2], softmax(logits[2, TOKEN]), int(logits[-1, TOKEN].argmax())
    assert [float(row["p"]), float(row["p of answer"])] == pytest.approx([p.max(), p[answer]], rel=1e-3)
    assert (row["top word"], row["final answer"]) == (vocabulary[p.argmax()], vocabulary[answer])
    assert p.argmax() != answer, "at this place the two differ"
    zeros = np.zeros((1, len(FORMULAS)))
    of_formulas = {field.name: zeros for field in fields(lens.Lens)} | {"top": np.arange(len(FORMULAS))[None]}
    text = lens_page._csv(lens.Lens(**of_formulas), ["embedding"], decoder(FORMULAS), FORMULAS)
    for row, token in zip(csv.DictReader(io.StringIO(text, newline="")), FORMULAS, strict=True):
        assert [row[name] for name in ("token", "top word", "final answer")] == 3 * [f"'{token}"]
    assert '"\'=HYPERLINK(""http://x"")"' in text


def test_the_river_ends_at_the_length_of_the_final_vector() -> None:
    app = page("The river")
    (residue,) = told(app, r"to within \*\*(\S+)\*\*")
    assert residue < 1e-4, "and most likely far less"
    assert "The 61 parts sum to the model's own vector" in words(app)
    assert len(columns(app, "parts")["part"]) == 61
    cosines = np.array([number(cosine) for cosine in re.findall(r"cosine ([−-]?\d\.\d\d)", alt(app, "sizes"))])
    (against,) = told(app, r"(\d+) parts? points? against")
    assert (cosines < -0.105).sum() <= against <= (cosines < -0.095).sum()
    for token in (TOKEN, 1):
        app.selectbox(key="chosen_token").set_value(token).run()
        length = np.linalg.norm(read_out()[1]["decoder.5.resid_post"][token])
        assert charts(app)["river"]["tables"]["trail"]["end"][-1] == pytest.approx(length, rel=1e-4)


def test_who_made_the_word_sums_to_the_logit_and_a_button_leads_to_a_strong_head() -> None:
    vocabulary, _, _, logits = read_out()
    app = page("Who made the word", word="dog", versus="house", layer="5", head="2")
    dog, house = vocabulary.index(" dog"), vocabulary.index(" house")
    difference = logits[-1, TOKEN, dog] - logits[-1, TOKEN, house]
    *said, apart = told(app, r"is \*\*(−?[\d.]+)\*\*; these parts sum to (−?[\d.]+), a difference of (\S+)\. ")
    assert said == pytest.approx([difference] * 2, abs=0.006)
    assert apart < 1e-3
    shown = charts(app)
    assert sum(shown["ranked"]["tables"]["rows"]["value"]) == pytest.approx(difference, abs=1e-3)
    header, (grid,) = pictures(app)["head_scores_map"]
    assert grid.shape == (6, 9)
    assert sum(shown["wrote"]["tables"]["rows"]["value"]) == pytest.approx(grid[5, 2], abs=1e-4)
    (looked,) = told(app, r"looked most at .*? \((\d+%)\); ")
    assert looked == pytest.approx(read_out()[1]["decoder.5.self_attn.pattern"][2, TOKEN].max(), abs=0.006)
    assert "caps its logits" not in words(app)
    (frame,) = header["frames"]
    assert (frame["left"], frame["top"], frame["right"], frame["bottom"]) == (2, 5, 3, 6)
    app = page("Who made the word")
    answer = vocabulary[int(logits[-1, TOKEN].argmax())].strip()
    assert f"The logit of “{answer}” after token {TOKEN} “the”" in words(app)
    button = app.button(key="look_at_0")
    layer, head = map(int, re.findall(r"layer (\d), head (\d)", button.label)[0])
    button.click().run()
    assert (app.number_input(key="layer").value, app.number_input(key="head").value) == (layer, head)
    assert f"**Layer {layer}, head {head}** looked most at" in words(app)


def test_the_strongest_heads_are_those_of_the_largest_amounts_whatever_their_sign() -> None:
    text = "The dog saw a small bird, and the bird saw the dog."
    app = page("Who made the word", text=text, token="6", word="saw")
    shown = [numbers_in(button.label)[-1] for button in app.button if str(button.key).startswith("look_at_")]
    heads = matrices(app)["head_scores_map"][0][:, :8].ravel()  # beside them the feed-forward layers
    assert shown == pytest.approx(sorted(heads, key=lambda score: -abs(score))[:4], abs=0.011)
    assert min(shown) < 0 < max(shown), "this sentence has a head that speaks against the word among the strongest"


def test_a_word_that_is_not_one_token_is_answered_with_near_ones() -> None:
    for typed, said in (
        ("strawberies", "not a single token of this model, which reads it as"),
        ("老王", "“老王” is not a single token"),
        ("<img src=x onerror=alert(1)>", r"“\<img src=x onerror=alert\(1\)\>” is not a single token"),
    ):
        app = page("Who made the word", word=typed)
        assert said in app.warning[0].value
        assert "own answer" in app.caption[0].value
        assert {*charts(app), *matrices(app)} == {"head_scores_map", "ranked", "looked", "wrote"}
        for offered in re.findall(r"“([^”]+)”", app.warning[0].value.partition("nearest tokens:")[2]):
            turn_to(app, word=offered.replace("\\", ""))
            assert not app.warning


def test_post_norm_is_said_to_be_no_plain_sum() -> None:
    app = page("The river", model="twins-postnorm")
    assert "norms rescale the stream" in words(app)
    assert any(step.endswith(" layer 3 MLP: norm") for step in charts(app)["river"]["tables"]["trail"]["step"])
    turn_to(app, stream="Who made the word")
    assert "8 for the embedding" in words(app)
    turn_to(app, stream="The river", model="twins-rope")
    assert "rescale the stream" not in words(app)


def test_the_twins_share_one_scale_and_label_the_five_tensors() -> None:
    app = page("Two designs")
    shown = charts(app)
    ends = [shown[name]["tables"]["ends"]["y"] for name in ("growth_pre", "growth_post")]
    largest = max(max(shown[name]["tables"]["rows"]["length"]) for name in ("growth_pre", "growth_post"))
    assert ends[0] == ends[1] == [0, pytest.approx(1.06 * largest)]
    sent_table = sent(app, "blocks")
    table = dict(zip(sent_table["columns"], zip(*sent_table["rows"], strict=True), strict=True))
    names = ["X", "T¹", "T²", "T³", "T⁴", "T⁵", "H"]
    assert [equation.split(" = ")[0] for equation in table["post-norm"]] == names
    assert table["post-norm"][3] == "T³ = LayerNorm(T²)"
    assert table["pre-norm"][3] == "T³ = X + T²"


def test_heads_of_an_encoder_write_into_another_stream(own_zoo: Path, put_random_model: Callable[..., Any]) -> None:
    put_random_model("translator", architecture="encoder-decoder")
    for kind in ("encoder", "decoder"):
        app = page("Who made the word", text="the cat sat", model="translator", kind=kind)
        assert ("Heads of the encoder write into another stream" in words(app)) is (kind == "encoder")


def test_only_what_was_added_to_the_words_moves_the_stream_when_all_positions_shift() -> None:
    """The embedding changes by PE(i + 16) − PE(i), of squared norm Σ_m 2 − 2 cos(16 θ_m); RoPE changes nothing."""
    app = page("Two designs", designs="their positions")
    sinusoidal, rope = series(charts(app)["moved_streams"]).values()
    theta = 10000.0 ** (-np.arange(64) / 64)
    assert sinusoidal[0] == pytest.approx(np.sqrt((2 - 2 * np.cos(16 * theta)).sum()), rel=1e-5)
    assert sinusoidal.min() > 1
    assert rope.max() < 1e-3


def test_the_paths_in_space_are_those_of_the_three_main_directions_and_the_nearest_five() -> None:
    app, trace = page("In space"), read_out()[1]
    (space,) = spaces(app)
    rows = space["layout"]["meta"]["values"]["rows"]
    sites = list(residual.stages(trace, "decoder", "layers").values())
    places = residual.in_space(trace, sites).places.swapaxes(0, 1).reshape(-1, 3)
    assert np.allclose([row[1:] for row in rows], places, atol=2e-3)
    tokens = [row[0] for row in rows[:: len(sites)]]
    assert f"Paths of {len(tokens)} tokens." in space["layout"]["meta"]["alt"]
    for site in (sites[0], sites[-1]):
        near, _ = residual.closest(trace[site], TOKEN)
        assert f"is most like {tokens[near]}" in words(app).replace("\\", "")
    app, trace = page("Neighbours"), read_out()[1]
    columns_of = charts(app)["nearest"]["tables"]["rows"]
    drawn = list(zip(columns_of["stage"], columns_of["word"], strict=True))
    for stage, site in enumerate(residual.stages(trace, "decoder", "layers").values()):
        unit = trace[site] / np.linalg.norm(trace[site], axis=-1, keepdims=True)
        cosines = unit @ unit[TOKEN]
        cosines[TOKEN] = -1
        best = [visible(trace.tokens[n]) for n in np.argsort(-cosines)[:5]]
        assert [word for at, word in drawn if at == stage] == best
    assert "A single token has no neighbours" in words(page("In space", text="a", token="0"))


def test_one_word_in_two_places_is_compared_layer_by_layer() -> None:
    text = "He left the house on the left."
    trace = zoo.load("tiny-english").trace(text)
    for address, pair in (({}, (6, 1)), ({"token": "3", "to": "5"}, (3, 5))):
        app = open_page("residual_stream", stream="In context", text=text, **address)
        drawn, expected = series(charts(app)["in_context"]), in_context(trace, "decoder", trace.target.ids, pair)
        np.testing.assert_allclose(drawn["each other"], expected.each_other, atol=1e-4)
        assert f"{expected.each_other[-1]:.2f} after the last layer" in words(app)
        assert f"different tokens average {expected.usual[-1]:.2f}." in words(app)
        assert app.selectbox(key="chosen_token").label == "This token"
        assert ("two embeddings" in words(app)) == bool(address)
        if not address:
            assert list(drawn) == ["each other", "left 6, its embedding", "left 1, its embedding", "any two tokens"]
    assert "Type at least two tokens" in words(open_page("residual_stream", stream="In context", text="a"))


def test_one_word_in_two_senses_opens_the_tab_until_there_is_another_sentence() -> None:
    app = open_page("residual_stream", stream="In context")
    assert r"“bank” \(token 4\) and “bank” \(token 14\) have one embedding" in words(app)
    for tab, text in (("Lengths", "The animal didn't"), ("In context", "We sat on the bank")):
        app.session_state["stream"] = app.query_params["stream"] = tab
        app.run()
        assert str(app.text_area(key="text").value).startswith(text)
    own = open_page("residual_stream", stream="In context", text=TEXT)
    assert own.text_area(key="text").value == TEXT
    chinese = open_page("residual_stream", stream="In context", model="chinese-none")
    assert "bank" not in str(chinese.text_area(key="text").value)


def test_two_sides_are_said_to_part_after_the_stage_from_which_on_their_words_differ() -> None:
    others: list[dict[str, str]] = [{"b": "The boy sat on the"}, {"b": "The boy went to the"}]
    address = {"stream": "Logit lens", "text": "The boy went to the", "with": "another sentence"}
    for b in (*others, {"with": "another model", "b_model": "fill-in"}):
        app = open_page("residual_stream", **address | b)
        tables = [sent(app, key) for key in ("lens", "lens_b") if key in views(app)]
        said = re.findall(r"They diverge (.+?) and stay apart", words(app))
        one, other = (table["texts"][4] for table in (tables[0], tables[-1]))
        if len(one) != len(other):
            assert said == [], b
            continue
        differ = [a != b for a, b in zip(one, other, strict=True)]
        parts = next(n for n in range(len(one) + 1) if all(differ[n:]))
        assert said == ([tables[0]["columns"][parts]] if 0 < parts < len(one) else []), b


def test_what_a_part_takes_back_is_said_and_read_out_as_words() -> None:
    """For “cat” head 5.6 writes against the first feed-forward layer."""
    app = page("The river", token="1")
    river = contributions.river(read_out()[1], "decoder", 1, zoo.load("tiny-english").weights.stacks["decoder"])
    gone = deletions.strongest(river)
    assert gone
    assert f"**Layer 5, head 6 takes {gone.share:.1%} of layer 0, MLP back**" in words(app)
    assert f"(cosine {gone.cosine:.2f})".replace("-", "−") in words(app)
    shown = columns(app, "deleted")
    raised, lowered = ([number(x) for x in shown[part]] for part in ("layer 0, MLP", "layer 5, head 6"))
    taken = [min(up, -down) for up, down in zip(raised, lowered, strict=True)]
    assert taken == sorted(taken, reverse=True)
    assert taken[-1] > 0


@pytest.mark.parametrize("text", ["He said that", "I am not sure what this is, but it works."])
def test_the_lens_says_what_is_read_as_itself_when_half_is_settled_and_what_each_cell_holds(text: str) -> None:
    (_, streams, _), w = plain.forward(text), plain.weights()
    normed = numpy_model.layer_norm(streams, w["decoder.norm.weight"], w["decoder.norm.bias"])
    p = softmax(normed @ w["embedding.W_E"].T)  # (stage, len, vocab)
    top, ids = p.argmax(axis=-1), plain.ids_of(text)
    app = page("Logit lens", text=text)
    same = (top[0] == ids).sum()
    assert f"first column {same} of {len(ids)} tokens {'is' if same == 1 else 'are'} read out" in words(app)
    data = sent(app, "lens")
    (stage,) = re.findall(r"from “([^”]*)” on, half", words(app))
    held = [(top[n:] == top[-1]).all(axis=0).mean() for n in range(len(top))]
    assert data["columns"].index(stage) == next(n for n, share in enumerate(held) if share >= 0.5)
    for token, row in enumerate(data["notes"]):
        for n, note in enumerate(row):
            here, answer = p[n, token], top[-1, token]
            rank, entropy = 1 + int((here > here[answer]).sum()), -(here * np.log(here)).sum()
            distance = (p[-1, token] * np.log(p[-1, token] / here)).sum()
            said = numbers_in(re.sub(r"“[^”]*”", "", note))
            assert said == pytest.approx([here.max(), rank, here[answer], entropy, distance], abs=0.0051), note


MEASURED = json.loads((FOLDER / "measured.json").read_text(encoding="utf-8"))


def load(name: str) -> ZooModel:
    return zoo.load(name, FOLDER)


def log(name: str) -> list[dict[str, float]]:
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def test_the_two_were_trained_alike_and_only_one_reads() -> None:
    """What the tab is for: without residual connections nothing is learned beyond how frequent tokens are."""
    configs = [load(name).config.to_dict() for name in NAMES]
    assert {key for key in configs[0] if configs[0][key] != configs[1][key]} == {"residual"}
    assert load("without").config.residual == "absent"
    steps = [[(entry["step"], entry["learning_rate"]) for entry in log(name)] for name in NAMES]
    assert steps[0] == steps[1]
    assert [MEASURED[name]["weights"] for name in NAMES] == [zoo.weights_hash(name, FOLDER) for name in NAMES]
    assert MEASURED["with"]["held_out"] < MEASURED["unigram"] - 1
    assert abs(MEASURED["without"]["held_out"] - MEASURED["unigram"]) < 0.3


def test_the_figures_are_those_of_the_sentence_and_the_losses_those_of_the_logs() -> None:
    app = open_page("residual_stream", stream="Two designs", designs="residual connections", text=TEXT)
    shown = charts(app)
    alike, gradients, lengths = (series(shown[f"pair_{key}"]) for key in ("likeness", "gradients", "lengths"))
    for name in NAMES:
        loaded = load(name)
        trace, n_layers = loaded.trace(TEXT), loaded.config.n_layers
        sites = ["decoder.0.resid_pre", *(f"decoder.{n}.resid_post" for n in range(n_layers))]
        np.testing.assert_allclose(alike[name], residual.likeness(trace, sites), atol=1e-5)
        np.testing.assert_allclose(lengths[name], residual.lengths(trace, sites).mean(axis=-1), rtol=1e-4)
        p = softmax(trace["logits"][-1])
        assert f"“{visible(loaded.vocabulary[p.argmax()])}” ({per_cent(p.max())})" in words(app).replace("\\", "")
        at_the_start = replace(loaded, module=untrained(loaded.config, seed=0))
        for said, model in (("trained", loaded), ("at the start", at_the_start)):
            found = zoo.experiments.gradient_lengths(model, TEXT)
            parts = [[found[f"decoder.{n}.{part}"] for n in range(n_layers)] for part in ("self_attn", "mlp")]
            np.testing.assert_allclose(gradients[f"{name}, {said}"], np.hypot(parts[0], parts[1]), rtol=1e-3)
    assert f"with, layers passed 1: {rounded(alike['with'][1])}; " in alt(app, "pair_likeness")
    drawn = series(shown["pair_losses"], table="curves")
    for name in NAMES:
        np.testing.assert_allclose(drawn[name], [entry["loss"] for entry in log(name)], rtol=1e-5)
        assert f"**{MEASURED[name]['held_out']:.2f}**" in words(app)


def test_the_first_vectors_are_called_embeddings_with_positions_where_these_are_added() -> None:
    for model, added in (("twins-rope", False), ("twins-sinusoidal", True)):
        shown = [
            words(open_page("residual_stream", stream=tab, text="dog dog dog", model=model))
            for tab in ("Neighbours", "In context")
        ]
        assert ["As an embedding with its position" in shown[0], "with their positions" in shown[1]] == [added] * 2
        assert ["As an embedding" in shown[0], "one embedding" in shown[1]] == [True, True]
