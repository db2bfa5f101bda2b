"""The variants that are compared and the grid of the scaling laws: budgets, what is counted, what is shipped."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from scripts import train_scaling, train_variants
from scripts.train_scaling import BATCH, CONTEXT, LARGEST, SIZES, VOCABULARY, Cell, Text, batches_of, grid
from scripts.train_scaling import SHIPPED as GRID
from scripts.train_variants import BASELINE, RATES, SEEDS, SHIPPED, VARIANTS, Trial, multiplications, ship, trials
from tfmviz.analysis.multiplications import multiplications as by_formula
from tfmviz.analysis.parameters import counts
from tfmviz.model.build import parameter_shapes
from tfmviz.model.config import ModelConfig
from tfmviz.model.weights import weights_of
from tfmviz.ui.shapes import shapes_of
from tfmviz.ui.size.parts import design_of


def pretend(trial: Trial, runs: Path, *, loss: float) -> None:
    found = trial.says | {"parameters": 7, "loss": loss, "curve": [[1024, loss]]}
    (runs / f"{trial.name}.json").write_text(json.dumps(found))


def test_formulas_count_what_torch_counts() -> None:
    for name, variant in VARIANTS.items():
        if not variant.synthesis:
            model = variant.build()
            design = design_of(model.config, weights_of(model))
            assert design.n_other == 0, name
            assert sum(counts(design).values()) == sum(weight.numel() for weight in model.parameters()), name
            expected = by_formula(shapes_of(model.config)["decoder"], new=CONTEXT, length=CONTEXT)
            assert multiplications(model) == expected // CONTEXT, name


def test_a_variant_changes_one_thing_and_synthesizers_save_the_products_with_keys() -> None:
    d, n = BASELINE.d_model, CONTEXT
    baseline, random, dense = (multiplications(VARIANTS[name].build()) for name in ("baseline", "random", "dense"))
    assert baseline - random == BASELINE.n_layers * (2 * d * d + n * d)
    assert baseline - dense == BASELINE.n_layers * d * d
    for name, variant in VARIANTS.items():
        changed = set(variant.changes) - {"d_ff"}
        assert len(changed) + (variant.synthesis is not None) == (name != "baseline")
    assert VARIANTS["swiglu"].config.n_parameters == BASELINE.n_parameters


def test_runs_differ_in_variant_rate_and_seed_alone(tmp_path: Path) -> None:
    for trial in (Trial(variant=v, rate=rate, seed=0) for v in VARIANTS for rate in RATES):
        pretend(trial, tmp_path, loss=2.0 if trial.rate == RATES[trial.variant == "relu"] else 3.0)
    found = list(trials(tmp_path))
    assert len({trial.name for trial in found}) == len(found) == len(VARIANTS) * (len(RATES) + len(SEEDS))
    assert all(trial.seed == 0 for trial in found[: len(RATES) * len(VARIANTS)])
    compared = found[len(RATES) * len(VARIANTS) :]
    assert {trial.rate for trial in compared if trial.variant == "relu"} == {RATES[1]}
    assert train_variants.best_rate("relu", tmp_path) == RATES[1]
    assert {trial.rate for trial in compared if trial.variant == "dense"} == {RATES[0]}
    first = found[0].settings
    assert all(replace(t.settings, seed=0, learning_rate=first.learning_rate) == first for t in found)


def test_only_seeds_that_all_have_finished_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train_variants, "VARIANTS", {name: VARIANTS[name] for name in ("baseline", "relu")})
    ship(tmp_path, tmp_path / "out")
    for trial in trials_with(0):
        pretend(trial, tmp_path, loss=trial.rate)
    for seed in (1, 3):
        for trial in trials_with(seed):
            pretend(trial, tmp_path, loss=3.0 + seed)
    pretend(Trial(variant="baseline", rate=RATES[0], seed=2), tmp_path, loss=9.0)
    assert not (tmp_path / "out").exists()
    ship(tmp_path, tmp_path / "out")
    shipped = json.loads((tmp_path / "out" / "runs.json").read_text())
    assert shipped["seeds"] == [1, 3]
    assert [row["loss"] for row in shipped["variants"]] == [[4.0, 6.0]] * 2
    assert [row["tried"] for row in shipped["variants"]] == [list(RATES)] * 2


def trials_with(seed: int) -> list[Trial]:
    """Of the two variants of the test above; with seed 0 at all rates, else at the first."""
    rates = RATES if seed == 0 else RATES[:1]
    return [Trial(variant=name, rate=rate, seed=seed) for name in ("baseline", "relu") for rate in rates]


def test_shipped_runs_are_those_of_the_script() -> None:
    shipped = json.loads((SHIPPED / "runs.json").read_text())
    assert ModelConfig.from_dict(shipped["config"]) == BASELINE
    assert tuple(shipped["rates"]) == RATES
    assert len(shipped["seeds"]) >= 3
    assert [row["variant"] for row in shipped["variants"]] == list(VARIANTS)
    for row in shipped["variants"]:
        model = VARIANTS[row["variant"]].build()
        assert row["parameters"] == sum(weight.numel() for weight in model.parameters())
        assert row["multiplications"] == multiplications(model)
        assert row["rate"] == RATES[row["tried"].index(min(row["tried"]))]
        assert len(row["loss"]) == len(shipped["seeds"])
        assert row["curve"][-1][1] == pytest.approx(row["loss"][0], abs=0.25)


ALL = (*SIZES, LARGEST)

SMALL = Cell(width=16, depth=1, tokens=3 * BATCH * CONTEXT)


def text() -> Text:
    """Numbers in place of tokens, so that each can be told from the others."""
    return Text(train=np.arange(9000, dtype=np.int32), held_out=np.arange(9000, dtype=np.int32) % VOCABULARY)


def test_a_run_reads_each_of_its_tokens_once_on_the_grid() -> None:
    batches = batches_of(SMALL, text())
    assert batches.steps_per_epoch == SMALL.settings.steps == 3
    read = np.concatenate([batches.batch(step)[0]["ids"].ravel() for step in range(3)])
    assert len(set(read.tolist())) == len(read) == SMALL.tokens
    assert read.max() - read.min() == SMALL.tokens - 1
    cells = grid()
    assert len({cell.name for cell in cells}) == len(cells)
    assert len(SIZES) >= 8
    assert LARGEST not in SIZES
    assert len({cell.tokens for cell in cells}) >= 4
    assert all(cell.tokens % (BATCH * CONTEXT) == 0 for cell in cells)


def test_shipped_runs_count_the_parameters_of_the_models_and_curves_end_where_they_do() -> None:
    runs, curves = (json.loads((GRID / f"{name}.json").read_text()) for name in ("runs", "curves"))
    built = {(width, depth): parameter_shapes(Cell(width=width, depth=depth, tokens=0).config) for width, depth in ALL}
    cells = [Cell(**{key: run[key] for key in train_scaling.CELL}) for run in runs["runs"]]
    assert {cell.name for cell in cells} == {cell.name for cell in grid()}
    for cell, run in zip(cells, runs["runs"], strict=True):
        shapes = built[cell.width, cell.depth]
        tables = [shape for shape in shapes.values() if shape[0] == VOCABULARY]
        assert run["parameters"] == sum(int(np.prod(shape)) for shape in shapes.values())
        assert run["embeddings"] == sum(int(np.prod(shape)) for shape in tables)
        assert 0 < run["loss"] < np.log(VOCABULARY)
        assert curves[cell.name][-1][0] == run["tokens"]
        assert curves[cell.name][-1][1] == pytest.approx(run["loss"], abs=0.25)


def test_a_finished_run_is_kept_and_an_unfinished_one_trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = replace(text(), train=np.random.default_rng(0).integers(0, 9, 9000).astype(np.int32))
    monkeypatch.setattr(train_scaling, "HELD_OUT", 2)
    train_scaling.finish(SMALL, tokens, tmp_path)
    (path,) = tmp_path.iterdir()
    assert [at for at, _ in json.loads(path.read_text())["curve"]][-1] == SMALL.tokens
    path.write_text("{}")
    train_scaling.finish(SMALL, tokens, tmp_path)
    assert path.read_text() == "{}"
    train_scaling.finish(replace(SMALL, seed=1), tokens, tmp_path)
    assert len(list(tmp_path.iterdir())) == 2
