from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis.calibration import log_softmax
from tfmviz.record.decoding import Rules
from tfmviz.record.edits import Edit
from tfmviz.record.model import Model
from tfmviz.ui import icons, inputs, side
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import result, show_pairs
from tfmviz.ui.lesson import PageContext, control_row
from tfmviz.ui.writing.desk import Written
from tfmviz.words import markdown
from tfmviz.words.labels import END, quoted, visible
from tfmviz.words.numbers import decimal, of_logarithm, per_cent

MOST_TOKENS, MOST_CHARACTERS = 12, 40

SHOWN = 12
"""The most guesses in the chart, the last ones."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Guess:
    """The model's evaluation of a guess, before any setting acts.

    Attributes:
        loss: -Σ ln p of its tokens, each after those before it, in nats.
        rank: of its first token among all, 1 for the most probable.
        best: the model's own first choice.
    """

    word: str
    tokens: tuple[str, ...]
    loss: float
    rank: int
    best: str
    best_loss: float


def guess(ctx: PageContext, now: Written) -> None:
    """The box for the next word, its loss next to that of the model's first choice, and the score."""
    place = (ctx.model.name, ctx.text, now.before)
    rounds: dict[object, Guess] = {} if side.is_b() else st.session_state.setdefault("writing_guesses", {})
    word = _ask(place)
    if word:
        translates = ctx.model.config.architecture == "encoder-decoder"
        if now.before:
            after = ctx.model.vocabulary[now.before[-1]]
        else:
            after = "" if translates else ctx.model.encode(ctx.text).tokens[-1]
        ids = tokens_of(ctx.model, word, after=after)
        if len(ids) > MOST_TOKENS:
            st.info(f"This is more than a word: a guess has at most {MOST_TOKENS} tokens.", icon=icons.INFO)
        elif translates and len(now.before) + len(ids) >= ctx.model.config.max_len:
            st.info("The model has no room left for this word.", icon=icons.INFO)
        elif ids:
            found = scored(ctx.model, ctx.text, now.before, ids, word, ctx.edits)
            rounds.setdefault(place, found)  # at a second guess for the same word, the answer is known
            _say(ctx, found, counts=rounds[place] == found)
    if side.is_b():
        return  # the score is A's
    if rounds:
        _score(list(rounds.values()))
    else:
        st.info("Type a word above; press G first to hide the model's words.", icon=icons.INFO)


def _ask(place: object) -> str:
    if not side.is_b() and st.session_state.setdefault("writing_guessed_at", place) != place:
        st.session_state["writing_guessed_at"] = place
        st.session_state["guessed"] = ""

    def forget() -> None:
        st.session_state["writing_guesses"] = {}
        st.session_state["guessed"] = ""

    with control_row("guessed"):
        typed = inputs.text_input("The next word", key="guessed", max_chars=MOST_CHARACTERS)
        inputs.button("Start a new score", key="new_score", on_click=forget)
    return " ".join((typed or "").split())


def tokens_of(model: Model, word: str, *, after: str) -> tuple[int, ...]:
    """The tokens of a word in a text: with a space before it, unless it begins with punctuation.

    Args:
        after: the token before it; after white space, or at the beginning, no space is added.
    """
    if not after or after[-1].isspace():
        return model.tokenizer.encode(word, max_len=MOST_TOKENS + 1).ids
    stem = model.tokenizer.encode("a", max_len=1).ids  # some tokenizers drop a space at the beginning of a text
    joined = f"a {word}" if word[0].isalnum() else f"a{word}"
    return model.tokenizer.encode(joined, max_len=len(stem) + MOST_TOKENS + 1).ids[len(stem) :]


@cached_for_all
def scored(
    model: Model, text: str, before: tuple[int, ...], ids: tuple[int, ...], word: str, edits: tuple[Edit, ...] = ()
) -> Guess:
    n = len(before)
    given = (*before, *ids)
    made = zoo.writing.generate(model, text, rules=Rules(), given=given, max_new_tokens=len(given), edits=edits)
    steps = made.steps[n:]
    log_p = [log_softmax(step.logits[None], temperature=1.0)[0] for step in steps]
    best = int(log_p[0].argmax())
    return Guess(
        word=word,
        tokens=model.tokenizer.encoding_of(ids, max_len=len(ids)).tokens,
        loss=-float(sum(row[index] for row, index in zip(log_p, ids, strict=True))),
        rank=int((log_p[0] > log_p[0][ids[0]]).sum()) + 1,
        best=END if best in model.tokenizer.marks.ends else model.vocabulary[best],
        best_loss=-float(log_p[0][best]),
    )


def _say(ctx: PageContext, found: Guess, *, counts: bool) -> None:
    parts = " + ".join(f"“{markdown.plain(visible(token))}”" for token in found.tokens)
    several = f" The losses of its {len(found.tokens)} tokens ({parts}) are added." if len(found.tokens) > 1 else ""
    which = "its first token has" if len(found.tokens) > 1 else "it has"
    rank = f"{which} rank {found.rank:,} of {len(ctx.model.vocabulary):,}"
    again = "" if counts else " Only your first guess at this position counts."
    result(
        f"**“{markdown.plain(found.word)}”** costs **{_bits(found.loss)} bits** (probability "
        f"{of_logarithm(-found.loss)}; {rank}). The model's first choice, “{markdown.plain(visible(found.best))}”, "
        f"costs **{_bits(found.best_loss)} bits** ({per_cent(float(np.exp(-found.best_loss)))}).{several}{again}"
    )


def _score(rounds: list[Guess]) -> None:
    last = rounds[-SHOWN:]
    own, best = (np.array([getattr(one, name) for one in last]) / np.log(2) for name in ("loss", "best_loss"))
    names = quoted([one.word for one in last], of="guess", first=len(rounds) - len(last) + 1)
    show_pairs(
        "guesses",
        [one.word for one in last],
        own,
        best,
        series=("your word", "the model's first choice"),
        title="loss in bits",
        token_title="your guesses",
        names=names,
    )
    mean, mean_best = (float(np.mean([getattr(one, name) for one in rounds])) for name in ("loss", "best_loss"))
    same = sum(one.rank == 1 and len(one.tokens) == 1 for one in rounds)
    st.markdown(
        f"**Over {len(rounds)} guess{'es' if len(rounds) > 1 else ''}, your words cost {_bits(mean)} bits on average, "
        f"the model's first choices {_bits(mean_best)}**; {same} of yours matched its first choice."
    )


def _bits(nats: float) -> str:
    return decimal(nats / float(np.log(2)), ".1f")
