"""What the table of a chart shows: its columns, under names that a reader knows."""

from __future__ import annotations

import numpy as np

from tests.plots.examples import CHARTS, ODD
from tests.plots.test_panels import forming
from tfmviz.plots.theme import LIGHT
from tfmviz.plots.values import described

TITLED = {
    "bars": (["name", "x"], ["name", "value"]),
    "growth of costs": (["line", "tokens", "seconds"], ["line", "x", "y"]),
    "histogram": (["series", "score: low", "share of the pairs", "score: high"], ["series", "low", "share", "high"]),
    "areas": (["what it shows"], ["hover"]),
}


def test_a_table_holds_every_value_under_the_title_of_its_axis() -> None:
    for name, make in CHARTS.items():
        chart = make(LIGHT, ODD)
        found = described(chart, "title")
        assert found["tables"], name
        for table in found["tables"]:
            assert len(table["fields"]) == len(found["columns"]), name
            assert set(table["fields"]) <= set(chart.data[table["data"]]), name
        if name in TITLED:
            columns, fields = TITLED[name]
            tables = [{"data": "rows", "of": "", "fields": fields}]
            assert found == {"title": "title", "columns": columns, "tables": tables}
    chart = CHARTS["many points"](LIGHT, ODD)
    (table,) = described(chart, "")["tables"]
    np.testing.assert_array_equal(chart.data[table["data"]][table["fields"][-1]], ODD.numbers(1025))
    found = described(forming(LIGHT, seed=0), "")
    assert found["columns"] == ["panel", "line", "step", "value"]
    assert [table["of"] for table in found["tables"]] == ["loss, nats per token", "induction"]
