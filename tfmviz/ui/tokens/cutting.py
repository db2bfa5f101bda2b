from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis.side_by_side import pair_tokens
from tfmviz.counting.words import words_of
from tfmviz.paths import PROJECT
from tfmviz.plots.lines import Axes
from tfmviz.record.model import Tokens
from tfmviz.record.trace import Encoding
from tfmviz.text import bpe
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.ui import head_comparison as both
from tfmviz.ui import inputs, lesson, tokens
from tfmviz.ui.boxes import box, boxes, ids_of, n_words, show_boxes, written
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import result, show_curves
from tfmviz.ui.head_comparison import HeadComparison
from tfmviz.ui.lesson import PageContext
from tfmviz.views.pieces import Piece, Row
from tfmviz.words.numbers import counted, decimal

HARD = {
    "a long word": "antidisestablishmentarianism",
    "an invented word": "flibbertigloo",
    "a number": "in 1984",
    "a price": "$3.14159",
    "Chinese": "我爱北京",
    "French": "Où est-il, le naïf ?",
    "emoji": "😀 👩‍🚀",
    "a program": "for (i = 0; i < n; i++)",
}

MEASURED = ("english.txt", "french.txt")
"""Files of `assets/texts/`."""

SIZES = 60
"""Points of the chart."""


def four_ways(ctx: PageContext) -> None:
    text, tokenizer = ctx.text, ctx.model.tokenizer
    characters = [Piece(written(character)) for character in text]
    single = [
        Piece(written(character)) if byte < 128 else Piece(f"{byte:02X}", kind="part")
        for character in text
        for byte in character.encode()
    ]
    words = [Piece(written(text[word.start : word.end])) for word in words_of(text)]
    tokens = boxes(tokenizer, text)
    rows = [
        Row("characters", counted(len(characters), "character"), characters),
        Row("bytes (UTF-8)", counted(len(single), "byte"), single),
        Row("words and punctuation", counted(len(words), "word"), words),
        Row(f"tokens of {ctx.model.name}", counted(len(tokens), "token"), tokens),
    ]
    show_boxes(rows, key="four_ways", caption="", titles=("cut into", "how many", "the pieces"))
    st.markdown(
        "**Characters** and **bytes** need a small vocabulary but make long sequences: bytes cost "
        f"{decimal((len(single) / max(len(tokens), 1)) ** 2, '.1f')} times as many attention scores as tokens "
        f"here. **Words** give short sequences, but any word missing from the vocabulary is lost. {_between(tokenizer)}"
    )


def _between(tokenizer: Tokens) -> str:
    if isinstance(tokenizer, Tokenizer) and not tokenizer.ranks:
        return f"This model's **tokens** are bytes and special tokens, {len(tokenizer.vocabulary):,} in all: no merges."
    size = f"{len(tokenizer.vocabulary):,}"
    return f"**Subword tokens** are the compromise: a frequent word is one of {size} entries, a rare one several."


def numbers(ctx: PageContext) -> None:
    """Bytes and ids; special tokens as such or as text."""
    tokenizer = ctx.model.tokenizer
    marks = tokenizer.special_tokens
    with lesson.control_row("numbers"):
        read = inputs.segmented_control("A typed special token is", ("text", "a mark"), key="marks_are")
    as_marks = read == "a mark"
    rows = [_numbered(tokenizer, "your text", ctx.text, as_marks=as_marks)]
    if marks and not any(mark in ctx.text for mark in marks):
        rows.append(_numbered(tokenizer, "a text with a special token", f"One.{marks[0]}Two.", as_marks=as_marks))
    show_boxes(rows, key="numbers", caption="", titles=("text", "tokens", "the piece, its bytes, its index"))
    named = ", ".join(f"`{mark}`" for mark in marks) if 0 < len(marks) < 6 else f"{len(marks)} in all"
    used = "where a text ends" if len(marks) == 1 else "where a text begins or ends, padding, a gap"
    gap = " Exactly three underscores stand for the gap." if tokenizer.marks.mask else ""
    entries = f"The vocabulary has {len(tokenizer.vocabulary):,} entries."
    result(f"{entries} **Special tokens** ({named}) mark, say, {used}.{gap}")


def _numbered(tokenizer: Tokens, name: str, text: str, *, as_marks: bool) -> Row:
    ids = tokenizer.ids_with_marks(text) if as_marks else ids_of(tokenizer, text)
    found = []
    for index in ids:
        entry = tokenizer.vocabulary[index]
        if as_marks and entry in tokenizer.special_tokens:
            found.append(Piece(entry, ("special", str(index)), "mark"))
            continue
        raw = tokenizer.bytes_of(index) if isinstance(tokenizer, Tokenizer) else None
        found.append(box(entry, (raw.hex(" ").upper(), str(index)) if raw else (str(index),)))
    return Row(name, str(len(ids)), found)


