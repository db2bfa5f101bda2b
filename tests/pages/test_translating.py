"""The page that translates: its numbers against independent passes, its address, odd input."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from streamlit.testing.v1 import AppTest

from tests.app import alt, matrices, open_page, pictures, sent, trees, views, words
from tests.pages import plain
from tests.pages.claims import number, told
from tests.traces import translation
from tfmviz import load, zoo
from tfmviz.model.transformer import EncoderDecoder
from tfmviz.record.edits import Edit, Patch, SetMask
from tfmviz.record.trace import Array
from tfmviz.text.familiar import Familiar
from tfmviz.ui import beams, translating
from tfmviz.ui.explorer import panels
from tfmviz.ui.translating import references, what_if
from tfmviz.words import markdown
from tfmviz.words.labels import END, START, UNKNOWN, visible
from tfmviz.words.numbers import decimal
from tfmviz.zoo import ZooModel

TEXT = "Elle ne mange jamais de viande."
REFERENCE = "She never eats any meat."


def open_translating(**address: str) -> AppTest:
    return open_page("translating", **{"model": "french-english", "text": TEXT} | address)


def view(app: AppTest) -> dict[str, Any]:
    return dict(sent(app, "translating"))


def log_p(model: ZooModel, text: str, target: list[int]) -> Array:
    """Log-probabilities of every next token, read in one pass without cache or record: (len + 1, vocab)."""
    module = model.module
    assert isinstance(module, EncoderDecoder)
    src = torch.tensor([model.tokenizer.encode_batch([text])[0]])  # type: ignore[union-attr]
    with torch.inference_mode():
        return F.log_softmax(module(src, torch.tensor([[0, *target]]))[0], dim=-1).numpy()


@pytest.fixture(scope="module")
def model() -> ZooModel:
    return load("french-english")


def test_the_page_opens_with_a_model_that_translates_as_far_as_the_address_says() -> None:
    for app in (open_page("translating"), other := open_translating(model="tiny-english")):
        assert app.selectbox(key="model").value == "french-english"
        assert "translating" in views(app)
    assert "tiny-english" in words(other)
    app = open_translating(shown="3", at="1")
    chosen = sent(app, "translating_selection")
    assert (chosen["shown"], chosen["step"]) == (3, 1)
    odd = sent(open_translating(shown="-1", at="x"), "translating_selection")
    assert (odd["shown"], odd["step"]) == (None, None)


def test_every_step_is_that_of_an_independent_pass(model: ZooModel) -> None:
    ids = list(zoo.writing.generate(model, TEXT).ids)
    names = [visible(model.vocabulary[index]) for index in ids]
    expected = log_p(model, TEXT, ids)
    patterns = [model.trace(TEXT)[f"decoder.{n}.cross_attn.pattern"] for n in range(3)]  # (head, q_len, k_len)
    of_layer = {"heads": "mean of the layer", "layer": "2", "head": "5"}
    for address, name, weights in (
        (of_layer | {"heads": "one head"}, "layer 2, head 5", patterns[2][5]),
        (of_layer, "layer 2, mean of its heads", patterns[2].mean(0)),
        ({}, "layer 1, mean of its heads", patterns[1].mean(0)),
        ({"heads": "mean of all layers"}, "mean of all layers and heads", np.mean(patterns, (0, 1))),
    ):
        data = view(open_translating(**address))
        assert data["heads"].endswith(name)
        assert [step["writes"] for step in data["steps"]] == [*names, END]
        assert [step["reads"] for step in data["steps"]] == [START, *names]
        for n, (step, token) in enumerate(zip(data["steps"], [*ids, 0], strict=True)):
            assert expected[n].argmax() == token
            assert step["p"] == pytest.approx(np.exp(expected[n, token]), rel=1e-3)
        np.testing.assert_allclose([step["weights"] for step in data["steps"]], weights, atol=1e-3)


def test_the_recurrent_translators_are_a_click_away_with_the_same_sentence() -> None:
    said = words(open_translating(text="Où (est) l'eau ? [x]"))
    (address,) = re.findall(r"\]\(\./(bottleneck\?[^)\s]*)\)", said)
    assert parse_qs(urlsplit(address).query) == {"seen": ["Alignments"], "text": ["Où (est) l'eau ? [x]"]}
    assert "bottleneck" not in words(open_page("translating", model="reverse", text="stressed"))


def test_a_forced_beginning_is_followed_by_what_the_model_writes_after_it_if_anything(model: ZooModel) -> None:
    app = forced("Meat is")
    given = list(model.tokenizer.encode("Meat is", max_len=60).ids)
    made = zoo.writing.generate(model, TEXT, given=given)
    assert list(made.ids[: len(given)]) == given
    scores = log_p(model, TEXT, list(made.ids))
    expected = np.exp([scores[n, token] for n, token in enumerate([*made.ids, 0])])
    np.testing.assert_allclose(matrices(app)["forced"][0, 0], expected, atol=2e-3)
    (whose,) = pictures(app)["forced"][0]["notes"]
    assert whose == ["given by you"] * len(given) + ["chosen by the model"] * (len(expected) - len(given))
    assert made.text.strip().rstrip(".") in words(app)
    assert "ends the text right after your words" in words(forced(zoo.writing.generate(model, TEXT).text))
    assert "ends the text right after your words" not in words(forced(""))
    app.text_input(key="begins").set_value("").run()
    assert words(app) == words(open_translating(translation="Force the beginning")), "an emptied box is its address"
    assert matrices(forced("meat " * 59))["forced"].shape[-1] <= 64


def forced(begins: str) -> AppTest:
    return open_translating(translation="Force the beginning", begins=begins)


def test_losses_are_those_after_the_right_words_and_after_its_own(model: ZooModel) -> None:
    app = open_translating(translation="Teacher forcing", references=REFERENCE)
    shown = matrices(app)["losses"][0]
    ids = list(model.tokenizer.encode(REFERENCE, max_len=60).ids)
    own = [*zoo.writing.generate(model, TEXT).ids, *[0] * len(ids)][: len(ids)]
    for row, read in zip(shown, (ids, own), strict=True):
        expected = log_p(model, TEXT, read[:-1])
        np.testing.assert_allclose(row, [-expected[n, token] for n, token in enumerate(ids)], rtol=2e-2, atol=2e-3)
    same = next(n for n, (a, b) in enumerate(zip(ids, own, strict=True)) if a != b)
    np.testing.assert_allclose(shown[0, : same + 1], shown[1, : same + 1])
    share = told(app, rf"diverge at word {same + 1}, where .* instead of .* \((\S+)\)")
    assert share == pytest.approx([np.exp(-shown[0, same])], rel=0.2)
    given, wrote = pictures(app)["losses"][0]["notes"]
    assert (set(given), len(wrote)) == ({""}, len(ids))
    assert wrote[same] == f"the model wrote “{beams.named(model, own[same])}”"


def test_every_translator_of_its_language_is_drawn_as_it_translates_alone(model: ZooModel) -> None:
    app = open_translating(translation="All translators", heads="mean of all layers")
    drawn, trace = matrices(app), model.trace(TEXT)
    crossing = [trace[f"decoder.{n}.cross_attn.pattern"] for n in range(3)]  # (head, q_len, k_len)
    expected = {"aligned_transformer": np.mean(crossing, (0, 1))}
    for kind in ("dot", "bilinear", "additive"):
        alone = zoo.load(f"seq2seq-{kind}", kind=zoo.RecurrentTranslator)
        expected[f"aligned_{kind}"] = alone.trace(TEXT)["decoder.alpha"]
    assert set(drawn) == set(expected)
    for key, pattern in expected.items():
        np.testing.assert_allclose(drawn[key][0], pattern, atol=1e-5, err_msg=key)
    files = (plain.weights(name) for name in ("seq2seq-additive", model.name))
    largest, whole = (sum(array.size for array in arrays.values()) for arrays in files)
    assert f"at most {largest / whole:.1%} of the transformer's parameters" in words(app)
    app = open_page("translating", model="reverse", text="stressed", translation="All translators")
    assert "which also read French" in words(app)
    assert matrices(app) == {}


def test_scores_are_those_of_sacrebleu_and_without_a_reference_or_a_source_one_is_asked_for(model: ZooModel) -> None:
    app = open_translating(translation="References", references=f"{REFERENCE}|Meat she eats never.")
    said = words(app)
    written, others = zoo.writing.generate(model, TEXT).text.strip(), [REFERENCE, "Meat she eats never."]
    assert f"sentence BLEU **{BLEU(effective_order=True).sentence_score(written, others).score:.1f}**" in said
    assert f"chrF **{CHRF().sentence_score(written, others).score:.1f}**" in said
    cut, (ones, twos, *_) = written.replace(".", " .").split(), pictures(app)["grams"][0]["notes"]
    assert (ones, twos[-1]) == ([f"“{word}”" for word in cut], "the text ends before")
    assert twos[:-1] == [f"“{a} {b}”" for a, b in pairwise(cut)]
    assert "Type or paste a translation" in words(open_translating(translation="References", text="Il pleut fort ici."))
    assert "Type at least one visible character" in words(open_translating(text="\u200b"))


def test_marked_n_grams_are_as_many_as_bleu_counts() -> None:
    others = ["the cat is on the mat .", "there is a cat on the mat ."]
    for written in ("the the the the cat .", "the cat sat on the mat .", "a", "no word at all here"):
        found = references.matches(written.split(), [text.split() for text in others])
        score = BLEU(effective_order=True, tokenize="none").sentence_score(written, others)
        assert np.nansum(found, axis=1).tolist() == score.counts
        assert np.isfinite(found).sum(axis=1).tolist() == score.totals
    found = references.matches(["the", "the", "cat"], [["the", "cat"]])
    assert (found[0].tolist(), found[1, :2].tolist()) == ([1, 0, 1], [0, 1])


def test_a_source_it_has_not_learned_is_doubted_before_it_is_translated() -> None:
    for text, said in (
        ("The dog sleeps in the house.", "not look like French"),
        ("😀 12", "not look like French"),
        ("Je pense que " * 7 + "tu as raison.", "The source has"),
        ("je suis etudiant", ""),
        ("La VOITURE ROUGE", ""),
    ):
        app = open_translating(text=text)
        shown = "\n".join(str(one.value) for one in app.info)
        assert said in shown, text
        assert bool(said) == bool(shown), text
        assert "translating" in views(app)


def test_a_text_in_capitals_or_of_one_word_is_read_as_the_page_says(model: ZooModel) -> None:
    shouted = open_translating(text="LA VOITURE EST ROUGE.")
    assert [str(one.value) for one in shouted.info] == [
        f"Text in all capitals is read in lower case: “{markdown.plain('La voiture est rouge.')}”"
    ]
    assert view(shouted)["steps"] == view(open_translating(text="La voiture est rouge."))["steps"]
    assert "".join(view(shouted)["source"]) == "Lavoitureestrouge."
    assert "Text in all capitals" not in words(open_translating(text="À"))
    familiar = Familiar.load(zoo.MODELS / "french-english")
    assert familiar
    assert familiar.single
    said = words(open_translating(text="bonjour"))
    assert "single word" in said
    assert f"Of {familiar.single.n} one-word sentences" in said
    assert f", {familiar.single.typed} if they are typed in lower case" in said
    assert "single word" not in words(open_translating(text="la maison"))


def test_the_tree_shows_a_window_of_steps_whose_edges_meet() -> None:
    address = {"translation": "Beam search", "beams": "8"}
    long = "Je pense que tu as raison, mais je ne sais pas si nous avons le temps."
    nodes = trees(open_translating(**address, text=long))["tree"]
    steps = sorted({node["step"] for node in nodes})
    assert len(steps) == 12
    places = {(node["step"], node["rank"]) for node in nodes}
    assert len(places) == len(nodes)
    assert all(node["step"] == steps[0] or (node["step"] - 1, node["parent"]) in places for node in nodes)
    earlier = trees(open_translating(**address, text=long, tree_steps="5"))["tree"]
    assert sorted({node["step"] for node in earlier}) == [1, 2, 3, 4, 5]


def coded(ids: Sequence[int]) -> str:
    return ".".join(np.base_repr(token, 36).lower() for token in ids)


def test_a_chosen_hypothesis_is_summed_word_by_word(model: ZooModel) -> None:
    found = zoo.writing.search(model, TEXT, width=3, length_penalty=0.6, max_new_tokens=40).beams
    dropped, winner = next(one for one in found[2].candidates if one.fate == "dropped"), found[-1].complete[0].ids
    for fate, ids in {
        "went on": found[3].running[2].ids,
        "was complete": found[-1].complete[1].ids,
        "was dropped": (*found[1].running[dropped.parent].ids, dropped.token),
    }.items():
        app = open_translating(translation="Beam search", alpha="0.6", hypothesis=coded(ids))
        rows, said = sent(app, "hypothesis_words")["rows"], words(app)
        terms = log_p(model, TEXT, list(ids[:-1]))[range(len(ids)), ids]
        for column, expected in ((1, terms), (2, np.cumsum(terms))):
            shown = [number(row[column]) for row in rows if row[column]]
            np.testing.assert_allclose(shown, expected, atol=6e-3)
        assert number(rows[len(winner) - 1][3]) == pytest.approx(found[-1].complete[0].score, abs=6e-3)
        step = found[len(ids) - 1].candidates
        place = next(n for n, one in enumerate(step, 1) if one.token == ids[-1] and abs(one.score - sum(terms)) < 1e-3)
        assert f"{fate} at step {len(ids)}, as number {place} of {len(step)} continuations" in said
        assert f"= **{decimal(terms.sum() / len(ids) ** 0.6, '.3f')}**" in said
        part = next(n for n, both in enumerate(zip(ids, winner, strict=False)) if both[0] != both[1])
        assert f"leaves the winner at word {part + 1}: “{markdown.plain(visible(model.vocabulary[ids[part]]))}”" in said


def test_a_chosen_hypothesis_is_marked_and_belongs_to_its_text(model: ZooModel) -> None:
    ids = zoo.writing.search(model, TEXT, width=3, max_new_tokens=40).beams[-1].complete[0].ids
    app, begins = (open_translating(translation="Beam search", hypothesis=coded(some)) for some in (ids, ids[:2]))
    tree = sent(app, "tree")
    picked = tree["nodes"][tree["picked"]]
    assert (picked["step"], picked["kind"]) == (len(ids), "best")
    assert "It is the winner." in words(app)
    assert "It is how the winner begins." in words(begins)
    app.text_area(key="text").set_value("Merci beaucoup !").run()
    assert "hypothesis" not in app.query_params
    assert "hypothesis_words" not in views(app)
    for code in ("zzzz", "0.0", "x y", "1." * 200, "<b>"):
        app = open_translating(translation="Beam search", hypothesis=code)
        assert "hypothesis_words" not in views(app)
        assert ("not one that this search considered" in words(app)) == (code in ("zzzz", "0.0")), code


def test_two_trees_stand_side_by_side_and_the_second_is_that_of_the_new_source() -> None:
    address, texts = {"beams": "2", "alpha": "0.6"}, {"tree_before": TEXT}
    texts["tree_after"] = "Elle ne mange jamais de poisson."
    app = open_translating(translation="Two trees", swapped="5 viande.", becomes="poisson.", **address)
    facts: list[set[tuple[Any, ...]]] = []
    assert trees(app).keys() == texts.keys()
    for key, drawn in trees(app).items():
        whole = trees(open_translating(translation="Beam search", text=texts[key], **address))["tree"]
        steps = {node["step"] for node in drawn}
        assert drawn == [node for node in whole if node["step"] in steps]
        assert 1 < len(steps) <= 6
        facts.append({(n["step"], n["rank"], n["parent"], n["word"], n["kind"] == "dropped") for n in whole})
    differ = min(step for step, *_ in facts[0] ^ facts[1])
    assert f"The trees have the same words up to step {differ - 1}." in words(app)
    assert "viande" in words(app)
    assert re.search("With the change: “.*fish", words(app))


NAMED = [visible(token) for token in load("french-english").encode(TEXT).tokens]


def assert_after(app: AppTest, model: ZooModel, step: int, edit: Callable[[str], Edit]) -> None:
    """The page's translation is the greedy one with this edit in every layer of cross-attention."""
    edits = tuple(edit(f"decoder.{n}.cross_attn") for n in range(3))
    text = zoo.writing.generate(model, TEXT, edits=edits, at=step).text
    assert f" “{markdown.plain(text.strip())}” (both" in words(app)


