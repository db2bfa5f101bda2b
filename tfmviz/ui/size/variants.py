from __future__ import annotations

import json
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from tfmviz.analysis.variants import Difference, welch
from tfmviz.constants import NO_NUMBER
from tfmviz.paths import PROJECT
from tfmviz.plots.columns import routing
from tfmviz.plots.dots import seeds
from tfmviz.record.model import Model
from tfmviz.record.trace import Array
from tfmviz.ui import controls, inputs, lesson
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import result, show, show_code, show_table, theme
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.size.own import ALL, fitted
from tfmviz.words import markdown
from tfmviz.words.numbers import counted, decimal, in_words, per_cent, tiny

FILE = PROJECT / "assets" / "variants" / "runs.json"

EXPERTS = "experts at work"
SHOWN = ("all changes", EXPERTS)

BASELINE = "baseline"

PLUS_MINUS = "\u00a0±\u00a0"
"""It breaks no line: a cell is one number."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """A variant's change.

    Attributes:
        title: its name in the figure.
        what: the change, as a sentence.
        theirs, baseline: the losses of Narang et al. with it and without; None: it is not in their table.
        note: a caveat on theirs.
    """

    title: str
    what: str
    theirs: float | None = None
    baseline: float = 2.182
    note: str = ""


CHANGES = {
    name: Change(**change)
    for name, change in tomllib.loads((FILE.parent / "changes.toml").read_text(encoding="utf-8")).items()
}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Variant:
    """The runs of one variant.

    Attributes:
        loss: on the held-out windows, one for each seed, nats per token.
        multiplications: for each token of a text as long as the context.
        difference: of its mean loss and the baseline's.
    """

    loss: Array
    n_parameters: int
    multiplications: int
    difference: Difference

    @property
    def verdict(self) -> str:
        if self.difference.is_noise:
            return "noise"
        return "better" if self.difference.mean < 0 else "worse"


@cached_for_all
def read_variants() -> tuple[dict[str, Any], dict[str, Variant]]:
    """The shipped runs' settings as in the file, and the runs by the name of the variant."""
    about = json.loads(FILE.read_text(encoding="utf-8"))
    rows = about.pop("variants")
    losses = {row["variant"]: np.array(row["loss"]) for row in rows}
    return about, {
        row["variant"]: Variant(
            loss=losses[row["variant"]],
            n_parameters=row["parameters"],
            multiplications=row["multiplications"],
            difference=welch(losses[row["variant"]], losses[BASELINE]),
        )
        for row in rows
    }


def compared(ctx: PageContext) -> None:
    with lesson.control_row("changes"):
        shown = inputs.segmented_control("Show", SHOWN, default=SHOWN[0], key="changes")
    if shown == EXPERTS:
        routed(ctx)
        return
    lesson.hide("text", "model")
    about, found = read_variants()
    order = sorted(found, key=lambda name: found[name].loss.mean())
    losses = {_title(name): found[name].loss for name in order}
    verdicts = ["baseline" if name == BASELINE else found[name].verdict for name in order]
    show(
        "variants",
        seeds(losses, verdicts, baseline=float(found[BASELINE].loss.mean()), theme=theme()),
        alt="; ".join(f"{title}: mean {decimal(loss.mean(), '.3f')}" for title, loss in losses.items()),
    )
    st.caption("Dots are runs, bars means; purple is better, orange worse.")
    rows = []
    for name, variant in found.items():
        change, gap = CHANGES.get(name), variant.difference
        rows.append(
            (
                _title(name),
                in_words(variant.n_parameters),
                in_words(variant.multiplications),
                f"{decimal(variant.loss.mean(), '.3f')}{PLUS_MINUS}{decimal(variant.loss.std(ddof=1), '.3f')}",
                f"{decimal(gap.mean, '+.3f')} ± {decimal((gap.high - gap.low) / 2, '.3f')}" if change else NO_NUMBER,
                decimal(change.theirs - change.baseline, "+.3f") if change and change.theirs else NO_NUMBER,
            )
        )
    show_table(
        "variants_table",
        caption="Each variant and the baseline",
        columns=("variant", "parameters", "multiplications", "loss", "difference", "Narang"),
        rows=rows,
        about="Multiplications per token; ±: standard deviation of a loss, half the 95% interval of a difference. "
        "Narang: table 1 of Narang et al. 2021, minus their baseline.",
    )
    st.markdown(_words(about, found))
    show_code(welch)


def _title(name: str) -> str:
    return CHANGES[name].title if name in CHANGES else name


