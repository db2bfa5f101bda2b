"""Shared by the long checks."""

import os
from pathlib import Path

import pytest

SIZE = int(os.environ.get("SOAK_SIZE", "10000"))
"""How many addresses, and how many texts, are tried."""

FIRST = int(os.environ.get("SOAK_FIRST", "0"))
"""The first seed: another one tries others."""

CHUNK = 200
"""How many of them are one test: several processes share them."""

MINUTES = float(os.environ.get("SOAK_MINUTES", "10"))
"""How long two servers are kept busy."""


@pytest.fixture(autouse=True)
def _where_memory_can_be_seen() -> None:
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("Only Linux says what an answer takes of the memory.")
