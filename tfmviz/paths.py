"""Paths of the files that are not Python modules.

In a checkout they are next to this package, in an installed one inside.
"""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path, user_data_path

_PACKAGE = Path(__file__).parent
_CARRIED = _PACKAGE / "project"

PROJECT = _CARRIED if _CARRIED.is_dir() else _PACKAGE.parent
"""The folder with `app.py`, `pages/`, `.streamlit/` and `assets/`."""


def own_models() -> Path:
    """The folder of the reader's converted models: `TFMVIZ_MODELS`, or the system's usual place."""
    chosen = os.environ.get("TFMVIZ_MODELS")
    return Path(chosen) if chosen else user_data_path("tfmviz", appauthor=False) / "models"


def runs() -> Path:
    """The folder of the training runs that readers start: `TFMVIZ_RUNS`, or the system's usual place."""
    chosen = os.environ.get("TFMVIZ_RUNS")
    return Path(chosen) if chosen else user_cache_path("tfmviz", appauthor=False) / "runs"
