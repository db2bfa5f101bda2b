"""Sinusoidal or RoPE: what the page says of two schemes equals an independent computation from the models' files."""

import math
import re
import shutil
from itertools import product
from pathlib import Path
from urllib.parse import parse_qsl

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.app import charts, forget, matrices, open_page, pictures, series, words
from tests.model import numpy_model
from tests.model.helpers import flat, lively
from tests.model.sizes import SCHEMES
from tests.pages.claims import number, told
from tests.pages.plain import losses, losses_by_position
from tests.positions.clocks import ENTRY
from tfmviz import zoo
from tfmviz.analysis import position_terms
from tfmviz.analysis.linear_attention import shares
from tfmviz.model.transformer import build
from tfmviz.positions import schemes
from tfmviz.record.model import Model
from tfmviz.record.weights import PositionEffects
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.training.export import export
from tfmviz.ui import models, scheme_comparison
from tfmviz.ui.compare import trials
from tfmviz.views import steps as view

TEXT = "The cat sat on the mat."

EXPERIMENTS = ("Decision card", "Shift all positions", "Four terms", "On your sentence", "Longer texts")
TWINS = tuple(scheme for scheme in SCHEMES if f"twins-{scheme}" in zoo.available())
"""The schemes that a model was trained with; a new one may have to wait for its own."""


def folder(scheme: str) -> Path:
    return zoo.MODELS / f"twins-{scheme}"


def twin_of(scheme: str) -> Model:
    return models.load(scheme_comparison.name_of(scheme))


def page(experiment: str, **address: str) -> AppTest:
    return open_page("positions_compare", **{"text": TEXT, "experiment": experiment} | address)


def ids_of(text: str) -> tuple[int, ...]:
    return tuple(Tokenizer.load(folder("rope") / "tokenizer.json").encode(text, max_len=64).ids)


def tables(app: AppTest) -> list[dict[str, list[str]]]:
    return [table.value.to_dict(orient="list") for table in app.table]


def test_changes_means_along_distances_and_rises_are_those_counted_by_hand() -> None:
    before = np.full((2, 1, 2, 2), -np.inf)
    before[:, :, [0, 1, 1], [0, 0, 1]] = 0
    after = before.copy()
    after[1, 0, 1, 0] = -math.log(3)  # shares of row 1: from 1/2, 1/2 to 1/4, 3/4
    np.testing.assert_allclose(position_terms.change(before, after), [[0, math.log(3)], [0, 0.25]])
    distance = np.subtract.outer(np.arange(7), np.arange(7))
    assert position_terms.explained_by_distance(np.sin(distance)) == pytest.approx(1)
    assert 0 < position_terms.explained_by_distance(np.repeat(np.arange(7.0)[:, None], 7, axis=1)) < 0.5
    assert math.isnan(position_terms.explained_by_distance(np.ones((3, 3))))
    mean, lowest, highest = position_terms.along_diagonals(np.array([[1.0, 9, 9], [4, 2, 9], [7, 6, 6]]))
    assert (mean.tolist(), lowest.tolist(), highest.tolist()) == ([3, 5, 7], [1, 4, 7], [6, 6, 7])
    x, y = position_terms.smoothed(np.array([1.0, 3, 5, 7, 9]), window=2)
    assert (x.tolist(), y.tolist()) == ([0.5, 2.5, 4], [2, 6, 9]), "a short last window is averaged over what it has"
    assert position_terms.rise(np.arange(64.0), trained=16, factor=4) == pytest.approx(48)
    assert position_terms.rise(np.arange(63.0), trained=16, factor=4) is None, "without a loss far out"


