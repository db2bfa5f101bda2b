"""The site's masks to start from are those of `tfmviz.masks`, which it has no Python to ask."""

from __future__ import annotations

import pytest
import torch

from tests.node import call
from tfmviz import masks

RULES = "module.galleryOf(given.length, given.model).map(({ id, mask }) => [id, [...mask.open]])"


@pytest.mark.parametrize("length", [1, 2, 7, 12])
@pytest.mark.parametrize(("is_decoder", "window"), [(True, None), (True, 4), (False, None)])
def test_the_gallery_of_the_site_is_that_of_python(length: int, is_decoder: bool, window: int | None) -> None:
    model = {"isDecoder": is_decoder, "window": window}
    shown = call("site/gallery.ts", RULES, {"length": length, "model": model})
    patterns = {
        "full": masks.full(length, length),
        "causal": masks.causal(length),
        "prefix": masks.prefix(length, 5),
        "window": masks.window(length, 2),
        "dilated": masks.dilated(length, 2, 3),
        "blocks": masks.blocks(length, 5),
        "global": masks.global_tokens(length, 1),
    }
    if is_decoder:
        patterns |= {name: patterns[name] & masks.causal(length) for name in ("window", "dilated", "blocks", "global")}
    if window is not None and window < length:
        patterns["own"] = masks.causal(length, window=window)
    assert {name: torch.tensor(cells).view(length, length).bool().tolist() for name, cells in shown} == {
        name: mask.tolist() for name, mask in patterns.items()
    }
    own = "own" if "own" in patterns else "causal" if is_decoder else "full"
    assert shown[0][0] == own, "the model's own comes first"
