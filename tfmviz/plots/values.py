from __future__ import annotations

from typing import Any

from tfmviz.plots.charts import Chart, Spec

NAMES = ("color", "detail")
"""Channels that tell one line or bar from another."""

PLACES = ("x", "y", "yOffset", "x2", "y2")


def described(chart: Chart, title: str) -> dict[str, Any]:
    """Title and columns of the table, and for each data set (in a column of panels: each panel) its fields.

    A column has its axis's title; where two share a title (both ends of a bar), their fields' names follow.
    """
    tables: list[dict[str, Any]] = []
    columns: list[str] = []
    for view in chart.spec.get("vconcat", [chart.spec]):
        for data in chart.values:
            if layers := [layer for layer in view["layer"] if layer["data"]["name"] == data]:
                found = _fields(layers, panel=view.get("title", ""))
                tables.append({"data": data, "of": view.get("title", ""), "fields": list(found)})
                titles = list(found.values())
                columns = [f"{name}: {field}" if titles.count(name) > 1 else name for field, name in found.items()]
    # Of panels the last has the title of the axis that all share.
    return {"title": title, "columns": ["panel", *columns] if "vconcat" in chart.spec else columns, "tables": tables}


def _fields(layers: list[Spec], *, panel: str) -> dict[str, str]:
    """The titles of the fields that these layers show: names, then numbers.

    Numbers along an axis without a title only place a mark; then its text is shown instead.
    """
    names: dict[str, str] = {}
    numbers: dict[str, str] = {}
    for channel in (*NAMES, *PLACES):
        for encoding in (layer.get("encoding", {}) for layer in layers):
            entry = encoding.get(channel, {})
            if (field := entry.get("field")) is None:
                continue
            if channel in PLACES:
                axis = encoding[channel[0]]
                found = names if axis["type"] == "nominal" else numbers
                found.setdefault(field, axis.get("title") or ("value" if panel and channel[0] == "y" else ""))
            elif channel == "detail" or entry.get("legend") is not None or field == "line":
                names.setdefault(field, field)  # other colours only say again what stands elsewhere
    if not panel and not all(numbers.values()):
        numbers = {"hover": "what it shows"}
    return {field: title or field for field, title in (names | numbers).items()}
