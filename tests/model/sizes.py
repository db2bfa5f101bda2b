"""The sizes and kinds of the small models in the tests of the mathematics.

Sizes differ from each other and are prime where that is possible, so that no two axes can be swapped unnoticed.
"""

from typing import get_args

from tfmviz.positions import schemes
from tfmviz.record.facts import Architecture

BATCH, LENGTH, K_LENGTH = 2, 7, 11
N_HEADS, D_HEAD = 3, 10  # RoPE needs an even d_head
D_MODEL = N_HEADS * D_HEAD
D_FF, VOCAB, MAX_LEN, N_LAYERS = 37, 41, 13, 2

ARCHITECTURES: tuple[Architecture, ...] = get_args(Architecture)
SCHEMES = tuple(schemes.SCHEMES)
BIASES = ("none", *(name for name, scheme in schemes.SCHEMES.items() if scheme.acts == "bias"))
"""The schemes that add to the scores, and none."""
