"""The page from windows to attention: its numbers are what the models give, whose equations tests/model asks."""

import json
import re
from collections.abc import Iterable
from functools import cache
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from tests.app import charts, columns, matrices, open_page, pictures, sent, series, words
from tests.pages.claims import number
from tests.pages.plain import softmax
from tfmviz import zoo
from tfmviz.analysis.window_network import network
from tfmviz.paths import PROJECT
from tfmviz.ui.ladder import distance, rungs
from tfmviz.ui.ladder.uses import SENTENCES, doubt, listed
from tfmviz.words.numbers import counted, per_cent, rounded

PAGE = "ladder"
TEXT = "The boy who lived by the river was very happy."
TABS = (
    *("What comes next", "How far back can it see?", "Long dependencies", "The fixed window"),
    *("The recurrent network", "Why recurrence lost", "Four uses"),
)
MODELS = ("5-gram", "window", "recurrent", "transformer")
FACTS = PROJECT / "assets" / "ladder"


def ids_of(text: str = TEXT) -> tuple[int, ...]:
    return zoo.load("twins-rope").encode(text).ids


@cache
def read(text: str = TEXT) -> rungs.Reading:
    """What the four models predict, without the page."""
    return rungs.read_text(rungs.ladder(), text)


def test_surprises_bits_per_byte_and_expected_words_are_those_of_the_four_models() -> None:
    app, ids = open_page(PAGE, text=TEXT), ids_of()
    shown = matrices(app)["surprise"][0]
    assert np.isnan(shown[:, -1]).all()
    n_bytes = len(TEXT.encode()) - len(read().text.tokens[0])
    table = {title: own for title, _, _, own in sent(app, "table")["rows"]}
    for title, row, p in zip(MODELS, shown, read().p, strict=True):
        bits = -np.log2(p[np.arange(len(ids) - 1), ids[1:]])
        np.testing.assert_allclose(row[:-1], bits, rtol=1e-3, atol=1e-3)
        assert table[title] == f"{bits.sum() / n_bytes:.2f}"
    for address, place in (({}, len(ids_of())), ({"token": "4"}, 4)):
        app = open_page(PAGE, text=TEXT, **address)
        for row, p in zip(matrices(app)["expected"][0], read().p, strict=True):
            np.testing.assert_allclose(np.sort(row)[::-1][:4], np.sort(p[place - 1])[::-1][:4], rtol=2e-3)


def test_a_change_beyond_what_a_model_sees_moves_nothing_and_gradients_have_no_curve_for_counts() -> None:
    text = "One day the old man who lived in the house by the sea saw a"
    n = len(ids_of(text))
    app = open_page(PAGE, text=text, ladder=TABS[1])
    curves = series(charts(app)["reach"])
    for title, sees in zip(MODELS, (4, 8, n, n), strict=True):
        far = len(curves[title])
        assert far == sees or (far < sees and title == "5-gram"), title  # not every context was counted
        assert f"{title} sees nothing beyond {counted(far, 'token')}" in words(app) or far == n, title
    assert f"window, “a”, 1 back: {per_cent(curves['window'][0])}" in charts(app)["reach"]["tables"]["rows"]["hover"]
    app = open_page(PAGE, text=text, ladder=TABS[1], reach_by="gradient")
    curves = series(charts(app)["reach"])
    assert f"window, “a”, 1 back: {rounded(curves['window'][0])}" in charts(app)["reach"]["tables"]["rows"]["hover"]
    assert "Counts have no gradient" in words(app)
    assert list(curves) == list(MODELS[1:])
    assert [len(curve) for curve in curves.values()] == [8, n, n]


