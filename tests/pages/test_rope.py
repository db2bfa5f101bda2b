"""The page on RoPE and biases: its numbers against independent ones, the laws it states, and bad input."""

import math
from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.analysis.test_rotations import THETA
from tests.app import captions, charts, columns, matrices, open_page, pictures, sent, series, spaces, views, words
from tests.model import numpy_model
from tests.pages import plain
from tests.pages.claims import number, told
from tests.traces import read_arrays, read_blob
from tfmviz import zoo
from tfmviz.analysis import rotations
from tfmviz.model.config import ModelConfig
from tfmviz.record.trace import Array
from tfmviz.ui import models
from tfmviz.ui.rope import spectrum, subject
from tfmviz.views import turning

TEXT = "The cat sat on the mat."


@cache
def opened(tab: str, **address: str) -> AppTest:
    """The page at a tab; opened once for all tests that only look at it."""
    return open_page("positions_rope", **{"text": TEXT, "scheme": tab} | address)


def first_layer(model: str) -> tuple[Array, Array]:
    """Queries and keys of layer 0, (len, head, d_head), before any position."""
    trace = zoo.load(model).trace(TEXT)
    q, k = (trace[f"decoder.0.self_attn.{name}"].swapaxes(0, 1).astype(np.float64) for name in "qk")
    return q, k


def payload(app: AppTest) -> tuple[dict[str, Any], dict[str, Array]]:
    """Header and arrays of the arrows."""
    return read_arrays(bytes(views(app)["turning"].bytes))


def test_the_arrows_are_the_first_layers_queries_and_keys() -> None:
    for model, shown in (("tiny-english", "tiny-english"), ("twins-sinusoidal", "twins-rope")):
        app = opened("Turning", model=model, layer="0", head="2")
        header, arrays = payload(app)
        q, k = first_layer(shown)
        for name, expected in (("q", q), ("k", k), ("rot_q", numpy_model.rotate(q)), ("rot_k", numpy_model.rotate(k))):
            np.testing.assert_allclose(arrays[name], expected[:, 2], atol=2e-5)
        np.testing.assert_allclose(header["theta"], 10000.0 ** (-np.arange(16) / 16), rtol=1e-14)
        assert header["tokens"][0] == "The"
        halves = [x[:, 2, :16] + 1j * x[:, 2, 16:] for x in (q, k)]  # pairs as another layout stores them
        q, k = (x * np.exp(1j * np.outer(np.arange(len(x)), 10000.0 ** (-np.arange(16) / 16))) for x in halves)
        wrong = np.abs((q @ k.conj().T).real - arrays["rot_q"] @ arrays["rot_k"].T).max()
        assert f"without, by up to **{wrong:.2f}**" in words(app)
        said = " ".join(caption.value for caption in app.caption)
        assert f"`` {shown} ``, layer 0, head 2" in said
        assert ("is not a model with the position scheme" in said) is (model != shown)


def test_the_address_places_the_arrows_and_sliders_of_any_context_stay_usable() -> None:
    assert sent(opened("Turning", turn="3.1.40.38", token="5"), "turning_selection") == {
        "view": "turning",
        "sequence": 0,
        "token": 5,
        "turn": "3.1.40.38",
    }
    assert sent(opened("Turning", turn="3.1.-40.1e9"), "turning_selection")["turn"] == ""
    trace = models.trace(models.load("tiny-english"), TEXT)
    for max_len, last in ((65_536, 511), (1, 15)):
        header, _ = read_blob(turning.payload(trace, "decoder.0.self_attn", 0, THETA, max_len=max_len))
        assert header["last"] == last


