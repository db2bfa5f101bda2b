"""The site's masks to start from are those of `tfmviz.masks`, which it has no Python to ask."""

from itertools import product

import torch

from tests.node import call
from tfmviz import masks

RULES = "module.galleryOf(given.length, given.model).map(({ id, mask }) => [id, [...mask.open]])"


def test_the_gallery_of_the_site_is_that_of_python() -> None:
    for length, (is_decoder, window) in product((1, 2, 7, 12), ((True, None), (True, 4), (False, None))):
        model = {"isDecoder": is_decoder, "window": window}
        shown = call("site/gallery.ts", RULES, {"length": length, "model": model})
        past = masks.causal(length)
        patterns = {"full": masks.full(length, length), "causal": past, "prefix": masks.prefix(length, 5)}
        others = {
            "window": masks.window(length, 2),
            "dilated": masks.dilated(length, 2, 3),
            "blocks": masks.blocks(length, 5),
            "global": masks.global_tokens(length, 1),
        }
        patterns |= {name: pattern & past if is_decoder else pattern for name, pattern in others.items()}
        if window is not None and window < length:
            patterns["own"] = past & masks.near(length, length, window)
        found = {name: torch.tensor(cells).view(length, length).bool().tolist() for name, cells in shown}
        assert found == {name: pattern.tolist() for name, pattern in patterns.items()}, model
        own = "own" if "own" in patterns else "causal" if is_decoder else "full"
        assert shown[0][0] == own, "the model's own comes first"
