"""The page on size: its areas and words against counts of its own."""

import json
import re
from itertools import combinations

import numpy as np
import pytest

from tests.app import alt, captions, charts, open_page, sent, series, words
from tests.model import numpy_model
from tests.pages import plain
from tests.pages.claims import told
from tfmviz import zoo
from tfmviz.analysis.law_fits import fit_additive
from tfmviz.analysis.variants import welch
from tfmviz.paths import PROJECT
from tfmviz.ui.size import own, parts, variants
from tfmviz.words.numbers import in_bytes, in_words, per_cent

PAGE = "size"
CHANGES = "Which changes help?"
EXPERTS = {"sized": CHANGES, "changes": "experts at work"}


def test_areas_are_the_shares_of_the_parameters_and_rules_count_matrices_alone() -> None:
    for model in ("tiny-english", "fill-in", "french-english", "experts"):
        app = open_page(PAGE, model=model)
        rows = charts(app)["areas"]["tables"]["rows"]
        x, x2, y, y2 = (np.array(rows[edge]) for edge in ("x", "x2", "y", "y2"))
        area = (x2 - x) * (y2 - y)
        assert area.sum() == pytest.approx(1)
        weights = zoo.load(model).weights
        (embedding,) = (a for a, said in zip(area, rows["hover"], strict=True) if said.startswith("embedding"))
        assert embedding == pytest.approx(weights.W_E.size / weights.n_parameters)
        assert f"**{weights.n_parameters:,}** parameters" in words(app)
        of_layers = {name: array for name, array in plain.weights(model).items() if ".blocks." in name}
        sizes = sum(array.size for name, array in of_layers.items() if ".W_" in name and "bias" not in name)
        assert f"without biases, here {in_words(sizes)}:" in words(app), model
        assert f"embedding {per_cent(embedding)}" in words(app)
    assert "12 · n_layer · d² = **4.72 million** (exact)" in words(open_page(PAGE, model="tiny-english"))
    said = words(open_page(PAGE, design="GPT-2 small"))
    assert "**124,439,808** parameters" in said
    assert "117 million (+6.4% here" in said


def test_what_a_model_keeps_is_what_its_attention_needs() -> None:
    for name in ("twins-rope", "twins-linear", "twins-window", "twins-gqa"):
        config = zoo.load(name).config
        n, d, attention = config.n_layers, config.d_head, config.attention
        heads, tokens = attention.n_heads, min(2048, attention.window or 2048)
        needed = n * heads * (d * d + d) if attention.kind == "linear" else 2 * n * tokens * attention.n_kv_heads * d
        said = alt(open_page(PAGE, sized="Memory", model=name), "memory")
        assert f"cache of 2,048 tokens, 16 bits: {in_bytes(2 * needed)}" in said


def test_a_token_costs_two_operations_for_each_parameter_and_gpt_3_its_memory_and_training() -> None:
    for name in ("tiny-english", "experts"):
        app = open_page(PAGE, sized="Training", model=name)
        cost, passed = told(app, r"costs \*\*([\d.]+) million\*\* operations to read, 2 for each of the ([\d.,]+)")
        assert cost == pytest.approx(2 * passed / (1e6 if passed > 1e4 else 1), rel=0.02)
        assert ("of 4 experts" in words(app)) == (name == "experts")
    memory = charts(open_page(PAGE, sized="Memory", design="GPT-3"))["memory"]["tables"]["rows"]
    tib = dict(zip((name[5:] for name in memory["name"]), memory["value"], strict=True))
    assert tib["run, 16 bits"] == pytest.approx(174.6e9 * 2 / 2**40, rel=1e-3)
    largest = {"design": "sizes of your own", "n_layers": "128", "d_model": "16384"}
    for address, said in (({"model": "tiny-english"}, "1 GPU"), (largest, "83 GPUs")):  # 16 · 12 · 128 · d² / 80 GB
        assert f"That needs {said} of 80 GB." in words(open_page(PAGE, sized="Memory", **address))
    assert tib["train with Adam"] == pytest.approx(8 * tib["run, 16 bits"])
    found = dict(sent(open_page(PAGE, sized="Training", design="GPT-3"), "training"))
    rows, columns = found["rows"], found["columns"]
    assert columns[2] == "300 billion tokens (its authors), 3.1·10²³ operations"
    assert rows[1][2] == f"{3.143e23 / (312e12 * 0.4) / 86_400 / 365.25:.3g} years"
    published = {
        row[0]: row[1:] for row in sent(open_page(PAGE, sized="Result tables", results="sizes"), "result_table")["rows"]
    }
    assert published["BERT base"][2] == "109,482,240"