def test_four_terms_are_the_bilinear_forms_of_the_paper() -> None:
    """x_iᵀ W p_j and its like, with W written out: γ, the subtraction of the mean, W_Q, W_K, γ again."""
    ids = ids_of(TEXT)
    for scheme, head in product(("sinusoidal", "learned"), (0, 3)):
        w = numpy_model.weights(folder(scheme))
        x, p = numpy_model.embedding(folder(scheme), ids), numpy_model.added(folder(scheme), len(ids))
        block, rows = "decoder.blocks.0.self_attn", slice(32 * head, 32 * head + 32)
        gain, beta = w[f"{block}_residual.norm.weight"], w[f"{block}_residual.norm.bias"]
        W_Q, W_K = (w[f"{block}.W_{name}.weight"][rows] for name in "QK")
        b_q, b_k = (w[f"{block}.W_{name}.bias"][rows] + W @ beta for name, W in (("Q", W_Q), ("K", W_K)))
        scaled = np.diag(gain) @ (np.eye(128) - np.ones((128, 128)) / 128)
        W = scaled.T @ W_Q.T @ W_K @ scaled
        sigma = np.sqrt((x + p).var(axis=-1, keepdims=True) + 1e-5)
        x, p = x / sigma, p / sigma
        from_q, from_k = scaled.T @ W_Q.T @ b_k, scaled.T @ W_K.T @ b_q  # one side's biases meet the other side
        expected = [
            x @ W @ x.T + (x @ from_q)[:, None] + x @ from_k + b_q @ b_k,
            x @ W @ p.T + p @ from_k,
            p @ W @ x.T + (p @ from_q)[:, None],
            p @ W @ p.T,
        ]
        found = trials.terms_of(twin_of(scheme), TEXT, head)
        np.testing.assert_allclose(found, np.array(expected) / math.sqrt(32), atol=1e-4, err_msg=f"{scheme}, {head}")
        scores = numpy_model.forward(folder(scheme), ids).scores[0, head]
        np.testing.assert_allclose(np.tril(found.sum(axis=0)), np.tril(np.nan_to_num(scores, neginf=0)), atol=1e-4)


