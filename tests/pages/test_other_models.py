"""Models that nobody has shipped: every page about a model draws each kind of them on every tab."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.app import charts, open_page, spaces, views, words
from tests.pages.tabs import addresses
from tests.pages.test_hidden_choices import OPENS_WITH
from tfmviz.model.config import ModelConfig

SHAPES: dict[str, dict[str, Any]] = {
    "one-head": {"n_layers": 1, "n_heads": 1, "n_kv_heads": 1, "feed_forward": "none", "norm_position": "post"},
    "shared-keys": {"n_kv_heads": 1, "feed_forward": "swiglu", "norm": "rms", "norm_position": "both"},
    "encoder": {"architecture": "encoder-only", "positions": "sinusoidal", "norm": "rms", "feed_forward": "relu"},
    "translator": {"architecture": "encoder-decoder", "positions": "none", "norm_position": "post"},
}


@pytest.mark.parametrize("page", [page for page, choices in OPENS_WITH.items() if "model" in choices])
def test_every_tab_is_drawn(page: str, put_random_model: Callable[..., ModelConfig]) -> None:
    wrong = []
    for name, shape in SHAPES.items():
        put_random_model(name, **shape)
        for kind in ("encoder", "cross-attention", "decoder") if name == "translator" else ("",):
            for tab in addresses(page):
                app = open_page(page, model=name, text="the cat sat", **tab | ({"kind": kind} if kind else {}))
                wrong += [(name, kind, tab, error.value) for error in app.error]
                if not (views(app) or charts(app) or spaces(app) or app.table or app.info or words(app)):
                    wrong.append((name, kind, tab, "nothing is drawn"))
    assert not wrong