def test_a_time_is_written_in_the_largest_unit_that_it_reaches() -> None:
    units = {"seconds": 1.0, "minutes": 60.0, "hours": 3600.0, "days": parts.DAY, "years": parts.YEAR}
    for seconds in (*np.geomspace(0.1, 1e10, 100), *units.values()):
        number, unit = parts._time(seconds).replace(",", "").split()
        assert float(number) * units[unit] == pytest.approx(seconds, rel=0.05), seconds
        assert unit == max((name for name in units if units[name] <= max(seconds, 1)), key=lambda name: units[name])


def test_sizes_of_your_own_are_counted() -> None:
    address = {"design": "sizes of your own", "n_layers": "3", "d_model": "64", "d_ff_ratio": "2", "vocabulary": "256"}
    app = open_page(PAGE, **address)
    matrices = 3 * (4 * 64 * 64 + 2 * 64 * 128)
    small = 3 * (4 * 64 + 128 + 64 + 2 * 2 * 64) + 2 * 64
    assert f"**{matrices + small + 256 * 64:,}** parameters" in words(app)


def test_each_seed_is_a_dot_the_words_follow_from_the_dots_and_the_table_has_the_paper_s() -> None:
    app = open_page(PAGE, sized=CHANGES)
    baseline, *shipped = json.loads((PROJECT / "assets" / "variants" / "runs.json").read_text())["variants"]
    losses = {variants.CHANGES[row["variant"]].title: row["loss"] for row in shipped} | {"baseline": baseline["loss"]}
    tables = charts(app)["variants"]["tables"]

    def drawn(table: str, name: str) -> list[float]:
        marks = zip(tables[table]["name"], tables[table]["loss"], strict=True)
        return [y for title, y in marks if title[5:] == name]

    for name, loss in losses.items():
        assert drawn("rows", name) == loss
        assert drawn("means", name) == [pytest.approx(np.mean(loss))]
    base, table = losses.pop("baseline"), {row[0]: row for row in sent(app, "variants_table")["rows"]}
    for name, loss in losses.items():
        (said,) = (line for line in words(app).split("\n") if line.startswith(f"- **{name}**"))
        if min(loss) > max(base) + np.ptp(loss) + np.ptp(base):  # so far apart that no test would call it chance
            assert "**worse**" in said
        elif max(loss) < min(base) - np.ptp(loss) - np.ptp(base):
            assert "**better**" in said
        elif min(loss) < np.mean(base) < max(loss) and min(base) < np.mean(loss) < max(base):
            assert "**within the noise**" in said
        assert f"{name}: mean {np.mean(loss):.3f}" in alt(app, "variants")
        gap = welch(np.array(loss), np.array(base))
        assert f"{gap.mean:+.3f} ± {(gap.high - gap.low) / 2:.3f}".replace("-", "−") == table[name][4]
    law, n, d = own.fitted(own.ALL).law, baseline["parameters"], 2**20
    more = [float(law.loss(n, d) - loss) for loss in (law.loss(10 * n, d), law.loss(n, 10 * d))]
    gains = told(app, r"change gains ([\d.]+) nats.* parameters would gain ([\d.]+), .* tokens \*\*([\d.]+)\*\*")
    assert gains == pytest.approx([np.mean(base) - min(map(np.mean, losses.values())), *more], abs=0.006)
    assert "Narang et al.: five times as many parameters." in words(app)
    theirs = {name: row[-1] for name, row in table.items()}
    assert theirs["SwiGLU"] == "−0.055"  # 2.127 and 2.182, Narang et al. 2021, table 1
    assert theirs["ReLU"] == "+0.003"  # 2.182 and, with GELU, 2.179
    assert theirs["shared layers"] == "+0.315"
    assert theirs["post-norm"] == theirs["baseline"] == "–"