def test_several_words_of_a_row_are_closed_or_get_all_attention_and_no_earlier_step_changes(model: ZooModel) -> None:
    step, chosen, row = 2, (2, 3), tuple(0.5 if k in (2, 3) else 0.0 for k in range(len(NAMED)))
    reads, writes = (visible(model.vocabulary[index]) for index in zoo.writing.generate(model, TEXT).ids[1:3])
    mask = (tuple(k not in chosen for k in range(len(NAMED))),)
    cases: tuple[tuple[str, str, Callable[[str], Edit]], ...] = (
        ("close a look", "closed", lambda layer: SetMask(layer=layer, mask=mask)),
        ("direct a look", "directed", lambda layer: Patch(site=f"{layer}.pattern", vector=row)),
    )
    for how, key, edit in cases:
        here = {"changed_step": f"{step} {reads} → {writes}", key: f"3 {NAMED[3]}"}
        app = open_translating(translation="What if", change=how, **here)
        assert app.multiselect(key=key).value == [here[key]]
        app.multiselect(key=key).set_value([f"{n} {NAMED[n]}" for n in chosen]).run()
        assert_after(app, model, step, edit)
        before, after = (matrices(app)[key][0] for key in ("as_it_was", "as_changed"))
        np.testing.assert_allclose(after[step, list(chosen)], 0 if key == "closed" else 0.5, atol=1e-3)
        assert (before[step, list(chosen)] > 0).all()
        np.testing.assert_allclose(after.sum(axis=1), 1, atol=1e-3)
        np.testing.assert_allclose(after[:step], before[:step], atol=1e-6)


