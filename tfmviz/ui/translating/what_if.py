from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis.side_by_side import pair_tokens
from tfmviz.record.decoding import BeamStep
from tfmviz.record.edits import Edit, Patch, SetMask
from tfmviz.record.model import Model
from tfmviz.record.trace import Trace
from tfmviz.ui import beams, icons, inputs, models, side, translating, url
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import result, show
from tfmviz.ui.lesson import PageContext, control_row
from tfmviz.views.beams import Node, Tree
from tfmviz.words import markdown
from tfmviz.words.labels import quoted
from tfmviz.words.numbers import decimal, per_cent

WINDOW = 6
"""The most steps of each tree that are drawn: two trees are side by side."""


def two_searches(ctx: PageContext, text: str, *, edits: tuple[Edit, ...], at: int | None, says: str) -> None:
    """The tree of the reader's source, and that of a changed source or a changed step.

    Args:
        text: the source of the second tree.
        edits, at: its changes; see `writing.search`.
        says: the change in words.
    """
    model, figure = ctx.model, st.container()
    with control_row("beams"):
        width, alpha = beams.ask()
        before = beams.found_by(model, ctx.text, width, alpha)
        after = beams.found_by(model, text, width, alpha, edits=edits, at=at)
        trees = [beams.nodes_of(found, width, model) for found in (before, after)]
        part = _where_they_part(*trees)
        first = _first_step(part, max(len(before), len(after)))
    both = figure.container(horizontal=True, key=side.key("trees"))
    for key, found, nodes in zip(("before", "after"), (before, after), trees, strict=True):
        with both.container():
            _tree(model, found, [node for node in nodes if first <= node.step < first + WINDOW], key=key)
    same = "The two trees are the same." if part is None else f"The trees have the same words up to step {part - 1}."
    if part == 1:
        same = "The trees differ from the first step."
    result(f"{says} {same} The best continuations are on top; grey ones were dropped.")


def _where_they_part(one: Sequence[Node], other: Sequence[Node]) -> int | None:
    a, b = ({(n.step, n.rank, n.parent, n.word, n.kind == "dropped") for n in tree} for tree in (one, other))
    return min((step for step, *_ in a ^ b), default=None)


def _first_step(part: int | None, n: int) -> int:
    """0 in the address is the step before the trees diverge."""
    last = n - WINDOW + 1
    if last < 2:
        return 1
    chosen = inputs.slider("From step", 0, last, 0, key="from", help="0: where the trees diverge")
    return chosen or min(max((part or 1) - 1, 1), last)


def _tree(model: Model, found: Sequence[BeamStep], nodes: list[Node], *, key: str) -> None:
    best = found[-1].complete[0]
    text = beams.text_of(model, best.ids)
    name = "As it is" if key == "before" else "With the change"
    show(
        f"tree_{key}",
        Tree(nodes=nodes),
        alt=f"{name}: the best text is {text}, score {best.score:.2f}, normalised {best.normalised:.2f}.",
    )
    scores = f"score {decimal(best.score)}, normalised {decimal(best.normalised, '.3f')}"
    st.markdown(f"{name}: “{markdown.plain(text)}” ({scores}).")


SWAP, CLOSE, DIRECT = "swap a word", "close a look", "direct a look"

MOST_LETTERS = 60

