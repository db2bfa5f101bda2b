"""Figures of the page on efficient attention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tfmviz.plots.cells import Axis, Cells, Form, Frame, amounts, masked, of_tokens, share, signed, written
from tfmviz.plots.charts import Chart
from tfmviz.plots.lines import Axes, line_chart, named_lines
from tfmviz.plots.theme import Theme
from tfmviz.record.trace import Array
from tfmviz.words.numbers import per_cent


def beside(
    exact: Array,
    other: Array,
    allowed: Array,
    *,
    kept: Array | None = None,
    q_tokens: Sequence[str],
    k_tokens: Sequence[str],
    title: str,
) -> Cells:
    """Two patterns of one head, (q_len, k_len) each; grey where the model's mask is closed.

    Args:
        kept: (q_len, k_len), bool; the others are left out of the second pattern, and grey. None: all are kept.
    """
    left = other if kept is None else np.where(kept, other, -np.inf)
    values = masked([exact, left], allowed)
    return Cells(
        matrices=values,
        form=Form(absent=("masked", "left out")),
        rows=of_tokens("query", q_tokens),
        columns=of_tokens("key", k_tokens),
        scale=share(),
        titles=("exact", title),
        texts=written(np.concatenate(values), ".2f"),
        square=True,
        across=2,
    )


def left_of_each(pattern: Array, shares: Array, *, tokens: Sequence[str], titles: tuple[str, str]) -> Cells:
    """A pattern of attention beside what each token has left in a state, (len, len) each; grey is the future."""
    values = masked([pattern, shares], np.tri(len(shares), dtype=bool))
    return Cells(
        matrices=values,
        rows=of_tokens("after", tokens),
        columns=of_tokens("what is left of", tokens),
        scale=share("share"),
        titles=titles,
        texts=written(np.concatenate(values), ".2f"),
        square=True,
        across=2,
    )


def state(values: Array, *, tokens: Sequence[str], numbers: Sequence[str]) -> Cells:
    """Numbers of a state, (number, len), at each token."""
    return Cells(
        matrices=values[None],
        rows=Axis(title="half-life, tokens", names=numbers),
        columns=of_tokens("token", tokens),
        scale=signed(values, "state"),
        row_height=20,
    )


def running_state(states: Array, *, titles: Sequence[str]) -> Cells:
    """A running sum of φ(k) vᵀ after some tokens: (token, feature, d_head)."""
    return Cells(
        matrices=states,
        rows=Axis(title="feature of φ(k)"),
        columns=Axis(title="coordinate of v"),
        scale=signed(states, "Σ φ(k) vᵀ"),
        titles=tuple(titles),
        square=True,
    )


def random_features(counts: Sequence[int], errors: Mapping[str, Array], *, theme: Theme) -> Chart:
    """The attention that random features move elsewhere, by their number, on two scales of powers.

    Args:
        counts: of features, m.
        errors: the shares, (m,) for each head; the last gets 1/√m beside it, from its last point.
    """
    x = np.array(counts, float)
    last = list(errors.values())[-1]
    curves = {**errors, "1/√m": last[-1] * np.sqrt(x[-1] / x)}
    points = {name: (x, np.where(y > 0, y, np.nan)) for name, y in curves.items()}  # powers have no 0
    lines = named_lines(points, lambda name, m, y: f"{name}, {m:.0f} features: {per_cent(y)}", theme=theme, dot=50)
    axes = Axes(x="features m", y="share of attention moved to other keys", height=260, log=True, doubling=True)
    return line_chart(lines, axes, theme=theme, words=list(points))


def errors(x: Array, curves: Mapping[str, Array], *, title: str, theme: Theme) -> Chart:
    """Shares that are lost or kept, against a setting."""
    points = {name: (x, y) for name, y in curves.items()}
    lines = named_lines(points, lambda name, k, v: f"{name}, {title} {k:.0f}: {per_cent(v)}", theme=theme, dot=50)
    return line_chart(lines, Axes(x=title, y="share", height=260), theme=theme, y_range=(0.0, 1.0))


def by_position(curves: Mapping[str, tuple[Array, Array]], *, trained: int, theme: Theme) -> Chart:
    """The surprise by position, of several models that were trained on `trained` tokens at a time."""
    lines = named_lines(curves, lambda name, x, y: f"{name}, position {x:.0f}: {y:.3f} nats", theme=theme, dot=50)
    axes = Axes(x="position", y="surprise, nats", height=320)
    return line_chart(lines, axes, theme=theme, marked=[(trained - 0.5, f"trained on {trained} positions")])


def mixing(E: Array, *, k_tokens: Sequence[str]) -> Cells:
    """Which tokens each row of Linformer's projection mixes: (rows, k_len)."""
    return Cells(
        matrices=np.where(E > 0, E, 0.0)[None],
        rows=Axis(title="row"),
        columns=of_tokens("key", k_tokens),
        scale=share("share of the row"),
        row_height=24,
    )


def tiling(
    shares: Array, *, frame: tuple[slice, slice], q_tokens: Sequence[str], k_tokens: Sequence[str], title: str
) -> Cells:
    """What the tiles so far know of the pattern, (q_len, k_len); a frame around the last.

    Args:
        shares: NaN where the model's mask is closed, −∞ where no tile has been yet.
    """
    rows, columns = frame
    return Cells(
        matrices=shares[None],
        rows=of_tokens("query", q_tokens),
        columns=of_tokens("key", k_tokens),
        scale=share(title),
        form=Form(absent=("masked", "not read yet")),
        texts=written(shares, ".2f"),
        frames=(Frame(top=rows.start, left=columns.start, bottom=rows.stop, right=columns.stop),),
        square=True,
    )


def by_head(back: Sequence[Array], *, titles: Sequence[str]) -> Cells:
    """How many tokens back each head looks, of several models: each (layer, head)."""
    values = np.stack(back)
    return Cells(
        matrices=values,
        rows=Axis(title="layer"),
        columns=Axis(title="head"),
        scale=amounts(values, "tokens back"),
        form=Form(digits=1, unit=" tokens back"),
        titles=tuple(titles),
        across=2,
        row_height=34,
    )
