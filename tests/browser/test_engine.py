"""The engine in a real browser, under the app's own policy, with the weights that the app serves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.browser import Visit
from tests.engine.parity import difference
from tfmviz.ui import weights
from tfmviz.views import engine
from tfmviz.zoo import load

RUN = """async ([js, parcel, text]) => {
    const module = await import(URL.createObjectURL(new Blob([js], { type: "text/javascript" })));
    const made = await module.default.fetchEngine(parcel);
    made.trace(text.slice(0, 9));
    const { facts, sites } = made.trace(text, { sites: ["*.pattern", "decoder.norm"] });
    const arrays = Object.entries(sites).map(([site, { shape, data }]) => [site, shape, [...data]]);
    return { ids: facts.ids, arrays, logits: [...made.next().logits] };
}"""


def test_a_browser_fetches_a_model_and_computes_what_python_computes(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "_served", True)
    page, text = visit.open("/contents", drawn="h1"), "The cat sat on the mat, and the dog looked at it."
    found: dict[str, Any] = page.evaluate(RUN, [engine.JS, weights.parcel("twins-rope"), text])
    trace = load("twins-rope").trace(text)
    assert found["ids"] == list(trace.target.ids)
    assert len(found["arrays"]) == 5
    for site, shape, numbers in found["arrays"]:
        difference(site, np.reshape(numbers, shape), trace[site])
    difference("logits", np.array(found["logits"]), trace["logits"][-1])
