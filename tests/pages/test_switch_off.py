"""The page that switches parts off: its numbers against runs without the parts, its address, other sessions."""

import re
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.app import alt, charts, matrices, open_page, paired, pictures, sent, words
from tests.pages import plain
from tests.pages.claims import told
from tests.pages.plain import softmax
from tfmviz import zoo
from tfmviz.analysis import patching
from tfmviz.analysis.mask_effect import next_token_losses
from tfmviz.record.edits import AblateHead, Edit, Patch, Scale
from tfmviz.record.trace import Array, Trace
from tfmviz.ui import models, switch_off
from tfmviz.ui.switch_off import copying, every_part
from tfmviz.words import markdown
from tfmviz.words.labels import END, visible
from tfmviz.words.numbers import decimal

TEXT = "The cat sat on the mat."
PAGE = "switch_off"

TWO_OFF = (AblateHead(layer="decoder.0.self_attn", head=5), Scale(site="decoder.2.mlp.out", factor=0.0))
"""Head 5 of layer 0 and the MLP of layer 2."""


def run(edits: tuple[Edit, ...] = ()) -> Trace:
    return models.load("tiny-english").trace(TEXT, edits)


def losses(edits: tuple[Edit, ...] = ()) -> Array:
    return next_token_losses(run(edits)["logits"], run().target.ids)


def off(app: AppTest) -> list[str]:
    """What the board says is off, by name."""
    codes = sent(app, "parts_selection")["off"].split(",")
    rows = sent(app, "parts")["rows"]
    names = [part[1] for row in rows for part in row["parts"] if part and part[0] in codes]
    assert len(names) == len([code for code in codes if code])
    return names


def test_numbers_are_those_of_a_run_without_the_parts() -> None:
    old, new = losses(), losses(TWO_OFF)
    address = {"off": "d0.5,dm2", "token": str(len(old))}
    app = open_page(PAGE, text=TEXT, removed="Loss", **address)
    assert f"**{old.mean():.2f}** nats in A, **{new.mean():.2f}** in B, with 0.5, MLP 2 off" in words(app)
    np.testing.assert_allclose(charts(app)["losses"]["tables"]["rows"]["value"], new - old, atol=1e-3)
    said = [(float(a), float(b)) for a, b in re.findall(r"(\d+\.\d+) in A, (\d+\.\d+) in B", alt(app, "losses"))]
    np.testing.assert_allclose(said, np.transpose((old, new)), atol=6e-4)
    dearest = run().tokens[int((new - old).argmax()) + 1].strip()
    assert f"loss of “{dearest}” rises most: +{(new - old).max():.3f} nats" in words(app), "the predicted word suffers"
    app, p = open_page(PAGE, text=TEXT, **address), softmax(run(TWO_OFF)["logits"][-1])
    assert max(b for _, b in paired(app)[1].values()) == pytest.approx(p.max(), abs=1e-4)
    word = models.load("tiny-english").vocabulary[int(p.argmax())].strip("<|>")
    assert re.search(rf"(both expect|, B) “\S*{re.escape(word)}", words(app))


def test_the_map_holds_what_each_part_costs_and_its_buttons_switch_parts_off() -> None:
    app = open_page(PAGE, text=TEXT, removed="Every part in turn")
    found = matrices(app)["damage_map"][0]
    assert found.shape == (6, 9)
    without = losses((AblateHead(layer="decoder.4.self_attn", head=3),))
    assert found[4, 3] == pytest.approx((without - losses()).mean(), abs=1e-3)
    worst = "{}.{}".format(*np.unravel_index(found[:, :8].argmax(), (6, 8)))
    assert f"**{worst}** (+" in words(app)
    ranked = sorted(((loss, *place) for place, loss in np.ndenumerate(found)), reverse=True)
    (most, mlp, _), heads = ranked[0], [f"**{n}.{m}** (+{loss:.3f})" for loss, n, m in ranked if m < 8]
    said = f"**MLP {mlp}** off (+{most:.3f} nats); of the heads, with {', '.join(heads[:3])}."
    assert f"The loss grows most with {said}" in words(app)
    spared = [f"{layer}.{head}" for layer, head in np.argwhere(found[:, :8] <= 0)]
    assert f"For {len(spared)} of 48 heads the loss does not grow" in words(app)
    assert app.button(key="spared").label == f"Switch off all {len(spared)} that cost nothing alone"
    for button, gone in (("spared", spared), ("worst", [worst])):
        app.button(key=button).click().run()
        assert off(app) == gone