def test_the_window_is_drawn_as_the_network_has_it() -> None:
    app = open_page(PAGE, text=TEXT, ladder=TABS[3], token="6", unit="5", place="3")
    model = zoo.load("ladder-window", kind=zoo.EarlierModel)
    w = zoo.experiments.window_weights(model)
    found = network(w, model.trace(TEXT)["window"][5].reshape(8, -1))  # eight places, the first two empty
    drawn, best = matrices(app), np.argsort(-found.logits)[:6]
    np.testing.assert_allclose(drawn["window_joined"][0], found.e, atol=1e-3)
    np.testing.assert_allclose(drawn["window_hidden"].ravel(), found.h, atol=1e-3)
    hidden = pictures(app)["window_hidden"][0]
    assert (hidden["rows"]["spoken"][2], hidden["notes"][2][3]) == ("unit 64 + …", "unit 67")
    assert pictures(app)["window_block"][0]["scale"]["title"] == "W of place 4"
    assert app.selectbox(key="window_end").options[5] == "5  the"
    assert "adds and what “boy” (place 4) would add there" in sent(app, "window_unit")["caption"]
    np.testing.assert_allclose(drawn["window_block"][0], w.W[:, 3 * 128 : 4 * 128], atol=1e-3)
    np.testing.assert_allclose([bar[1] for bar in sent(app, "window_next")], softmax(found.logits)[best], rtol=1e-3)
    places, *unit = columns(app, "window_unit").values()
    assert places[:3] == ["1  –", "2  –", "3  The"]
    np.testing.assert_allclose(numbers(unit), [found.added()[:, 5], found.elsewhere(3)[:, 5]], atol=6e-4)
    assert number(sent(app, "window_unit")["about"].rsplit("=", 1)[1]) == pytest.approx(found.h[5], abs=6e-4)
    _, *written = columns(app, "window_words").values()
    u = w.U[best, 5]
    np.testing.assert_allclose(numbers(written), [u, u * found.h[5], found.logits[best]], atol=6e-3)
    assert dict(zip(*columns(app, "window_sizes").values(), strict=True))["8"] == f"{w.W.size:,}"
    beyond = open_page(PAGE, text=TEXT, ladder=TABS[3], token="999", unit="9999", place="77")
    assert not beyond.error
    assert sent(beyond, "window_unit")["picked"] == 7


def numbers(table: Iterable[Iterable[str]]) -> list[list[float]]:
    return [[number(cell) for cell in column] for column in table]


def test_dependencies_are_those_of_the_file_and_of_the_four_models() -> None:
    facts = json.loads((FACTS / "dependencies.json").read_text(encoding="utf-8"))
    text, names = 'Mary said, "The friends of Tom', ("5-gram", "ladder-window", "ladder-rnn", "twins-rope")
    found = read(text).p[:, -1]
    for kind, asked in {
        "agreement": [[" is", " was"], [" are", " were"]],
        "quotation mark": [['"', '."', ',"', '!"', '?"', "”", ",”", "!”", "?”"]],
        "name": [[" Mary"], [" Tom"]],
    }.items():
        app = open_page(PAGE, text=text, ladder=TABS[2], depends=kind)
        for curve, name in zip(series(charts(app)["dependencies"]).values(), names, strict=True):
            np.testing.assert_allclose(curve, [row["leans"][name][0] for row in facts["kinds"][kind]])
        *_, last = facts["kinds"][kind]
        ends = zip(MODELS, (per_cent(last["leans"][name][0]) for name in names), strict=True)
        assert f"**With {last['n']} words in between: {'; '.join(map(' '.join, ends))}.**" in words(app)
        first = re.search(r"with (\d+) words in between, the transformer does so in (\d+)%", words(app))
        assert (first is None) == (kind == "quotation mark"), kind
        if first:
            (share,) = (row["prefers"]["twins-rope"][0] for row in facts["kinds"][kind] if row["n"] == int(first[1]))
            assert round(100 * share) == int(first[2]), kind
        shown = list(columns(app, "own_dependency").values())[1:]
        sums = np.array([[sum(p[ids_of(token)[0]] for token in tokens) for p in found] for tokens in asked])
        sums = np.array([*(sums / sums.sum(axis=0)), sums.sum(axis=0)]) if len(sums) > 1 else sums
        np.testing.assert_allclose(numbers(shown), sums, rtol=0.06, atol=6e-5, err_msg=kind)
    none = open_page(PAGE, text="a", ladder=TABS[2], depends="name")
    assert "Your text contains none of the names Tom, Tim" in words(none)


def test_figures_of_other_weights_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {**distance.measured_dependencies(), "weights": {"ladder-rnn": "others"}}
    monkeypatch.setattr(distance, "measured_dependencies", lambda: found)
    app = open_page(PAGE, text=TEXT, ladder=TABS[2])
    assert "dependencies" not in charts(app)
    assert "other weights of `` ladder-rnn ``" in words(app)


