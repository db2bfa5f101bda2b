from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from tfmviz.record.decoding import ORDER, Rule, Rules
from tfmviz.ui import compare_menu, icons, inputs, side
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
    left, right = st.columns([3, 8], vertical_alignment="bottom")
    banned: tuple[int, ...] = ()
    if ctx.model.config.architecture == "decoder-only":
        ends = inputs.toggle("The model may end the text", False, key="ends", line=right)
        banned = () if ends else ctx.model.tokenizer.marks.ends
    how = inputs.segmented_control("Choose by", WAYS, default="sampling", key="chosen_by", line=left)
    if how == "greedy":
        right.caption("The most probable word is always chosen.")
        return Settings(rules=Rules(temperature=0.0, banned=banned), seed=0)
    with st.expander("Settings", key="settings"):
        return _sampling(banned)


def _sampling(banned: tuple[int, ...]) -> Settings:
    order = ORDERS[inputs.selectbox("Apply settings in the order used by", list(ORDERS), key="order")]
    st.caption("The settings act in this order: " + " → ".join(NAMES[rule] for rule in order) + ".")
    a, b, c = st.columns(3)
    temperature = inputs.slider("Temperature", 0.1, 2.0, 0.8, 0.1, key="temperature", line=a)
    repetition = inputs.slider("Repetition penalty", 1.0, 2.0, 1.0, 0.05, key="penalty", line=a)
    top_k = inputs.slider("Top-k (0: keep all)", 0, 100, 40, key="topk", line=b)
    top_p = inputs.slider("Top-p", 0.0, 1.0, 0.95, 0.05, key="topp", line=b)
    min_p = inputs.slider("Min-p", 0.0, 0.5, 0.0, 0.01, key="minp", line=c)
    seed = inputs.number_box("Random seed", key="sampling_seed", line=c, min_value=0, max_value=9999)
    if top_p == 0:
        st.info("The most probable word is always kept.", icon=icons.INFO)
    rules = Rules(
        banned=banned,
        repetition=repetition,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        min_p=min_p,
        order=order,
    )
    return Settings(rules=rules, seed=int(seed))
