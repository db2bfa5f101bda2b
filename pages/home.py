"""Home: heads at work on a sentence to be changed, and six doors to the rest."""

import streamlit as st

from tfmviz.ui import home, router
from tfmviz.ui.home import doors

router.ensure_routed()
doors.lead_on()
with st.container(horizontal=True, vertical_alignment="bottom", key="opening"):
    st.header("Take a transformer apart")
    doors.quiet()
if shown := home.stage():
    doors.doors(*shown)