def test_a_row_of_typed_weights_is_the_row_that_the_model_sees(model: ZooModel) -> None:
    app = open_translating(translation="What if", change="direct a look", directed_parts="1 0.5, 2.5")
    app.multiselect(key="directed").set_value([f"{n} {NAMED[n]}" for n in (0, 3, 4)]).run()
    row = [0.0] * len(NAMED)
    row[0], row[3], row[4] = 0.25, 0.125, 0.625
    assert_after(app, model, 0, lambda layer: Patch(site=f"{layer}.pattern", vector=tuple(row)))
    np.testing.assert_allclose(matrices(app)["as_changed"][0, 0], row, atol=1e-3)
    assert all(share in words(app) for share in ("25% to “Elle”", "12% to", "62% to"))


def test_shares_are_parts_of_their_sum_and_parts_that_make_none_are_refused_and_change_nothing() -> None:
    refused = {
        **{"1": "1 for 2", "1 2 3": "3 for 2", "a 1": "Write numbers", "<b> 1": "Write numbers", "-1 2": "negative"},
        **{"0 0": "at least one", "inf 1": "must be finite", "nan 1": "must be finite"},
    }
    for typed, said in refused.items():
        with pytest.raises(ValueError, match=said):
            what_if.shares_of(typed, 2)
    for typed in ("3 1", "3,1", "0.75 : 0.25", "3e307 1e307", "3e-300;1e-300"):
        assert what_if.shares_of(typed, 2) == pytest.approx((0.75, 0.25))
    assert what_if.shares_of(" ", 4) == (0.25,) * 4
    app = open_translating(translation="What if", change="direct a look", directed_parts="many")
    assert "Write numbers with spaces between them" in words(app)
    assert "Nothing is changed." in words(app)
    before, after = (matrices(app)[key] for key in ("as_it_was", "as_changed"))
    np.testing.assert_array_equal(before, after)


