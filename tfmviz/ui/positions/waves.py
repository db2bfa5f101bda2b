"""The page on positions: the reader's choice of sinusoids, and their table."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from tfmviz.record.trace import Array
from tfmviz.ui import icons, inputs
from tfmviz.ui.cache import shared
from tfmviz.words import markdown

LARGEST = 512
"""Largest number of positions and of dimensions that are drawn."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Waves:
    """The settings of the page."""

    d: int
    length: int
    base: float

    @property
    def table(self) -> Array:
        return _table(self)

    @property
    def wavelengths(self) -> Array:
        return _wavelengths(self)


@shared
def _table(waves: Waves) -> Array:
    """(length, d), as a model would add it."""
    from tfmviz.positions.sinusoidal import sinusoids

    return sinusoids(waves.length, waves.d, base=waves.base).numpy()


@shared
def _wavelengths(waves: Waves) -> Array:
    from tfmviz.positions.sinusoidal import wavelengths

    return wavelengths(waves.d, base=waves.base).numpy()


def settings() -> Waves | None:
    """Asks for size and base. If they make no table, says so and gives None."""
    d = inputs.number_box("d", key="width", value=512, step=2, help="Numbers per position.")
    length = inputs.number_box("Positions", key="places", value=50)
    base = st.select_slider(
        "Base", (1, 2, 10, 100, 1_000, 10_000, 100_000, 500_000, 1_000_000), 10_000, key="base", bind="query-params"
    )
    if not 2 <= length <= LARGEST:
        st.warning(f"Choose 2 to {LARGEST} positions; {length:,} cannot be drawn here.", icon=icons.WARNING)
    elif d > LARGEST:
        st.warning(f"Choose at most {LARGEST} dimensions; {d:,} cannot be drawn here.", icon=icons.WARNING)
    else:
        waves = Waves(d=int(d), length=int(length), base=float(base))
        try:
            _wavelengths(waves)
        except ValueError as error:
            st.warning(markdown.plain(str(error)), icon=icons.WARNING)
            return None
        return waves
    return None
