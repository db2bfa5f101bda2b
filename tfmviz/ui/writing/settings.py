from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from tfmviz.record.decoding import ORDER, Rule, Rules
from tfmviz.ui import compare_menu, icons, inputs, lesson, side, url
from tfmviz.ui.figures import show_view
from tfmviz.ui.lesson import PageContext

WAYS = ("sampling", "greedy")

NAMES: dict[Rule, str] = {
    "banned": "no end token",
    "repetition": "repetition penalty",
    "temperature": "temperature",
    "top_k": "top-k",
    "top_p": "top-p",
    "min_p": "min-p",
}

ORDERS: dict[str, tuple[Rule, ...]] = {
    "Hugging Face": ORDER,
    "llama.cpp": ("repetition", "top_k", "top_p", "min_p", "temperature"),
    "penalty last": ("temperature", "top_k", "top_p", "min_p", "repetition"),
}
"""Orders by engine. With the temperature last, it cannot change which words are cut."""


SLIDERS = {
    "temperature": ("temperature", "Temperature", 0.1, 2.0, 0.1, 0.8),
    "repetition": ("penalty", "Repetition penalty", 1.0, 2.0, 0.05, 1.0),
    "top_k": ("topk", "Top-k (0: keep all)", 0, 100, 1, 40),
    "top_p": ("topp", "Top-p", 0.0, 1.0, 0.05, 0.95),
    "min_p": ("minp", "Min-p", 0.0, 0.5, 0.01, 0.0),
}
"""By rule: key in the address, label, lowest and highest number, step, and the number at first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    rules: Rules
    seed: int

    @property
    def stages(self) -> list[str]:
        return ["model", *(_written(rule, self.rules) for rule in self.rules.active)]

    def on(self, ctx: PageContext) -> Settings:
        return self.of_b(ctx) if side.is_b() else self

    def of_b(self, ctx_b: PageContext) -> Settings:
        """The settings with B's temperature, where that is what differs, and with the tokens that end a text of B's."""
        banned = ctx_b.model.tokenizer.marks.ends if self.rules.banned else ()
        temperature = self.rules.temperature if (other := compare_menu.temperature()) is None else other
        return replace(self, rules=replace(self.rules, banned=banned, temperature=temperature))


def _written(rule: Rule, rules: Rules) -> str:
    if rule == "temperature" and rules.temperature == 0:
        return "greedy"
    return NAMES[rule] if rule == "banned" else f"{NAMES[rule]} {getattr(rules, rule):g}"


def offer_sampling(says: str) -> None:
    """A note that greedy writing has nothing to show here, and a button that switches to sampling."""
    st.info(says, icon=icons.INFO)
    inputs.button("Switch to sampling", on_click=lambda: st.session_state.update(chosen_by=WAYS[0]))


def ask(ctx: PageContext) -> Settings:
    """A translation must end; a language model could also begin the next text."""
    line = lesson.control_row("chosen_by")
    how = inputs.segmented_control("Choose by", WAYS, default="sampling", key="chosen_by", line=line)
    banned: tuple[int, ...] = ()
    if ctx.model.config.architecture == "decoder-only":
        ends = inputs.toggle("The model may end the text", False, key="ends", line=line)
        banned = () if ends else ctx.model.tokenizer.marks.ends
    if how == "greedy":
        line.caption("The most probable word is always chosen.")
        return Settings(rules=Rules(temperature=0.0, banned=banned), seed=0)
    with line.expander("Settings", key="settings"):
        return _sampling(banned)


def _sampling(banned: tuple[int, ...]) -> Settings:
    order = ORDERS[inputs.selectbox("Apply settings in the order used by", list(ORDERS), key="order")]
    st.caption("The settings act in this order: " + " → ".join(NAMES[rule] for rule in order) + ".")
    found: dict[str, Any] = {
        rule: url.setting(key, low, high, start) for rule, (key, _, low, high, _, start) in SLIDERS.items()
    }
    show_view(
        "sliders",
        data={"sliders": {rule: slider[1:5] for rule, slider in SLIDERS.items()}},
        selection={"set": {rule: round(value, 2) for rule, value in found.items()}},
        on_report=_follow,
    )
    seed = inputs.number_box("Random seed", key="sampling_seed", min_value=0, max_value=9999, width=200)
    if found["top_p"] == 0:
        st.info("The most probable word is always kept.", icon=icons.INFO)
    return Settings(rules=Rules(banned=banned, order=order, **found), seed=int(seed))


def _follow(report: dict[str, Any]) -> None:
    for rule, (key, *_, start) in SLIDERS.items():
        value = float(report["set"][rule])
        url.put({key: "" if value == start else f"{value:g}"})