def test_tokens_that_always_go_to_the_same_expert_are_counted() -> None:
    for tokens, experts, said in (
        (
            "abab",
            [[0, 1, 0, 1], [0, 1, 1, 1]],
            "2 tokens occur more than once. Always read by the same: 2 in layer 0, 1",
        ),
        ("aba", [[0, 1, 1]], "1 token occurs more than once. Always read by the same: 0 in layer 0."),
        ("ab", [[0, 1]], "No token occurs twice."),
    ):
        assert said in variants.repeated(tuple(tokens), np.eye(2)[np.array(experts)] > 0)


def test_each_token_stands_with_its_expert_and_the_routers_probability() -> None:
    text = "The cat sat on the mat because the cat was tired."
    weights, trace = plain.weights("experts"), zoo.load("experts").trace(text)
    for chosen in ("experts", "tiny-english"):
        app = open_page(PAGE, model=chosen, text=text, **EXPERTS)
        (n_chosen,) = map(int, told(app, r"has 4 experts in each layer; each token is read by (\d)"))
        rows = charts(app)["routing"]["tables"]["rows"]
        for layer in range(3):
            p = f"decoder.blocks.{layer}.mlp.W_R"
            share = plain.softmax(numpy_model.linear(trace[f"decoder.{layer}.mlp.norm"].astype(float), weights, p))
            here = slice(layer * len(trace.tokens), (layer + 1) * len(trace.tokens))
            assert rows["expert"][here] == [f"{e:04d} expert {e}" for e in share.argmax(axis=1)]
            height = np.array(rows["high"][here]) - np.array(rows["low"][here])
            np.testing.assert_allclose(height / height.max(), share.max(axis=1) / share.max(), atol=1e-4)
            readers = share.argsort(axis=1)[:, -n_chosen:]
            reads = [f"{(readers == e).any(axis=1).mean():.0%}" for e in range(4)]
            assert sent(app, "routing_shares")["rows"][layer] == [f"layer {layer}", *reads]


LAWS, OWN = "Scaling laws", "Our own runs"


def test_curves_and_the_losses_at_the_readers_place_are_the_papers() -> None:
    chart = charts(open_page(PAGE, sized=LAWS, law_n="1 billion", law_d="unlimited"))["laws"]
    kaplan, hoffmann, besiroglu = series(chart, "y").values()
    x, *_ = series(chart, "x").values()
    np.testing.assert_allclose(kaplan, (6.4e13 / x) ** 0.076)
    np.testing.assert_allclose(hoffmann, 1.69337 + 406.401 / x**0.33917)
    np.testing.assert_allclose(besiroglu, 1.8172 + 482.01 / x**0.3478)
    app = open_page(PAGE, sized=LAWS, law_n="1 billion", law_d="100 billion")
    rows = {row[0]: row for row in sent(app, "at")["rows"]}
    loss = 1.8172 + 482.01 / 1e9**0.3478 + 2085.43 / 1e11**0.3658
    assert rows["Besiroglu et al. 2024"][2] == f"{loss:.2f}"
    assert rows["Hoffmann et al. 2022"][2] == f"{1.69337 + 406.401 / 1e9**0.33917 + 410.7228 / 1e11**0.28491:.2f}"
    gains = [482.01 * (1e9**-0.3478 - 1e10**-0.3478), 2085.43 * (1e11**-0.3658 - 1e12**-0.3658)]
    assert "parameters would lower the loss by **{:.2f}**, ten times the text by **{:.2f}**".format(*gains) in words(
        app
    )
    endless = open_page(PAGE, sized=LAWS, law_n="unlimited", law_d="unlimited")
    rows = {row[0]: row for row in sent(endless, "at")["rows"]}
    assert rows["Hoffmann et al. 2022"][2:] == ["1.69", "0.00", "0.00", "–", "–", "–"]
    assert "nan" not in words(endless)