def test_a_swapped_word_is_translated_as_the_whole_new_source_without_the_mark_at_its_end(model: ZooModel) -> None:
    app = open_translating(translation="What if", swapped="5 viande.", becomes="poisson.")
    expected = zoo.writing.generate(model, "Elle ne mange jamais de poisson.").text.strip()
    assert f" “{expected.replace('.', chr(92) + '.')}” (both" in words(app)
    assert expected != zoo.writing.generate(model, TEXT).text.strip()
    written = expected.rstrip(".").split()[-1]
    assert [f"→ {written}”" in alt(app, key) for key in ("as_it_was", "as_changed")] == [False, True]
    app = open_translating(translation="What if", text="J'ai une voiture rouge.", swapped="2 voiture.")
    before, after = (np.isfinite(matrices(app)[key][0]).any(axis=0) for key in ("as_it_was", "as_changed"))
    assert before.tolist() == [True] * 7
    assert after.tolist() == [True, True, True, True, False, True, True]


def test_what_does_not_exist_is_not_changed_nor_a_source_of_one_token() -> None:
    addresses = ({"swapped": "99 x"}, {"change": "close a look", "changed_step": "99", "closed": ""})
    for address in addresses:
        app = open_translating(translation="What if", **address)
        assert set(matrices(app)) == {"as_it_was", "as_changed"}
        app.text_area(key="text").set_value("Merci beaucoup !").run()  # no place of the old text is one of the new
        assert set(matrices(app)) == {"as_it_was", "as_changed"}
    for change in ("swap a word", "close a look"):
        assert "nothing to change" in words(open_translating(translation="What if", text="a", change=change))


def test_a_translation_that_has_begun_has_one_row_and_ends_where_the_mark_is_most_probable() -> None:
    for target in (("<|endoftext|>",), ("<|endoftext|>", "A"), ("<|endoftext|>", "A", " b")):
        config = SimpleNamespace(architecture="encoder-decoder")
        here: Any = SimpleNamespace(trace=translation(("a", " b"), target), model=SimpleNamespace(config=config))
        assert f"“{'A' if len(target) > 1 else markdown.plain(START)} → " in panels.how_it_reads(here), target
    for best, last in ((0, END), (1, UNKNOWN)):
        row = lambda *_, best=best: np.eye(3)[best]  # noqa: E731
        trace: Any = SimpleNamespace(row=row, target=SimpleNamespace(ids=(0, 1)), tokens=("<>", " a"))
        assert translating.writes(trace) == ["a", last]
