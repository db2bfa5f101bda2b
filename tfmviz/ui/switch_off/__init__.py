"""The model with parts off."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import streamlit as st

from tfmviz import zoo
from tfmviz.analysis import ablation, mask_effect
from tfmviz.analysis.ablation import Part, Question
from tfmviz.constants import ATTENTION_KINDS, LEAST_SHARE, PART_CODES
from tfmviz.record.edits import Edit
from tfmviz.record.model import Model
from tfmviz.record.trace import Trace, kind_of
from tfmviz.ui import before_after, icons, inputs, lesson, live, models, url
from tfmviz.ui import head_comparison as both
from tfmviz.ui.cache import cached_for_all
from tfmviz.ui.figures import result, show_view
from tfmviz.ui.head_comparison import HeadComparison
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.sentences import examples_for
from tfmviz.words import markdown
from tfmviz.words.labels import END, quoted
from tfmviz.words.numbers import decimal

_E, _D, _C, _M, _L = PART_CODES.values()
_CODE = rf"[{_E}{_D}{_C}][{_M}{_L}]?\d{{1,3}}(\.\d{{1,3}})?"
OFF = re.compile(rf"(none|{_CODE}(,{_CODE}){{0,999}})")
"""Parts that are off, in the address: "d1.2,dm0", see `Part.code`; "none" means that everything is on."""

WAYS = ("zero", "mean", "scaled")

WRITTEN = 12
"""Tokens that a language model adds to the sentence."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Way:
    """The replacement for the output of a part that is switched off.

    Attributes:
        factor: of "scaled".
        reference: the text whose mean replaces it under "mean".
    """

    how: Literal["zero", "mean", "scaled"]
    factor: float = 0.0
    reference: str = ""

    @property
    def removes(self) -> bool:
        """The part no longer writes anything that depends on the text."""
        return self.how != "scaled" or self.factor == 0

    def done(self, n: int = 1) -> str:
        """The change to n parts, as it follows their names: "0.1 off", "0.1 at its mean", "0.1 × 2"."""
        if self.how == "mean":
            return "at its mean" if n == 1 else "at their means"
        if self.removes:
            return "off"
        return f"{'' if n == 1 else 'each '}× {decimal(self.factor, 'g')}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Switches:
    off: tuple[Part, ...]
    way: Way

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(part.code for part in self.off)

    @property
    def done(self) -> str:
        return self.way.done(len(self.off))

    @property
    def run(self) -> str:
        return f"with the {'part' if len(self.off) == 1 else 'parts'} {self.done}"


def switchboard(ctx: PageContext) -> Switches:
    """The address decides: with only a head in it, that head is off, otherwise nothing."""
    parts = ablation.parts_of(ctx.trace)
    asked = url.text("off", default="" if url.has("layer", "head") else "none")
    url.put({"off": asked})  # or the next head that is chosen would be off
    site, head = f"{ctx.choice.layer}.z", ctx.choice.head
    chosen_head = {part.code for part in parts if part.sites == (site,) and part.head == head}
    wanted = set(asked.split(",")) if OFF.fullmatch(asked) else chosen_head
    off = tuple(part for part in parts if part.code in wanted)
    if unknown := wanted - {part.code for part in off} - {"none"}:
        st.info(f"This model has no {', '.join(map(markdown.code, sorted(unknown)[:6]))}.", icon=icons.INFO)
    with lesson.control_row("switches"):
        switches = Switches(off=off, way=_way(ctx))

    def report(chosen: dict[str, Any]) -> None:
        codes = str(chosen["off"]).split(",")
        switch_off([part.code for part in parts if part.code in codes])

    with st.container():
        follow(ctx, switches)
        rows, wholes = ablation.layers_of(ctx.trace), {part.code: part for part in parts if part.kind == "layer"}
        n_heads = max(sum(part.kind == "head" for part in row) for row in rows)
        columns = [*map(str, range(n_heads)), *["MLP"] * any(part.kind == "mlp" for row in rows for part in row)]
        lines = []
        for layer, row in zip(ctx.trace.layers, rows, strict=True):
            stack, index, kind = layer.split(".")
            whole = wholes[f"{PART_CODES[stack]}{PART_CODES['layer']}{index}"] if kind == "self_attn" else None
            by_place = {len(columns) - 1 if part.head is None else part.head: part for part in row}
            cells = [whole, *(by_place.get(n) for n in range(len(columns)))]
            name = whole.name if whole else f"{ATTENTION_KINDS[kind_of(layer)]} {index}"
            lines.append({"name": name, "parts": [part and [part.code, part.name] for part in cells]})
        done = switches.way.done()
        show_view(
            "parts",
            data={"columns": columns, "rows": lines, "done": done[0].upper() + done[1:]},
            selection={"off": _change(switches)},
            on_report=report,
        )
    return switches


def _change(switches: Switches) -> str:
    return ",".join(sorted(switches.codes))


def _way(ctx: PageContext) -> Way:
    how = inputs.segmented_control(
        "Replace its output with",
        WAYS,
        default="zero",
        key="how",
        help="Zero: nothing. Mean: its average output on other texts. Scaled: a multiple of its output.",
    )
    if how == "scaled":
        return Way(how="scaled", factor=inputs.slider("Factor", -1.0, 2.0, 0.5, 0.1, key="factor"))
    if how == "mean":
        usual = " ".join(example.text for example in examples_for(ctx.choice.model))
        typed = inputs.text_input("Mean over the tokens of", key="reference", max_chars=1000, placeholder=usual)
        return Way(how="mean", reference=typed.strip() or usual)
    return Way(how="zero")


def switch_off(codes: Sequence[str]) -> None:
    url.put({"off": ",".join(codes) or "none"})


