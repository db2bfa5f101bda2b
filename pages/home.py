"""Home: one head at work on a sentence, and three doors: explore, give a lecture, learn step by step."""

import streamlit as st

from tfmviz.ui import router
from tfmviz.ui.home import doors, first_look

router.ensure_routed()
doors.lead_on()
st.header("Take a transformer apart")
first_look.first_look()
doors.doors()
