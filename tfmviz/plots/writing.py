"""Figures of the page on which the model writes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfmviz.plots.bars import bar_chart
from tfmviz.plots.cells import Axis, Cells, Form, Frame, Scale, masked, of_tokens, probability, share
from tfmviz.plots.charts import Chart
from tfmviz.plots.lines import DASHES, Axes, Line, Stroke, line_chart
from tfmviz.plots.theme import Theme
from tfmviz.record.trace import Array
from tfmviz.words.labels import visible
from tfmviz.words.numbers import decimal, in_bytes, per_cent

COMPUTED, REUSED = "computed in this step", "kept from before"


def attention_rows(
    pattern: Array, mask: Array, *, q_tokens: Sequence[str], k_tokens: Sequence[str], first: int, title: str
) -> Cells:
    """The last rows of a head's pattern, one for every word that was written.

    Args:
        pattern, mask: (q_len, k_len).
        first: the first row that is drawn.
    """
    rows = of_tokens("query", q_tokens)
    assert rows.names is not None
    assert rows.spoken is not None
    return Cells(
        matrices=masked([pattern[first:]], mask[first:]),
        rows=Axis(title="query", names=rows.names[first:], spoken=rows.spoken[first:]),
        columns=of_tokens("key", k_tokens),
        scale=share(),
        form=Form(digits=3),
        titles=(title,),
        row_height=26,
    )


def temperatures(p: Array, *, degrees: Sequence[float], entropies: Sequence[float], words: Sequence[str]) -> Cells:
    """The same distribution at several temperatures.

    Args:
        p: (temperature, word).
    """
    names = [f"T = {decimal(t, '.1f')}" for t in degrees]
    return Cells(
        matrices=p[None],
        rows=Axis(
            title="temperature",
            names=names,
            spoken=[f"{name}, entropy {decimal(h)} nats" for name, h in zip(names, entropies, strict=True)],
        ),
        columns=of_tokens("next token", words),
        scale=probability("probability"),
        form=Form(digits=1, percent=True),
        texts=[[per_cent(value) for value in row] for row in p.tolist()],
        row_height=28,
    )


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


def cache_steps(read: Array, *, tokens: Sequence[str]) -> Cells:
    """Which keys and values every step computes, and which it finds in the cache.

    Args:
        read: (step, token): 1 computed, 0 kept from before, NaN not there yet.
    """
    return Cells(
        matrices=read[None],
        rows=Axis(title="step"),
        columns=of_tokens("token", tokens),
        scale=Scale(colours="norms", low=-0.6, high=1),
        form=Form(words=("computed or kept", "not there yet")),
        notes=[[COMPUTED if v == 1 else REUSED if v == 0 else "" for v in row] for row in read.tolist()],
        row_height=22,
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


def gaps(shares: Array, *, words: Sequence[Sequence[str]], order: Sequence[int]) -> Cells:
    """The best word for every gap in every round; a frame marks the gap that is filled.

    Args:
        shares: (round, gap), probabilities; NaN where a gap is filled already.
        words: for each round and gap.
        order: the gap that is filled in each round.
    """
    n_rounds, n_gaps = shares.shape
    return Cells(
        matrices=shares[None],
        rows=Axis(title="round", names=[str(n + 1) for n in range(n_rounds)]),
        columns=Axis(title="gap", names=[str(n + 1) for n in range(n_gaps)]),
        scale=probability("probability of the best word"),
        form=Form(digits=1, percent=True),
        texts=words,
        notes=[[f"“{word}”" for word in row] for row in words],
        frames=tuple(Frame(top=n, left=gap, bottom=n + 1, right=gap + 1) for n, gap in enumerate(order)),
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
