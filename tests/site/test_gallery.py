"""The masks of the site to start from."""

from itertools import product

import numpy as np

from tests.node import call
from tfmviz import masks
from tfmviz.ui import masks as lab

SHOWN = ("full", "causal", "prefix", "window", "dilated", "blocks", "global")
RULES = """
module.galleryOf(given.length, given.model).filter(({ usable }) => usable).map(({ id, mask }) => [id, [...mask.open]])
"""


def test_the_gallery_of_the_site_is_that_of_python() -> None:
    for length, (is_decoder, window) in product((1, 2, 7, 12), ((True, None), (True, 4), (False, None))):
        model = {"isDecoder": is_decoder, "window": window}
        shown = call("site/gallery.ts", RULES, {"length": length, "model": model})
        sizes = {"n_prefix": 5, "radius": 2, "step": 3, "size": 5, "n_global": 1, "n_random": 1, "seed": 0}
        drawn = lab.gallery(
            length, length, lab.Settings(second="", back=is_decoder, **sizes), second_len=1, crossing=False
        )
        patterns = {one.id: one.mask.tolist() for one in drawn if one.id in SHOWN}
        if window is not None and window < length:
            patterns["own"] = (masks.causal(length) & masks.near(length, length, window)).tolist()
        found = {name: np.reshape(cells, (length, length)).astype(bool).tolist() for name, cells in shown}
        assert found == patterns, model
        own = "own" if "own" in patterns else "causal" if is_decoder else "full"
        assert shown[0][0] == own, "the model's own comes first"
