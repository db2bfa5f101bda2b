"""Home: heads at work on a sentence that is there to be changed, and six doors to the rest."""

import streamlit as st

from tfmviz.ui import router
from tfmviz.ui.home import doors, stage

router.ensure_routed()
doors.lead_on()
with st.container(horizontal=True, vertical_alignment="bottom", key="opening"):
    st.header("Take a transformer apart")
    doors.quiet()
if shown := stage.stage():
    doors.doors(shown)
