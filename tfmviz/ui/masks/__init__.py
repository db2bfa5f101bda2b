"""The gallery of masks, the grid to draw on, and the model's run with the drawn mask."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfmviz.analysis import mask_effect
from tfmviz.record.edits import SetMask
from tfmviz.record.trace import Array, kind_of
from tfmviz.ui import icons, inputs, live, url
from tfmviz.ui.figures import show_view
from tfmviz.ui.lesson import PageContext
from tfmviz.views import masks as view
from tfmviz.words.labels import of_queries, visible
from tfmviz.words.numbers import counted

SECOND = "The cat sat on the mat."


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Example:
    """`words`: the mask's use, in a sentence. `mask`: (q_len, k_len), True = may attend."""

    id: str
    title: str
    words: str
    mask: Array


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """Arguments of masks; see `tfmviz.masks`."""

    second: str
    back: bool
    n_prefix: int
    radius: int
    step: int
    size: int
    n_global: int
    n_random: int
    seed: int


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Chosen:
    """The reader's mask.

    Attributes:
        start: mask of the gallery that it started from.
        mask: (q_len, k_len), as drawn.
        usable: the same with an open key for each row in `empty`, which has none.
    """

    start: str
    mask: Array
    usable: Array
    empty: list[int]


def beside() -> tuple[DeltaGenerator, DeltaGenerator]:
    """The containers of the board and, to its right, of its effect on the model."""
    with st.container(key="laboratory"):
        left, right = st.columns(2)
    return left, right


def settings(ctx: PageContext) -> Settings:
    with st.expander("Gallery settings"):
        left, middle, right = st.columns(3)
        back = inputs.toggle("& causal: past only", ctx.choice.layer.startswith("decoder."), key="back", line=left)
        second = inputs.text_input("A second sentence", SECOND, key="second", max_chars=200, line=left)
        return Settings(
            second=second.strip() or SECOND,
            back=back,
            n_prefix=inputs.slider("Prefix length (prefix-LM)", 1, 16, 5, key="prefix", line=left),
            radius=inputs.slider("Window and BigBird: radius w", 0, 16, 2, key="w", line=middle),
            step=inputs.slider("Dilated: step", 2, 8, 3, key="dilation", line=middle),
            size=inputs.slider("Blocks: tokens in a block", 1, 16, 5, key="size", line=middle),
            n_global=inputs.slider("Global tokens", 0, 8, 1, key="global", line=right),
            n_random=inputs.slider("Random keys per query", 0, 8, 2, key="random", line=right),
            seed=inputs.slider("Random seed", 0, 20, 0, key="seed", line=right),
        )


def gallery(q_len: int, k_len: int, settings: Settings, *, second_len: int, crossing: bool) -> list[Example]:
    """The masks to start from. Those of another shape than (q_len, k_len) are only to look at.

    Args:
        second_len: tokens of the second sentence.
        crossing: the keys are another text; order then means nothing, so only the first masks make sense.
    """
    import torch

    from tfmviz import masks

    who = (
        "Every row sees the whole source: cross-attention."
        if crossing
        else "Every token sees every other: encoders, BERT."
    )
    full = _example("full", "full", who, masks.full(q_len, k_len))
    width, shorter = max(k_len, second_len), min(k_len, second_len)
    padding = _example(
        "padding",
        "padding",
        f"Two sentences of {k_len} and {second_len} tokens; the padding is hidden.",
        masks.padding(torch.tensor([shorter]), width)[0, 0].expand(q_len if crossing else width, width),
    )
    if crossing:
        return [full, padding]
    before = "j ≤ i: each token sees itself and those before it, as in GPT."
    empty = "j < i, as on some slides: the first row is empty, so its softmax is 0/0."
    first = f"Visible both ways: the first {counted(settings.n_prefix, 'token')}. Later ones see what came before."
    step, radius = settings.step, settings.radius
    steps = f"Itself and keys {step}, {2 * step} … positions away, at most {radius} on each side."
    window, random = masks.window(k_len, settings.radius), masks.random(k_len, settings.n_random, settings.seed)
    bigbird = masks.bigbird(k_len, settings.radius, settings.n_global, settings.n_random, settings.seed)
    pieces, shared = masks.blocks(k_len, settings.size), masks.global_tokens(k_len, settings.n_global)
    sparse = [
        ("window", "sliding window", f"Keys at most {counted(settings.radius, 'position')} away.", window),
        ("dilated", "dilated", steps, masks.dilated(k_len, settings.radius, settings.step)),
        ("blocks", "blocks", f"Each block of {counted(settings.size, 'token')} sees only itself.", pieces),
        ("global", "global tokens", f"Full rows and columns: the first {counted(settings.n_global, 'token')}.", shared),
        ("random", "random", f"Itself and {counted(settings.n_random, 'random key')}.", random),
        ("bigbird", "BigBird", "Window, global and random keys: cost grows with n.", bigbird),
    ]
    past = masks.causal(k_len) if settings.back else masks.full(k_len, k_len)
    only = " Past only." if settings.back else ""
    return [
        full,
        _example("causal", "causal", before, masks.causal(k_len)),
        _example("strict", "strictly causal", empty, masks.strictly_causal(k_len)),
        padding,
        _example("prefix", "prefix-LM", first, masks.prefix(k_len, settings.n_prefix)),
        *(_example(name, title, words + only, mask & past) for name, title, words, mask in sparse),
        _example(
            "cross",
            "cross-attention",
            "The second sentence (rows) attends to all of the first (columns).",
            masks.full(second_len, k_len),
        ),
    ]