def test_the_choice_is_in_the_address_and_nonsense_there_is_the_chosen_head() -> None:
    assert off(open_page(PAGE, text=TEXT, layer="3", head="4")) == ["3.4"]
    assert off(open_page(PAGE, text=TEXT, off="d3.4,dm1,dl5")) == ["MLP 1", "3.4", "layer 5"]  # row by row
    nothing = open_page(PAGE, text=TEXT, off="none")
    assert off(nothing) == []
    assert "switch it off" in words(nothing)
    for nonsense in ("", "<b>", "d1.2,", "x1.2", "d1.2;dm0", "d" * 4000, "d99999.1", "none,d1.2"):
        assert not switch_off.OFF.fullmatch(nonsense)
    assert off(open_page(PAGE, text=TEXT, off="d1.3,<b>")) == ["3.2"]
    app = open_page(PAGE, text=TEXT, off="d1.2,d77.1,c0.1")
    assert off(app) == ["1.2"]
    assert "`` c0.1 ``" in app.info[0].value
    assert "`` d77.1 ``" in app.info[0].value


def test_where_nothing_is_off_no_word_suffers_and_no_map_shows_zeros_and_everything_off_is_said() -> None:
    for parts, said in (("none", "No word surprises the model more than before"), ("dl0", "rises most")):
        shown = words(open_page(PAGE, text=TEXT, off=parts, removed="Loss"))
        assert said in shown
        assert ("rises most" in shown) == (parts == "dl0")
    layers, mlps = (",".join(f"d{part}{n}" for n in range(6)) for part in "lm")
    heads = ",".join(f"d{layer}.{head}" for layer in range(6) for head in range(8))
    named = "layer 0, layer 1, layer 2, layer 3, layer 4, layer 5 off:", "0.0, 0.1, 0.2, 0.3, 0.4, 0.5 and 48 more off:"
    for everything, some in zip((layers, f"{heads},{mlps}"), named, strict=True):
        app = open_page(PAGE, text=TEXT, off=everything)
        assert "Every part is off" in app.warning[0].value
        assert f"with {some}" in words(app)
        assert not app.error
    app = open_page(PAGE, text=TEXT, removed="Attention", off="none")
    assert set(matrices(app)) == {"side_a"}
    assert "Click a head on the board" in words(app)
    changed = open_page(PAGE, text=TEXT, removed="Attention", off="d1.2")
    assert {"side_a", "side_heads"} <= set(matrices(changed))


def test_a_model_that_fills_in_words_is_not_asked_for_more_text() -> None:
    for model, text, said in (("fill-in", TEXT, "This model has no next word"), ("tiny-english", "a", "Type more.")):
        assert said in words(open_page(PAGE, text=text, model=model, off="none", removed="Loss")), model


def test_scaling_by_one_and_the_mean_are_what_they_say() -> None:
    app = open_page(PAGE, text=TEXT, off="dl2", how="scaled", factor="1.0")
    assert "in B, with layer 2 × 1: +0.000" in words(app)
    app = open_page(PAGE, text=TEXT, off="dl2", how="mean", reference="My dog ran.")
    model = models.load("tiny-english")
    reference = model.trace("My dog ran.")
    sites = ("decoder.2.self_attn.out", "decoder.2.mlp.out")
    edits = tuple(Patch(site=site, vector=tuple(reference[site].mean(axis=0).tolist())) for site in sites)
    assert f"**{losses(edits).mean():.2f}** in B, with layer 2 at its mean" in words(app)


