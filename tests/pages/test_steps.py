"""The step-by-step page: its numbers against an independent computation, for every kind of attention layer."""

import io
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tfmviz
from tests.app import alt, lesson, matrices, open_page, sent, words
from tests.model.sizes import SCHEMES
from tests.pages import plain
from tests.positions.clocks import ENTRY
from tests.traces import read_arrays, read_payload
from tfmviz import zoo
from tfmviz.analysis import attention_layer, numpy_attention, scaling
from tfmviz.analysis.biography import words as in_words
from tfmviz.analysis.biography.file import FILE, HeadCatalog, load, unlike
from tfmviz.analysis.predictions import softmax
from tfmviz.model.config import ModelConfig
from tfmviz.positions import schemes
from tfmviz.record.trace import Array, Trace
from tfmviz.ui import models
from tfmviz.ui.steps import stages
from tfmviz.ui.steps.biography import MEASURES
from tfmviz.views import heads
from tfmviz.words.labels import quoted, visible

TEXT, LAYER, HEAD = "The cat sat on the mat, and the dog", 2, 3

VARIANTS: dict[str, dict[str, Any]] = {
    **{scheme: {"positions": scheme} for scheme in SCHEMES},
    "clocks": {"positions": "clocks"},
    "shared keys": {"positions": "rope", "n_heads": 6, "n_kv_heads": 2},
    "sink": {"positions": "rope", "sink": "present"},
    "post-norm": {"positions": "learned", "norm_position": "post"},
    "encoder": {"architecture": "encoder-only", "positions": "sinusoidal"},
    "translator": {"architecture": "encoder-decoder", "positions": "none"},
    "post-norm translator": {"architecture": "encoder-decoder", "positions": "sinusoidal", "norm_position": "post"},
}


@pytest.fixture
def variants(put_random_model: Callable[..., ModelConfig], monkeypatch: pytest.MonkeyPatch) -> dict[str, ModelConfig]:
    """With a scheme that the library does not know among them."""
    monkeypatch.setitem(schemes.SCHEMES, "clocks", ENTRY)
    return {name: put_random_model(name, **changes) for name, changes in VARIANTS.items()}


def test_what_travels_is_what_the_model_has_computed() -> None:
    model, layer, weights = models.load("tiny-english"), f"decoder.{LAYER}.self_attn", plain.weights()
    header, arrays = read_arrays(stages.payload(model, TEXT, layer, HEAD))
    assert header["heads"] == 8
    assert header["queries"][:3] == ["The", "cat", "sat"]
    trace = models.trace(model, TEXT)
    expected = {name: trace[f"{layer}.{name}"][HEAD] for name in ("q", "k", "v", "rot_q", "rot_k", "pattern", "z")}
    z = trace[f"{layer}.z"]
    expected |= {"x": trace[f"{layer}.norm"], "out": trace[f"{layer}.out"], "mask": np.tri(z.shape[1])}
    expected |= {"concat": z.swapaxes(0, 1).reshape(z.shape[1], -1), "before": trace[f"decoder.{LAYER}.resid_pre"]}
    rows = slice(32 * HEAD, 32 * HEAD + 32)
    expected["W_Q"] = weights[f"decoder.blocks.{LAYER}.self_attn.W_Q.weight"][rows].T
    for name, values in expected.items():
        np.testing.assert_allclose(arrays[name], values, atol=5e-4, err_msg=name)
    assert set(arrays) == set(expected) | {"angles"} | {f"{kind}_{name}" for kind in "Wb" for name in "QKVO"}