def shipped() -> tuple[list[dict[str, float]], list[dict[str, float]]]:
    """The runs that are fitted, and those of the largest model."""
    found = json.loads(own.FILE.read_text())
    larger = [run for run in found["runs"] if [run["width"], run["depth"]] == found["largest"]]
    return [run for run in found["runs"] if run not in larger], larger


def test_points_are_the_runs_and_the_prediction_comes_from_the_other_models_alone() -> None:
    small, larger = shipped()
    for counted in ("without embeddings", "all"):
        for against in "NDC":
            app = open_page(PAGE, sized=OWN, own_axis=against, n_counts=counted)
            rows = charts(app)["own_runs"]["tables"]["rows"]
            points = zip(rows["x"], rows["y"], rows["seen"], strict=True)
            expected = set()
            for run in small + larger:
                n = run["parameters"] - (run["embeddings"] if counted != "all" else 0)
                x = {"N": n, "D": run["tokens"], "C": 6 * n * run["tokens"]}[against]
                expected.add((round(x), round(run["loss"], 9)))
            assert {(round(x), round(y, 9)) for x, y, dot in points if dot} == expected
    keys = ("parameters", "tokens", "loss")
    law = fit_additive(*(np.array([run[key] for run in small], float) for key in keys)).law
    assert larger
    for run in larger:
        assert f"**{law.loss(run['parameters'], run['tokens']):.3f}**" in words(app)
        assert f"it reached **{run['loss']:.3f}**" in words(app)
    assert f"For a larger model ({in_words(larger[0]['parameters'])} parameters)" in words(app)
    sizes, texts = ([run[key] for run in small] for key in ("parameters", "tokens"))
    ends = [in_words(end(values)) for values in (sizes, texts) for end in (min, max)]
    assert "{} to {} parameters, {} to {} tokens read once".format(*ends) in captions(app)
    assert "has no E" in sent(app, "constants")["about"]
    for fixed, free, said in (
        ("tokens", "parameters", r"at ([\d,]+) tokens the loss falls as N to"),
        ("parameters", "tokens", r"with ([\d,]+) parameters as D to"),
    ):
        at, power, low, high, n = told(app, rf"{said} the (\S+) \((\S+) to (\S+), (\d+) runs\)")
        runs = [run for run in small if run[fixed] == at]
        x, y = np.log([[run[free], run["loss"]] for run in runs]).T
        assert (n, low < power < high) == (len(runs), True)
        assert {run[free] for run in runs} == {run[free] for run in small}, "where there are most"
        assert power == pytest.approx(np.polyfit(x, y, 1)[0], abs=1e-3)
    rows = sent(app, "constants")["rows"]
    change, low, high = told(app, r"best N changes by (\S+) \((\S+) to (\S+)\), which is larger than chance")
    assert 0 < low < change < high
    low, high, best = told(app, r"E lies between (\S+) and (\S+), the best run at ([\d.]+\d)")
    assert f"{low:.2f}–{high:.2f}" in rows[0][4]
    assert best == pytest.approx(min(run["loss"] for run in small), abs=0.005)
    same = {"seed": 0, "loss": 0}
    again = [abs(a["loss"] - b["loss"]) for a, b in combinations(small, 2) if a | same == b | same]
    assert f"differ by {np.mean(again):.3f} nats" in words(app)
    for row in rows[:2]:
        for cell in row[1:]:
            value, low, high = map(float, re.fullmatch(r"(\S+) \((\S+)–(\S+)\)", cell).groups())  # type: ignore[union-attr]
            assert low <= value <= high
    assert rows[0][4].endswith("(0.00–1.63)")  # the endless model of some resamples has no loss at all
    assert [row[3] for row in rows[2:]] == ["0.73", "0.457", "0.513"]