def test_an_encoder_decoder_writes_before_and_after() -> None:
    model = models.load("reverse")
    app = open_page(PAGE, model="reverse", text="stressed", off="em0,c0.1", removed="What it writes")
    a, b = ("".join(text for text, *_ in row["pieces"]) for row in sent(app, "side_rows")["rows"])
    assert a == zoo.writing.generate(model, "stressed").text + END == "desserts" + END
    assert b not in (a, END)
    at = next(n for n, (one, other) in enumerate(zip(a, b, strict=False)) if one != other)
    assert f"They diverge at token {at + 1}: A writes “{a[at]}”, B “{b[at]}”." in words(app)
    assert off(app) == ["encoder MLP 0", "cross 0.1"]
    rows = sent(app, "parts")["rows"]
    assert [[part and part[1] for part in (row["parts"][0], row["parts"][-1])] for row in rows] == [
        ["encoder layer 0", "encoder MLP 0"],
        ["decoder layer 0", None],
        [None, "decoder MLP 0"],
    ]
    app = open_page(PAGE, model="reverse", text="stressed", removed="Every part in turn")
    assert pictures(app)["damage_map"][0]["rows"]["names"] == ["encoder 0", "decoder 0", "cross-attention 0"]
    rows = sent(open_page(PAGE, text="The cat", off="d0.5", removed="What it writes"), "side_rows")["rows"]
    assert [len(row["pieces"]) for row in rows] == [switch_off.WRITTEN] * 2


def test_all_heads_hear_of_a_part_that_is_off_but_those_before_it() -> None:
    app = open_page(PAGE, text=TEXT, off="d0.5,dm2", removed="Attention", layer="3", head="6")
    patterns = [np.array([trace[f"{layer}.pattern"] for layer in trace.layers]) for trace in (run(), run(TWO_OFF))]
    shown, causal = matrices(app), np.tri(patterns[0].shape[-1]) > 0
    for key, of_run in zip(("side_a", "side_b"), patterns, strict=True):
        np.testing.assert_allclose(shown[key][0], np.where(causal, of_run[3, 6], np.nan), atol=1e-3)
    moved = 0.5 * np.abs(patterns[1] - patterns[0]).sum(axis=-1).mean(axis=-1)  # (layer, head)
    np.testing.assert_allclose(shown["side_heads"][0], moved, atol=1e-3)
    layer, head = np.unravel_index(moved.argmax(), moved.shape)
    assert f"The head that changes most is layer {layer}, head {head}" in words(app)
    assert "attends as before" not in words(app)
    itself = open_page(PAGE, text=TEXT, off="d0.5", removed="Attention", layer="0", head="5")
    assert "Head 0.5 **attends as before**" in words(itself)


def test_copying_uses_the_readers_pair_and_says_where_the_difference_is() -> None:
    app = open_page(PAGE, text="Once there was a little girl named", removed="Copy from another sentence")
    assert "Your sentence's answer is “Lily”, the second's “Tim”" in words(app)
    assert matrices(app)["recovered"][0][0, 5] == pytest.approx(1, abs=1e-3)
    assert "In layer 0 the copy at token 5 “girl” does most (100% of the gap)" in words(app)
    assert pictures(app)["recovered"][0]["columns"]["names"][5] == "girl / boy"
    assert app.selectbox(key="pair").options[1] == "The cat sat on the mat. / The dog sat on the mat."
    app.selectbox(key="pair").set_value(1).run()
    assert app.text_area(key="text").value == copying.PAIRS[1][0]
    assert app.text_input(key="other").value == copying.PAIRS[1][1]


def test_a_copy_is_judged_at_the_position_that_is_asked_for() -> None:
    model, pair = models.load("tiny-english"), ("The cat sat on the mat.", "The dog sat on the mat.")
    found = [copying._recovered(model, *pair, "resid_pre", "decoder", position) for position in (2, 5)]
    assert np.abs(found[0] - found[1]).max() > 0.05
    assert np.allclose(found[0][:, 3:], 0, atol=1e-4), "what comes after position 2 cannot change its answer"