WORD = re.compile(r"\w(?:\S*\w)?")
"""A word of a source, without punctuation around it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Other:
    """The change.

    Attributes:
        text: the source to translate.
        step: of the translation, whose row of cross-attention is replaced; None: no row is.
        allowed: for each word of the source, whether the step may attend to it.
        weights: for each word of the source, its weight in the row; empty: the model's own.
        says: the change in words.
    """

    text: str
    step: int | None = None
    allowed: tuple[bool, ...] = ()
    weights: tuple[float, ...] = ()
    says: str = ""

    def edits(self, model: Model, *, q_len: int = 1) -> tuple[Edit, ...]:
        """The changed row in every layer: alone, or as one of `q_len` rows."""
        if self.step is None:
            return ()
        layers = [layer for layer in model.config.layers if layer.endswith("cross_attn")]
        if self.weights:
            position = None if q_len == 1 else self.step
            return tuple(Patch(site=f"{layer}.pattern", vector=self.weights, position=position) for layer in layers)
        whole = (True,) * len(self.allowed)
        mask = tuple(self.allowed if q_len == 1 or q == self.step else whole for q in range(q_len))
        return tuple(SetMask(layer=layer, mask=mask) for layer in layers)


def compare(ctx: PageContext) -> None:
    if (other := _ask(ctx)) is None:
        return
    after = _changed(ctx.model, other)
    assert ctx.trace.source is not None
    assert after.source is not None
    words = pair_tokens(ctx.trace.source, after.source)
    left, right = st.columns(2)
    with left:
        _draw(ctx, ctx.trace, words.places(0), len(words.order), key="as_it_was")
    with right:
        _draw(ctx, after, words.places(1), len(words.order), key="as_changed")
    before = ctx.model.tokenizer.decode(ctx.trace.target.ids[1:])
    now = ctx.model.tokenizer.decode(after.target.ids[1:])
    verdict = "The translation is the same." if before == now else "The translation changes."
    result(
        f"{other.says} Before: “{markdown.plain(before.strip())}”. After: “{markdown.plain(now.strip())}”. {verdict} "
        f"Both pictures show the mean over the heads of layer {ctx.choice.layer_index}."
    )


def two_trees(ctx: PageContext) -> None:
    if other := _ask(ctx):
        two_searches(ctx, other.text, edits=other.edits(ctx.model), at=other.step, says=other.says)


def _ask(ctx: PageContext) -> Other | None:
    with control_row("what-if"):
        how = inputs.segmented_control("Change", (SWAP, CLOSE, DIRECT), key="change")
        other = _edited(ctx, how) if how in (CLOSE, DIRECT) else _swapped(ctx)
    if other is None:
        st.info("There is nothing to change: the source has one word.", icon=icons.INFO)
    return other


def _swapped(ctx: PageContext) -> Other | None:
    if not (found := list(WORD.finditer(ctx.text))):
        return None
    words = [word[0][:MOST_LETTERS] for word in found]
    n = _place("Word", words, key="swapped", first=len(words) - 1)
    new = inputs.text_input("becomes", "", key="becomes", max_chars=MOST_LETTERS, placeholder="nothing")
    text = with_word(ctx.text, found[n], new := " ".join(new.split()))
    if not ctx.model.encode(text).ids:
        return None
    old, put = markdown.plain(quoted(words, of="word")[n]), markdown.plain(new)
    return Other(text=text, says=f"{old} becomes “{put}”." if put else f"{old} is left out.")


def with_word(text: str, word: re.Match[str], new: str) -> str:
    """The text with one word replaced or removed; punctuation typed with the new word replaces the old one's."""
    before, after = text[: word.start()], text[word.end() :]
    if new and not new[-1].isalnum():
        after = re.sub(r"^[^\w\s]+", "", after)
    return " ".join(f"{before if new else before.rstrip()}{new}{after}".split())


