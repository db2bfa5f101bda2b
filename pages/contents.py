"""All pages: what each of them answers, in the order of a lecture."""

import streamlit as st

from tfmviz.ui import find, router

router.ensure_routed()
router.table_of_contents()
st.header("Their tabs")
find.list_tabs()
