"""The page on efficient attention: its head against the record, its effects against runs of the model."""

import json
import math
import re
from functools import partial
from itertools import product

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from safetensors.numpy import load_file
from streamlit.testing.v1 import AppTest

import tfmviz
from tests.app import captions, charts, lesson, matrices, open_page, sent, series, words
from tests.model import numpy_model
from tests.model.numpy_model import linear
from tests.pages.claims import number, told
from tests.pages.plain import losses, losses_by_position, softmax
from tfmviz import zoo
from tfmviz.analysis.efficient import features
from tfmviz.record.edits import AblateHead
from tfmviz.record.trace import Array
from tfmviz.record.weights import feature
from tfmviz.ui import background, efficient
from tfmviz.ui.efficient import together, trained
from tfmviz.ui.efficient.same_numbers import MOST_TILES, SIZES, smallest_tile
from tfmviz.ui.efficient.trained import FOLDER
from tfmviz.ui.lesson import PageContext
from tfmviz.words.numbers import in_bytes, per_cent

PAGE, TEXT = "efficient", "The cat sat on the mat, and the dog."
HEADS = [
    ("tiny-english", "decoder.2.self_attn"),
    ("twins-postnorm", "decoder.1.self_attn"),
    ("twins-gqa", "decoder.1.self_attn"),
    ("fill-in", "encoder.1.self_attn"),
    ("french-english", "encoder.0.self_attn"),
    ("french-english", "decoder.1.cross_attn"),
]
page = partial(open_page, PAGE, text=TEXT)


def test_q_k_and_v_of_the_page_make_the_models_own_output_which_changes_nothing_and_zeros_are_an_ablation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(PageContext, "target", property(lambda self: 2))  # no session, so no pinned token
    for model, layer in HEADS:
        here = lesson(model, TEXT, layer, head=1)
        head = efficient.head_of(here)
        z = head.pattern @ head.v
        np.testing.assert_allclose(head.pattern, here.trace[f"{layer}.pattern"][1], atol=1e-5)
        np.testing.assert_allclose(z, here.trace[f"{layer}.z"][1], atol=1e-4)
        np.testing.assert_allclose((head.q @ head.k.T)[head.allowed], head.scores[head.allowed], atol=1e-3)
        assert not head.has_bias, model
        assert head.is_causal == (not head.allowed.all()), model
        same, gone = efficient.effect(here, z), efficient.effect(here, 0 * z)
        assert same is not None
        assert gone is not None
        assert same[0] < 1e-6, model
        target = here.trace.target.ids[1:] if here.trace.source else None
        ablated = here.model.trace(TEXT, (AblateHead(layer=layer, head=1),), target=target)
        old, new = (softmax(run["logits"][here.target]) for run in (here.trace, ablated))
        assert gone[0] == pytest.approx(np.sum(old * np.log(old / new)), rel=1e-3, abs=1e-6), model
        assert f"{per_cent(old.max())} → {per_cent(new[old.argmax()])}" in gone[1], model


def test_a_head_whose_scores_are_more_than_q_times_k_or_of_linear_attention_is_told_apart() -> None:
    for model in ("twins-alibi", "twins-t5"):
        assert efficient.head_of(lesson(model, TEXT, "decoder.0.self_attn")).has_bias
        assert "leave out this model's bias" in captions(open_page(PAGE, model=model, method="Linear"))
    said = words(page(model="twins-sink"))  # what is computed here from scores alone would leave the sinks out
    assert "`` twins-sink `` is not a model without sinks, so this is `` twins-rope ``" in said
    head = efficient.head_of(lesson("twins-linear", TEXT, "decoder.1.self_attn", head=2))
    pattern = features.pattern(feature(head.q), feature(head.k), head.allowed)
    np.testing.assert_allclose(pattern, head.pattern, atol=1e-5)
    assert not head.has_bias
    here = {"model": "twins-linear", "layer": "1", "head": "2"}
    app = page(method="Linear", **here)
    assert "both pictures are the same" in captions(app)
    assert "**0.00%** of the attention lies elsewhere" in words(app)
    assert 0 < told(app, r"results that differ by at most (\S+)\.")[0] < 1e-5
    assert "has no exp(q · k)" in captions(page(method="Performer", **here))


