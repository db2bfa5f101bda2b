from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from tfmviz.analysis import parameters
from tfmviz.analysis.parameters import PUBLISHED, TRAINING_BYTES, Design, Published, counts
from tfmviz.plots.bars import areas, bar_chart
from tfmviz.record.facts import Facts
from tfmviz.record.weights import ModelWeights
from tfmviz.ui import inputs, lesson
from tfmviz.ui.figures import result, show, show_table, theme
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.shapes import kept
from tfmviz.words.numbers import counted, decimal, in_bytes, in_words, per_cent, rounded, tiny, unit_of_bytes

WIDTHS = (64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384)

OWN, YOURS = "the chosen model", "sizes of your own"


@dataclass(frozen=True, kw_only=True, slots=True)
class SizedModel:
    """A model to count, its authors' count, and its configuration, if it is of the zoo."""

    name: str
    design: Design
    known: Published | None = None
    config: Facts | None = None


def ask(ctx: PageContext, key: str) -> SizedModel:
    """Draws the choice of the model, with sliders for custom sizes."""
    with lesson.control_row(key):
        name = inputs.selectbox("Count", [OWN, *PUBLISHED, YOURS], key="design")
        if name != OWN:
            lesson.hide("model")
        if name == YOURS:
            return SizedModel(name=name, design=_sliders())
    if name in PUBLISHED:
        return SizedModel(name=name, design=PUBLISHED[name].design, known=PUBLISHED[name])
    config = ctx.model.config
    return SizedModel(name=ctx.model.name, design=design_of(config, ctx.model.weights), config=config)


def _sliders() -> Design:
    n_layers = inputs.slider("Layers", 1, 128, 12, key="n_layers")
    d = inputs.select_slider("d_model", WIDTHS, 1024, key="d_model")
    wide = inputs.select_slider("MLP width / d", [1, 2, 3, 4, 6, 8], 4, key="d_ff_ratio")
    vocab_size = inputs.select_slider("Vocabulary", [256, 4096, 32_000, 50_257, 128_256], 32_000, key="vocabulary")
    return Design(n_decoder=n_layers, d_model=d, d_attn=d, d_kv=d, d_ff=wide * d, vocab_size=vocab_size)


def design_of(config: Facts, weights: ModelWeights) -> Design:
    """Parts without a place in a design (norms of queries, biases of heads) are "other"."""
    attention, feed_forward = config.attention, config.feed_forward
    has_mlp = feed_forward.n_matrices > 0
    depths = {stack: config.depth(stack) for stack in config.stacks}
    both = config.norm.position == "both"
    design = Design(
        n_encoder=depths.get("encoder", 0),
        n_decoder=depths.get("decoder", 0),
        d_model=config.d_model,
        d_attn=attention.n_heads * config.d_head,
        d_kv=attention.n_kv_heads * config.d_head,
        d_ff=feed_forward.d_ff if has_mlp else 0,
        n_matrices=feed_forward.n_matrices,
        n_experts=feed_forward.n_experts,
        n_chosen=feed_forward.n_chosen,
        d_shared=feed_forward.d_shared or 0,
        d_embed=config.embeddings.width,
        shared_layers=config.shared_layers,
        vocab_size=config.vocab_size,
        n_positions=sum(stack.n_position_parameters for stack in weights.stacks.values()),
        norm_numbers=1 if config.norm.kind == "rms" else 2,
        norms_in_block=(2 if both else 1) * (1 + has_mlp),
        outer_norms=0 if config.norm.position == "post" else len(depths),
        feed_forward_biases=has_mlp,
        tied=config.embeddings.tied,
    )
    return replace(design, n_other=weights.n_parameters - sum(counts(design).values()))


CACHED = 2048
"""Tokens whose keys and values are kept."""

TOKENS = [10**n for n in range(6, 14)]

MACHINES = {
    "a CPU core, 50 billion a second": (50e9, 1.0),
    "an A100, 312 trillion a second (16 bits), 40% utilised": (312e12, 0.4),
    "an H100, 989 trillion a second (16 bits), 40% utilised": (989e12, 0.4),
}
"""Operations a second, and the share of them that training uses: assumptions, listed in the menu."""

DAY, YEAR = 86_400.0, 365.25 * 86_400.0


