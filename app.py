"""The frame: page settings, navigation, and the page. Run it with `make app` or `streamlit run app.py`."""

import streamlit as st

from tfmviz.paths import PROJECT
from tfmviz.ui import frame, lecture_steps, projector, run_queue, url
from tfmviz.ui.figures import theme
from tfmviz.ui.router import DEFAULT, navigation, path, routed
from tfmviz.views.shared import page_colours

page = navigation()
st.set_page_config(
    page_title="tfmviz: take a transformer apart" if page.url_path == "" else f"{page.title} · tfmviz",
    page_icon=str(PROJECT / "assets" / "icon.svg"),
    layout="wide",
)
with run_queue.slot():
    run_queue.take(url.text("model"), url.text("text"))
    projector.style()
    st.html(f"<style>{page_colours(theme())}</style>")
    if url.text("presenter") == "1":
        lecture_steps.present()
    else:
        frame.draw(page.url_path or DEFAULT)
        with routed():
            page.run()
        path(page)