def test_positions_added_to_queries_and_keys_meet_by_distance_alone() -> None:
    found = trials.terms_of(twin_of("sinusoidal"), TEXT, 0, trials.JOINS[1])
    ids = ids_of(TEXT)
    w, x = numpy_model.weights(folder("sinusoidal")), numpy_model.embedding(folder("sinusoidal"), ids)
    block = "decoder.blocks.0.self_attn"
    normed = (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)
    normed = normed * w[f"{block}_residual.norm.weight"] + w[f"{block}_residual.norm.bias"]
    q, k = (normed @ w[f"{block}.W_{name}.weight"][:32].T + w[f"{block}.W_{name}.bias"][:32] for name in "QK")
    angle = np.arange(len(ids))[:, None] / 10_000 ** (np.arange(32) // 2 / 16)
    p = np.where(np.arange(32) % 2, np.cos(angle), np.sin(angle))
    np.testing.assert_allclose(found.sum(axis=0), (q + p) @ (k + p).T / math.sqrt(32), atol=1e-4)
    assert position_terms.explained_by_distance(found[3]) == pytest.approx(1)


def test_four_terms_are_written_out_where_a_scheme_adds_to_the_embedding() -> None:
    app, n = page("Four terms", left="learned", right="rope"), len(ids_of(TEXT))
    assert app.code[0].value.split(" = ")[1] == "xᵢᵀ W xⱼ + xᵢᵀ W pⱼ + pᵢᵀ W xⱼ + pᵢᵀ W pⱼ"
    assert f"chance gives {(n - 1) / (n * (n + 1) / 2 - 1):.0%}." in words(app)
    adding = " or ".join(scheme for scheme in TWINS if schemes.SCHEMES[scheme].acts == "embed")
    assert f"Choose {adding}." in words(page("Four terms", left="rope", right="alibi"))


def test_on_paper_both_schemes_are_shown_and_their_parameters_counted() -> None:
    app = page("On paper", left="learned", right="t5", twin_head="2")
    table = numpy_model.weights(folder("learned"))["decoder.positions.table"]
    np.testing.assert_allclose(matrices(app)["map"][0], table, atol=1e-6)
    (bias,) = matrices(app)["map_b"]
    expected = numpy_model.between("t5", numpy_model.weights(folder("t5")), 2, 57)
    assert bias[60, 3] == pytest.approx(expected, abs=1e-6)
    assert np.isnan(bias[3, 60])
    for scheme, own in (("learned", 64 * 128), ("t5", 32 * 4)):
        sizes = [array.size for array in numpy_model.weights(folder(scheme)).values()]
        assert f"**{own:,}** of {sum(sizes):,} parameters" in words(app)


def test_the_score_of_two_words_that_move_is_that_of_independent_forward_passes_and_mostly_of_their_distance() -> None:
    """What the model uses: q · k. Sinusoids' own products depend on the distance alone, and a score does not.

    In layer 0 scores are the same along a diagonal of every scheme that adds nothing to the embeddings.
    """
    query, key, ids = 4, 1, ids_of(TEXT)
    where = {"token": str(query), "to": str(key), "twin_layer": "1", "twin_head": "3"}
    for further, pair in enumerate((TWINS[n], TWINS[n - 1]) for n in range(0, len(TWINS), 2)):  # each at least once
        app = page("Shift all positions", left=pair[0], right=pair[1], shift=str(57 + further), **where)
        assert [app.selectbox(key=f"chosen_{key}").label for key in ("token", "to")] == ["Query", "Key"]
        header, maps = pictures(app)["pair_maps"]
        frames = [(one["top"], one["left"], one["bottom"], one["right"]) for one in header["frames"]]
        assert frames == ([] if further else [(59, 56, 64, 61)]), "two cells around, and only within the map"
        for title, scheme, of_pair in zip(header["titles"], pair, maps, strict=True):
            assert title == scheme
            firsts = range(0, 64 - query, 4)
            runs = [numpy_model.forward(folder(scheme), ids, first=first).scores for first in firsts]
            scores = np.array([run[1, 3, query, key] for run in runs])
            in_layer_0 = [of_pair[first + query, first + key] for first in firsts]
            np.testing.assert_allclose(in_layer_0, [run[0, 3, query, key] for run in runs], atol=1e-5, err_msg=scheme)
            vary = max(map(np.ptp, map(of_pair.diagonal, range(-63, 64))))
            np.testing.assert_allclose(series(charts(app)["moving"])[scheme], scores, atol=5e-4)
            pattern = rf"\*\*{scheme}\*\*: from (.*) to (.*), a change of \*\*(.*)\*\*: the positions (do not)?"
            said = re.search(pattern, words(app))
            assert said, scheme
            moves = schemes.SCHEMES[scheme].acts == "embed"
            assert vary > 0.2 if moves else vary < 1e-5, scheme
            assert moves is not bool(said[4]), said[0]
            assert [number(end) for end in said.groups()[:2]] == pytest.approx([min(scores), max(scores)], abs=0.006)
            assert moves is bool(np.ptp(scores) >= 0.1), scheme
            assert not moves or number(said[3]) == pytest.approx(np.ptp(scores), rel=0.06), scheme


def test_curves_are_the_files_averaged_over_sixteen_positions() -> None:
    app = page("Longer texts")
    assert not app.info  # a scheme that no twin was trained with is nothing to wait for
    chart = charts(app)["extrapolation"]
    curves, places = series(chart), series(chart, "x")
    assert set(curves) == set(TWINS)
    rises = {}
    for scheme in TWINS:
        loss = np.array(losses_by_position(f"twins-{scheme}")).reshape(-1, 16).mean(axis=1)
        np.testing.assert_allclose(curves[scheme], loss)
        assert places[scheme].tolist() == [16 * n + 7.5 for n in range(len(loss))]
        if len(loss) == 32:
            rises[scheme] = f"{loss[31] - loss[3]:+.2f}".replace("-", "−")
    assert len(curves["learned"]) == 4
    ends = sorted(y for x, y in zip(*(chart["tables"]["words"][axis] for axis in "xy"), strict=True) if x == 503.5)
    assert (len(ends), np.diff(ends).min() > 0.1) == (len(rises), True), "a name where each line ends, apart"
    assert chart["tables"]["marks"]["x"] == [scheme_comparison.TRAINED - 0.5] == [63.5]
    assert len(rises) > 3
    assert dict(re.findall(r"([\w-]+) \*\*([+−][\d.]+)\*\*", words(app))) == rises
    assert "From 64 to 512 positions" in words(app)


def test_losses_on_the_readers_text_are_those_of_the_twins() -> None:
    app = page("Longer texts", left="alibi", right="none")
    shown = series(charts(app)["own_losses"], "value", by="series")
    for scheme in ("alibi", "none"):
        trace = zoo.load(f"twins-{scheme}").trace(TEXT)
        expected = losses(trace["logits"], trace.target.ids)
        np.testing.assert_allclose(shown[scheme], expected, atol=1e-3)
        assert f"{scheme} **{np.mean(expected):.2f}**" in words(app)


def test_a_long_text_is_read_past_the_trained_length_but_not_past_a_table_and_its_wall() -> None:
    text = "my cat " * 700
    for other in ("alibi", "sinusoidal"):
        app = page("Longer texts", text=text, left="learned", right=other)
        left, right = series(charts(app)["own_losses"], "x").values()
        assert left.max() < 64 < 490 < right.max() < 512
        assert "over the first 63 tokens, all that learned can predict" in words(app)
        means = [trials.losses_on(twin_of(scheme), text)[1][:63].mean() for scheme in ("learned", other)]
        assert f"learned **{means[0]:.2f}**, {other} **{means[1]:.2f}**" in words(app)
        assert "reads up to 512" in "".join(note.value for note in app.info)
    room, shift = 64 - len(ids_of(TEXT)), "Shift all positions"
    assert not page(shift, right="learned", shift=str(room)).warning
    assert f"ends at position 63; shift by at most {room}." in page(shift, right="learned", shift="58").warning[0].value
    end = page(shift, text="word " * 200, left="learned", token="63")
    assert "at position 63, with no room to move" in words(end)


def test_the_card_says_what_the_measurements_say() -> None:
    (card,) = tables(page("Decision card"))
    assert tuple(card["scheme"]) == TWINS
    for row, scheme in enumerate(TWINS):
        before, after = (numpy_model.forward(folder(scheme), ids_of(TEXT), first=first).scores for first in (0, 16))
        seen = np.isfinite(before)
        moved = np.abs(before[seen] - after[seen]).max()
        assert ("✓" in card["relative"][row]) is bool(moved < 1e-6), scheme
        if moved > 1e-6:
            assert float(re.findall(r"✗ ([\d.]+)", card["relative"][row])[0]) == pytest.approx(moved, rel=0.06)
        loss = losses_by_position(f"twins-{scheme}")
        rise = np.mean(loss[496:]) - np.mean(loss[48:64]) if len(loss) == 512 else math.inf
        assert ("✓" in card["extrapolates"][row]) is bool(rise <= 0.1), scheme
        assert (f"{rise:+.2f}".replace("-", "−") in card["extrapolates"][row]) is math.isfinite(rise)
        assert ("✓" in card["linear attention"][row]) is (schemes.SCHEMES[scheme].acts not in ("bias", "relate"))
        assert "✓" in card["KV cache"][row]


def test_every_answer_of_the_card_leads_to_its_experiment() -> None:
    (card,) = tables(page("Decision card", text="<b>[a](b)</b> | $x$"))
    for cell in (cell for name in ("relative", "extrapolates") for cell in card[name]):
        found = re.fullmatch(r"\[[^\[\]]+\]\((\?[\w%.&=+*-]+)\)", cell)
        assert found, cell
        assert any(f"experiment={name.replace(' ', '+')}" in found[1] for name in EXPERIMENTS)
    pairs = [re.findall(r"left=(\w+)&right=(\w+)", cell)[0] for cell in card["relative"]]
    assert pairs == [(scheme, "sinusoidal" if scheme == "rope" else "rope") for scheme in TWINS]
    link = re.findall(r"\(\?(.*)\)", card["relative"][TWINS.index("alibi")])[0]
    opened = open_page("positions_compare", **dict(parse_qsl(link)))
    assert opened.text_area(key="text").value == "<b>[a](b)</b> | $x$"
    assert "which is rounding." in words(opened)


def test_tiles_are_the_patterns_of_the_twins() -> None:
    app = page("Attention", twin_layer="2", match="same number")
    for side, scheme in (("twin_heads", "sinusoidal"), ("twin_heads_b", "rope")):
        patterns = zoo.load(f"twins-{scheme}").trace(TEXT)["decoder.2.self_attn.pattern"]
        expected = np.where(np.tri(patterns.shape[-1]) > 0, patterns, np.nan)
        np.testing.assert_allclose(matrices(app)[side], expected, atol=1e-4)


def test_the_shift_on_the_page_is_that_of_an_independent_forward_pass() -> None:
    app = page("Shift all positions", shift="40", twin_layer="3", twin_head="1")
    (table,) = tables(app)
    before, after = (numpy_model.forward(folder("sinusoidal"), ids_of(TEXT), first=first) for first in (0, 40))
    moved = np.abs(after.patterns - before.patterns).max(axis=(1, 2, 3))
    np.testing.assert_allclose([float(x) for x in table["sinusoidal (left): share"]], moved, rtol=0.06)
    assert f"shares of attention by up to {moved.max():.0%}." in words(app)
    assert all("·10⁻" in cell for cell in table["rope (right): score"])
    assert "which is rounding." in words(app)
    assert trials._verdict(0, 0) == "no score changes."
    for run, shown in zip((before, after), matrices(app)["shifted"], strict=True):
        np.testing.assert_allclose(np.nan_to_num(shown), run.patterns[3, 1], atol=1e-4)


def test_missing_models_are_left_out(own_zoo: Path) -> None:
    for name in ("twins-alibi", "twins-t5"):
        (own_zoo / name).symlink_to(zoo.MODELS / name)
    app = page("Decision card")
    assert not app.info
    assert tables(app)[0]["scheme"] == ["alibi", "t5"]


def test_the_shares_of_linear_attention_are_those_of_the_twins_own_queries_and_keys() -> None:
    app = page("Cache and linear attention")  # where it once was
    trace = zoo.load("twins-rope").trace(TEXT)
    q, k = (trace[f"decoder.0.self_attn.{name}"].astype(float) for name in "qk")
    angles = np.arange(len(trace.tokens))[:, None] * 10_000.0 ** (-np.arange(16) / 16)  # d_head is 32
    plain, turned = matrices(app)["turned_shares"]
    below = np.tri(len(plain), dtype=bool)
    (head,) = (
        n for n, one in enumerate(shares(q, k, angles=angles)) if np.allclose(one[below], turned[below], atol=1e-3)
    )
    np.testing.assert_allclose(plain[below], shares(q, k, angles=None)[head][below], atol=1e-3)
    low, high, least = told(app, r"sum to \*\*([\d.]+)\*\* to ([\d.]+), and .* \(the least is ([−\d.]+)\)")
    rows = turned.sum(axis=-1, where=below)
    assert [low, high, least] == pytest.approx([rows.min(), rows.max(), turned[below].min()], abs=0.006)
    assert "turned_shares" not in matrices(page("Cache and linear attention", right="alibi"))


LONGER = "The cat sat on the mat, and the dog"
RARE = "The photographer's umbrella nevertheless disappeared yesterday. "


@pytest.fixture
def rope_alone(own_zoo: Path) -> Path:
    shutil.copytree(zoo.MODELS / "twins-rope", own_zoo / "twins-rope")
    return own_zoo


def add_twin(folder: Path, scheme: str, *, tokenizer_of: str) -> None:
    """A small untrained model in the place of a twin."""
    tokenizer = Tokenizer.load(zoo.MODELS / tokenizer_of / "tokenizer.json")
    shape = {"d_model": 24, "n_layers": 4, "n_heads": 4, "n_kv_heads": 4, "d_ff": 7, "max_len": 64}
    config = flat(vocab_size=tokenizer.vocab_size, positions=scheme, **shape)
    export(folder / f"twins-{scheme}", lively(build(config)), tokenizer, card="")


@pytest.fixture
def clocks(rope_alone: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A scheme that is new."""
    monkeypatch.setitem(schemes.SCHEMES, "clocks", ENTRY)
    add_twin(rope_alone, "clocks", tokenizer_of="twins-rope")
    return "clocks"


def test_a_new_scheme_takes_part_in_every_comparison(clocks: str) -> None:
    for experiment in EXPERIMENTS:
        app = open_page("positions_compare", text=LONGER, left="rope", right=clocks, experiment=experiment)
        assert not app.error, experiment
        said = words(app)
        if experiment == "Decision card":
            assert [header.value for header in app.header] == [schemes.SCHEMES["rope"].title, "Clocks"]
            assert "It acts on **queries and keys**, in every layer and trains **0**" in said.split(ENTRY.idea)[1]
            (card,) = tables(app)
            assert card["scheme"] == ["rope", clocks]
            assert all("✓" in card[name][1] for name in ("relative", "linear attention", "KV cache"))


def test_a_turn_by_unknown_angles_is_refused(clocks: str) -> None:
    """The view would show turned vectors and could not say how they came about."""
    model, layer = models.load(f"twins-{clocks}"), "decoder.2.self_attn"
    with pytest.raises(ValueError, match="by which angles is not known"):
        view.payload(model.trace(LONGER), layer, 0, model.weights.attention(layer), PositionEffects(), title="")


def test_surprises_at_different_tokens_are_not_compared_token_by_token(rope_alone: Path) -> None:
    add_twin(rope_alone, "none", tokenizer_of="tiny-english")
    for text in (RARE, 9 * RARE):
        app = open_page("positions_compare", text=text, left="rope", right="none", experiment="Longer texts")
        assert "cut your text into different tokens" in words(app)
        assert "Mean surprise" not in words(app)
        assert "own_losses" not in charts(app)
        (tokens, _), (others, _) = (trials.losses_on(twin_of(scheme), text) for scheme in ("rope", "none"))
        assert tokens != others
    add_twin(rope_alone, "none", tokenizer_of="twins-rope")
    forget()
    app = open_page("positions_compare", text=LONGER, left="rope", right="none", experiment="Longer texts")
    assert "own_losses" in charts(app)
    assert "different tokens" not in words(app)
