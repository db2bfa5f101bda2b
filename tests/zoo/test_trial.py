"""What loading a model finds out, and what that costs."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from tests.app import forget
from tests.cases import each
from tests.model.helpers import flat
from tests.zoo.models import TEXT
from tfmviz import zoo
from tfmviz.model import transformer
from tfmviz.model.config import ModelConfig
from tfmviz.model.transformer import Transformer, build, parameter_shapes
from tfmviz.record.facts import Architecture, FeedForwardKind, Norm, NormPosition
from tfmviz.record.trace import Trace
from tfmviz.ui import models


def shape_of(module: Transformer) -> dict[str, tuple[int, ...]]:
    return {name: tuple(value.shape) for name, value in module.state_dict().items()}


CHOICES = {
    "architecture": get_args(Architecture),
    "norm_position": get_args(NormPosition),
    "norm": get_args(Norm),
    "feed_forward": get_args(FeedForwardKind),
    "embeddings": ("tied", "untied"),
    "n_layers": (1, 2, 3),
}


@each("chosen", product(*CHOICES.values()))
def test_the_shapes_are_right_whatever_is_chosen(chosen: tuple[Any, ...]) -> None:
    choices = dict(zip(CHOICES, chosen, strict=True))
    config = flat(vocab_size=11, max_len=7, d_model=12, n_heads=2, n_kv_heads=1, d_ff=5, **choices)
    assert parameter_shapes(config) == shape_of(build(config))


def test_misfits_are_refused_before_a_model_is_built(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A config with a thousand layers took ten seconds to refuse."""
    config = folder / "decoder-only" / "config.json"
    config.write_text(config.read_text().replace('"n_layers": 2', '"n_layers": 1000'))
    built: list[int] = []

    def build_and_count(config: ModelConfig) -> Transformer:
        built.append(config.n_layers)
        return build(config)

    monkeypatch.setattr(transformer, "build", build_and_count)
    with pytest.raises(zoo.ModelUnavailable, match="lacks 15968 of 16003"):
        zoo.load("decoder-only", folder=folder)
    assert sum(built) <= 2, "the first layer may differ from the others"


def test_loading_runs_one_sentence_and_the_page_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []
    trace = zoo.ZooModel.trace

    def trace_and_count(model: zoo.ZooModel, inputs: Any, *args: Any, **how: Any) -> Trace:
        texts.append(inputs)
        return trace(model, inputs, *args, **how)

    monkeypatch.setattr(zoo.ZooModel, "trace", trace_and_count)
    forget()
    assert models.load("reverse") is models.load("reverse")
    assert texts == [zoo.TRIAL]


def test_every_site_is_looked_at_and_masked_scores_are_fine(model: zoo.ZooModel) -> None:
    trace = model.trace(TEXT)
    assert trace.first_not_finite() is None
    for site, wrong in product(trace, (np.nan, np.inf, -np.inf)):
        if site.endswith(".mask"):
            continue
        values = trace[site].copy()
        values.flat[-1] = wrong
        damaged = replace(trace, values={**trace.values, site: values})
        may_be = site.endswith(".scores") and wrong == -np.inf
        assert damaged.first_not_finite() == (None if may_be else site), (site, wrong)
    first, *others = (site for site in trace if site.endswith((".z", ".out")))
    several = {site: np.full_like(trace[site], np.nan) for site in (*others, first)}
    assert replace(trace, values=dict(trace.values) | several).first_not_finite() == first
