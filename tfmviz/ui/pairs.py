"""Two numbers for every token as bars, and the same in words."""

from __future__ import annotations

from collections.abc import Sequence

from tfmviz.plots.pairs import pairs
from tfmviz.record.trace import Array
from tfmviz.ui.figures import show, theme
from tfmviz.words.labels import quoted


def show_both(
    tokens: Sequence[str],
    one: Array,
    other: Array,
    *,
    series: tuple[str, str],
    title: str,
    key: str,
    token_title: str = "key",
    percent: bool = False,
    names: Sequence[str] | None = None,
    alt: str = "",
) -> None:
    """Draws `plots.pairs.pairs`.

    Args:
        names: as there.
        alt: in place of all numbers, for who cannot see them.
    """
    form = ".2%" if percent else ".3g"
    names = names or quoted(tokens)
    said = (f"{name} {a:{form}} → {b:{form}}" for name, a, b in zip(names, one, other, strict=True))
    chart = pairs(
        tokens,
        one,
        other,
        series=series,
        title=title,
        token_title=token_title,
        percent=percent,
        names=names,
        theme=theme(),
    )
    show(key, chart, alt=alt or f"{' → '.join(series)}: {'; '.join(said)}")
