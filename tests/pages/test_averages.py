"""Feed-forward → Without it: what a head writes, drawn inside of its values."""

from __future__ import annotations

import numpy as np
import pytest
from safetensors.numpy import load_file

from tests.app import charts, words
from tests.pages.test_feed_forward import HERE, MODEL, TABS, TOKEN, attention_by_hand, open_tab


def test_the_average_and_its_values_lie_where_an_independent_pass_has_them() -> None:
    """Distances in the plane are those of the values along their two main directions; the cross is what is written."""
    app = open_tab(TABS[3], **HERE, head="3")
    rows = charts(app)["average"]["tables"]["rows"]
    w = {name: value.astype(np.float64) for name, value in load_file(MODEL / "model.safetensors").items()}
    pattern, v, _, _ = attention_by_hand(w)
    weights, values = pattern[3, TOKEN, : TOKEN + 1], v[: TOKEN + 1, 3]
    np.testing.assert_allclose(rows["weight"][:-1], weights, atol=2e-3)
    points = np.vstack((values, weights @ values)) - values.mean(axis=0)
    _, _, directions = np.linalg.svd(points[:-1], full_matrices=False)
    shown = np.stack((rows["x"], rows["y"]), axis=-1)
    np.testing.assert_allclose(np.abs(shown), np.abs(points @ directions[:2].T), atol=5e-3 * np.abs(points).max())
    assert list(rows["role"]) == ["value"] * (TOKEN + 1) + ["average"]


@pytest.mark.parametrize(
    "text", ["a", "a a", "ha ha ha ha", "老王 批评 老李 😀", "<img src=x onerror=alert(1)>", "word " * 900]
)
def test_every_text_has_an_area_or_hears_why_not(text: str) -> None:
    app = open_tab(TABS[3], model="twins-none", text=text)
    assert "average" in charts(app) or "These values span no area" in " ".join(c.value for c in app.caption)
    assert "A head can only average" in words(app)
    assert "nan" not in words(app).lower().split()