def test_the_browser_can_multiply_out_every_matrix_from_what_travels(variants: dict[str, ModelConfig]) -> None:
    """The recipes of head.ts and explain.ts, in numpy: what they give is what the trace holds."""
    for name, trace, layer in layers_of(variants):
        config = variants[name]
        for head in range(config.attention.n_heads):
            _, a = read_arrays(stages.payload(models.load(name), "the cat sat", layer, head))
            read = a.get("memory", a["x"])
            for letter, source in (("q", a["x"]), ("k", read), ("v", read)):
                close(source @ a[f"W_{letter.upper()}"] + a[f"b_{letter.upper()}"], a[letter], name)
            q, k = a.get("rot_q", a["q"]), a.get("rot_k", a["k"])
            if "angles" in a:
                close(numpy_attention.turn(a["q"], a["angles"]), a["rot_q"], name)  # type: ignore[no-untyped-call]
            scores = q @ k.T / np.sqrt(config.d_head) + a.get("bias", 0)
            close(np.where(a["mask"] > 0, scores, -np.inf), trace[f"{layer}.scores"][head], name)
            close(a["pattern"] @ a["v"], a["z"], name)
            close(a["concat"][:, head * config.d_head : (head + 1) * config.d_head], a["z"], name)
            close(a["concat"] @ a["W_O"] + a["b_O"], a["out"], name)
            block = layer.rsplit(".", 1)[0]
            after = trace[f"{block}.resid_cross" if layer.endswith("cross_attn") else f"{block}.resid_mid"]
            if config.norm.position == "pre":
                close(a["before"] + a["out"], after, name)


def test_of_a_linear_head_the_browser_gets_positive_features_and_of_a_learned_sink_its_logit() -> None:
    model, layer = models.load("twins-linear"), "decoder.1.self_attn"
    header, a = read_arrays(stages.payload(model, TEXT, layer, 2))
    assert (header["title"], header["linear"]) == ("twins-linear", True)
    for letter in "qk":
        close(np.where(a[letter] > 0, a[letter] + 1, np.exp(a[letter])), a[f"rot_{letter}"])
    products = np.where(a["mask"] > 0, a["rot_q"] @ a["rot_k"].T, 0.0)
    close(products / products.sum(axis=1, keepdims=True), a["pattern"])
    assert "or φ)" in words(open_page("step_by_step", model="twins-linear", text=TEXT, part="The code"))
    model, layer, head = models.load("twins-sink"), "decoder.2.self_attn", 3
    trace = model.trace(TEXT)
    header, _ = read_arrays(stages.payload(model, TEXT, layer, head))
    powers = np.exp(trace[f"{layer}.scores"][head].astype(np.float64)).sum(axis=-1)
    missing = 1 - trace[f"{layer}.pattern"][head].astype(np.float64).sum(axis=-1)
    np.testing.assert_allclose(missing, np.exp(header["sink"]) / (powers + np.exp(header["sink"])), atol=1e-5)


def test_the_numpy_version_gives_the_numbers_of_the_page(variants: dict[str, ModelConfig]) -> None:
    """The code as it stands on the page, run on the file that can be downloaded beside it."""
    source = stages.notebook(numpy_attention)
    assert len(source.splitlines()) <= 32
    for model, trace, layer in layers_of(variants):
        scope: dict[str, Any] = {"file": io.BytesIO(stages.arrays(lesson(model, "the cat sat", layer)))}
        exec(source.replace('"attention.npz"', "file"), scope)
        for name in ("scores", "pattern", "z", "out"):
            close(scope[name], trace[f"{layer}.{name}"], model)


def layers_of(variants: dict[str, ModelConfig]) -> Iterator[tuple[str, Trace, str]]:
    """All attention layers of all models, with the traces of a sentence."""
    for name in variants:
        trace = models.trace(models.load(name), "the cat sat")
        yield from ((name, trace, layer) for layer in trace.layers)


def close(actual: Array, expected: Array, name: str = "") -> None:
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-4, err_msg=name)


def test_what_the_heads_write_adds_up_to_the_layers_output(variants: dict[str, ModelConfig]) -> None:
    for name, trace, layer in layers_of(variants):
        matrices = lesson(name, "the cat sat", layer).weights
        close(matrices.writes(trace[f"{layer}.z"]).sum(axis=0) + matrices.b_O, trace[f"{layer}.out"], name)
        v = attention_layer.grouped(trace[f"{layer}.v"], variants[name].attention.n_heads)
        effects = attention_layer.effects(trace[f"{layer}.pattern"], v, matrices.W_O)
        by_hand = np.linalg.norm(trace[f"{layer}.pattern"][1, 2, 0] * v[1, 0] @ matrices.W_O[1])
        assert effects[1, 2, 0] == pytest.approx(by_hand, rel=1e-4), name


