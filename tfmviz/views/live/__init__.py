"""Pictures that follow each key; `ui/live.py` answers, and Python waits for Enter."""

from tfmviz.views.shared import script

JS = script("live/view.ts")
