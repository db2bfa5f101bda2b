"""A page of the app without a browser."""

import gc
import json
import re
from collections.abc import Mapping
from functools import cache as kept
from typing import Any

import numpy as np
import pyarrow as pa
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from tests.browser import ROOT
from tests.plots.cells import drawn, unpacked
from tfmviz.record.trace import Array
from tfmviz.ui import cache, models
from tfmviz.ui.controls import Selection
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.model_names import ModelLabel

# Each new session of AppTest would read the metadata of every installed package again, in search of components: 0.2 s.
setattr(manifest_scanner, "scan_component_manifests", kept(manifest_scanner.scan_component_manifests))  # noqa: B010

# A server freezes what lives when it loads a model, once for each. Tests load them again and again, and what they open
# meanwhile would never be freed: a process held 5 GB.
setattr(gc, "freeze", kept(gc.freeze))  # noqa: B010

HERE = "the reader of a test"
"""Who starts the training runs of tests."""


def forget() -> None:
    """Forgets loaded models and results, which all sessions share, for tests with models of their own."""
    st.cache_resource.clear()
    cache.clear()


def opened(page: str, address: Mapping[str, str]) -> AppTest:
    """`pages/PAGE.py`, about to be opened by a link with these parameters."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
    for key, value in address.items():
        app.query_params[key] = value
    return app.switch_page(f"pages/{page}.py")


def open_page(page: str = "explorer", **address: str) -> AppTest:
    """The first run of a page."""
    app = opened(page, address).run()
    assert not app.exception
    return app


def lesson(model: str, text: str, layer: str, head: int = 0) -> PageContext:
    """What a page works on, without the page."""
    return PageContext(choice=Selection(model=model, layer=layer, head=head), text=text, model=models.load(model))


def words(app: AppTest) -> str:
    """The text of the page and its notes. A result and what follows it are one line; see `figures.result`."""
    said = [str(element.value) for element in [*app.markdown, *app.info, *app.warning, *app.error]]
    return re.sub(r"(?m)^> (.*)\n", r"\1 ", "\n".join(said))


def views(app: AppTest) -> dict[str, Any]:
    """The data of the page's client-side views by their keys, without those in the frame of every page."""
    protos = [element.proto for element in app.get("bidi_component")]
    named = {proto.id.rsplit("-", 1)[-1]: proto for proto in protos}
    frame = ("keys", "guess", "find", "frame", "models")
    return {name: proto for name, proto in named.items() if name not in frame and "asked_" not in name}


def title(app: AppTest) -> str:
    """The title of the page, which stands in its header."""
    return str(_of_frame(app, "frame")["title"])


def menu(app: AppTest) -> dict[str, Any]:
    """What the menu of models gets."""
    data = _of_frame(app, "models")
    return data | {"models": [ModelLabel(**one) for one in json.loads(data["models"])]}


def _of_frame(app: AppTest, name: str) -> dict[str, Any]:
    """What a view gets that every page has."""
    (sent,) = [e.proto.json for e in app.get("bidi_component") if e.proto.component_name == f"tfmviz_{name}"]
    return dict(json.loads(sent))


def questions(app: AppTest) -> list[dict[str, Any]]:
    """What a class is asked on the page: the question, the tokens that may answer it, and the model's answer."""
    protos = [element.proto for element in app.get("bidi_component")]
    sent = [json.loads(proto.json) for proto in protos if proto.component_name == "tfmviz_question"]
    return [{"question": question, "tokens": tokens, "answer": answer} for _, question, tokens, answer in sent]


def charts(app: AppTest) -> dict[str, dict[str, Any]]:
    """The small charts by their keys: specification and data, as the browser gets them."""
    figures = {}
    for proto in (element.proto for element in app.get("vega_lite_chart")):
        spec = json.loads(proto.spec)
        tables = {table.name: pa.ipc.open_stream(table.data.data).read_all().to_pydict() for table in proto.datasets}
        figures[spec["usermeta"]["key"]] = {"spec": spec, "tables": tables}
    return figures


def spaces(app: AppTest) -> list[dict[str, Any]]:
    """The figures in three dimensions, as Plotly gets them."""
    return [json.loads(element.proto.spec) for element in app.get("plotly_chart")]


def trees(app: AppTest) -> dict[str, list[dict[str, Any]]]:
    """The nodes of the trees of beam searches, by their keys."""
    drawn = {key: proto for key, proto in views(app).items() if proto.component_name == "tfmviz_beams"}
    return {key: json.loads(proto.json)["nodes"] for key, proto in drawn.items()}


def pictures(app: AppTest) -> dict[str, tuple[dict[str, Any], Array]]:
    """The pictures of cells by their keys: what each says of itself, and its matrices (matrix, row, column)."""
    found = {key: proto for key, proto in views(app).items() if proto.component_name == "tfmviz_cells"}
    return {key: unpacked(bytes(proto.bytes)) for key, proto in found.items()}


def matrices(app: AppTest) -> dict[str, Array]:
    """The matrices (matrix, row, column) of the pictures of cells, by their keys."""
    return {key: values for key, (_, values) in pictures(app).items()}


def columns(app: AppTest, key: str) -> dict[str, list[str]]:
    """The columns of a table by their titles."""
    table = sent(app, key)
    return dict(zip(table["columns"], map(list, zip(*table["rows"], strict=True)), strict=True))


def series(
    chart: dict[str, Any], value: str = "y", *, by: str | None = "line", table: str = "rows"
) -> dict[str, Array]:
    """The numbers of a small chart: a column of `value`, by what each line, each group of bars … is called.

    Names lose the number in front that keeps them apart and in order; nothing drawn is NaN.
    """
    columns = chart["tables"][table]
    found: dict[str, list[float]] = {}
    for name, number in zip(columns[by] if by else [" "] * len(columns[value]), columns[value], strict=True):
        found.setdefault(name, []).append(number)
    return {name.split(" ", 1)[1]: np.array(found[name], dtype=float) for name in sorted(found)}


def paired(app: AppTest, key: str = "next_words") -> tuple[list[str], dict[str, tuple[float, float]]]:
    """The names of two runs, and by its label what each token has in them."""
    data = sent(app, key)
    return data["series"], {label: (a, b) for label, a, _, b, _ in data["rows"]}


def press(app: AppTest, label: str) -> None:
    """Presses the first button whose label begins so."""
    next(button for button in app.button if button.label.startswith(label)).click().run()
    assert not app.exception


def captions(app: AppTest) -> str:
    return "\n".join(str(caption.value) for caption in app.caption)


def alt(app: AppTest, key: str) -> str:
    """What a figure says to those who cannot see it."""
    if (proto := views(app).get(key)) and proto.component_name == "tfmviz_cells":
        return str(drawn(bytes(proto.bytes))["alt"])
    (said,) = charts(app)[key]["tables"]["summary"]["summary"]
    return str(said)


def buttons_of(app: AppTest, address: str) -> set[str]:
    """What a reader may do with a run, on the page on training."""
    keys = [str(part.key) for part in (*app.button, *app.selectbox, *app.get("download_button"))]
    return {key.removesuffix(f"-{address}") for key in keys if key.endswith(address)}


def sent(app: AppTest, key: str) -> Any:
    """What a client-side view gets as JSON."""
    return json.loads(views(app)[key].json)