def _words(about: dict[str, Any], found: dict[str, Variant]) -> str:
    tried = {name: found[name] for name in CHANGES if name in found}
    lines = "\n".join(
        f"- **{CHANGES[name].title}**, {CHANGES[name].what}: "
        f"**{'within the noise' if variant.verdict == 'noise' else variant.verdict}**."
        + (f" Narang et al.: {CHANGES[name].note}." if CHANGES[name].note else "")
        for name, variant in tried.items()
    )
    law, n, d = fitted(ALL).law, found[BASELINE].n_parameters, about["tokens"]
    more = [decimal(float(law.loss(n, d) - loss), ".2f") for loss in (law.loss(10 * n, d), law.loss(n, 10 * d))]
    best = min(variant.difference.mean for variant in tried.values())
    config, (low, high) = about["config"], about["rates"]
    return (
        f"{lines}\n\n**How this is decided.** A change counts if the 95% interval of its difference from the "
        f"baseline excludes 0 (Welch's t, {len(found[BASELINE].loss)} seeds).\n\n"
        f"**Or simply more?** The best change gains {decimal(-best, '.2f')} nats. By the law of “Our own runs”, ten "
        f"times the parameters would gain {more[0]}, ten times the tokens **{more[1]}**.\n\n"
        "**Not trained here.** ReZero, x + α f(x) with α from 0 and no norm (Bachlechner et al. 2020), and designs "
        "found by search, such as the Evolved Transformer (So et al. 2019).\n\n"
        f"**Equal budget.** All models read the same {in_words(d)} tokens once, with AdamW and the "
        f"better of the learning rates {tiny(low)} and {tiny(high)}. The baseline has {config['n_layers']} layers "
        f"of width {config['d_model']}, pre-norm, LayerNorm, GELU, RoPE, tied embeddings. Reproduce with "
        f"{markdown.code(about['command'])}."
    )


def routed(ctx: PageContext) -> None:
    """The routing of the chosen model, or of the shipped mixture where the chosen one has no experts."""
    ctx_b = lesson.fallback_model(ctx, "a model with experts", fits=bool(_sites(ctx.model)), instead="experts")
    if ctx_b is None:
        return
    if ctx_b is not ctx:
        controls.say_what_was_cut(ctx_b.trace.target, f"{markdown.code(ctx_b.model.name)} reads")
    ctx, sites = ctx_b, _sites(ctx_b.model)
    stack = ctx.model.writes_from
    p = np.stack([ctx.trace[f"{site}.router"] for site in sites])  # (layer, len, expert)
    if not np.isfinite(p).all():
        st.warning("The router's outputs are not finite.")
        return
    tokens = ctx.trace.axes(f"{stack}.0.self_attn")[0].tokens
    show("routing", routing(tokens, p, theme=theme()))
    st.markdown(
        f"{markdown.code(ctx.model.name)} has {p.shape[-1]} experts in each layer; each token is read by "
        f"{ctx.model.config.feed_forward.n_chosen}. Colour: the likeliest; height: its probability."
    )
    reads = np.stack([ctx.trace[f"{site}.weights"] > 0 for site in sites])  # (layer, len, expert)
    show_table(
        "routing_shares",
        caption="Share of your tokens that each expert reads",
        columns=("layer", *(f"expert {e}" for e in range(reads.shape[-1]))),
        rows=[(f"layer {row}", *(f"{share:.0%}" for share in of)) for row, of in enumerate(reads.mean(axis=1))],
    )
    equal = per_cent(float(reads.mean()))
    result(f"{repeated(tokens, reads)} Training aims at equal shares, {equal} each (Fedus et al. 2021).")


def _sites(model: Model) -> list[str]:
    return list(model.weights.stacks[model.writes_from].experts)


def repeated(tokens: tuple[str, ...], reads: Array) -> str:
    """A sentence with the number of repeated tokens that go to the same experts at every position."""
    places: dict[str, list[int]] = defaultdict(list)
    for i, token in enumerate(tokens):
        places[token].append(i)
    several = [found for found in places.values() if len(found) > 1]
    if not several:
        return "No token occurs twice."
    same = [sum(bool((row[found] == row[found[0]]).all()) for found in several) for row in reads]
    by_layer = ", ".join(f"{n} in layer {row}" for row, n in enumerate(same))
    occur = "occurs" if len(several) == 1 else "occur"
    return f"{counted(len(several), 'token')} {occur} more than once. Always read by the same: {by_layer}."