def where(ctx: PageContext) -> None:
    subject = ask(ctx, "where")
    found = counts(subject.design)
    total = sum(found.values())
    show("areas", areas(found, theme=theme()), title="Areas are numbers of parameters")
    said_by_authors = ""
    if known := subject.known:
        sentence = f"{known.reported / 1e9:.3g} billion" if known.reported >= 1e9 else in_words(known.reported)
        said_by_authors = f"Its authors say {sentence} ({_off(total, int(known.reported))} here; {known.source})."
    largest = sorted((part for part in found if found[part]), key=lambda part: -found[part])[:3]
    shares = ", ".join(f"{part} {per_cent(found[part] / total)}" for part in largest)
    result(f"**{total:,}** parameters: {shares}. {said_by_authors}")
    inside = parameters.in_matrices(subject.design)
    rules = {
        "12 · n_layer · d²": parameters.rule_of_twelve(subject.design),
        "2 · d · n_layer · (2 · d_attn + d_ff)": parameters.of_lectures(subject.design),
    }
    sentence = "; ".join(f"{rule} = **{in_words(value)}** ({_off(value, inside)})" for rule, value in rules.items())
    st.markdown(f"The lectures' rules of thumb count matrices without biases, here {in_words(inside)}: {sentence}.")


def _off(value: int, exact: int) -> str:
    if not exact:
        return "there are none"
    return "exact" if value == exact else f"{decimal(100 * (value / exact - 1), '+.1f')}%"


def memory(ctx: PageContext) -> None:
    subject = ask(ctx, "memory")
    total = sum(counts(subject.design).values())
    needs: dict[str, float] = {
        "run, 32 bits": 4 * total,
        "run, 16 bits": 2 * total,
        "run, 4 bits": total / 2,
        "train with Adam": TRAINING_BYTES * total,
    }
    if subject.design.n_decoder:
        needs[f"cache of {CACHED:,} tokens, 16 bits"] = (
            parameters.cache(subject.design, CACHED, 2)
            if subject.config is None
            else kept(subject.config, CACHED, size=2)
        )
    (unit, large), words = unit_of_bytes(max(needs.values())), [in_bytes(need) for need in needs.values()]
    values, look = np.array(list(needs.values()), float) / large, theme()
    chart = bar_chart(list(needs), values, unit, words=words, colours=look.plain, room=1.25, theme=look)
    show("memory", chart, title="Memory to run the model, to train it, to keep a text")
    st.markdown(
        f"Training takes {TRAINING_BYTES} bytes per parameter, not counting activations: weight and gradient in 16 "
        f"bits, weight and Adam's two averages in 32 (Rajbhandari et al. 2020). That needs "
        f"{counted(-(-TRAINING_BYTES * total // (80 * 10**9)), 'GPU')} of 80 GB."
    )
    _training(subject)


def _training(subject: SizedModel) -> None:
    known = subject.known.tokens if subject.known else None
    with lesson.control_row("run"):
        tokens = inputs.select_slider("Tokens to train on", TOKENS, 10**10, key="trained_on", format_func=in_words)
    amounts = {"your slider": float(tokens)} | ({"its authors": known} if known else {})
    flops = {who: parameters.training_flops(subject.design, amount) for who, amount in amounts.items()}
    titles = [f"{in_words(amount)} tokens ({who}), {tiny(flops[who])} operations" for who, amount in amounts.items()]
    rows = [
        (machine.split(",")[0], *(_time(count / (speed * used)) for count in flops.values()))
        for machine, (speed, used) in MACHINES.items()
    ]
    show_table("training", caption=f"{subject.name}: one training run", columns=("machine", *titles), rows=rows)
    design = subject.design
    passes = f" ({design.n_chosen} of {design.n_experts} experts in each layer)" if design.n_experts > 1 else ""
    passes += ", with shared layers as often as they run" if design.shared_layers else ""
    forward = parameters.training_flops(subject.design, 1) / 3
    result(
        f"A token costs **{in_words(forward)}** operations to read, 2 for each of the {in_words(forward / 2)} "
        f"parameters that it passes{passes}. Training takes three times as many, so "
        "6 · N · D for D tokens (Kaplan et al. 2020), plus attention."
        + (" In an encoder-decoder a token passes only one stack: this overestimates." if design.n_crossings else "")
    )
    st.caption("Assumed speeds: " + "; ".join(MACHINES) + " (GPUs: NVIDIA's data sheets).")


def _time(seconds: float) -> str:
    """0.4 seconds, 2.5 hours, 3.1 days, 6,640 years."""
    if seconds >= YEAR:
        years = seconds / YEAR
        return f"{in_words(years)} years" if years >= 100 else f"{years:.3g} years"
    if seconds >= DAY:
        return f"{seconds / DAY:.3g} days"
    if seconds >= 60:
        return f"{seconds / 3600:.3g} hours" if seconds >= 3600 else f"{seconds / 60:.3g} minutes"
    return f"{rounded(seconds)} seconds"
