"""Weights that are all zero: everything is finite, but many a ratio has no value. No part of any page may raise."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pytest
import streamlit as st
from safetensors.numpy import load_file, save_file

from tests.app import forget, open_page
from tfmviz import zoo
from tfmviz.ui import lesson, router


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
def test_no_part_of_a_page_raises(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    n_tabs = [1]

    def draw_one(key: str, parts: Mapping[str, tuple[str, Callable[[], object]]], **_: object) -> None:
        n_tabs.append(len(parts))
        st.session_state.setdefault("open", 0)
        list(parts.values())[min(st.session_state["open"], len(parts) - 1)][1]()

    monkeypatch.setattr(lesson, "tabs", draw_one)
    app = open_page(page)
    for index in range(1, max(n_tabs)):
        app.session_state["open"] = index
        app.run()
        assert not app.exception, index
