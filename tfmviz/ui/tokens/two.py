"""How two texts are cut, or one text by two models: two rows of tokens, with what only one of them has."""

from __future__ import annotations

from dataclasses import replace

from tfmviz.analysis.side_by_side import pair_tokens
from tfmviz.record.trace import Encoding
from tfmviz.ui import beside
from tfmviz.ui import sides as both
from tfmviz.ui.beside import What
from tfmviz.ui.boxes import box
from tfmviz.ui.figures import result
from tfmviz.ui.lesson import Lesson
from tfmviz.views.pieces import Piece
from tfmviz.words.numbers import counted, decimal

OPTIONS: tuple[What, ...] = ("another sentence", "another model")


def side_by_side(here: Lesson, there: Lesson) -> None:
    """The two rows, and how long their tokens are."""
    cuts = [_of_the_text(side.model.encode(side.text)) for side in (here, there)]
    pairing = pair_tokens(*cuts)
    shared = [{pair[side] for pair in pairing.pairs} for side in (0, 1)]
    same = len(pairing.pairs)
    of_each = (f"{n} has {_length(cut)}" for n, cut in zip("AB", cuts, strict=True))
    shares = "all" if same == len(pairing.order) else same or "none"
    result(f"{', '.join(of_each)}. They share {shares}.")
    pieces = [
        [_box(side, index, is_shared=n in known) for n, index in enumerate(cut.ids)]
        for side, cut, known in zip((here, there), cuts, shared, strict=True)
    ]
    both.show_rows(beside.titles(here, there), [counted(len(cut), "token") for cut in cuts], pieces, "the tokens")


def _box(side: Lesson, index: int, *, is_shared: bool) -> Piece:
    piece = box(side.model.vocabulary[index])
    return piece if is_shared else replace(piece, kind="only")


def _of_the_text(cut: Encoding) -> Encoding:
    """The tokens without the marks that a model adds."""
    kept = [n for n, (start, end) in enumerate(cut.offsets) if start < end]
    return replace(
        cut,
        ids=tuple(cut.ids[n] for n in kept),
        tokens=tuple(cut.tokens[n] for n in kept),
        offsets=tuple(cut.offsets[n] for n in kept),
    )


def _length(cut: Encoding) -> str:
    """How many tokens, and how many characters each has on average."""
    end = max((end for _, end in cut.offsets), default=0)
    return f"{counted(len(cut), 'token')} of {decimal(end / max(len(cut), 1), '.1f')} characters on average"