def follow(ctx: PageContext, switches: Switches) -> None:
    factor = {"zero": 0.0, "mean": None, "scaled": switches.way.factor}[switches.way.how]
    live.follow_changes(ctx, "parts", _change(switches), *live.PAIRED, factor=factor, usual=(ctx.query, ctx.key))


def run(ctx: PageContext, switches: Switches) -> HeadComparison:
    ctx_b = replace(ctx, edits=_edits(ctx.model, ctx.text, switches.codes, switches.way)) if switches.off else ctx
    return both.compare(ctx, ctx_b, ("A, whole model", f"B, {switches.run}"))


def _edits(model: Model, text: str, codes: tuple[str, ...], way: Way) -> tuple[Edit, ...]:
    parts = [part for part in ablation.parts_of(models.trace(model, text)) if part.code in codes]
    return tuple(edit for part in parts for edit in edits_of(part, model, way))


def edits_of(part: Part, model: Model, way: Way) -> tuple[Edit, ...]:
    if way.how == "mean":
        return part.averaged(_reference(model, way.reference))
    return part.scaled(way.factor if way.how == "scaled" else 0.0)


@cached_for_all
def _reference(model: Model, text: str) -> Trace:
    return models.run(model, text, sites=("*.z", "*.out"))


def verdict(sides: HeadComparison, switches: Switches) -> None:
    ctx = sides.lessons[0]
    if not switches.off:
        st.markdown("**Click a head on the board to switch it off.**")
        return
    if _everything(ctx.trace, switches):
        st.warning("Every part is off, so predictions depend on no other token.", icon=icons.OFF)
    asked = question(ctx)
    if asked is not None:
        old, new = (ablation.surprise_of(side.trace, asked) for side in sides.lessons)
        better = f" The model predicts this sentence **better** {switches.run}." if round(new - old, 3) < 0 else ""
        result(
            f"Mean surprise at the next word of {before_after.predicted(ctx)}: **{old:.2f}** nats in A, "
            f"**{new:.2f}** in B, with {_names(switches.off)} {switches.done}: {decimal(new - old, '+.3f')}.{better}"
        )


def _everything(trace: Trace, switches: Switches) -> bool:
    gone = {site for part in switches.off for site in part.sites}
    heads = {part for part in switches.off if part.kind == "head"}
    for part in ablation.parts_of(trace):
        if part.kind == "head" and part not in heads and part.sites[0].replace(".z", ".out") not in gone:
            return False
        if part.kind == "mlp" and part.sites[0] not in gone:
            return False
    return switches.way.how != "mean" and switches.way.removes


def _names(parts: Sequence[Part]) -> str:
    shown = ", ".join(part.name for part in parts[:6])
    return shown + (f" and {len(parts) - 6} more" if len(parts) > 6 else "")


def question(ctx: PageContext) -> Question | None:
    """All next words of the sentence. None where there is none: one token, or a model that fills in words."""
    ids = ctx.trace.target.ids
    return ablation.whole_text(ids) if ctx.model.config.architecture != "encoder-only" and len(ids) > 1 else None


def next_words(sides: HeadComparison, switches: Switches) -> None:
    verdict(sides, switches)
    st.markdown(both.expected(sides))
    ctx, ctx_b = sides.lessons
    before_after.next_words(ctx, ctx_b.trace, both.targets(sides)[0], series=sides.titles)


def losses(sides: HeadComparison, switches: Switches) -> None:
    ctx, ctx_b = sides.lessons
    if question(ctx) is None:
        st.info(before_after.ONE_TOKEN if len(ctx.trace.target.ids) < 2 else before_after.NO_NEXT_WORD)
        return
    verdict(sides, switches)
    old, new = (mask_effect.next_token_losses(side.trace["logits"], side.trace.target.ids) for side in sides.lessons)
    worst = int((new - old).argmax())
    word = markdown.plain(quoted(ctx.trace.tokens)[worst + 1])
    st.markdown(
        f"The loss of {word} rises most: {decimal(new[worst] - old[worst], '+.3f')} nats."
        if round(float(new[worst] - old[worst]), 3) > 0
        else "No word surprises the model more than before."
    )
    before_after.losses(ctx, ctx_b.trace)


def attention(sides: HeadComparison, switches: Switches) -> None:
    choice = sides.lessons[0].choice
    a, b = (side.trace[f"{choice.layer}.pattern"][choice.head] for side in sides.lessons)
    name = f"Head {choice.layer_index}.{choice.head}"
    note = f"{name} **attends as before**: only later layers read the change. The map below shows them."
    is_alike = np.allclose(a, b, atol=LEAST_SHARE)
    if not switches.off:
        note = "**Click a head on the board to switch it off.**"
    both.side_by_side(sides, note=note if is_alike else "", on_look=lambda: switch_off(switches.codes))


def written(sides: HeadComparison, switches: Switches) -> None:
    ctx = sides.lessons[0]
    if ctx.model.config.architecture == "encoder-only":
        st.info("This model fills in words; it does not write text.")
        return
    verdict(sides, switches)
    texts = [_written(ctx.model, ctx.text, codes, switches.way) for codes in ((), switches.codes)]
    both.show_texts(sides.titles, texts, "the most probable token each time")


@cached_for_all
def _written(model: Model, text: str, codes: tuple[str, ...], way: Way) -> list[str]:
    """A translation, or the next tokens. The codes stand for the edits: they are a short key."""
    write = partial(zoo.writing.generate, model, text, edits=_edits(model, text, codes, way))
    run = write() if model.config.architecture == "encoder-decoder" else write(max_new_tokens=WRITTEN)
    ends = model.tokenizer.marks.ends
    return [END if step.token in ends else model.vocabulary[step.token] for step in run.steps]
