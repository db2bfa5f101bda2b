"""Every kind of small chart, made of a text and of numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tfmviz.plots import (
    attribution,
    compare,
    damage,
    normalisation,
    positions,
    residual,
    size,
    steps,
    stream,
)
from tfmviz.plots.bars import bar_chart, of_signs
from tfmviz.plots.charts import Chart
from tfmviz.plots.lines import DASHES, Axes, Line, Stroke, curves, growth, line_chart, over
from tfmviz.plots.pairs import pairs
from tfmviz.plots.theme import Theme
from tfmviz.record.trace import Array


@dataclass(frozen=True)
class Sentence:
    """Seven tokens, and numbers that differ from one sentence to another, some of them negative."""

    tokens: Sequence[str]
    seed: int

    def numbers(self, *shape: int) -> Array:
        return np.random.default_rng(self.seed).standard_normal(shape)

    def shares(self, *shape: int) -> Array:
        powers = np.exp(self.numbers(*shape))
        return powers / powers.sum(axis=-1, keepdims=True)


# Repeated tokens, a number, markup, white space, and words that mean something in an expression.
ODD = Sentence(("7", "datum.evil']", " the", "<img src=x>", " the", "\n", "老王 🙂"), seed=5)
PLAIN = Sentence(("one", "two", "three", "four", "five", "six", "seven"), seed=7)

STAGES = ("embedding", "after layer 0", "after layer 1")
KINDS = ("embedding", "head", "head", "bias", "MLP", "norm", "position")
ROWS = ("embedding", "attention", "attention", "attention", "MLP", "norm", "norm")
SIGNS = np.array([1.0, -1, 1, -1, 1, -1, 1])


def _losses(theme: Theme, s: Sentence) -> Chart:
    curves = [
        compare.Curve(name="short", x=np.arange(5.0), y=s.shares(5), role="other"),
        compare.Curve(name="long", x=np.arange(11.0), y=s.shares(11), role="left"),
    ]
    return compare.losses(curves, trained=5, theme=theme)


def _strokes(theme: Theme, s: Sentence) -> Chart:
    x, said = np.arange(7.0), "{:g}: {:.2f}".format
    drawn = [
        Line("a", x, s.numbers(7), Stroke(theme.text, dot=40), said, (np.linspace(0, 6, 13), s.numbers(13))),
        Line("b", x, s.numbers(7), Stroke(theme.plain, width=0, dot=40), said),
        Line("c", x, s.numbers(7), Stroke(theme.plain, DASHES[1]), said),
    ]
    return line_chart(drawn, Axes("x", "y"), marked=[(1, "wall")], y_range=(-1, 1), theme=theme)


def _bars(theme: Theme, s: Sentence) -> Chart:
    values = s.shares(7) * SIGNS
    words = [f"{value:.2f}" for value in values]
    return bar_chart(s.tokens, values, "x", words=words, colours=of_signs(values, theme), theme=theme)


CHARTS: dict[str, Callable[[Theme, Sentence], Chart]] = {
    "pairs": lambda theme, s: pairs(s.tokens, *s.shares(2, 7), series=("a", "b"), title="x", theme=theme),
    "pairs in per cent": lambda theme, s: pairs(
        s.tokens, *s.shares(2, 7), series=("a", "b"), title="x", percent=True, theme=theme
    ),
    "growth of costs": lambda theme, s: growth(
        {"a": (2.0 ** np.arange(7), s.shares(7)), "b": (2.0 ** np.arange(7), np.r_[np.nan, s.shares(6)])},
        Axes("tokens", "seconds"),
        str,
        marked=[(5.0, "here")],
        theme=theme,
    ),
    "areas": lambda theme, s: size.areas(
        {
            part: int(1e9 * share)
            for part, share in zip([*size.BLOCKS, "embedding", "output", "x"], s.shares(7), strict=True)
        },
        theme=theme,
    ),
    "histogram": lambda theme, s: steps.histogram(np.arange(7.0), *s.shares(2, 7), theme=theme),
    "bars": _bars,
    "looked": lambda theme, s: attribution.looks(s.shares(7), s.numbers(7), tokens=s.tokens, title="x", theme=theme)[0],
    "wrote": lambda theme, s: attribution.looks(s.shares(7), s.numbers(7), tokens=s.tokens, title="x", theme=theme)[1],
    "writes": lambda theme, s: residual.writes(*s.shares(3, 7), theme=theme),
    "lines": lambda theme, s: over(
        np.arange(7), dict(zip("abcde", s.numbers(5, 7), strict=True)), Axes("x", "y"), theme=theme
    ),
    "lines in powers of ten": lambda theme, s: over(
        np.arange(7), {"a": s.shares(7)}, Axes("x", "y", log=True), mark=(1, "here"), theme=theme
    ),
    "lines of powers": lambda theme, s: curves(
        {"a": (2.0 ** np.arange(7), s.shares(7)), "b": (2.0 ** np.arange(7), s.shares(7))},
        Axes("x", "y", power_law=True),
        "{} {:g} {:.2f}".format,
        theme=theme,
    ),
    "many points": lambda theme, s: over(np.arange(1025), {"a": s.numbers(1025)}, Axes("x", "y"), theme=theme),
    "strokes": _strokes,
    "moving": lambda theme, s: compare.moving(
        [compare.Curve(name="a", x=np.arange(7), y=s.numbers(7), role="left")], theme=theme
    ),
    "losses": _losses,
    "growth": lambda theme, s: stream.growth(s.shares(3, 7), stages=STAGES, tokens=s.tokens, position=3, theme=theme),
    "circle": lambda theme, s: positions.circle(s.shares(7, 2), start=0, shift=1, theme=theme),
    "path": lambda theme, s: positions.path(s.numbers(7, 3), shares=np.array([0.5, 0.25]), theme=theme),
    "rulers": lambda theme, s: positions.rulers(
        [s.tokens, s.tokens[:3]], [np.linspace(0, 1, 7), np.linspace(0, 1, 3)], theme=theme
    ),
    "against": lambda theme, s: damage.against(
        s.shares(7), s.numbers(7), names=s.tokens, off=[1], title="lost", theme=theme
    ),
    "points": lambda theme, s: normalisation.points(
        s.numbers(7, 2), names=s.tokens, link=(0, 1), titles=("a", "b"), theme=theme
    ),
    "spread": lambda theme, s: normalisation.spread(
        np.sort(s.numbers(7, 5)), names=s.tokens, title="γ", usual=1, theme=theme
    ),
    "waterfall": lambda theme, s: stream.waterfall(
        s.shares(7) * SIGNS, kinds=KINDS, names=s.tokens, steps=ROWS, theme=theme
    ),
    "sizes": lambda theme, s: stream.sizes(s.shares(7), s.shares(7), kinds=KINDS, names=s.tokens, theme=theme),
}
