from __future__ import annotations

from tfmviz.constants import MOST_SAID
from tfmviz.plots.charts import Chart


def of_chart(chart: Chart) -> str:
    """Marks as the pointer finds them; of lines with very many points the two ends."""
    pointed = {name: table for name, table in chart.data.items() if "hover" in table}
    words: list[str] = []
    for marks in [pointed[name] for name in chart.values if name in pointed] or list(pointed.values())[:1]:
        tooltips = [str(word) for word in marks["hover"]]
        if "line" in marks and len(tooltips) > MOST_SAID:
            ends: dict[str, list[str]] = {}
            for line, word in zip(marks["line"], tooltips, strict=True):
                ends.setdefault(str(line), [word, word])[1] = word
            tooltips = [" … ".join(dict.fromkeys(both)) for both in ends.values()]
        words += tooltips
    more = [f"{len(words) - MOST_SAID} more marks"] if len(words) > MOST_SAID else []
    return "; ".join([*words[:MOST_SAID], *more])
