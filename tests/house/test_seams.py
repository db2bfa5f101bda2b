"""Pages ask a `Model` for weights; none reaches past it into a torch module."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.sources import MODULES, PAGES, name_of, tree_of

WAY_OUT = "ask `Model.weights` or `position_effects`, see docs/decisions/model.md, Weights"

INSIDE_A_MODULE = {"module", "get_submodule", "named_modules", "parameters", "named_parameters", "state_dict"}
"""Attributes of a torch module, and the one of a `ZooModel` that holds it."""


def reaches_past(path: Path, tree: ast.Module) -> Iterator[str]:
    """A sentence for each class of `model/` and each touch of a torch module. A config is data and may be named."""
    for node in ast.walk(tree):
        where = f"{name_of(path)}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith(("tfmviz.model.", "tfmviz.positions.")):
            classes = [alias.name for alias in node.names if is_class(alias.name)]
            if classes and node.module != "tfmviz.model.config":
                yield f"{where}: names {', '.join(classes)} of {node.module}; {WAY_OUT}"
        if isinstance(node, ast.Attribute) and node.attr in INSIDE_A_MODULE:
            yield f"{where}: touches `.{node.attr}`; {WAY_OUT}"
        if isinstance(node, ast.Attribute) and ast.unparse(node) in ("torch.nn", "nn.Module"):
            yield f"{where}: touches torch.nn; {WAY_OUT}"


def is_class(name: str) -> bool:
    return name[0].isupper() and not name.isupper() and name != "Stretching"  # a Literal


def test_no_page_reaches_past_the_seam() -> None:
    paths = [*PAGES, *(path for path in MODULES if "ui" in path.parts)]
    complaints = [complaint for path in paths for complaint in reaches_past(path, tree_of(path))]
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from tfmviz.model.attention import Attention", 1),
        ("from tfmviz.model.config import ModelConfig", 0),
        ("from tfmviz.positions.t5 import N_BUCKETS, buckets", 0),
        ("weights = model.module.embedding", 1),
        ("import torch\ntorch.nn.Linear(2, 3)", 1),
        ("model.weights.W_E", 0),
    ],
)
def test_a_reach_past_the_seam_is_found(source: str, found: int) -> None:
    assert len(list(reaches_past(Path("x.py"), ast.parse(source)))) == found


def test_every_number_in_the_address_has_a_box_that_outlives_infinity() -> None:
    calls = [
        (path, node)
        for path in [*PAGES, *MODULES]
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "number_input"
    ]
    bound = {name_of(path) for path, call in calls if "bind" in {keyword.arg for keyword in call.keywords}}
    assert bound == {"tfmviz/ui/inputs.py"}, "ask by `inputs.number_box`: Streamlit fails at a whole number of inf"
