"""Figures of the page from windows to attention."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np

from tfmviz.plots import cells
from tfmviz.plots.cells import Axis, Cells, Form
from tfmviz.plots.charts import Chart
from tfmviz.plots.lines import Axes, line_chart, named_lines
from tfmviz.plots.theme import Theme
from tfmviz.record.trace import Array
from tfmviz.words.labels import visible, whole

UNIT_HEIGHT = 8
"""Pixels of a row that stands for one number of a state."""

IN_A_ROW = 32
"""Hidden units that stand side by side."""


def surprise(bits: Array, *, models: Sequence[str], tokens: Sequence[str], chosen: int) -> Cells:
    """−log₂ p of every token under every model.

    Args:
        bits: (model, token); NaN where there is no token yet.
        chosen: index of the token whose prediction is shown below.
    """
    return Cells(
        matrices=bits[None],
        rows=Axis(title="", names=models, spoken=[f"{model} model" for model in models]),
        columns=cells.of_tokens("token", tokens),
        scale=cells.amounts(bits, "surprise −log₂ p, bits"),
        form=Form(digits=1, unit=" bits"),
        texts=cells.written(bits, ".0f"),
        frames=cells.chosen_column(chosen, len(models)),
    )


def expected(p: Array, *, models: Sequence[str], words: Sequence[str]) -> Cells:
    """How probable each model calls some words.

    Args:
        p: (model, word).
    """
    return Cells(
        matrices=p[None],
        rows=Axis(title="", names=models, spoken=[f"{model} model" for model in models]),
        columns=cells.of_tokens("next token", words),
        scale=cells.probability("probability of the next token"),
        form=Form(digits=1, percent=True),
        texts=[[f"{100 * share:.0f}%" if share >= 0.005 else "·" for share in row] for row in p.tolist()],
    )


def curves(
    values: Mapping[str, tuple[Array, Array]],
    *,
    x: str,
    y: str,
    said: Callable[[str, float, float], str],
    theme: Theme,
    y_range: tuple[float, float] | None = None,
    log: bool = False,
    doubling: bool = False,
    height: int = 330,
    words: Mapping[str, str] | None = None,
) -> Chart:
    """A line for each of a few models or layers, with its name at its end.

    Args:
        values: x and y of each line. Where y is 0 there is no point if the axis counts in powers of ten.
        x, y: titles of the axes.
        log, doubling: see `Axes`.
        words: what stands at the ends of some lines, in place of their names.
        said: what a point says, from the line's name, x and y.
    """
    drawn = {
        name: (places[seen], heights[seen])
        for name, (places, heights) in values.items()
        if (seen := (heights > 0) | (not log)).any()
    }
    lines = named_lines(drawn, said, theme=theme, dot=70)
    axes = Axes(x=x, y=y, height=height, log=log, doubling=doubling)
    at_ends = [(words or {}).get(name, name) for name in drawn]
    return line_chart(lines, axes, theme=theme, y_range=y_range, words=at_ends)


def units(values: Array, *, tokens: Sequence[str], numbers: Sequence[int], kind: Literal["signed", "share"]) -> Cells:
    """What some numbers of a state or gate are at every token.

    Args:
        values: (unit, token).
        numbers: of the units.
        kind: signed values between −1 and 1, or shares between 0 and 1.
    """
    scale = cells.signed(values, "value", limit=1.0) if kind == "signed" else cells.share("how far the gate is open")
    return Cells(
        matrices=values[None],
        rows=Axis(title="unit", names=(), spoken=[f"unit {number}" for number in numbers]),
        columns=cells.of_tokens("token", tokens),
        scale=scale,
        form=Form(digits=2, sign=kind == "signed"),
        row_height=UNIT_HEIGHT,
    )


def hidden(h: Array, *, chosen: int) -> Cells:
    """The hidden units of a window network, row by row.

    Args:
        h: (unit,), between −1 and 1.
        chosen: the unit that is framed.
    """
    width = min(IN_A_ROW, len(h))
    rows = -(-len(h) // width)
    values = np.full(rows * width, np.nan)
    values[: len(h)] = h
    return Cells(
        matrices=values.reshape(1, rows, width),
        rows=Axis(title="", names=(), spoken=[f"unit {width * row} + …" for row in range(rows)]),
        columns=Axis(title="", names=(), spoken=[str(column) for column in range(width)]),
        scale=cells.signed(h, "h = tanh(W e + b₁)", limit=1.0),
        form=Form(digits=2, sign=True),
        notes=[[f"unit {width * row + column}" for column in range(width)] for row in range(rows)],
        frames=cells.chosen_cell((chosen // width, chosen % width)),
        row_height=18,
    )


def window(e: Array, *, tokens: Sequence[str], chosen: int) -> Cells:
    """The vectors in the window, one below the other.

    Args:
        e: (place, d_model).
        tokens: one per place, "" where there is none.
        chosen: the place that is framed.
    """
    return Cells(
        matrices=e[None],
        rows=_places(tokens),
        columns=Axis(title="coordinate of the vector", names=()),
        scale=cells.signed(e, "e = [e₁; …; eₙ]"),
        form=Form(digits=2, sign=True),
        frames=(cells.Frame(top=chosen, left=0, bottom=chosen + 1, right=e.shape[1]),),
        row_height=22,
    )


def block(W: Array, *, place: int, unit: int) -> Cells:
    """The columns of W that belong to one place.

    Args:
        W: (d_hidden, d_model).
        unit: the row that is framed.
    """
    return Cells(
        matrices=W[None],
        rows=Axis(title="unit", names=()),
        columns=Axis(title="coordinate of the vector", names=()),
        scale=cells.signed(W, f"W of place {place + 1}", root=True),
        form=Form(digits=2, sign=True),
        frames=(cells.Frame(top=unit, left=0, bottom=unit + 1, right=W.shape[1]),),
        row_height=1,
    )


def _places(tokens: Sequence[str]) -> Axis:
    return Axis(
        title="",
        names=[f"{place}  {visible(token)}" if token else f"{place}  –" for place, token in enumerate(tokens, 1)],
        spoken=[f"place {n} “{whole(token)}”" if token else f"place {n}, empty" for n, token in enumerate(tokens, 1)],
    )


def steps(numbers: Array, *, tokens: Sequence[str], title: str, most: int, blind: Sequence[int] = ()) -> Cells:
    """The number of steps before each value is there, the last layer on top.

    Args:
        numbers: (layer, token).
        most: end of the scale, the same for all kinds of layers.
        blind: columns whose last layer does not see the first token: grey.
    """
    n_layers = len(numbers)
    upside_down = numbers[::-1].astype(float)
    coloured = upside_down.copy()
    coloured[0, list(blind)] = np.nan
    notes = [["" for _ in tokens] for _ in range(n_layers)]
    for column in blind:
        notes[0][column] = f"known after step {numbers[-1, column]}; does not see the first token"
    return Cells(
        matrices=coloured[None],
        rows=Axis(title="", names=[f"layer {layer}" for layer in range(n_layers, 0, -1)]),
        columns=cells.of_tokens("token", tokens),
        scale=cells.Scale(colours="norms", low=0, high=most, title=title, ticks="whole"),
        form=Form(name="there after step ", digits=0),
        texts=cells.written(upside_down, ".0f"),
        notes=notes,
        row_height=26,
    )


def reached(moved: Array, *, tokens: Sequence[str], layers: Sequence[str], chosen: int) -> Cells:
    """How far every state moves when one token is another, the last layer on top; states that stay are grey.

    Args:
        moved: (layer, token), ‖Δh‖ / ‖h‖.
        chosen: the token that changes.
    """
    upside_down = moved[::-1]
    return Cells(
        matrices=np.where(upside_down > 0, upside_down, np.nan)[None],
        rows=Axis(title="", names=layers[::-1]),
        columns=cells.of_tokens("token", tokens),
        scale=cells.amounts(moved, "‖Δh‖ / ‖h‖", ticks="per cent"),
        form=Form(name="moves by ", digits=0, percent=True),
        texts=cells.written(100 * upside_down, ".0f"),
        frames=cells.chosen_column(chosen, len(layers)),
        row_height=42,
    )


def languages(french: Array, *, tokens: Sequence[str], readers: Sequence[str]) -> Cells:
    """How probable French is at every token.

    Args:
        french: (reader, token), P(French) = 1 - P(English).
        readers: what each row reads from.
    """
    return Cells(
        matrices=french[None],
        rows=Axis(title="", names=readers, spoken=readers),
        columns=cells.of_tokens("token", tokens),
        scale=cells.Scale(colours="probability", low=0, high=1, title="P(French)", ticks="per cent"),
        form=Form(name="P(French) = ", digits=1, percent=True),
        texts=cells.written(100 * french, ".0f"),
        row_height=42,
    )
