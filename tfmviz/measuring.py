"""Measurements in their own process: `ui.background` starts them and reads what they print."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any


def report(measurements: Iterable[Mapping[str, Any]]) -> None:
    """Prints each record as a line of JSON as soon as it is ready, at low priority."""
    if hasattr(os, "nice"):
        os.nice(5)
    for found in measurements:
        print(json.dumps(found), flush=True)
