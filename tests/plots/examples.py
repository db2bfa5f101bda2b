"""Every kind of small chart, made of a text and of numbers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tfmviz.plots import bars, columns, compare, dots, paths
from tfmviz.plots.bars import bar_chart, of_signs
from tfmviz.plots.charts import Chart
from tfmviz.plots.lines import DASHES, Axes, Line, Stroke, curves, growth, line_chart, over
from tfmviz.plots.pairs import pairs
from tfmviz.plots.theme import Theme
from tfmviz.record.trace import Array
from tfmviz.words.numbers import decimal


@dataclass(frozen=True)
class Sentence:
    """Seven tokens, and numbers that differ from one sentence to another, some of them negative."""

    tokens: Sequence[str]
    seed: int

    @property
    def tooltips(self) -> list[str]:
        return [f"{n} {token}" for n, token in enumerate(self.tokens)]

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
ROLES = ("text", "chosen", "near", "near", "other", "other", "other")
SIGNS = np.array([1.0, -1, 1, -1, 1, -1, 1])


def _losses(theme: Theme, s: Sentence) -> Chart:
    curves = [
        compare.Curve(name="short", x=np.arange(5.0), y=s.shares(5), role="other"),
        compare.Curve(name="long", x=np.arange(11.0), y=s.shares(11), role="left"),
    ]
    return compare.losses(curves, trained=5, theme=theme)


def _strokes(theme: Theme, s: Sentence) -> Chart:
    x, said = np.arange(7.0), lambda at, y: f"{at:g}: {decimal(y)}"
    drawn = [
        Line("a", x, s.numbers(7), Stroke(theme.text, dot=40), said, (np.linspace(0, 6, 13), s.numbers(13))),
        Line("b", x, s.numbers(7), Stroke(theme.plain, width=0, dot=40), said),
        Line("c", x, s.numbers(7), Stroke(theme.plain, DASHES[1]), said),
    ]
    return line_chart(drawn, Axes("x", "y"), marked=[(1, "wall")], y_range=(-1, 1), theme=theme)


def _bars(theme: Theme, s: Sentence) -> Chart:
    values = s.shares(7) * SIGNS
    words = [decimal(value) for value in values]
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
    "areas": lambda theme, s: bars.areas(
        {
            part: int(1e9 * share)
            for part, share in zip([*bars.BLOCKS, "embedding", "output", "x"], s.shares(7), strict=True)
        },
        theme=theme,
    ),
    "histogram": lambda theme, s: columns.histogram(np.arange(7.0), *s.shares(2, 7), theme=theme),
    "bars": _bars,
    "looked": lambda theme, s: columns.looks(s.shares(7), s.numbers(7), tokens=s.tokens, title="x", theme=theme)[0],
    "wrote": lambda theme, s: columns.looks(s.shares(7), s.numbers(7), tokens=s.tokens, title="x", theme=theme)[1],
    "writes": lambda theme, s: columns.writes(*s.shares(3, 7), theme=theme),
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
    "stages": lambda theme, s: paths.by_stage(s.shares(3, 7), stages=STAGES, tokens=s.tokens, position=3, theme=theme),
    "circle": lambda theme, s: dots.circle(s.shares(7, 2), start=0, shift=1, theme=theme),
    "path": lambda theme, s: dots.path(s.numbers(7, 3), titles=("a", "b"), theme=theme),
    "rulers": lambda theme, s: dots.rulers(
        [s.tokens, s.tokens[:3]], [np.linspace(0, 1, 7), np.linspace(0, 1, 3)], theme=theme
    ),
    "scatter": lambda theme, s: dots.scatter(
        s.shares(7), s.numbers(7), names=s.tokens, tooltips=s.tooltips, off=[1], title="lost", theme=theme
    ),
    "points": lambda theme, s: dots.on_one_scale(
        s.numbers(7, 2), names=s.tokens, tooltips=s.tooltips, link=(0, 1), titles=("a", "b"), theme=theme
    ),
    "boxes": lambda theme, s: columns.boxes(np.sort(s.numbers(7, 5)), names=s.tokens, title="γ", usual=1, theme=theme),
    "waterfall": lambda theme, s: bars.waterfall(
        s.shares(7) * SIGNS, kinds=KINDS, names=s.tokens, steps=ROWS, theme=theme
    ),
    "average": lambda theme, s: dots.average(
        s.numbers(7, 2),
        s.shares(7),
        np.zeros(2),
        around=(0, 1, 2),
        tokens=s.tokens,
        tooltips=[*s.tooltips, "8"],
        theme=theme,
    ),
    "map": lambda theme, s: dots.embedding_map(
        s.numbers(7, 2), tokens=s.tokens, roles=ROLES, window=(-np.ones(2), np.ones(2)), theme=theme
    ),
    "held out": lambda theme, s: dots.held_out(dict(zip("abcdefg", s.shares(7), strict=True)), bright="a", theme=theme),
    "seeds": lambda theme, s: dots.seeds(
        {"a": s.shares(3), "b": s.shares(3)}, dots.VERDICTS[:2], baseline=0.3, theme=theme
    ),
    "dropped": lambda theme, s: dots.dropped(s.tokens, s.tooltips, s.shares(3, 7), s.shares(7), theme=theme),
    "gradients": lambda theme, s: dots.gradients(s.tokens, {"a": s.shares(7), "b": s.shares(7)}, theme=theme),
    "routing": lambda theme, s: columns.routing(s.tokens, s.shares(2, 7, 3), theme=theme),
    "waves": lambda theme, s: paths.waves(s.numbers(7, 4), (1, 0), np.array([6.0, 60]), at=(1, 3), theme=theme),
    "bumps": lambda theme, s: paths.bumps(
        np.array([[0, 1], [1, 2], [4, 1]]), s.shares(3, 2), stages=STAGES, tokens=s.tokens, theme=theme
    ),
    "intervals": lambda theme, s: paths.against_length(
        {
            name: paths.Series(x=np.arange(7.0), values=np.sort(s.shares(7, 3))[:, [1, 0, 2]], tooltips=s.tooltips)
            for name in ("a", "b")
        },
        title="x",
        theme=theme,
    ),
    "descents": lambda theme, s: paths.descents(
        {"a": s.numbers(7, 2), "b": s.numbers(7, 2)}, [s.numbers(5, 2)], bright=0, reach=(9, 9), theme=theme
    ),
    "sizes": lambda theme, s: dots.sizes(s.shares(7), s.shares(7), kinds=KINDS, names=s.tokens, theme=theme),
}