def test_twins_are_compared_on_the_text_that_was_typed() -> None:
    for kind, twins in trained.TWINS.items():
        app = page(method="Trained with it", trained_with=kind)
        shown = list(series(charts(app)["surprises"], "value", by="series").values())
        curves = series(charts(app)["by_position"]).values()
        for name, heads, surprise, curve in zip(twins[::-1], matrices(app)["looks_back"], shown, curves, strict=True):
            run = tfmviz.load(name).trace(TEXT)
            distance = np.subtract.outer(np.arange(len(run.tokens)), np.arange(len(run.tokens)))
            away = [(run[f"{layer}.pattern"] * distance)[:, 1:].sum(axis=-1).mean(axis=-1) for layer in run.layers]
            np.testing.assert_allclose(heads, away, atol=1e-4)
            np.testing.assert_allclose(surprise, losses(run["logits"], run.target.ids), atol=1e-4)
            assert np.mean(curve) == pytest.approx(np.mean(losses_by_position(name)), abs=0.05)
        means = [heads.mean() for heads in matrices(app)["looks_back"]]
        back = rf"\*\*([\d.]+)\*\* tokens on average with every pair, \*\*([\d.]+)\*\* with {kind}"
        assert told(app, back) == pytest.approx(means, abs=0.051)
        means = [surprise.mean() for surprise in shown]
        assert told(app, r"surprise: ([\d.]+) nats with every pair, ([\d.]+) with") == pytest.approx(means, abs=0.0051)
        measured = np.array([losses_by_position(name) for name in twins[::-1]])
        (full, cheap), beyond = measured[:, :64].mean(axis=1), measured[:, 64:].mean(axis=1)
        held_out = r"to 64 tokens .*: (\S+) nats with every pair, (\S+) with .* \((\S+)\); further on (\S+) and (\S+)\."
        assert told(app, held_out) == pytest.approx([full, cheap, cheap - full, *beyond], abs=0.0051)
        after = {"a window of 8": "32 KiB", "linear": "66 KiB"}.get(kind, "8 MiB")
        assert [row[-1] for row in sent(app, "kept")["rows"]] == ["16 MiB", after], kind
    assert "A single token" in words(page(text="a", method="Trained with it"))


def test_every_method_is_exact_in_its_limit() -> None:
    for method, address in (
        ("Sparse", {"keep": "window", "radius": "16"}),
        ("Sparse", {"keep": "top-k", "radius": "16"}),
        ("Linformer", {"linformer_rows": "100"}),
        ("Reformer", {"hash_buckets": "1"}),
        ("Shared heads", {"kv_groups": str(zoo.load("fill-in").config.attention.n_heads)}),
    ):
        exact, other = matrices(page(model="fill-in", text="The cat sat.", method=method, **address))["both_patterns"]
        np.testing.assert_allclose(exact, other, atol=2e-4, err_msg=f"{method}, {address}")


def test_linformer_is_refused_for_causal_heads_alone() -> None:
    here = {"model": "tiny-english", "method": "Linformer", "layer": "2", "head": "3"}
    opens, refused = page(**here), page(**here, causal="True")
    own = zoo.load("fill-in").trace(TEXT)["encoder.2.self_attn.pattern"][3]
    np.testing.assert_allclose(matrices(opens)["both_patterns"][0], own, atol=1e-3)
    assert "In layer 2, head 3 of **Fill in**, which reads both ways, **" in words(opens)
    assert "does not suit this head" in words(refused)
    assert set(matrices(refused)) == {"mixing"}
    np.testing.assert_allclose(matrices(refused)["mixing"][0].sum(axis=-1), 1, atol=1e-3)
    squares = np.linalg.svd(zoo.load("tiny-english").trace(TEXT)["decoder.2.self_attn.pattern"][3])[1] ** 2
    enough = (np.cumsum(squares) < 0.99 * squares.sum()).sum() + 1
    assert f"**{enough} of {len(squares)}** singular values" in words(refused)
    both = words(page(**here | {"with": "another model", "b_model": "experts"}))
    assert "**Fill in**" not in both, "one model replaces both"
    assert both.count("does not suit this head") == 2
    allowed = page(model="french-english", text="le chat dort", kind="encoder", method="Linformer")
    assert "does not suit this head" not in words(allowed)
    assert set(series(charts(allowed)["ranks"])) == {"kept by k singular values", "error of mean pooling"}


