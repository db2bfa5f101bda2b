"""Figures of the page about tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from tfmviz.plots import alt
from tfmviz.plots.bars import bar_chart
from tfmviz.plots.cells import Axis, Cells, Form, Frame, signed
from tfmviz.plots.charts import FEW, Chart, Columns, Spec, hover, number, reach, role, rows, specification
from tfmviz.plots.lines import Axes, line_chart, named_lines
from tfmviz.plots.theme import Theme
from tfmviz.record.trace import Array
from tfmviz.words.labels import visible, whole
from tfmviz.words.numbers import decimal


def fertility(sizes: Array, per_word: Mapping[str, Array], *, theme: Theme) -> Chart:
    """Tokens per word against the size of the vocabulary, a line for each text.

    Args:
        sizes: (size,), entries of the vocabulary.
        per_word: (size,) for each text.
    """
    lines = named_lines(
        {name: (sizes, values) for name, values in per_word.items()},
        lambda name, size, value: f"{name}, {size:,.0f} entries: {value:.2f} tokens a word",
        theme=theme,
    )
    top = max(float(values.max()) for values in per_word.values())
    axes = Axes(x="entries of the vocabulary", y="tokens per word", height=320)
    return line_chart(lines, axes, theme=theme, y_range=(0.0, top), words=list(per_word))


def look_up(rows: Array, product: Array, *, names: Sequence[str], chosen: int) -> Cells:
    """Some rows of W_E, the chosen one framed, and below them the product of the one-hot vector with W_E.

    Args:
        rows: (row, number).
        product: (number,).
        chosen: which of the rows.
    """
    values = np.vstack([rows, product])
    n_rows, n_numbers = values.shape
    return Cells(
        matrices=values[None],
        rows=Axis(
            title="", names=[*names, "one-hot × W_E"], spoken=[*(f"row {name}" for name in names), "the product"]
        ),
        columns=Axis(title="number in the vector", spoken=[f"number {i}" for i in range(n_numbers)]),
        scale=signed(values, "value"),
        form=Form(sign=True),
        frames=(
            Frame(top=chosen, left=0, bottom=chosen + 1, right=n_numbers),
            Frame(top=n_rows - 1, left=0, bottom=n_rows - 1, right=n_numbers, colour="text"),
        ),
        row_height=30,
    )


def neighbours(tokens: Sequence[str], cosines: Array, *, theme: Theme) -> Chart:
    """The entries whose vectors point the most like another's, as bars from top to bottom."""
    names = [visible(token) for token in tokens]
    written = [decimal(value) for value in cosines]
    return bar_chart(
        names,
        cosines,
        roles=["bar"] * len(names),
        colours=(("bar", theme.plain),),
        words=written,
        said=[f"“{whole(token)}”: cosine {value}" for token, value in zip(tokens, written, strict=True)],
        title="cosine",
        room=1.15,
        theme=theme,
    )


def embedding_map(
    places: Array, *, words: Sequence[str], roles: Sequence[str], window: tuple[Array, Array], theme: Theme
) -> Chart:
    """Entries of a vocabulary as words on a plane; bold ones are the reader's.

    Args:
        places: (word, 2).
        roles: "text" for a word of the reader's text, "chosen" for the one they chose, "other" for all others.
        window: the lowest and the highest place that is shown, each (2,).
    """
    points: Columns = {
        "x": places[:, 0],
        "y": places[:, 1],
        "word": [visible(word) for word in words],
        "role": list(roles),
        "hover": [f"“{whole(word)}”" for word in words],
    }
    low, high = window
    return Chart(spec=_map(theme), data={"rows": points, "ends": {"x": [low[0], high[0]], "y": [low[1], high[1]]}})


@cache
def _map(theme: Theme) -> Spec:
    x, y = number(alt.X, "x", "component 1", axis=FEW), number(alt.Y, "y", "component 2", axis=FEW)
    colours = role("role", {"other": theme.text, "text": theme.vector, "chosen": theme.accent})
    word = rows().mark_text(fontWeight={"expr": "datum.role === 'other' ? 'normal' : 'bold'"})
    return specification(
        theme,
        reach(number(alt.X, "x", "component 1"), number(alt.Y, "y", "component 2")),
        word.encode(x=x, y=y, text=alt.Text("word:N"), color=colours, **hover()),
        height=520,
        says="Entries of the vocabulary on two principal components.",
    )