def test_sentences_that_cannot_be_compared_are_told_why_and_pairs_have_as_many_tokens() -> None:
    def warned(text: str, other: str) -> str:
        return open_page(PAGE, text=text, other=other, removed="Copy from another sentence").warning[0].value

    assert "has 7 tokens (The·cat·sat·on·the·mat·\\.), the second has 3 (A·dog·\\.)" in warned(TEXT, "A dog.")
    assert f"at most {copying.MAX_TOKENS}" in warned(" dog" * 60, " cat" * 60)
    twelve, longer = ("a",) * 12, ("a",) * 13
    shown = "·".join(twelve)
    said = (copying._unfit(twelve, longer) or "", copying._unfit(longer, twelve) or "")
    assert f"12 tokens ({shown}), the second has 13 ({shown} …)" in said[0]
    assert f"13 tokens ({shown} …), the second has 12 ({shown})" in said[1]
    assert copying._unfit(("a",) * copying.MAX_TOKENS, ("b",) * copying.MAX_TOKENS) is None
    app = open_page(PAGE, text=TEXT, other=TEXT, removed="Copy from another sentence")
    assert any("get the same answer" in note.value for note in app.info)
    app = open_page(PAGE, text="Zyx qvw", removed="Copy from another sentence")
    assert any("Type a second sentence" in note.value for note in app.info)
    texts = {"The cat, the dog": "The dog, the dog", "catalogue": None, "": None}
    assert {text: copying.exchanged(text) for text in texts} == texts
    assert [pair for pair in copying.PAIRS if len({len(plain.ids_of(text)) for text in pair}) > 1] == []


def test_where_no_copy_does_much_the_page_says_so() -> None:
    """A decoder's own stream does not know the source before its cross-attention."""
    app = open_page(
        PAGE, model="reverse", text="attention", removed="Copy from another sentence", kind="cross-attention"
    )
    assert "even 10% of the gap" in words(app)
    np.testing.assert_allclose(matrices(app)["recovered"][0], 0, atol=1e-4)
    app.radio(key="copied").set_value("what cross-attention writes").run()
    assert matrices(app)["recovered"][0][0, -1] > 0.5


COPY, MAP, POINTS = "Copy from another sentence", "Every part in turn", "Do sharp heads matter?"
CARRIED = "attention has carried"


def opened(tab: str, text: str = TEXT, **address: str) -> AppTest:
    return open_page("switch_off", text=text, removed=tab, **address)


def test_answers_are_what_the_runs_answer() -> None:
    model, alike = models.load("tiny-english"), set()
    for pair in copying.PAIRS:
        rows = [model.trace(text)["logits"][-1] for text in pair]
        best, compared = (
            [f"“{markdown.plain(visible(model.vocabulary[index]))}”" for index in two]
            for two in (patching.favourites(*rows), patching.answers(*rows))
        )
        own, other = patching.answers(*rows)
        said = words(opened(COPY, pair[0], other=pair[1], token=str(len(model.encode(pair[0])) - 1)))
        alike.add(best[0] == best[1])
        assert ("sentence's answer is" in said) == (best[0] != best[1]), pair
        if best[0] != best[1]:
            assert f"Your sentence's answer is {best[0]}, the second's {best[1]}." in said
        else:
            assert f"Both runs answer {best[0]}." in said
            assert f"Compared, your sentence favours {compared[0]}, the second {compared[1]}." in said
        apart = [decimal(float(row[other] - row[own]), "+.2f") for row in rows]
        minus = f"The logit of {compared[1]} minus that of {compared[0]} is **{apart[0]}** in your run, **{apart[1]}**"
        assert minus in said
    assert alike == {True, False}


def test_in_a_decoder_cross_attention_brings_the_difference_in() -> None:
    address = {"model": "french-english", "other": "Le chien dort.", "token": "1"}
    for kind in ("decoder", "cross-attention"):
        app = opened(COPY, "Le chat dort.", **address, kind=kind)
        np.testing.assert_allclose(matrices(app)["recovered"][0][0], 0, atol=1e-6)
        said = words(app)
        assert "Layer 0 of the decoder reads the same tokens in both runs: cross-attention brings" in said
        assert "In layer 0" not in said
        assert CARRIED not in said
        assert not re.search(r"[-−]0%|\b0%", said)
        app = opened(COPY, "Le chat dort.", **address, kind=kind, copied="what cross-attention writes")
        assert "reads the same tokens" not in words(app)


def test_a_story_tells_of_no_faint_layer() -> None:
    story = partial(copying._story, copied="resid_pre", beside_encoder=False)
    same = [("a", "a"), ("b", "c"), ("d", "d")]
    values = np.array([[0, 0.9, 0], [0.01, 0.02, 0.09], [0, 0.2, 0.8], [0, 0.1, 0.7], [-0.1, -0.2, -0.001]])
    said = story(values, same)
    assert "In layer 0 the copy at token 1 “b” does most (90% of the gap), in layer 3 the one at" in said
    assert said.endswith("token 2 “d” (70%): attention has carried the difference there.")
    assert CARRIED not in story(values, [*same[:2], ("d", "e")])  # it was there from the beginning
    assert CARRIED not in story(values, same, copied="mlp.out")
    assert CARRIED not in story(values, same, beside_encoder=True)
    assert story(values[:2], same).endswith("No copy in another layer closes 10% of the gap.")
    assert "another layer" not in story(values[:1], same)
    assert story(values[[0, 0]], same).endswith("does most: 90% of the gap in both.")