def _example(name: str, title: str, words: str, mask: Any) -> Example:
    return Example(id=name, title=title, words=words, mask=mask.numpy())


def laboratory(ctx: PageContext, settings: Settings) -> Chosen:
    layer = ctx.choice.layer
    queries, keys = ctx.trace.axes(layer)
    second = ctx.model.tokenizer.encode(settings.second, max_len=len(keys) + 64)
    examples = gallery(len(queries), len(keys), settings, second_len=len(second), crossing=queries is not keys)
    shape = len(queries), len(keys)
    own = "causal" if layer.startswith("decoder.") and queries is keys else "full"
    window = ctx.model.config.attention.window_in(int(layer.split(".")[1]))
    if window is not None and window < len(keys):
        from tfmviz import masks

        n, back = len(keys), own == "causal"
        sides = "before it" if back else "on either side"
        words = f"The model's own mask: each token sees itself and at most the {window - 1} tokens {sides}."
        near = masks.near(n, n, window)
        examples.insert(0, _example("own", "its own", words, near & masks.causal(n) if back else near))
        own = "own"
    usable = {example.id: example.mask for example in examples if example.mask.shape == shape}
    start = url.one_of("start", usable, own)
    mask = _changed(usable[start], url.text("edit"))
    show_view(
        "masks",
        data={
            "queries": of_queries(ctx.trace, layer),
            "keys": [visible(token) for token in keys.tokens],
            "tokens": keys.tokens,
            "gallery": [
                view.entry(e.mask, id=e.id, title=e.title, words=e.words, usable=e.mask.shape == shape)
                for e in examples
            ],
        },
        selection={"start": start, "bits": view.to_bits(mask)},
        on_report=lambda report: _follow(report, usable),
    )
    filled, empty = mask_effect.filled(mask)
    return Chosen(start=start, mask=mask, usable=filled, empty=empty)


def _changed(start: Array, edit: str) -> Array:
    if not edit:
        return start
    if (changed := view.expand(edit, start.shape)) is None:
        st.info("The mask in the address belongs to another sentence; its starting mask is shown.", icon=icons.INFO)
        return start
    return start ^ changed


def _follow(report: dict[str, Any], usable: dict[str, Array]) -> None:
    if (start := usable.get(str(report["start"]))) is None:
        return
    if (mask := view.from_bits(str(report["bits"]), start.shape)) is not None:
        url.put({"start": str(report["start"]), "edit": view.compact(mask ^ start)})


def where(ctx: PageContext) -> tuple[tuple[str, ...], tuple[bool, ...] | None]:
    """Draws the choice of the layers and heads that get the mask; None: all heads."""
    config = ctx.model.config
    left, right = st.columns(2)
    layers = _pills(left, "In these layers", config.depth(ctx.choice.layer.split(".")[0]), key="in_layers")
    heads = _pills(right, "In these heads", config.attention.n_heads, key="in_heads")
    same_kind = [layer for layer in config.layers if kind_of(layer) == kind_of(ctx.choice.layer)]
    every = len(heads) == config.attention.n_heads
    return (
        tuple(same_kind[index] for index in sorted(layers)) if heads else (),
        None if every else tuple(head in heads for head in range(config.attention.n_heads)),
    )


def _pills(column: DeltaGenerator, label: str, count: int, *, key: str) -> list[int]:
    return inputs.pills(label, range(count), selection_mode="multi", default=list(range(count)), key=key, line=column)


def follow(ctx: PageContext, chosen: Chosen, layers: tuple[str, ...], heads: tuple[bool, ...] | None) -> None:
    live.follow_changes(
        ctx,
        "masks",
        view.to_bits(chosen.mask),
        "masks",
        *live.PAIRED,
        layers=layers,
        heads=heads,
        tokens=len(chosen.mask),
        usual=(ctx.query, ctx.key),
        isOwn=bool(np.array_equal(ctx.trace[f"{ctx.choice.layer}.mask"], chosen.mask)),
    )


def edited(ctx: PageContext, chosen: Chosen, layers: tuple[str, ...], heads: tuple[bool, ...] | None) -> PageContext:
    """The lesson with the reader's mask; without a second run where that is the model's own."""
    if all(np.array_equal(ctx.trace[f"{layer}.mask"], chosen.usable) for layer in layers):
        return ctx
    rows = tuple(map(tuple, chosen.usable.tolist()))
    return replace(ctx, edits=tuple(SetMask(layer=layer, mask=rows, heads=heads) for layer in layers))
