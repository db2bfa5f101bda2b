"""Figures of the page on which the model writes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfmviz.plots.bars import bar_chart
from tfmviz.plots.charts import Chart
from tfmviz.plots.lines import DASHES, Axes, Line, Stroke, line_chart
from tfmviz.plots.theme import Theme
from tfmviz.record.trace import Array
from tfmviz.words.labels import visible
from tfmviz.words.numbers import in_bytes, per_cent


def fan(texts: Sequence[str], surprise: Array, greedy: Array, *, theme: Theme) -> Chart:
    """Continuations as lines: how much their words surprise the model, added up word by word.

    Args:
        surprise: (text, word), sums of −log p in nats; NaN after the end of a text.
        greedy: (word,), the same for the greedy text.
    """
    steps = np.arange(surprise.shape[1] + 1.0)

    def line(name: str, text: str, y: Array, stroke: Stroke) -> Line:
        said = f"{name} “{visible_text(text)}”"
        at = np.concatenate(([0.0], y))
        x = steps[: len(at)]
        return Line(name=name, x=x, y=at, stroke=stroke, said=lambda n, v: f"{said}, {n:.0f} words: {v:.1f}")

    thin = Stroke(colour=theme.plain, width=1.0)
    lines = [line("drawn", text, y, thin) for text, y in zip(texts, surprise, strict=True)]
    lines.append(line("greedy", "", greedy, Stroke(colour=theme.text, dash=DASHES[1], width=4)))
    axes = Axes(x="words written", y="−log p of the text, nats", height=320, legend=False)
    return line_chart(lines, axes, theme=theme)


def visible_text(text: str) -> str:
    """The beginning of a text, for the pointer."""
    shown = "".join(visible(character) if character in "\n\t" else character for character in text)
    return shown if len(shown) <= 60 else f"{shown[:59]}…"


def repetition(names: Sequence[str], shares: Array, *, theme: Theme) -> Chart:
    """How much each way of writing repeats itself: shares of 4-grams."""
    return bar_chart(
        names,
        shares,
        roles=["share"] * len(names),
        colours=(("share", theme.plain),),
        words=[per_cent(share) for share in shares],
        said=[f"{name}: {per_cent(share)}" for name, share in zip(names, shares, strict=True)],
        title="share of repeated 4-grams",
        room=1.2,
        theme=theme,
    )


def cache_sizes(names: Sequence[str], sizes: Sequence[int], *, chosen: int, title: str, theme: Theme) -> Chart:
    """Bytes of the cache by kind of attention; the chosen kind is filled with ink."""
    return bar_chart(
        names,
        np.array(sizes) / 2**20,
        roles=["chosen" if n == chosen else "other" for n in range(len(names))],
        colours=(("chosen", theme.text), ("other", theme.plain)),
        words=[in_bytes(size) for size in sizes],
        said=[f"{name}: {in_bytes(size)}" for name, size in zip(names, sizes, strict=True)],
        title=title,
        room=1.2,
        theme=theme,
    )


def cost(lengths: Array, without: Array, with_cache: Array, *, title: str, theme: Theme) -> Chart:
    """Two costs of a step against the length of the text, on a scale of powers of ten."""

    def line(name: str, y: Array, stroke: Stroke) -> Line:
        return Line(name=name, x=lengths, y=y, stroke=stroke, said=lambda x, v: f"{name}, {x:.0f} tokens: {v:.3g}")

    lines = [
        line("without cache", without, Stroke(colour=theme.text, dash=DASHES[1], dot=50)),
        line("with cache", with_cache, Stroke(colour=theme.plain, dot=50)),
    ]
    return line_chart(lines, Axes(x="tokens of the text", y=title, height=280, log=True), theme=theme)