def test_the_last_step_of_the_tiles_is_the_whole_pattern_and_they_are_never_too_many() -> None:
    for model in ("tiny-english", "twins-alibi", "twins-linear"):
        here = {"model": model, "text": "The cat sat.", "method": "Tiles", "tile": "2", "head": "3", "layer": "1"}
        own = zoo.load(model).trace("The cat sat.")["decoder.1.self_attn.pattern"][3]
        steps = sum(column < row + 2 for row, column in product(range(0, len(own), 2), repeat=2))
        app = page(**here, step_of_tiles=str(steps))
        assert f"Step {steps} of {steps}" in words(app)
        n = len(own)  # a tile has 2 × 2 scores, and m and l for 2 queries
        assert f"A tile's scores, m and l take 32 bytes, all scores at once {in_bytes(4 * n * n)}." in words(app)
        np.testing.assert_allclose(np.nan_to_num(matrices(app)["tiling"][0]), own, atol=1e-3, err_msg=model)
        assert not np.isfinite(matrices(page(**here, step_of_tiles="1"))["tiling"][0][2:]).any()
        assert rows(page(model=model, layer="2", method="All of them"))[f"tiles of {together.TILE}"][:2] == ["0", "0"]
    for length, size in ((1, 1), (70, 1), (71, 2), (256, 4), (100_000, 64)):
        assert smallest_tile(length, length) == size
        assert all(math.ceil(length / n) ** 2 > MOST_TILES for n in SIZES if n < size), length
    said = words(page(text="word " * 300, method="Tiles", tile="1"))
    assert "more than 5,000 smaller tiles, so these have size 4." in said
    assert "more than 5,000" not in words(page(method="Tiles", tile="1"))


def rows(app: AppTest) -> dict[str, list[str]]:
    return {name: cells for name, *cells in sent(app, "together")["rows"]}


def test_the_error_of_random_features_is_a_share_and_equal_costs_are_said_once() -> None:
    app = page(method="Performer")
    lines = series(charts(app)["features_errors"])
    assert "1/√m" in lines
    assert all(np.nanmax(np.asarray(line, float)) <= 1 for line in lines.values())
    trace = zoo.load("tiny-english").trace("The cat sat on the mat.")
    app = page(method="Performer", text="The cat sat on the mat.", layer="3", head="2")
    q, k = (np.linalg.norm(trace[f"decoder.3.self_attn.{name}"][2], axis=-1) for name in "qk")  # turning keeps lengths
    assert told(app, r"/ √d reaches (\d+\.\d);") == [pytest.approx(q.max() * k.max() / math.sqrt(32), abs=0.051)]
    n = len(q)
    assert f"instead of {2 * n * n * 32:,} and holds" in words(app)
    assert f"at once instead of {in_bytes(4 * n * n)}." in words(app)
    assert "at once, as before." in words(page(method="Shared heads"))


def test_a_state_keeps_its_size_and_a_cache_grows_with_the_text() -> None:
    for text in ("The cat", "The cat sat on the mat."):
        cached = 2 * len(zoo.load("tiny-english").encode(text)) * 32
        app = page(method="Running sums", sums="State space", text=text)
        assert f"128 values, a cache {cached}, and it grows" in words(app)
        assert 0 < told(app, r"the two differ by at most \*\*(\S+)\*\*")[0] < 1e-5


def test_the_table_has_every_method_that_suits_the_head() -> None:
    causal = rows(app := page(model="tiny-english", method="All of them"))
    crossing = rows(page(model="french-english", text="le chat", method="All of them"))
    assert causal["exact"][:3] == ["0", "0", "–"]
    costs = [number(cells[-1]) for cells in causal.values()]
    assert f"**{sum(cost > costs[0] for cost in costs)} of {len(costs) - 1}** methods" in words(app)
    for method, suits in (("Linformer", [False, True]), ("window", [True, False])):
        assert [any(name.startswith(method) for name in table) for table in (causal, crossing)] == suits


