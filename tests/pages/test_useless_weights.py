"""Weights that are all zero: everything is finite, but many a ratio has no value. No part of any page may raise, and
none may say "nan": on the page, in a label, or to those who cannot see a figure."""

import json
import re
import shutil
from collections.abc import Iterator

import numpy as np
import pytest
import streamlit as st
from safetensors.numpy import load_file, save_file
from streamlit.testing.v1 import AppTest

from tests.app import charts, forget, open_page, spaces, views
from tests.traces import read_blob
from tfmviz import zoo
from tfmviz.ui import router, tabs
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.positions import learned, naive, sinusoidal
from tfmviz.ui.tabs import Tab

NOT_A_NUMBER = re.compile(r"(?<![A-Za-z])[−-]?(nan|inf|infinity)(?![A-Za-z])", re.IGNORECASE)


@pytest.fixture(scope="module", autouse=True)
def _models_of_zeros(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The only models there are."""
    folder = tmp_path_factory.mktemp("models")
    for name in ("twins-rope", "twins-sinusoidal"):
        path = shutil.copytree(zoo.MODELS / name, folder / name) / "model.safetensors"
        save_file({name: np.zeros_like(value) for name, value in load_file(path).items()}, path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zoo.catalogue, "__defaults__", (folder,))
        patch.setattr(zoo.load, "__defaults__", (folder,))
        forget()
        yield
    forget()


@pytest.mark.parametrize("page", [page.name for page in router.PAGES])
@pytest.mark.filterwarnings("ignore:invalid value encountered")
def test_no_part_of_a_page_raises_or_says_nan(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    n_tabs = [1]

    def draw_one(_key: str, here: PageContext, *parts: Tab, **_: object) -> None:
        n_tabs.append(len(parts))
        st.session_state.setdefault("open", 0)
        parts[min(st.session_state["open"], len(parts) - 1)].draw(here)

    monkeypatch.setattr(tabs, "tabs", draw_one)
    for module in (tabs, naive, learned, sinusoidal):
        monkeypatch.setattr(module, "parts", draw_one)
    app = open_page(page)
    not_numbers = list(without_number(app))
    for index in range(1, max(n_tabs)):
        app.session_state["open"] = index
        app.run()
        not_numbers += [f"tab {index}: {text}" for text in without_number(app)]
    assert not_numbers == []


def without_number(app: AppTest) -> Iterator[str]:
    """The texts of a page that say "nan" or "inf" where there should be a number, or a word for none."""
    texts = [str(element.value) for element in (*app.markdown, *app.info, *app.warning, *app.caption, *app.header)]
    texts += [frame.value.to_string() for frame in app.table]
    for proto in views(app).values():
        texts += [proto.json, json.dumps(read_blob(bytes(proto.bytes))[0]) if proto.bytes else ""]
    for chart in charts(app).values():
        cells = (value for table in chart["tables"].values() for column in table.values() for value in column)
        texts += [json.dumps(chart["spec"]), *(value for value in cells if isinstance(value, str))]
    texts += [json.dumps(space["layout"]) for space in spaces(app)]
    for text in texts:
        if found := NOT_A_NUMBER.search(text):
            yield text[max(found.start() - 60, 0) : found.end() + 30]
