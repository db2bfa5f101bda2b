"""What screen readers and the table of a chart are told of a figure."""

import numpy as np

from tests.plots.examples import CHARTS, ODD
from tests.plots.test_panels import forming
from tfmviz.constants import MOST_SAID
from tfmviz.plots import alt_text
from tfmviz.plots.charts import Chart
from tfmviz.plots.theme import LIGHT
from tfmviz.plots.values import described


def chart(**columns: list[str]) -> Chart:
    return Chart(spec={}, data={"rows": columns})


def test_few_marks_are_all_said_of_many_how_many_more_and_of_long_lines_both_ends() -> None:
    most = MOST_SAID
    assert alt_text.of_chart(chart(line=["0 a", "1 b"], hover=["a, 0: 1", "b, 0: 4"])) == "a, 0: 1; b, 0: 4"
    long = chart(line=["0 a"] * most + ["1 b"], hover=[*(f"a, {n}: 1" for n in range(most)), "b, 0: 4"])
    assert alt_text.of_chart(long) == f"a, 0: 1 … a, {most - 1}: 1; b, 0: 4"
    even = chart(line=["0 a"] * most, hover=[f"a, {n}: 1" for n in range(most)])
    assert alt_text.of_chart(even).split("; ") == even.data["rows"]["hover"]
    panels = forming(LIGHT, seed=0)
    assert alt_text.of_chart(panels) == "; ".join(map(str, panels.data["steps0"]["hover"])), "of all panels"
    bars = alt_text.of_chart(chart(hover=[f"bar {n}: {n}" for n in range(most + 8)])).split("; ")
    assert (bars[0], bars[-1], len(bars)) == ("bar 0: 0", "8 more marks", most + 1)


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
        assert alt_text.of_chart(chart), f"nothing is said of {name}"
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