def _edited(ctx: PageContext, how: str) -> Other | None:
    trace = ctx.trace
    names = translating.sources(trace)
    steps = list(zip(translating.reads(trace), translating.writes(trace), strict=True))
    if len(names) < 2:
        return None
    step = _place("Step", [" → ".join(both) for both in steps], key="changed_step")
    asks = {"label": "may not see", "key": "closed"} if how == CLOSE else {"label": "sees only", "key": "directed"}
    if not (chosen := _places(names, **asks)):
        return Other(text=ctx.text, says="No word is chosen, so nothing is changed.")
    after = markdown.plain(quoted([reads for reads, _ in steps])[step])
    sources = [markdown.plain(name) for name in quoted(names)]
    if how == DIRECT:
        typed = inputs.text_input(
            "in parts",
            "",
            key="directed_parts",
            max_chars=MOST_LETTERS,
            placeholder="equal",
            help="A number for each word: with 3 1 the first gets 75%, the second 25%.",
            width=170,
        )
        try:
            shares = shares_of(typed, len(chosen))
        except ValueError as error:
            return Other(text=ctx.text, says=f"{error} Nothing is changed.")
        given = dict(zip(chosen, shares, strict=True))
        listed = ", ".join(f"{per_cent(share)} to {sources[n]}" for n, share in given.items())
        return Other(
            text=ctx.text,
            step=step,
            weights=tuple(given.get(n, 0.0) for n in range(len(sources))),
            says=f"After {after} every head splits its attention: {listed}.",
        )
    if len(chosen) == len(names):
        return Other(text=ctx.text, says="A step must look at something, so nothing is changed.")
    says = f"After {after} no head may look at {' and '.join(sources[n] for n in chosen)}."
    return Other(text=ctx.text, step=step, allowed=tuple(n not in chosen for n in range(len(names))), says=says)


def shares_of(typed: str, n: int) -> tuple[float, ...]:
    """The n numbers over their sum; without any number, equal shares.

    Raises:
        ValueError: a sentence for the reader, unless these are n numbers of which some is above 0 and none below.
    """
    words = re.split(r"[\s,;:/]+", typed.strip()) if typed.strip() else ["1"] * n
    try:
        parts = [float(word) for word in words]
    except ValueError:
        raise ValueError("Write numbers with spaces between them, such as “3 1”.") from None
    if len(parts) != n:
        raise ValueError(f"Each chosen word needs one part: {len(parts)} for {n}.")
    largest = max(parts)
    if not all(np.isfinite(part) and part >= 0 for part in parts) or largest == 0:
        raise ValueError("Parts must be finite and not negative, and at least one must be above 0.")
    total = sum(part / largest for part in parts)  # whose sum cannot overflow
    return tuple(part / largest / total for part in parts)


def _place(label: str, names: Sequence[str], *, key: str, first: int = 0) -> int:
    options = [f"{n} {name}" for n, name in enumerate(names)]
    asked = url.text(key)
    if asked not in options and (word := WORD.search(asked, asked.find(" "))) and word[0] != asked:
        plain = f"{asked.split()[0]} {word[0]}"  # an address that names the word with its punctuation
        if plain in options:
            url.put({key: plain})
            st.rerun()
    if st.session_state.get(key, options[0]) not in options:  # it belongs to another text
        del st.session_state[key]
    return options.index(inputs.selectbox(label, options, first, key=key, width=190))


def _places(names: Sequence[str], *, label: str, key: str) -> list[int]:
    options = [f"{n} {name}" for n, name in enumerate(names)]
    if not set(st.session_state.get(key, options[:1])) <= set(options):  # they belong to another text
        del st.session_state[key]
    chosen = inputs.multiselect(label, options, options[:1], key=key, width=260)
    return sorted(options.index(one) for one in chosen)


@cached_for_all
def _changed(model: Model, other: Other) -> Trace:
    if other.step is None:
        return models.run(model, other.text)
    ids = zoo.writing.generate(model, other.text, edits=other.edits(model), at=other.step).ids
    return model.trace(other.text, other.edits(model, q_len=len(ids) + 1), target=ids)


def _draw(ctx: PageContext, trace: Trace, places: Sequence[int], n_places: int, *, key: str) -> None:
    queries = [f"{a} → {b}" for a, b in zip(translating.reads(trace), translating.writes(trace), strict=True)]
    text = ctx.model.tokenizer.decode(trace.target.ids[1:]).strip()
    weights = np.full((len(queries), n_places), np.nan)
    weights[:, places] = translating.crossing(ctx, trace, translating.LAYER)
    keys = dict(zip(places, translating.sources(trace), strict=True))
    show(
        key,
        translating.picture(weights, queries, [keys.get(n, "") for n in range(n_places)], f"“{text}”"),
        follows=key == "as_changed",
    )