def test_pairs_that_a_query_without_a_bucket_keeps_are_counted() -> None:
    app = page(model="twins-rope", method="Reformer", hash_buckets="16")
    own, other = matrices(app)["both_patterns"]
    assert f"{per_cent((other > 0).sum() / (~np.isnan(own)).sum())} of all pairs" in words(app)
    alone = page(model="tiny-english", text="the", method="Reformer", hash_buckets="16")
    assert "catch **100%** of the strongest keys" in words(alone)


def test_shared_keys_of_linear_attention_go_through_its_features() -> None:
    here = lesson("twins-linear", TEXT, "decoder.1.self_attn", head=2)
    q, k = (torch.tensor(here.trace[f"decoder.1.self_attn.{name}"]) for name in "qk")
    for n_groups in (1, 2):
        app = page(model="twins-linear", layer="1", head="2", method="Shared heads", kv_groups=str(n_groups))
        shared = k.unflatten(0, (n_groups, -1)).mean(dim=1).repeat_interleave(4 // n_groups, dim=0)[2]
        products = torch.tril((F.elu(q[2]) + 1) @ (F.elu(shared) + 1).T)
        pattern = products / products.sum(dim=-1, keepdim=True)
        np.testing.assert_allclose(np.nan_to_num(matrices(app)["both_patterns"][1]), pattern, atol=1e-3)
        assert f"{n_groups * (32 * 32 + 32) * 4 / 1024:.1f}".rstrip("0").rstrip(".") in words(app)


def test_counted_and_measured_times_stand_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    before = open_page(PAGE, method="Measured")
    assert set(charts(before)) == {"counted"}
    counted = series(charts(before)["counted"])
    np.testing.assert_allclose(counted["exact"], [2 * n * n * 64 for n in (128, 256, 512, 1024, 2048, 4096)])
    found = tuple(
        {"name": name, "n": n, "share": 0.5, "seconds": seconds}
        for n in (128, 256, 512, 1024)
        for name, seconds in (("exact", 1e-8 * n**2), ("linear attention", 4e-6 * n))
    )
    monkeypatch.setattr(background.Measurement, "found", property(lambda self: found))
    app = open_page(PAGE, method="Measured")
    assert set(charts(app)) == {"counted", "measured"}
    assert app.table[0].value.to_numpy().tolist() == [
        ["exact", "2.00", "–", "10.5 ms at 1,024"],
        ["linear attention", "1.00", "n ≈ 400", "4.1 ms at 1,024"],
    ]


def test_reversible_layers_of_the_model_give_the_input_back() -> None:
    pattern = r"this model's (\d+) feed-forward layers.*error of \*\*(\S+)\*\*"
    for model, depth in (("tiny-english", "6"), ("fill-in", "4")):
        app = page(method="Reformer", model=model)
        ((blocks, error),) = re.findall(pattern, words(app))
        assert blocks == depth
        assert 1e-8 < number(error) < 0.05, "of rounding in 32 bits, which the layers amplify; in 64 it is 10⁻⁹ of this"
        kept, reversible = series(charts(app)["reversible"], "y").values()
        assert kept[0] == reversible[0]
        assert kept[-1] == 128 * reversible[-1]


WEIGHTS = {k: v.astype(float) for k, v in load_file(FOLDER / "state-space" / "model.safetensors").items()}


def spaces(**address: str) -> AppTest:
    return open_page("efficient", method="Running sums", sums="Trained state space", **{"text": TEXT} | address)


def forward(ids: list[int]) -> tuple[list[Array], Array]:
    """The states (len, channel, number) of every layer, and the logits, by numpy alone and token by token."""
    w = WEIGHTS

    def norm(x: Array, name: str) -> Array:
        return numpy_model.layer_norm(x, w[f"{name}.weight"], w[f"{name}.bias"])

    x, found, n = np.sqrt(w["W_E"].shape[1]) * w["W_E"][ids], [], 0
    while f"ssm.{n}.mixer.C" in w:
        at = f"ssm.{n}"
        read = norm(x, f"{at}.norm")
        v, gate = linear(read, w, f"{at}.mixer.W_in"), linear(read, w, f"{at}.mixer.W_gate")
        a = np.exp(-np.exp(w[f"{at}.mixer.log_rate"]))
        h, states = np.zeros_like(a), []
        for token in v:
            h = a * h + np.sqrt(1 - a**2) * token[:, None]
            states.append(h)
        found.append(np.array(states))
        y = (found[-1] * w[f"{at}.mixer.C"]).sum(axis=-1) + w[f"{at}.mixer.D"] * v
        x = x + linear(y * gate / (1 + np.exp(-gate)), w, f"{at}.mixer.W_out")
        h = linear(norm(x, f"{at}.mlp_norm"), w, f"{at}.mlp_in")
        x = x + linear(h * (1 + np.vectorize(math.erf)(h / math.sqrt(2))) / 2, w, f"{at}.mlp_out")
        n += 1
    return found, norm(x, "norm") @ w["W_E"].T


def test_state_and_losses_are_those_of_numpy() -> None:
    ids = zoo.load("state-space", FOLDER, kind=zoo.EarlierModel).tokenizer.ids(TEXT)
    states, logits = forward(ids)
    app = spaces(space="2", channel="5")
    (drawn,) = matrices(app)["channel_state"]
    a = np.exp(-np.exp(WEIGHTS["ssm.2.mixer.log_rate"]))[5]
    np.testing.assert_allclose(drawn, states[2][:, 5].T[np.argsort(-a, kind="stable")], atol=1e-3)
    twin = zoo.load("attention", FOLDER).trace(TEXT)
    means = [losses(twin["logits"], twin.target.ids).mean(), losses(logits, tuple(ids)).mean()]
    assert told(app, r"on your text ([\d.]+) and \*\*([\d.]+)\*\*") == pytest.approx(means, abs=0.006)
    measured = json.loads((FOLDER / "measured.json").read_text(encoding="utf-8"))
    held_out = [measured[name]["held_out"] for name in ("attention", "state-space")]
    assert told(app, r"loss is ([\d.]+) nats with attention, \*\*([\d.]+)\*\*") == pytest.approx(held_out, abs=0.006)
    halves = math.log(2) / np.exp(WEIGHTS["ssm.2.mixer.log_rate"])
    ends = told(app, r"half-lives range from (\S+) to (\S+) tokens")
    assert ends == pytest.approx([halves.min(), halves.max()], abs=0.51, rel=1e-3)


def test_the_two_were_trained_alike() -> None:
    names = ("attention", "state-space")
    logs = [(FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines() for name in names]
    steps = [
        [(entry["step"], entry["learning_rate"], entry["tokens"]) for entry in map(json.loads, log)] for log in logs
    ]
    assert steps[0] == steps[1]
    assert zoo.load("attention", FOLDER).vocabulary == zoo.load(names[1], FOLDER, kind=zoo.EarlierModel).vocabulary
    measured = json.loads((FOLDER / "measured.json").read_text(encoding="utf-8"))
    assert [measured[name]["weights"] for name in names] == [zoo.weights_hash(name, FOLDER) for name in names]
    assert measured["state-space"]["held_out"] < measured["unigram"] - 1


def test_shares_fade_alike_whatever_is_read_later() -> None:
    app = spaces(space="1")
    pattern, shares = matrices(app)["left_in_state"]
    trace = zoo.load("attention", FOLDER).trace(TEXT)
    below = np.tri(len(shares), dtype=bool)
    np.testing.assert_allclose(pattern[below], trace["decoder.1.self_attn.pattern"].mean(axis=0)[below], atol=1e-3)
    np.testing.assert_allclose(np.where(below, shares, 0).sum(axis=-1), 1, atol=0.02)
    (recent,) = told(app, r"After “\\\.”, \*\*(\S+)\*\* of the state of layer 1 comes from the last 4 tokens")
    assert recent == pytest.approx(shares[-1, -4:].sum(), abs=0.01)
    changed = matrices(spaces(space="1", text=TEXT.replace("dog", "cat")))["left_in_state"][1]
    rows = len(shares) - 3  # before the word that differs
    np.testing.assert_allclose(changed[:rows, :rows][below[:rows, :rows]], shares[:rows, :rows][below[:rows, :rows]])