def test_the_same_words_score_the_same_at_the_same_distance_only() -> None:
    for one, other, distances in (
        ("of course we know", "we know that", (1, 1)),
        ("we all know", "we know that", (2, 1)),
    ):
        app = opened("Same distance", phrase=one, other_phrase=other, head="3")
        table, equal = columns(app, "phrases"), distances[0] == distances[1]
        assert tuple(map(int, table["distance i − j"])) == distances
        assert [name for name in table if name.endswith("” at")] == ["query “know” at", "key “we” at"]
        found = list(map(number, table["q · k / √d, layer 0, head 3"]))
        assert (found[0] == pytest.approx(found[1], abs=1e-6)) is equal
        assert ("gives the same score" in words(app)) is equal
        assert (f"The distances differ ({distances[0]} and {distances[1]})" in words(app)) is not equal
        rope, sinusoidal = series(charts(app)["same_distance"]).values()
        assert bool(rope[0] < 1e-5) is equal
        assert sinusoidal[0] > 1e-2
        assert rope[1] > 1e-2, "later layers differ, and the page says so"
    trace = zoo.load("tiny-english").trace(" we know that")
    assert found[1] == pytest.approx(trace["decoder.0.self_attn.scores"][3, 1, 0], abs=2e-5)
    app = opened("Same distance", phrase="cat", other_phrase="dog")
    assert "Type two texts" in words(app)


def test_wavelengths_and_what_longer_texts_do_to_them() -> None:
    app = opened("Wavelengths", stretch="NTK-aware", rope_base="500000", d_head="64", at_position="-7")
    own, stretched = series(charts(app)["wavelengths"]).values()
    expected = 2 * np.pi * 500_000.0 ** (np.arange(32) / 32)
    np.testing.assert_allclose(own, expected, rtol=1e-9)
    assert stretched[-1] == pytest.approx(4 * expected[-1])
    assert f"**{int((expected <= 256).sum())} of 32 pairs**" in words(app)
    table = columns(app, "pairs")
    assert float(table["turns at position -7"][0].replace("−", "-")) == pytest.approx(-7 / (2 * np.pi), abs=1e-4)


def test_only_the_slowest_and_the_fastest_pair_stay_as_they_were_under_ntk_aware_scaling() -> None:
    """Against a training length of 256 and texts 4 times as long, of pairs that saw part of the circle."""
    m, base = np.arange(16), 10_000.0
    known = 256 * base ** (-m / 16)
    partly = known < 2 * math.pi
    longest = {
        "none": 1023 * base ** (-m / 16),
        "position interpolation": 1023 / 4 * base ** (-m / 16),
        "NTK-aware": 1023 * (base * 4 ** (32 / 30)) ** (-m / 16),
    }
    for stretch, turns in longest.items():
        beyond = (partly & (turns > known)).sum()
        assert beyond == {"none": partly.sum(), "NTK-aware": partly.sum() - 1}.get(stretch, 0)
        said = f"Of the {partly.sum()} pairs that saw part of the circle, **{beyond}** now go"
        app = opened("Wavelengths", stretch=stretch, d_head="32")
        assert said in words(app)
        far = told(app, r"At position (\S+) the slowest pair has turned by \*\*(\S+)°\*\* \(in training up to (\S+)°\)")
        assert far == pytest.approx([1023, *np.degrees([turns[-1], 255 * base ** (-15 / 16)])], abs=0.051)


def test_settings_that_make_no_sense_get_one_sentence() -> None:
    for address, said in (
        ({"d_head": "7"}, "must be even and at least 2, but it is 7"),
        ({"rope_base": "1"}, "base must be larger than 1"),
        ({"d_head": "2", "stretch": "NTK-aware"}, "there is one pair"),
        ({"at_position": "99999999999"}, "Positions up to 1,000,000,000 can be computed"),
        ({"d_head": "2"}, ""),
    ):
        errors = [one.value.replace("\\", "") for one in opened("Wavelengths", **address).error]
        assert len(errors) == bool(said), address
        assert said in "".join(errors), address


