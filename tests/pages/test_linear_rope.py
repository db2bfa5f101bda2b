"""RoPE with linear attention on the page that compares schemes."""

import re

import numpy as np
import pytest

from tests.app import matrices, open_page, words
from tfmviz import zoo
from tfmviz.analysis.linear_attention import shares

TEXT = "The cat sat on the mat."


def test_the_shares_are_those_of_the_twins_own_queries_and_keys() -> None:
    app = open_page(
        "positions_compare", experiment="Cache and linear attention", left="sinusoidal", right="rope", text=TEXT
    )
    model = zoo.load("twins-rope")
    trace = model.trace(TEXT)
    q, k = (trace[f"decoder.0.self_attn.{name}"].astype(float) for name in "qk")
    angles = np.arange(len(trace.tokens))[:, None] * 10_000.0 ** (-np.arange(16) / 16)  # d_head is 32
    expected = [shares(q, k, angles=turns) for turns in (None, angles)]
    plain, turned = matrices(app)["turned_shares"]
    below = np.tri(len(plain), dtype=bool)
    heads = [n for n, one in enumerate(expected[1]) if np.allclose(one[below], turned[below], atol=1e-3)]
    assert len(heads) == 1
    np.testing.assert_allclose(plain[below], expected[0][heads[0]][below], atol=1e-3)
    found = re.search(r"sum to \*\*([\d.]+)\*\* to ([\d.]+), and .* \(the least is ([−\d.]+)\)", words(app))
    assert found
    rows = turned.sum(axis=-1, where=below)
    assert [float(found[1]), float(found[2])] == pytest.approx([rows.min(), rows.max()], abs=0.006)
    assert float(found[3].replace("−", "-")) == pytest.approx(turned[below].min(), abs=0.001)


def test_where_neither_scheme_turns_there_is_no_such_figure() -> None:
    app = open_page(
        "positions_compare", experiment="Cache and linear attention", left="sinusoidal", right="alibi", text=TEXT
    )
    assert "turned_shares" not in matrices(app)
