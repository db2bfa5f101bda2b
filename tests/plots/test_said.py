"""What screen readers are told of a figure whose marks say it themselves."""

import numpy as np

from tfmviz.plots import said
from tfmviz.plots.cells import Axis, Cells, Form, share
from tfmviz.plots.charts import Chart


def chart(**columns: list[str]) -> Chart:
    return Chart(spec={}, data={"rows": columns})


def axis(title: str, count: int) -> Axis:
    return Axis(title=title, spoken=[f"{title} {n}" for n in range(count)])


def test_of_lines_both_ends_are_said_of_bars_all_and_of_many_how_many_more() -> None:
    lines = chart(line=["0 a", "0 a", "0 a", "1 b"], hover=["a, 0: 1", "a, 1: 2", "a, 2: 3", "b, 0: 4"])
    assert said.of_chart(lines) == "a, 0: 1 … a, 2: 3; b, 0: 4"
    bars = said.of_chart(chart(hover=[f"bar {n}: {n}" for n in range(20)])).split("; ")
    assert (bars[0], bars[-1], len(bars)) == ("bar 0: 0", "8 more marks", said.MOST_SAID + 1)


def test_of_cells_the_largest_of_each_row_is_said_and_a_masked_row_is_not() -> None:
    matrix = np.array([[[0.25, 0.75], [np.nan, np.nan], [0.5, np.nan]]])
    picture = Cells(matrices=matrix, rows=axis("query", 3), columns=axis("key", 2), scale=share(), form=Form(digits=2))
    assert said.of_cells(picture) == "query 0: key 1, 0.75; query 2: key 0, 0.50"