def test_states_and_the_fading_gradient_are_those_of_the_recurrence_and_what_a_state_knows() -> None:
    trace = zoo.load("ladder-rnn", kind=zoo.EarlierModel).trace(TEXT)
    for layer in range(2):
        app, h = open_page(PAGE, text=TEXT, ladder=TABS[4], rnn=str(layer)), trace[f"rnn.{layer}.hidden"]
        chosen = np.sort(np.argsort(-h.std(axis=0))[:28])
        np.testing.assert_allclose(matrices(app)["state"][0], h[:, chosen].T, atol=2e-3)
    left = series(charts(app)["fading"])
    assert list(left) == ["layer 0", "layer 1"]
    assert "How much of the first step is left?" in json.dumps(charts(app)["fading"], default=str) + words(app)
    assert all(curve[0] == 1 and len(curve) == len(h) for curve in left.values())
    assert f"layer 1, step 2, “boy”: {rounded(left['layer 1'][1])}" in charts(app)["fading"]["tables"]["rows"]["hover"]
    low, high = charts(app)["fading"]["tables"]["ends"]["y"]
    assert low <= min(map(np.min, left.values()))
    assert high == max(map(np.max, left.values()))
    app = open_page(PAGE, text=TEXT, ladder="The recurrent network", gate="two layers, both ways", token="3")
    header, ((above, below, backward, forward),) = pictures(app)["stacked"]
    assert header["rows"]["names"] == ["layer 1 ←", "layer 1 →", "layer 0 ←", "layer 0 →"]
    at = np.arange(len(forward))
    for moved, knows in ((forward, at >= 3), (backward, at <= 3), (above, at >= 0), (below, at >= 0)):
        np.testing.assert_array_equal(~np.isnan(moved), knows)


def test_steps_are_counted_for_the_typed_text() -> None:
    app = open_page(PAGE, text=TEXT, ladder=TABS[5])
    n, drawn = len(ids_of()), matrices(app)
    assert drawn["steps_recurrent"][0].tolist() == [[layer + t for t in range(n)] for layer in (3, 2, 1)]
    assert drawn["steps_attention"][0].tolist() == [[layer] * n for layer in (3, 2, 1)]
    assert np.isnan(drawn["steps_convolution"][0]).sum() == n - 7  # three layers see six tokens back
    assert "known after step 3; does not see the first token" in str(pictures(app)["steps_convolution"][0])
    assert f"{n + 2} steps; {n - 1} from the first token to the last" in str(pictures(app)["steps_recurrent"][0])
    assert "3 steps; 1 from the first token to the last" in str(pictures(app)["steps_attention"][0])


def test_held_out_curves_are_those_of_the_file() -> None:
    """Addresses of earlier tabs open what took their place."""
    facts = json.loads((FACTS / "measured.json").read_text(encoding="utf-8"))
    keys = {"one word changed": "changed", "cut off": "cut", "shuffled": "shuffled", "every other dropped": "thinned"}
    for before, key in keys.items():
        app = open_page(PAGE, ladder=TABS[1], seen_on="held-out text", before=before)
        for curve, model in zip(series(charts(app)["averages"]).values(), facts["models"].values(), strict=True):
            positive = [value for value in model[key] if value > 0 or key != "changed"]
            np.testing.assert_allclose(curve, positive, err_msg=before)
        assert "other words" not in words(app)
    for old, drawn in (("On held-out text", "averages"), ("The chef who … was", "dependencies")):
        assert drawn in charts(open_page(PAGE, text=TEXT, ladder=old))


def test_no_page_offers_a_model_without_heads() -> None:
    offered = open_page(PAGE).selectbox(key="model").options
    assert set(zoo.earlier()) >= {"ladder-rnn", "ladder-window"}
    assert offered == list(zoo.available())
    assert not set(offered) & set(zoo.earlier())
    assert "There is no model `` ladder-rnn `` here." in words(open_page("explorer", model="ladder-rnn"))


MIXED = "Attention, I would like un café."
TAB = "Four uses"
NAMES = ("label-both", "label-forward", "label-text")


def by_position(name: str) -> dict[str, list[float]]:
    return dict(json.loads((PROJECT / f"assets/training/{name}-by-position.json").read_text()))


def french(name: str, text: str = MIXED) -> np.ndarray:
    return softmax(zoo.load(name, kind=zoo.RecurrentLabeller).trace(text)["logits"])[:, 0]


