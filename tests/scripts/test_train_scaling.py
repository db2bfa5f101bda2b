"""The grid behind the scaling laws: what its runs read, how they are counted, and that finished ones are kept."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from scripts import train_scaling
from scripts.train_scaling import BATCH, CONTEXT, LARGEST, SHIPPED, SIZES, VOCABULARY, Cell, Text, batches_of, grid
from tfmviz.model.build import parameter_shapes

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
    runs, curves = (json.loads((SHIPPED / f"{name}.json").read_text()) for name in ("runs", "curves"))
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
