"""What Streamlit's menu lacks: the open group is marked, and on a phone the menu closes after a tap on a page."""

from tfmviz.views.shared import script

JS = script("frame/view.js")