def test_effects_are_shares_of_the_whole() -> None:
    head, token = 4, 7  # “and”, most of whose attention goes to one token, and most of whose effect comes from another
    app = open_page(
        "step_by_step", part="What heads add", text=TEXT, layer=str(LAYER), head=str(head), token=str(token)
    )
    said = alt(app, "look_effects")
    attention, effect = (np.array(re.findall(rf", {kind}: ([\d.]+)", said), float) for kind in ("attention", "effect"))
    layer = f"decoder.{LAYER}.self_attn"
    here = lesson("tiny-english", TEXT, layer)
    weights, v = here.trace[f"{layer}.pattern"][head, token], here.trace[f"{layer}.v"][head]
    np.testing.assert_allclose(attention, weights, atol=0.0051)
    assert effect.sum() == pytest.approx(1, abs=0.005 * len(effect))
    lengths = weights * np.linalg.norm(v @ here.weights.W_O[head], axis=-1)
    shares = lengths / lengths.sum()
    np.testing.assert_allclose(effect, shares, atol=0.0051)
    names, looked, felt = quoted(here.trace.tokens), int(weights.argmax()), int(shares.argmax())
    most = f"Most attention: {names[looked]} ({weights[looked]:.0%}; effect {shares[looked]:.0%}). Largest effect: "
    assert looked != felt
    assert f"{most}{names[felt]} ({shares[felt]:.0%})." in words(app).replace("\\", "")


def test_a_look_up_takes_the_best_key_and_a_ranking_leaves_out_heads_without_a_score() -> None:
    values = np.array([[1.0, 0], [0, 2], [3, 3]])
    best, cosine = attention_layer.hard_lookup(np.array([0.25, 0.75, 0]), values)
    assert best == 1
    assert cosine == pytest.approx(1.5 * 2 / (np.hypot(0.25, 1.5) * 2))
    assert np.isnan(attention_layer.hard_lookup(np.array([1.0]), np.zeros((1, 2)))[1])
    assert attention_layer.ranking(np.array([[0.2, np.nan], [0.9, 0.5]])) == [(1, 0, 0.9), (1, 1, 0.5), (0, 0, 0.2)]


def test_sharpness_variance_histogram_and_gradient_of_scores() -> None:
    for d in (1, 16, 128):
        scores = scaling.dot_products(*scaling.unit_vectors(d, n_queries=2000, n_keys=16, seed=1))
        everything = np.ones(scores.shape, dtype=bool)
        assert scaling.sharpness(scores, everything).variance == pytest.approx(d, rel=0.15)
        assert scaling.sharpness(scores / np.sqrt(d), everything).variance == pytest.approx(1, rel=0.15)
    everything = np.ones((3, 4), dtype=bool)
    even = scaling.sharpness(np.zeros((3, 4)), everything)
    assert (even.variance, even.largest, even.evenness) == pytest.approx((0, 0.25, 1))
    hot = scaling.sharpness(np.eye(3, 4) * 1000, everything)
    assert (hot.largest, hot.evenness, hot.gradient) == pytest.approx((1, 0, 0))
    assert np.isnan(scaling.sharpness(np.zeros((1, 1)), np.ones((1, 1), dtype=bool)).largest)
    middles, shares = scaling.histogram(np.array([-3.0, 0, 0, 3]), largest=3, bins=3)
    assert middles.tolist() == [-2, 0, 2]
    assert shares.tolist() == [0.25, 0.5, 0.25]
    scores = np.array([[0.3, -1.2, 2.0, 0.1]])
    step = 1e-6
    columns = [
        (softmax(scores + step * np.eye(4)[j]) - softmax(scores - step * np.eye(4)[j])) / (2 * step) for j in range(4)
    ]
    measured = np.linalg.norm(np.concatenate(columns))
    assert scaling.gradient_norms(softmax(scores))[0] == pytest.approx(measured, rel=1e-6)
    assert scaling.gradient_norms(np.array([[1.0, 0, 0]]))[0] == 0