def test_heads_that_hurt_are_not_said_to_matter_little_and_equal_ones_have_one_order() -> None:
    app = opened(MAP, "I am happy", model="induction")
    heads = matrices(app)["damage_map"][0][:, :4]
    layer, head = np.unravel_index(heads.argmin(), heads.shape)
    assert heads.min() < -every_part.LITTLE
    said = words(app)
    assert f"For {(heads <= 0).sum()} of 8 heads the loss does not grow; with **{layer}.{head}** off it" in said
    assert f"off it changes by −{-heads.min():.3f} nats" in said
    assert "matter little" not in said
    assert ("may do the same work" in said) == (abs(heads) < every_part.LITTLE).any()
    assert "may do the same work, or this text" in words(opened(MAP))
    three = (("mlp", 2.0), ("head", 0.5), ("head", 0.0))
    ranked: Any = [(SimpleNamespace(kind=kind, name=kind), loss) for kind, loss in three]
    zero = switch_off.Way(how="zero")
    assert every_part._missed(ranked, zero).endswith("off (+2.000 nats); of the heads, with **head** (+0.500).")
    assert "No single part matters" in every_part._missed([(ranked[0][0], 0.0004)], zero)
    assert "For 1 of 2 heads the loss does not grow." in every_part._spared(ranked[1:], zero)
    for seed in range(5):
        random = np.random.default_rng(seed)
        lost, sharpness = random.integers(0, 3, 47) / 4, random.random(47)
        sharpest = int(sharpness.argmax())
        place = (lost > lost[sharpest]).sum() + (lost[:sharpest] == lost[sharpest]).sum() + 1
        names = [f"0.{n}" for n in range(47)]
        said = every_part._place(sharpness, lost, names, "the next word", switch_off.Way(how="zero"))
        assert f"it ranks {place} of 47; **0.{lost.argmax()}** ranks first" in said


def test_a_part_that_is_doubled_is_not_said_to_be_off() -> None:
    for tab in ("Next word", "Loss", "What it writes", MAP, POINTS):
        app = opened(tab, how="scaled", factor="2.0", off="d0.1")
        assert not re.search(r"\d off|parts? off|these off|without (this|it)", words(app)), tab
        if tab == MAP:
            assert app.button(key="worst").label.startswith("Change ")
            assert "more surprising with this part × 2." in words(app)
            assert "may do the same work" not in words(app)
        if tab == "Next word":
            assert paired(app)[0] == ["A, whole model", "B, with the part × 2"]


def test_a_correlation_is_told_by_its_size_and_its_sign() -> None:
    strengths = {0.29: "next to nothing", -0.3: "a little", 0.59: "a little", -0.6: "a good deal", 1: "a good deal"}
    for rho, strength in strengths.items():
        said = every_part._in_words(rho)
        assert said.endswith(f"says {strength} about how much it matters" + ", in reverse" * (rho < 0)), rho
    assert every_part._in_words(np.nan) == "there is nothing to rank"


def test_where_nothing_is_changed_no_part_is_missed() -> None:
    app, points = (opened(tab, how="scaled", factor="1.0") for tab in (MAP, POINTS))
    assert (np.nan_to_num(matrices(app)["damage_map"]) == 0).all()
    assert not re.search("grows most|it shrinks|ranks first", words(app) + words(points))


def test_a_part_without_which_the_sentence_is_predicted_better_is_said_to_be_one() -> None:
    for off, better in (("d4.0", False), ("d2.7", True)):
        app = opened("Loss", off=off)
        a, b = told(app, r"\*\*(\d\.\d\d)\*\* nats in A, \*\*(\d\.\d\d)\*\* in B, with")
        assert (b < a) == better
        assert ("predicts this sentence **better** with the part off" in words(app)) == better