def test_decay_of_the_models_own_queries_and_keys() -> None:
    drawn = charts(opened("Decay", layer="0", head="2", up_to="64"))
    bound, same, other = series(drawn["decay"]).values()
    assert (bound[0], same[0]) == (1, pytest.approx(1, abs=0.03))
    assert bound[40:].max() < 0.7
    assert same[40:].max() < 0.75
    assert np.abs(other).max() < 0.05
    q, k = (x[:, 2] for x in first_layer("tiny-english"))
    there, near = series(drawn["own_decay"]).values()
    (anywhere,) = series(drawn["own_decay_far"]).values()
    theta = 10000.0 ** (-np.arange(16) / 16)
    np.testing.assert_allclose(anywhere, rotations.mean_of_all_pairs(q, k, theta, np.arange(65)), atol=1e-4)
    np.testing.assert_allclose(near, anywhere[: len(q)])
    assert there[0] == pytest.approx((q * k).sum(axis=-1).mean(), abs=1e-4)
    h = (q[4, 0::2] + 1j * q[4, 1::2]) * (k[3, 0::2] - 1j * k[3, 1::2])
    turns = np.exp(1j * np.outer(theta, np.arange(65)))  # (pair, distance)
    share = np.abs((h @ turns).real) / np.abs(np.diff(h, append=0)).max() / np.abs(turns.cumsum(axis=0)).sum(axis=0)
    app = opened("Decay", layer="0", head="2", up_to="64", token="4")
    of_bound = r"For “the” and “on” \|q · k\| reaches (\S+) of the bound at distance 1, and at most \*\*(\S+)\*\*"
    assert told(app, of_bound) == pytest.approx([share[1], share.max()], abs=0.006)