def test_heads_that_are_near_copies_are_not_said_to_look_in_ways_of_their_own() -> None:
    """In layer 4 two heads share five sixths of their attention."""
    text = "The cat sat on the mat."
    whole = models.load("tiny-english").trace(text)["decoder.4.self_attn.pattern"].astype(np.float64)
    mean, *own = (-np.sum(rows * np.log(np.where(rows > 0, rows, 1))) / len(rows) for rows in (whole.mean(0), *whole))
    pattern = whole[:, 1:]
    shared = {(a, b): np.minimum(pattern[a], pattern[b]).sum(axis=-1).mean() for a in range(8) for b in range(a)}
    said = words(open_page("step_by_step", part="Heads or their mean?", text=text, layer="4"))
    for best, name in ((max, "most"), (min, "least")):
        a, b = best(shared, key=shared.__getitem__)
        assert f"Heads {b} and {a} are {name} alike: **{shared[a, b]:.0%}**" in said
    assert max(shared.values()) > 5 / 6
    of_heads = f"**{np.mean(own):.2f}** on average ({min(own):.2f} to {max(own):.2f})"
    assert f"an entropy of **{mean:.2f}** nats, the heads' own {of_heads}" in said
    assert "of its own" not in said


def test_heads_without_biographies_are_found_by_what_they_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "book", lambda model: None)
    cases: list[tuple[dict[str, str], tuple[int, int] | None, str]] = [
        ({"model": "fill-in", "kind_of_head": "next token"}, (0, 7), "looks at the token just after"),
        ({"model": "tiny-english", "kind_of_head": "duplicate"}, None, "looks at the same word elsewhere"),
        ({"model": "french-english", "text": "J'ai une voiture rouge."}, (1, 1), "looks at a different word"),
    ]
    for address, chosen, named in cases:
        text = {"text": "The cat sat on the mat near the cat."}
        app = open_page("step_by_step", part="Find a head", **text | address)
        assert named in words(app)
        (found,) = re.findall(r"\*\*(\d+)\*\* of \d+ heads (does|do) this clearly", words(app))
        assert (found[0] == "1") == (found[1] == "does")
        (scores,) = matrices(app)["head_scores"]
        best = np.unravel_index(np.nanargmax(scores), scores.shape)
        assert chosen is None or tuple(map(int, best)) == chosen
    monkeypatch.setattr(models, "book", lambda model: None)
    for kind, reason in (("next token", "the mask hides later tokens"), ("induction", "a token must occur twice")):
        app = open_page("step_by_step", part="Find a head", text="The cat sat", kind_of_head=kind)
        assert f"No head can show that here: {reason}" in words(app)


def test_the_address_says_stage_cell_and_token_and_nonsense_in_it_opens_the_first_stage() -> None:
    for address, expected in (
        ({"stage": "share", "at": "masked.2.0.0.96", "token": "4"}, ("share", "masked.2.0.0.96", 4)),
        ({"stage": "<b>", "at": "x" * 500, "token": "99999"}, ("sentence", "", 9)),
    ):
        app = open_page("step_by_step", text=TEXT, **address)
        stage, at, token = expected
        selection = {"sequence": 0, "stage": stage, "at": at, "token": token, "view": "steps"}
        assert sent(app, "steps_selection") == selection


CATS = "The cat sat on the mat near the cat."


def book_of(name: str) -> HeadCatalog:
    return load(zoo.MODELS / name / FILE, zoo.load(name).weights)


def heads_page(model: str = "tiny-english", text: str = CATS, **address: str) -> Any:
    return open_page("step_by_step", part="Find a head", model=model, text=text, **address)