def test_labels_and_classes_are_those_of_the_networks_and_where_they_differ_is_named_or_counted() -> None:
    assert len({(zoo.MODELS / name / "tokenizer.json").read_bytes() for name in NAMES}) == 1
    app = open_page("ladder", text=MIXED, ladder=TAB)
    both, forward, single = map(french, NAMES)
    logits = zoo.load(NAMES[2], kind=zoo.RecurrentLabeller).trace(MIXED)["logits"]
    mean = softmax(logits.cumsum(axis=0) / np.arange(1, len(logits) + 1)[:, None])[:, 0]
    for key, expected in (("labels", (both, forward)), ("classes", (single, mean))):
        picture, drawn = pictures(app)[key]
        for row, p, written in zip(drawn[0], expected, picture["texts"], strict=True):
            np.testing.assert_allclose(row, p, atol=5e-4)
            assert all(abs(float(share) - 100 * q) < 0.6 for share, q in zip(written, p, strict=True))
    both, forward = (french(name) > 0.5 for name in NAMES[:2])
    rest = ("ention", ",", "I", "would", "like", "un", "café", ".")
    names = np.array(["“A”", "“t” (token 1)", "“t” (token 2)", *(f"“{name}”" for name in rest)])

    def named(chosen: np.ndarray) -> str:
        return ", ".join(names[chosen])

    assert (both != forward).sum() in range(1, 9)
    assert f"They differ at {named(both != forward)}." in words(app).replace("\\", "")
    np.testing.assert_array_equal(matrices(app)["labels"][0] > 0.5, [both, forward])
    assert "They agree." in words(open_page("ladder", text="It is late.", ladder=TAB))
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
        drawn = series(charts(open_page("ladder", text=MIXED, ladder=TAB, sorted=place))["right"])
        assert set(drawn) == set(expected)
        for name, curve in drawn.items():
            np.testing.assert_allclose(curve, expected[name])


def test_a_text_for_which_they_were_not_made_gets_a_sentence() -> None:
    few, other = "With so few letters", "Not all letters are Latin"
    texts = {
        "Je pense que the weather is nice.": "",
        "à": few,
        "oui": "",
        "3.14 + 42 = 😀": few,
        "老王 批评 老李": other,
        "Привет, je pense à toi": other,
        "<b>hello</b> $x$": "",
        "le nº un et la 2ª": "",
        "je vois α": other,
    }
    assert [text for text, said in texts.items() if said not in doubt(text) or bool(said) != bool(doubt(text))] == []


def test_a_text_of_nothing_is_said_to_be_one_a_long_one_cut_and_the_menu_has_others() -> None:
    assert "nothing that these networks read" in words(open_page("ladder", text="\u200b", ladder=TAB))
    assert matrices(open_page("ladder", text="x" * 5000, ladder=TAB))["labels"].shape == (1, 2, 64)
    app = open_page("ladder", ladder=TAB)
    assert app.session_state["text"] == SENTENCES[2]
    assert np.ptp(matrices(app)["labels"]) > 0.9
    assert open_page("ladder", text=TEXT, ladder=TAB).session_state["text"] == TEXT
    app = open_page("ladder", text=MIXED, ladder=TAB)
    app.selectbox(key="mixed").select(SENTENCES[0]).run()
    assert app.session_state["text"] == SENTENCES[0]
    assert app.query_params["text"] == SENTENCES[0]
    assert matrices(app)["labels"].shape[-1] == len(french(NAMES[0], SENTENCES[0]))


def test_links_take_a_short_text_along_where_it_can_be_read() -> None:
    app = open_page("ladder", text="a (b) | c", ladder=TAB)
    links = re.findall(r"\]\(\./([^)]*)\)", words(app))
    assert [urlsplit(link).path for link in links] == ["ladder", "writing", "counting", "bottleneck"]
    taken = [parse_qs(urlsplit(link).query)["text"] for link in links]
    p = read("a (b) | c").p[MODELS.index("recurrent"), -1]
    assert f"({per_cent(p.max())}). See" in words(app)
    assert re.search(r"vₘ = “.+”: \[The", words(app))
    assert taken == [["a (b) | c"]] * 3 + [["Je suis étudiant."]]
    long = words(open_page("ladder", text="x " * 999, ladder=TAB))
    assert re.findall(r"\]\(\./writing([^)]*)\)", long) == ["?"]
