"""A head's profile in words."""

from __future__ import annotations

import math

from tfmviz.analysis.biography.claims import Claim
from tfmviz.analysis.biography.file import HeadCatalog, HeadProfile
from tfmviz.analysis.biography.kinds import IN_WORDS

VERDICTS = {kind: f"looks at {words}" for kind, words in IN_WORDS.items()} | {"no claim": "fits no claim that held"}
"""Predicates for heads of each name."""


def summary_text(found: HeadProfile, book: HeadCatalog) -> str:
    """Sentences that follow a head's name: "gives 62% of its attention to the first token …".

    A claim about repeated tokens leads, since it names the head.
    """
    rest = _claimed(found.claim, book) if found.claim is not None and found.claim.held else "no claim held."
    first = _per_cent(found.first)
    words = f"gives {first} of its attention to the first token; of the rest {rest}"
    if found.twice is not None and found.twice.held:
        words = (
            f"gives {_per_cent(found.twice.share)} of its attention to {IN_WORDS[found.twice.kind]} when random "
            f"tokens are repeated ({_interval(found.twice)} on {book.twice_on} such texts)"
            f"{_lost_twice(found.damage_twice)}. On ordinary text {first} goes to the first token; of the rest {rest}"
        )
    return f"{words} {_damage(found)}"


def score(found: HeadProfile) -> float:
    """The share behind the head's name; NaN if no claim held."""
    return next((claim.share for claim in found.held if claim.kind == found.name), math.nan)


def _claimed(claim: Claim, book: HeadCatalog) -> str:
    where = f"{_interval(claim)} on {book.tested_on:,} other texts"
    if claim.kind == "aligned":
        return f"most to another word of the source for each word written (alignment {claim.share:.2f}; {where})."
    if claim.kind == "evenly":
        return f"{_per_cent(claim.share)} lies where an even spread would put it ({where})."
    return f"{_per_cent(claim.share)} to {IN_WORDS[claim.kind]} ({where}; evenly spread: {_per_cent(claim.chance)})."


def _interval(claim: Claim) -> str:
    if claim.kind == "aligned":
        return f"{claim.low:.2f} to {claim.high:.2f}"
    low, high = f"{100 * claim.low:.0f}", _per_cent(claim.high)
    return high if high == f"{low}%" else f"{low} to {high}"


def _damage(found: HeadProfile) -> str:
    mean, low, high = found.damage
    if not low > 0:
        return "On ordinary text the loss does not rise measurably without it."
    words = f"On ordinary text the loss without it rises by {mean:.3f} nats ({low:.3f} to {high:.3f})"
    if math.isfinite(found.there) and math.isfinite(found.elsewhere):
        words += f": {found.there:.3f} where it looks there, {found.elsewhere:.3f} elsewhere"
    return f"{words}."


def _lost_twice(nats: float) -> str:
    return f", and without it they cost {nats:.2f} nats more" if nats > 0.05 else ""


def _per_cent(share: float) -> str:
    return f"{100 * share:.0f}%"