def test_every_head_is_a_point_with_its_picture_on_the_sentence() -> None:
    opens = heads_page(layer="4", head="3")
    assert [opens.selectbox(key=key).value for key in ("map_x", "map_y")] == [next(iter(MEASURES)), "sharpness"]
    drawn = sent(heads_page(layer="4", head="3", map_x="copying", map_y="damage"), "heads_map")
    trace = tfmviz.load("tiny-english").trace(CATS)
    assert len(drawn["points"]) == 48
    assert drawn["points"][drawn["chosen"]]["name"] == "head 4.3"
    seen = np.tri(len(trace.tokens), dtype=bool)
    for point, (layer, head, found) in zip(drawn["points"], book_of("tiny-english").all(), strict=True):
        kind = found.name if found.held else ""
        assert (point["x"], point["y"], point["kind"]) == (found.copying, found.damage[0], kind)
        shown = np.array(list(point["cells"])).reshape(seen.shape)
        assert (shown[~seen] == " ").all()
        weights = trace[f"{layer}.pattern"][head][seen]
        assert np.abs(shown[seen].astype(float) / 9 - np.sqrt(weights)).max() < 0.06


def test_the_map_opens_on_a_head_with_a_claim_names_ten_and_writes_pictures_in_ninths() -> None:
    drawn = sent(heads_page(), "heads_map")
    assert drawn["points"][drawn["chosen"]]["kind"]
    assert sum(bool(point["word"]) for point in drawn["points"]) == 10
    shades = np.arange(255, dtype=np.uint8)
    digits = np.array(list(heads.cells(shades[None], masked=255)), dtype=float)
    assert np.abs(digits / 9 - shades / 254).max() <= 1 / 18 + 1e-9
    assert heads.cells(np.array([[255, 254, 0, 7]], dtype=np.uint8), masked=7) == "990 "


def test_the_page_and_the_explorer_say_one_thing_of_a_head() -> None:
    """4.3 of the flagship was called induction 0.90 in one place and 0.11 in another."""
    for model, kind, text, layer in (
        ("tiny-english", "", CATS, "decoder.2.self_attn"),
        ("french-english", "cross-attention", "Le chat est assis.", "decoder.2.cross_attn"),
        ("fill-in", "", CATS, "encoder.2.self_attn"),
    ):
        app, book = heads_page(model, text, layer="2", head="3", **({"kind": kind} if kind else {})), book_of(model)
        said = in_words.summary_text(book.heads[layer][3], book)
        assert said.replace("%", "") in words(app).replace("\\", "").replace("%", "")
        header = read_payload(models.payload(models.load(model), text))[0]
        entry = next(one for one in header["kinds"] if one["layers"][2]["name"] == layer)
        assert entry["said"][2][3] == said
        assert entry["verdicts"][2][3][0] == book.heads[layer][3].name
        assert entry["repeats"] == []


def test_examples_and_heads_like_it_are_listed() -> None:
    app, book, model = heads_page("twins-rope", layer="1", head="2"), book_of("twins-rope"), tfmviz.load("twins-rope")
    chosen = book.heads["decoder.1.self_attn"][2]
    lines = (zoo.MODELS.parent / "texts" / book.texts).read_text(encoding="utf-8").splitlines()
    text, query, key, _ = chosen.examples[0]
    tokens = model.trace(lines[text]).tokens
    first = sent(app, "head_examples")["rows"][0]
    assert (first[0], first[2]) == (f"{visible(tokens[query])} → {visible(tokens[key])}", lines[text])
    text, place, rise = chosen.worst[0]
    dearest = model.trace(lines[text]).tokens[place + 1]
    assert f"most on these tokens: “{visible(dearest)}” (+{rise:.2f})" in words(app).replace("\\", "")
    alike = [row[0] for row in sent(app, "heads_alike")["rows"]]
    *_, name, layer, head = min(
        (other.name != chosen.name, unlike(chosen, other), name, layer, head)
        for name in zoo.available(zoo.MODELS)
        for layer, head, other in book_of(name).all()
        if (name, layer, head) != ("twins-rope", "decoder.1.self_attn", 2)
    )
    assert alike[0].startswith(f"{name} ")
    assert alike[0].endswith(f"{layer.split('.')[1]}.{head}")
    assert "twins-rope 1.2" not in alike
