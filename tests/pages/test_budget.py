"""The dearest tab of every page with its worst text; `make soak` tries all tabs, texts and settings."""

from pathlib import Path

import pytest

from tests.app import open_page
from tests.hostile.texts import WORST
from tests.pages.tabs import addresses
from tests.soak.costs import MEGABYTES, SECONDS, cost_of
from tfmviz.ui import router

SLOW = 3
"""Times as long as where the budget was measured, for a machine that is slow or does other things too."""

HOLES = 1.5
"""Times as much memory, for a process whose heap has holes from other tests; `make soak` allows none."""

DEAREST = {
    "counting": ("A whole sentence", "all different"),
    "ladder": ("How far back can it see?", "one letter"),
    "bottleneck": ("Translations", "spaces"),
    "explorer": ("Residual stream", "emoji"),
    "whole_model": ("Post-norm, pre-norm", "emoji"),
    "step_by_step": ("Find a head", "emoji"),
    "why": ("Test it", "emoji"),
    "feed_forward": ("Without it", "emoji"),
    "masks": ("Reach", "emoji"),
    "positions": ("Naive ideas", "emoji"),
    "positions_rope": ("Same distance", "emoji"),
    "positions_compare": ("Decision card", "emoji"),
    "residual_stream": ("Logit lens", "emoji"),
    "switch_off": ("Every part in turn", "emoji"),
    "normalisation": ("Which numbers share a mean?", "emoji"),
    "writing": ("Fifty texts", "one letter"),
    "translating": ("Two trees", "990 words"),
    "tokens": ("Learn one", "emoji"),
    "recipe": ("Dropout", "emoji"),
    "training": ("How a head forms", "emoji"),
    "complexity": ("Where the multiplications go", "all different"),
    "efficient": ("All of them", "all different"),
    "size": ("Our own runs", "one letter"),
}
"""Tab and text that cost most, found by `make soak`."""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux says what an answer takes of memory")
def test_the_dearest_answer_of_a_page_stays_within_the_budget() -> None:
    over = {}
    for page in (page.name for page in router.PAGES if page.group):
        tab, text = DEAREST[page]
        (key,) = {key for address in addresses(page) for key, title in address.items() if title == tab}
        app = open_page(page, text="The cat sat.", **{key: tab})
        cost = cost_of(app.text_area(key="text").set_value(WORST[text]).run)
        if cost.megabytes >= HOLES * MEGABYTES or cost.seconds >= SLOW * SECONDS:
            over[page] = cost
    assert not over
