"""Experts at work: their letters on their colours."""

from __future__ import annotations

from tests.browser import contrast
from tfmviz.plots.variants import ink_on


def rgb(colour: str) -> str:
    """ "#31688e" as a browser writes it."""
    return f"rgb({', '.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))})"


def test_letters_can_be_read_on_any_colour() -> None:
    for fill in ("#000000", "#ffffff", "#440154", "#31688e", "#9090ff", "#fde725", "#ff6fae"):
        assert contrast(rgb(ink_on(fill)), rgb(fill)) >= 4.5, fill
