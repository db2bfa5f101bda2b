"""Shared by all tests."""

from __future__ import annotations

import torch

# On a busy machine torch's threads wait for one another far longer than one thread needs for these small models.
torch.set_num_threads(1)