def test_pairs_that_are_slowed_down_or_stand_still_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in Llama 3.1, and in models with layers that rotate nothing."""
    theta = np.append(500_000 ** (-np.arange(14) / 14) / [*[1] * 11, 2, 4, 8], [0, 0])
    monkeypatch.setattr(spectrum, "own_theta", lambda shown: theta)
    monkeypatch.setattr(spectrum, "own_base", lambda shown: 500_000)
    slow: Any = SimpleNamespace(model=SimpleNamespace(name="slow"))
    said = "has base 500,000, with 3 of its pairs slowed down, up to 8 times; 2 of 16 pairs do not turn."
    assert spectrum._own_frequencies(slow) == f"`` slow `` {said}"
    turns = subject.theta_in
    monkeypatch.setattr(subject, "theta_in", lambda model, layer: turns(model, layer) * (".0." not in layer))
    assert "Layer 0 rotates nothing, so this is layer 1." in captions(open_page("positions_rope", layer="0"))


def test_scores_before_and_after_the_bias_are_those_of_the_twin() -> None:
    for tab, model in (("ALiBi", "twins-alibi"), ("T5 buckets", "twins-t5"), ("Shaw", "twins-shaw")):
        trace, at = zoo.load(model).trace(TEXT), "decoder.0.self_attn"
        q, k = trace[f"{at}.q"][2], trace[f"{at}.k"][2]
        before, after = q @ k.T / np.sqrt(q.shape[-1]), trace[f"{at}.scores"][2]
        app, below = opened(tab, layer="0", head="2", token=str(len(q) - 1)), np.tri(len(q), dtype=bool)
        bias = np.where(below, after, 0) - np.where(below, before, 0)
        for shown, expected in zip(matrices(app)["bias_tiles"], (before, bias, after), strict=True):
            np.testing.assert_allclose(shown, np.where(below, expected, np.nan), atol=2e-5)
        with_bias = series(charts(app)["bias_row"], "value", by="series")["with it"]
        np.testing.assert_allclose(with_bias, trace[f"{at}.pattern"][2, -1], atol=1e-5)
        away = [row @ np.arange(len(q))[::-1] for row in (plain.softmax(before[-1]), plain.softmax(after[-1]))]
        reach = r"looks ([\d.]+) tokens away on average without .*, \*\*([\d.]+)\*\* with it"
        assert told(app, reach) == pytest.approx(away, abs=0.051)
    for n, slopes in ((4, "1/4, 1/16, 1/64, 1/256"), (8, "1/2, 1/4, 1/8, 1/16, 1/32, 1/64, 1/128, 1/256")):
        assert f"From head 0 on: {slopes}." in words(opened("ALiBi", n_slopes=str(n)))
    assert "From head 0 on" not in words(opened("ALiBi", n_slopes="16"))
    app = opened("ALiBi", n_slopes="12")
    np.testing.assert_allclose(series(charts(app)["slopes"])["slopes of 12 heads"][[0, 7, 8]], [0.5, 2**-8, 2**-0.5])
    assert "the first 8 slopes are those of 8 heads, the others every second of 16" in words(app)
    for kind, own, last in (("looks back (decoder)", 15, 113), ("both ways (encoder)", 7, 91)):  # as in test_t5.py
        said = words(opened("T5 buckets", buckets=kind))
        assert f"Distances 0 to {own} have a bucket each;" in said
        assert f"from {last} on all use the last" in said


def test_t5_says_which_buckets_were_never_trained() -> None:
    app = opened("T5 buckets", layer="0", head="2")
    assert "buckets 0 to 26;" in words(app)
    table = plain.weights("twins-t5")["decoder.positions.table"]
    assert np.abs(table[27:]).max() < 0.1 < np.abs(table[:27]).max(axis=1).min()
    lines = list(series(charts(app)["t5_biases"], table="curves").values())
    np.testing.assert_allclose([line[100] for line in lines], table[16 + int(np.log(100 / 16) / np.log(8) * 16)])


def test_shaws_map_counts_clipped_distances_whose_vectors_are_those_of_the_twin() -> None:
    """With k = 1 a key is at or before its query."""
    for k in (1, 2, 3):
        app = opened("Shaw", clip=str(k))
        (found,) = matrices(app)["shaw"]
        distance = np.subtract.outer(np.arange(len(found)), np.arange(len(found)))
        np.testing.assert_array_equal(found, np.where(distance < 0, np.nan, np.minimum(distance, k)))
        assert f"**{2 * k + 1} learned vectors**" in words(app)
    table = plain.weights("twins-shaw")["decoder.positions.table"][16::-1]  # keys 0, 1 … 16 tokens to the left
    q = zoo.load("twins-shaw").trace(TEXT)["decoder.1.self_attn.q"][2]
    app = opened("Shaw", layer="1", head="2", token="3")
    np.testing.assert_allclose(matrices(app)["shaw_vectors"][0], table, atol=1e-6)
    own, mean = series(charts(app)["shaw_scores"]).values()
    np.testing.assert_allclose(own, q[3] @ table.T / np.sqrt(32), atol=1e-5)
    np.testing.assert_allclose(mean, (q @ table.T).mean(axis=0) / np.sqrt(32), atol=1e-5)


def test_other_architectures_with_rope_are_taken_as_they_are(put_random_model: Callable[..., ModelConfig]) -> None:
    for architecture, kind, said in (
        ("encoder-only", "encoder", "layer 0, head 0, 3 tokens."),
        ("encoder-decoder", "cross-attention", "Cross-attention has no positions, so this is the decoder's"),
    ):
        put_random_model(architecture, architecture=architecture, n_kv_heads=1)
        app = open_page("positions_rope", text="the cat sat", model=architecture, kind=kind)
        assert said in app.caption[0].value
        header, arrays = payload(app)
        turned = numpy_model.rotate(arrays["q"][:, None].astype(float))[:, 0]
        np.testing.assert_allclose(turned, arrays["rot_q"], atol=1e-5)
        assert (len(header["theta"]), header["last"]) == (2, 18)


def test_the_bias_of_alibi_can_be_seen_beside_the_scores() -> None:
    """The colour of the farthest key is at least a tenth of the scale away from that of 0, which is white."""
    for head in "012":
        app = open_page("positions_rope", scheme="ALiBi", head=head, text="The animal didn't cross the street.")
        header, (_, bias, _) = pictures(app)["bias_tiles"]
        part = np.nanmax(np.abs(bias)) / header["scale"]["high"]
        assert (np.sqrt(part) if header["scale"]["root"] else part) > 0.1


def test_the_helix_goes_through_the_queries_that_rope_turns_and_through_sinusoids_of_its_speeds() -> None:
    added, turned = spaces(opened("Turning", helix="true", model="twins-rope", layer="0", head="2", token="3"))
    q = first_layer("twins-rope")[0][3, 2]
    rows = [space["layout"]["meta"]["values"]["rows"] for space in (added, turned)]
    for (name, i, *wave), (same, j, *own) in zip(*rows, strict=True):
        m = int(name.removeprefix("pair "))
        assert (name, i) == (same, j)
        turn = np.exp(1j * i * 10_000 ** (-2 * m / len(q)))
        assert complex(*wave) == pytest.approx(turn, abs=1e-6)
        assert complex(*own) == pytest.approx(complex(*q[2 * m : 2 * m + 2]) * turn, abs=1e-4)
    assert len(rows[0]) == 2 * max(len(plain.ids_of(TEXT, "twins-rope", 64)), 16)
