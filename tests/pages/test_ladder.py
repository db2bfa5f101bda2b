"""The page from windows to attention: its numbers against the models' equations in numpy, and odd input."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from tests.app import alt, charts, columns, matrices, open_page, sent, series, words
from tests.model import numpy_model
from tests.pages.claims import number
from tests.pages.plain import softmax
from tfmviz import zoo
from tfmviz.analysis.reach import replacements
from tfmviz.counting import pruned
from tfmviz.places import PROJECT
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.ui.ladder import dependencies

PAGE = "ladder"
TEXT = "The boy who lived by the river was very happy."
TABS = (
    *("What comes next", "How far back can it see?", "Long dependencies", "The fixed window"),
    *("The recurrent network", "Why recurrence lost", "Four uses"),
)
MODELS = ("5-gram", "window", "recurrent", "transformer")
FACTS = PROJECT / "assets" / "ladder"


@cache
def weights(name: str) -> dict[str, np.ndarray]:
    return {key: value.astype(float) for key, value in load_file(zoo.MODELS / name / "model.safetensors").items()}


@cache
def tokenizer() -> Tokenizer:
    return Tokenizer.load(zoo.MODELS / "ladder-rnn" / "tokenizer.json")


def ids_of(text: str) -> list[int]:
    return list(tokenizer().encode(text, max_len=64).ids)


def by_window(ids: list[int]) -> np.ndarray:
    """The equations of a window network: (len, vocab)."""
    w = weights("ladder-window")
    vectors = [*np.zeros((7, w["W_E"].shape[1])), *w["W_E"][ids]]
    e = np.array([np.concatenate(vectors[t : t + 8]) for t in range(len(ids))])
    return softmax(np.tanh(e @ w["W.weight"].T + w["W.bias"]) @ w["U.weight"].T + w["U.bias"])


def states(ids: list[int]) -> list[np.ndarray]:
    """The states of both recurrent layers: (len, d_model) each."""
    w, found = weights("ladder-rnn"), []
    x = np.sqrt(w["W_E"].shape[1]) * w["W_E"][ids]
    for layer in range(2):
        W_x, W_h, b_x, b_h = (w[f"rnn.{layer}.gru.{n}_l0"] for n in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
        h, rows = np.zeros(len(b_x) // 3), []
        for x_t in x:
            (x_r, x_z, x_n), (h_r, h_z, h_n) = np.split(W_x @ x_t + b_x, 3), np.split(W_h @ h + b_h, 3)
            r, z = 1 / (1 + np.exp(-x_r - h_r)), 1 / (1 + np.exp(-x_z - h_z))
            h = (1 - z) * np.tanh(x_n + r * h_n) + z * h
            rows.append(h)
        found.append(x := np.array(rows))
    return found


def by_recurrence(ids: list[int]) -> np.ndarray:
    return softmax(states(ids)[-1] @ weights("ladder-rnn")["W_E"].T + weights("ladder-rnn")["b"])


def by_attention(ids: list[int]) -> np.ndarray:
    return softmax(numpy_model.forward(zoo.MODELS / "twins-rope", tuple(ids))[-1])


def by_counting(ids: list[int]) -> np.ndarray:
    model = pruned.load(FACTS / "5-gram.npz")
    return np.array([model.distribution(ids[max(0, end - 4) : end]) for end in range(1, len(ids) + 1)])


@cache
def expected() -> list[np.ndarray]:
    return [predict(ids_of(TEXT)) for predict in (by_counting, by_window, by_recurrence, by_attention)]


def test_the_surprise_of_every_token_is_that_of_the_equations() -> None:
    app, ids = open_page(PAGE, text=TEXT), ids_of(TEXT)
    shown = matrices(app)["surprise"][0]
    assert shown.shape == (4, len(ids))
    assert np.isnan(shown[:, -1]).all()
    n_bytes = len(TEXT.encode()) - len(tokenizer().encode(TEXT, max_len=64).tokens[0])
    for title, row, p in zip(MODELS, shown, expected(), strict=True):
        bits = -np.log2(p[np.arange(len(ids) - 1), ids[1:]])
        np.testing.assert_allclose(row[:-1], bits, rtol=1e-3, atol=1e-3)
        assert f"| {title} | " in words(app)
        assert f"| {bits.sum() / n_bytes:.2f} |" in words(app)


def test_the_bars_are_what_each_model_expects_at_the_chosen_place() -> None:
    for address, place in (({}, len(ids_of(TEXT))), ({"token": "4"}, 4)):
        app = open_page(PAGE, text=TEXT, **address)
        for index, p in enumerate(expected()):
            bars = [bar[1] for bar in sent(app, f"expected_{index}")]
            np.testing.assert_allclose(bars, np.sort(p[place - 1])[::-1][:6], rtol=2e-3)


def test_a_change_beyond_what_a_model_sees_moves_nothing() -> None:
    """And within it, as much as the equations say."""
    text = "One day the old man who lived in the house by the sea saw a"
    ids = ids_of(text)
    curves = series(charts(open_page(PAGE, text=text, ladder=TABS[1]))["reach"])
    assert len(ids) > 12
    for title, sees in zip(MODELS, (4, 8, len(ids), len(ids)), strict=True):
        assert np.isnan(curves[title][sees:]).all(), title
        assert curves[title][0] > 0
        assert sees < 9 or (curves[title] > 0).all(), title
    new = replacements(tokenizer().vocabulary, 5)[:4]  # which words are put there is its choice
    assert not set(new) & set(ids)
    for (title, predict), k in product((("window", by_window), ("recurrent", by_recurrence)), (1, 5)):
        others = [[*ids[:-k], word, *ids[len(ids) - k + 1 :]] for word in new]
        moved = np.mean([np.abs(predict(other)[-1] - predict(ids)[-1]).sum() / 2 for other in others])
        assert curves[title][k - 1] == pytest.approx(moved, rel=1e-3)


def test_gradients_have_no_curve_for_counts() -> None:
    curves = series(charts(open_page(PAGE, text=TEXT, ladder=TABS[1], reach_by="gradient"))["reach"])
    assert list(curves) == list(MODELS[1:])
    assert np.isnan(curves["window"][8:]).all()
    assert (curves["transformer"] > 0).all()


def test_the_window_is_drawn_as_the_equations_have_it() -> None:
    ids, w = ids_of(TEXT), weights("ladder-window")
    app = open_page(PAGE, text=TEXT, ladder=TABS[3], token="6", unit="5", place="3")
    e = np.array([*np.zeros((2, 128)), *w["W_E"][ids[:6]]])  # eight places, the first two empty
    h = np.tanh(w["W.weight"] @ e.ravel() + w["W.bias"])
    p = by_window(ids[:6])[-1]
    drawn, best, one = matrices(app), np.argsort(-p)[:6], w["W.weight"].reshape(256, 8, 128)[5]
    np.testing.assert_allclose(drawn["window_joined"][0], e, atol=1e-3)
    np.testing.assert_allclose(drawn["window_hidden"].ravel(), h, atol=1e-3)
    np.testing.assert_allclose(drawn["window_block"][0], w["W.weight"][:, 3 * 128 : 4 * 128], atol=1e-3)
    np.testing.assert_allclose([bar[1] for bar in sent(app, "window_next")], p[best], rtol=1e-3)
    places, *unit = columns(app, "window_unit").values()
    assert places[:3] == ["1  –", "2  –", "3  The"]
    np.testing.assert_allclose(numbers(unit), [(one * e).sum(axis=1), one @ e[3]], atol=6e-4)
    assert number(sent(app, "window_unit")["about"].rsplit("=", 1)[1]) == pytest.approx(h[5], abs=6e-4)
    _, *written = columns(app, "window_words").values()
    u, logits = w["U.weight"][best, 5], (w["U.weight"] @ h + w["U.bias"])[best]
    np.testing.assert_allclose(numbers(written), [u, u * h[5], logits], atol=6e-3)
    sizes = dict(zip(*columns(app, "window_sizes").values(), strict=True))
    assert sizes["8"] == f"{w['W.weight'].size:,}"
    beyond = open_page(PAGE, text=TEXT, ladder=TABS[3], token="999", unit="9999", place="77")
    assert not beyond.error
    assert sent(beyond, "window_unit")["picked"] == 7


def numbers(table: Iterable[Iterable[str]]) -> list[list[float]]:
    return [[number(cell) for cell in column] for column in table]


def test_dependencies_are_those_of_the_file_and_of_the_equations() -> None:
    facts = json.loads((FACTS / "dependencies.json").read_text(encoding="utf-8"))
    text, names = 'Mary said, "The friends of Tom', ("5-gram", "ladder-window", "ladder-rnn", "twins-rope")
    found = [predict(ids_of(text))[-1] for predict in (by_counting, by_window, by_recurrence, by_attention)]
    for kind, asked in {
        "agreement": [[" is", " was"], [" are", " were"]],
        "quotation mark": [['"', '."', ',"', '!"', '?"', "”", ",”", "!”", "?”"]],
        "name": [[" Mary"], [" Tom"]],
    }.items():
        app = open_page(PAGE, text=text, ladder=TABS[2], depends=kind)
        for curve, name in zip(series(charts(app)["dependencies"]).values(), names, strict=True):
            np.testing.assert_allclose(curve, [row["leans"][name][0] for row in facts["kinds"][kind]])
        shown = list(columns(app, "own_dependency").values())[1:]
        sums = [[sum(p[ids_of(token)[0]] for token in tokens) for p in found] for tokens in asked]
        np.testing.assert_allclose(numbers(shown), sums, rtol=0.06, atol=6e-5, err_msg=kind)
    none = open_page(PAGE, text="a", ladder=TABS[2], depends="name")
    assert "Your text holds none of the names Tom, Tim" in words(none)


def test_figures_of_other_weights_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {**dependencies.measured(), "weights": {"ladder-rnn": "others"}}
    monkeypatch.setattr(dependencies, "measured", lambda: found)
    app = open_page(PAGE, text=TEXT, ladder=TABS[2])
    assert "dependencies" not in charts(app)
    assert "other weights of `` ladder-rnn ``" in words(app)


def test_states_and_the_fading_gradient_are_those_of_the_recurrence() -> None:
    for layer, h in enumerate(states(ids_of(TEXT))):
        app = open_page(PAGE, text=TEXT, ladder=TABS[4], rnn=str(layer))
        chosen = np.sort(np.argsort(-h.std(axis=0))[:28])
        np.testing.assert_allclose(matrices(app)["state"][0], h[:, chosen].T, atol=2e-3)
    left = series(charts(app)["fading"])
    assert list(left) == ["layer 0", "layer 1"]
    assert all(curve[0] == 1 and len(curve) == len(ids_of(TEXT)) for curve in left.values())
    low, high = charts(app)["fading"]["tables"]["ends"]["y"]
    assert low <= min(map(np.min, left.values()))
    assert high == max(map(np.max, left.values()))


def test_steps_are_counted_for_the_typed_text() -> None:
    app = open_page(PAGE, text=TEXT, ladder=TABS[5])
    n, drawn = len(ids_of(TEXT)), matrices(app)
    assert drawn["steps_recurrent"][0].tolist() == [[layer + t for t in range(n)] for layer in (3, 2, 1)]
    assert drawn["steps_attention"][0].tolist() == [[layer] * n for layer in (3, 2, 1)]
    assert np.isnan(drawn["steps_convolution"][0]).sum() == n - 7  # three layers see six tokens back
    assert f"{n + 2} steps; {n - 1} from the first token to the last" in alt(app, "steps_recurrent")
    assert "3 steps; 1 from the first token to the last" in alt(app, "steps_attention")


def test_held_out_curves_are_those_of_the_file() -> None:
    """Addresses of earlier tabs open what took their place."""
    facts = json.loads((FACTS / "measured.json").read_text(encoding="utf-8"))
    keys = {"one word changed": "changed", "cut off": "cut", "shuffled": "shuffled", "every other dropped": "thinned"}
    for before, key in keys.items():
        app = open_page(PAGE, ladder=TABS[1], seen_on="held-out text", before=before)
        for curve, model in zip(series(charts(app)["averages"]).values(), facts["models"].values(), strict=True):
            positive = [value if value > 0 or key != "changed" else np.nan for value in model[key]]
            np.testing.assert_allclose(curve, positive, err_msg=before)
    for old, drawn in (("On held-out text", "averages"), ("The chef who … was", "dependencies")):
        assert drawn in charts(open_page(PAGE, text=TEXT, ladder=old))


def test_odd_texts_are_met_kindly() -> None:
    for tab, text in product(TABS, ("a", "<b>$x$</b> 老王 👩 " * 40)):
        app = open_page(PAGE, text=text, ladder=tab)
        assert not app.error, tab
        assert [*charts(app), *matrices(app)], tab


def test_no_page_offers_a_model_without_heads() -> None:
    offered = open_page(PAGE).selectbox(key="model").options
    assert set(zoo.earlier()) >= {"ladder-rnn", "ladder-window"}
    assert offered == list(zoo.available())
    assert not set(offered) & set(zoo.earlier())
    assert "There is no model `` ladder-rnn `` here." in words(open_page("explorer", model="ladder-rnn"))


@pytest.mark.usefixtures("fresh")
def test_a_page_whose_models_are_missing_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("tiny-english", "twins-rope", "ladder-rnn"):
        (tmp_path / name).symlink_to(zoo.MODELS / name)
    monkeypatch.setattr(zoo, "MODELS", tmp_path)
    app = open_page(PAGE, text=TEXT)
    assert "This part needs the model `` ladder-window ``" in words(app)
    assert not app.error