def hard_words(ctx: PageContext) -> None:
    rows = []
    for name, text in HARD.items():
        found = boxes(ctx.model.tokenizer, text)
        rows.append(Row(name, f"{len(found)} for {counted(len(text), 'character')}", found))
    show_boxes(rows, key="hard_words", caption="", titles=("what", "tokens", "the pieces"))
    st.markdown(
        "Dashed boxes are single bytes. With bytes, nothing is unknown, but rare text is "
        f"expensive.{_of_digits(ctx.model.tokenizer)}"
    )


def _of_digits(tokenizer: Tokens) -> str:
    entries = [tokenizer.vocabulary[index] for index in ids_of(tokenizer, HARD["a number"])]
    if len({n for entry in entries if (n := sum(character.isdigit() for character in entry))}) < 2:
        return ""
    return " Numbers are cut without regard to their value."


def vocabularies(ctx: PageContext) -> None:
    rows = []
    for names, tokenizer in sorted(_vocabularies(zoo.available()).items(), key=lambda one: len(one[1].vocabulary)):
        first, *others = names
        found = boxes(tokenizer, ctx.text)
        name = f"{first} and {len(others)} more" if others else first
        rows.append(Row(name, f"{len(tokenizer.vocabulary):,} entries: {counted(len(found), 'token')}", found))
    show_boxes(rows, key="vocabularies", caption="", titles=("model", "its vocabulary", "the pieces"))
    if (model := tokens.model_with_merges(ctx)) is None:
        return
    tokenizer = model.tokenizer
    merges = len(tokenizer.ranks or {})
    steps = np.unique(np.linspace(0, merges, SIZES).astype(int))
    fertility = {"your text": _per_word(tokenizer, ctx.text, tuple(steps.tolist()))}
    for name in MEASURED:
        fertility[name.removesuffix(".txt").capitalize()] = _of_file(tokenizer, name, tuple(steps.tolist()))
    sizes = (len(tokenizer.vocabulary) - merges + steps).astype(float)
    title = "How many tokens does a word take with only the list's first merges?"
    points = {name: (sizes, values) for name, values in fertility.items()}
    top = max(float(values.max()) for values in fertility.values())
    tooltips = "{}, {:,.0f} entries: {:.2f} tokens per word".format
    axes = Axes("vocabulary size", "tokens per word", 320)
    show_curves("fertility", points, axes, tooltips, dot=0, y_range=(0.0, top), title=title)


@cached_for_all
def _vocabularies(_names: tuple[str, ...]) -> Mapping[tuple[str, ...], Tokens]:
    return zoo.vocabularies()


@cached_for_all
def _of_file(tokenizer: Tokens, name: str, steps: tuple[int, ...]) -> np.ndarray:
    return _per_word(tokenizer, (PROJECT / "assets" / "texts" / name).read_text(encoding="utf-8"), steps)


def _per_word(tokenizer: Tokens, text: str, steps: tuple[int, ...]) -> np.ndarray:
    ranks = tokenizer.ranks
    assert ranks is not None
    return np.array(bpe.tokens_by_merges(bpe.count_words(text), ranks, steps)) / n_words(text)


def apart(compared: HeadComparison) -> None:
    cuts = [_of_the_text(side.model.encode(side.text)) for side in compared.lessons]
    pairing = pair_tokens(*cuts)
    shared = [{pair[side] for pair in pairing.pairs} for side in (0, 1)]
    same = len(pairing.pairs)
    of_each = (f"{n} has {_length(cut)}" for n, cut in zip("AB", cuts, strict=True))
    shares = "all" if same == len(pairing.order) else same or "none"
    st.markdown(f"{', '.join(of_each)}. They share {shares}.")
    pieces = [
        [_marked(side, index, is_shared=n in known) for n, index in enumerate(cut.ids)]
        for side, cut, known in zip(compared.lessons, cuts, shared, strict=True)
    ]
    both.show_rows(compared.titles, [counted(len(cut), "token") for cut in cuts], pieces, "the tokens")


def _marked(side: PageContext, index: int, *, is_shared: bool) -> Piece:
    piece = box(side.model.vocabulary[index])
    return piece if is_shared else replace(piece, kind="only")


def _of_the_text(cut: Encoding) -> Encoding:
    kept = [n for n, (start, end) in enumerate(cut.offsets) if start < end]
    return replace(
        cut,
        ids=tuple(cut.ids[n] for n in kept),
        tokens=tuple(cut.tokens[n] for n in kept),
        offsets=tuple(cut.offsets[n] for n in kept),
    )


def _length(cut: Encoding) -> str:
    end = max((end for _, end in cut.offsets), default=0)
    return f"{counted(len(cut), 'token')} of {decimal(end / max(len(cut), 1), '.1f')} characters on average"
