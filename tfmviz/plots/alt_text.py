from __future__ import annotations

from tfmviz.constants import MOST_SAID
from tfmviz.plots.charts import Chart
from tfmviz.words.numbers import decimal


def of_chart(chart: Chart) -> str:
    """Marks as the pointer finds them; of lines with very many points the two ends."""
    pointed = [table for table in chart.data.values() if "hover" in table]
    values = [chart.data[name] for name in chart.values]
    words: list[str] = []
    for marks in [table for table in values if "hover" in table] or pointed[:1] or values[:1]:
        tooltips = [str(word) for word in marks.get("hover", ())]
        if "line" in marks:
            if not tooltips:  # of more points than answer a pointer
                points = zip(map(str, marks["line"]), marks["x"], marks["y"], strict=True)
                tooltips = [f"{line[5:]}, {x:g}: {decimal(float(y), '.3g')}" for line, x, y in points]
            if len(tooltips) > MOST_SAID:
                ends: dict[str, list[str]] = {}
                for line, word in zip(marks["line"], tooltips, strict=True):
                    ends.setdefault(str(line), [word, word])[1] = word
                tooltips = [" … ".join(dict.fromkeys(both)) for both in ends.values()]
        words += tooltips
    more = [f"{len(words) - MOST_SAID} more marks"] if len(words) > MOST_SAID else []
    return "; ".join([*words[:MOST_SAID], *more])
