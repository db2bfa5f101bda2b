"""The mask page: the gallery, the mask in the address, and what the mask does to the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from tfmviz.analysis import mask_effect
from tfmviz.analysis.predictions import softmax
from tfmviz.analysis.scaling import entropy
from tfmviz.edits import SetMask
from tfmviz.plots import masks as figures
from tfmviz.plots.labels import visible
from tfmviz.plots.steps import pairs, tiles
from tfmviz.trace import Array, Trace, kind_of
from tfmviz.ui import controls, models
from tfmviz.ui.controls import Choice
from tfmviz.ui.figures import show, theme
from tfmviz.ui.view import show_view
from tfmviz.views import masks as view

SECOND = "The cat sat on the mat."


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Example:
    """A mask of the gallery.

    Attributes:
        words: what it is for, in a sentence.
        mask: (q_len, k_len), True = may attend.
    """

    id: str
    title: str
    words: str
    mask: Array


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """What the sliders of the gallery say; see `tfmviz.masks`."""

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
        start: mask of the gallery it began as.
        mask: (q_len, k_len), as drawn.
        usable: the same with a way out for the rows in `empty`, which see nothing.
    """

    start: str
    mask: Array
    usable: Array
    empty: list[int]


def settings(choice: Choice) -> Settings:
    """Draws the gallery's sliders."""
    with st.expander("Parameters of the gallery"):
        left, middle, right = st.columns(3)
        back = left.toggle(
            "& causal: look back only", choice.layer.startswith("decoder."), key="back", bind="query-params"
        )
        second = left.text_input("A second sentence", SECOND, key="second", bind="query-params", max_chars=200)
        n_prefix = left.slider("Prefix-LM: tokens of the prefix", 1, 16, 5, key="prefix", bind="query-params")
        radius = middle.slider("Window and BigBird: radius w", 0, 16, 2, key="w", bind="query-params")
        step = middle.slider("Dilated: step", 2, 8, 3, key="step", bind="query-params")
        size = middle.slider("Blocks: tokens in a block", 1, 16, 5, key="size", bind="query-params")
        n_global = right.slider("Global tokens", 0, 8, 1, key="global", bind="query-params")
        n_random = right.slider("Random keys for each query", 0, 8, 2, key="random", bind="query-params")
        seed = right.slider("Seed of the random keys", 0, 20, 0, key="seed", bind="query-params")
    return Settings(
        second=second.strip() or SECOND,
        back=back,
        n_prefix=n_prefix,
        radius=radius,
        step=step,
        size=size,
        n_global=n_global,
        n_random=n_random,
        seed=seed,
    )


def gallery(q_len: int, k_len: int, said: Settings, *, second_len: int, crossing: bool) -> list[Example]:
    """The masks to start from. What has another shape than (q_len, k_len) is only to look at.

    Args:
        second_len: tokens of the second sentence.
        crossing: the keys are another text; order then says nothing, so only the first masks make sense.
    """
    import torch

    from tfmviz import masks

    full = Example(
        id="full", title="full", words="Everyone sees everyone: encoders, BERT.", mask=masks.full(q_len, k_len).numpy()
    )
    width = max(k_len, second_len)
    shorter = min(k_len, second_len)
    padded = masks.padding(torch.tensor([shorter]), width)[0, 0].expand(q_len if crossing else width, width)
    padding = Example(
        id="padding",
        title="padding",
        words=f"A batch holds two sentences of {k_len} and {second_len} tokens; the shorter one is filled up, and nobody looks at the filling.",
        mask=padded.numpy(),
    )
    if crossing:
        return [full, padding]
    causal = masks.causal(k_len)
    back = causal if said.back else masks.full(k_len, k_len)
    sparse = " The past only." if said.back else ""
    drawn = (
        ("causal", "causal", "j ≤ i: itself and what came before: GPT and every model that writes.", causal),
        ("strict", "strictly causal", "j < i, as some slides print it: taken literally the first row is empty, its softmax 0/0. The rule is j ≤ i.", masks.strictly_causal(k_len)),
        ("prefix", "prefix-LM", f"The first {said.n_prefix} tokens see one another in full, the rest looks back.", masks.prefix(k_len, said.n_prefix)),
        ("window", "sliding window", f"Keys at most {said.radius} places away.{sparse}", masks.window(k_len, said.radius) & back),
        ("dilated", "dilated", f"Every {said.step}. key, up to {said.radius} of them on a side.{sparse}", masks.dilated(k_len, said.radius, said.step) & back),
        ("blocks", "blocks", f"Pieces of {said.size} tokens that see only themselves.{sparse}", masks.blocks(k_len, said.size) & back),
        ("global", "global tokens", f"The first {said.n_global} tokens see all and are seen by all.{sparse}", masks.global_tokens(k_len, said.n_global) & back),
        ("random", "random", f"Itself and {said.n_random} keys drawn at random.{sparse}", masks.random(k_len, said.n_random, said.seed) & back),
        ("bigbird", "BigBird", f"Window, global tokens and random keys together: cost grows with n, not n².{sparse}", masks.bigbird(k_len, said.radius, said.n_global, said.n_random, said.seed) & back),
    )  # fmt: skip
    cross = Example(
        id="cross",
        title="cross-attention",
        words="The second sentence (rows) looks at the first (columns), all of it: a rectangle.",
        mask=masks.full(second_len, k_len).numpy(),
    )
    square = [Example(id=name, title=title, words=words, mask=mask.numpy()) for name, title, words, mask in drawn]
    return [full, *square[:2], padding, *square[2:], cross]


def laboratory(trace: Trace, choice: Choice, said: Settings) -> Chosen:
    """The gallery and the grid; returns the mask as it is now."""
    queries, keys = trace.axes(choice.layer)
    tokenizer = models.load(choice.model).tokenizer
    second = tokenizer.encode(said.second, max_len=len(keys) + 64)
    examples = gallery(len(queries), len(keys), said, second_len=len(second), crossing=queries is not keys)
    shape = (len(queries), len(keys))
    own = "causal" if choice.layer.startswith("decoder.") and queries is keys else "full"
    usable = {example.id: example.mask for example in examples if example.mask.shape == shape}
    start = st.query_params.get("start", own)
    start = start if start in usable else own
    mask = _changed(usable[start], st.query_params.get("edit", ""))
    show_view(
        "masks",
        js=view.JS,
        css=view.CSS,
        data={
            "queries": [visible(token) for token in queries.tokens],
            "keys": [visible(token) for token in keys.tokens],
            "gallery": [
                view.entry(e.mask, id=e.id, title=e.title, words=e.words, usable=e.mask.shape == shape)
                for e in examples
            ],
        },
        selection={"sequence": st.session_state.get("masks_sequence", 0), "start": start, "bits": view.to_bits(mask)},
        on_report=lambda report: _follow(report, usable),
    )
    filled, empty = mask_effect.filled(mask)
    return Chosen(start=start, mask=mask, usable=filled, empty=empty)


def _changed(start: Array, edit: str) -> Array:
    """The start with the address's changes; they are left out, with a note, where the sentence has another length."""
    if not edit:
        return start
    changed = view.expand(edit, start.shape)
    if changed is None:
        st.info("The mask in the address was drawn for another sentence; this is the mask it began as.", icon="ℹ️")
        return start
    return start ^ changed


def _follow(report: dict[str, Any], usable: dict[str, Array]) -> None:
    """Puts the mask that was drawn into the address."""
    st.session_state["masks_sequence"] = int(report["sequence"])
    start = usable.get(str(report["start"]))
    mask = None if start is None else view.from_bits(str(report["bits"]), start.shape)
    if start is None or mask is None:
        return
    controls.put({"start": str(report["start"]), "edit": view.compact(mask ^ start)})


def where(choice: Choice) -> tuple[tuple[str, ...], tuple[bool, ...] | None]:
    """Asks for which layers and heads the mask is meant. Returns the layers, and per head whether it gets the mask."""
    config = models.load(choice.model).config
    left, right = st.columns(2)
    layers = left.pills(
        "In these layers",
        range(config.n_layers),
        selection_mode="multi",
        default=range(config.n_layers),
        key="in_layers",
    )
    heads = right.pills(
        "In these heads", range(config.n_heads), selection_mode="multi", default=range(config.n_heads), key="in_heads"
    )
    same_kind = [layer for layer in config.layers if kind_of(layer) == kind_of(choice.layer)]
    every = len(heads) == config.n_heads
    return (
        tuple(same_kind[index] for index in sorted(layers)) if heads else (),
        None if every else tuple(head in heads for head in range(config.n_heads)),
    )


def edited(choice: Choice, text: str, chosen: Chosen, layers: tuple[str, ...], heads: tuple[bool, ...] | None) -> Trace:
    """The model's run with the reader's mask."""
    if not layers:
        return models.trace(choice.model, text)
    return _edited(choice.model, text, layers, heads, view.to_bits(chosen.usable), chosen.usable)


@st.cache_resource(show_spinner=False, max_entries=4)
def _edited(
    name: str, text: str, layers: tuple[str, ...], heads: tuple[bool, ...] | None, bits: str, _mask: Array
) -> Trace:
    """`bits` stands for the mask in the cache: Streamlit would walk every cell of an edit."""
    rows = tuple(map(tuple, _mask.tolist()))
    return models.load(name).trace(text, tuple(SetMask(layer=layer, mask=rows, heads=heads) for layer in layers))


def verdict(before: Trace, after: Trace, chosen: Chosen, layers: tuple[str, ...]) -> None:
    """The effect in words: empty rows, loss, and who can see the answer."""
    if chosen.empty:
        names = ", ".join(
            f"{row} “{controls.plain(visible(_row_token(before, layers, row)))}”" for row in chosen.empty[:6]
        )
        st.warning(
            f"Row {names}{' …' if len(chosen.empty) > 6 else ''} may look at nothing. A softmax over nothing is 0/0, which "
            "spreads through every later layer. To go on, such a token is let look at itself here.",
            icon="⚠️",
        )
    if "decoder.0.self_attn.pattern" not in before:
        st.markdown("This model fills in words; it has no next word to predict, so there is no loss to compare.")
        return
    old, new = (mask_effect.next_token_losses(run["logits"], run.target.ids) for run in (before, after))
    if not len(old):
        st.markdown("One token has no next word to be surprised by. Type more.")
        return
    chance = [float(np.exp(-losses.mean())) for losses in (old, new)]
    st.markdown(
        f"Mean surprise at the next word of your sentence (the loss): **{old.mean():.2f}** nats with the model's own mask, "
        f"**{new.mean():.2f}** with yours; the right word gets {chance[0]:.1%} and {chance[1]:.1%} (geometric mean)."
    )
    self_layers = [layer for layer in after.layers if layer.startswith("decoder.") and layer.endswith("self_attn")]
    answers = mask_effect.seen_answers(mask_effect.layers_to_reach([_seen(after, layer) for layer in self_layers]))
    if not len(answers):
        st.markdown("No position can see the word it is to predict: nothing to cheat with.")
        return
    worse = "disturbed" if new.mean() > old.mean() else "not disturbed"
    st.markdown(
        f"**{len(answers)} of {len(old)} positions can see the very word they are to predict.** A model *trained* like this would "
        "copy it: its loss would fall towards 0, and it would learn nothing about language. This model was trained "
        f"with the mask and never learned to peek: it is merely {worse}."
    )


def _row_token(trace: Trace, layers: tuple[str, ...], row: int) -> str:
    return trace.axes(layers[0] if layers else trace.layers[-1])[0].tokens[row]


def _seen(trace: Trace, layer: str) -> Array:
    """What at least one head of a layer may see: (q_len, k_len)."""
    mask = trace[f"{layer}.mask"]
    return mask.any(axis=0) if mask.ndim == 3 else mask


def _mask_of(trace: Trace, choice: Choice) -> Array:
    """The mask of the chosen head."""
    mask = trace[f"{choice.layer}.mask"]
    pattern = trace[f"{choice.layer}.pattern"][choice.head]
    return np.broadcast_to(mask[choice.head] if mask.ndim == 3 else mask, pattern.shape)


def attention(before: Trace, after: Trace, choice: Choice, token: int) -> None:
    """The chosen head with both masks: the whole pattern, and one row."""
    patterns = [run[f"{choice.layer}.pattern"][choice.head] for run in (before, after)]
    masks = [_mask_of(run, choice) for run in (before, after)]
    names = ("its own mask", "your mask")
    evenness = [float(entropy(pattern.astype(np.float64)).mean()) for pattern in patterns]
    keys = before.axes(choice.layer)[1].tokens
    left, right = st.columns(2)
    with left:
        shown = [np.where(mask, pattern, np.nan) for mask, pattern in zip(masks, patterns, strict=True)]
        show(
            tiles(shown, np.ones(patterns[0].shape, dtype=bool), titles=names, theme=theme()),
            key="mask_patterns",
            alt=f"Entropy of the rows in nats: {evenness[0]:.2f} with its own mask, {evenness[1]:.2f} with yours.",
        )
    with right:
        rows = [pattern[token] for pattern in patterns]
        show(
            pairs(keys, *rows, series=names, axis_title="share of attention", theme=theme()),
            key="mask_row",
            alt="; ".join(f"“{visible(t)}” {a:.2f} → {b:.2f}" for t, a, b in zip(keys, *rows, strict=True)),
        )
    scores = [run[f"{choice.layer}.scores"][choice.head][token] for run in (before, after)]
    st.dataframe(
        {
            "key": [f"{j} {visible(t)}" for j, t in enumerate(keys)],
            "score, its own mask": [_score(value) for value in scores[0]],
            "score, your mask": [_score(value) for value in scores[1]],
            "share, its own mask": np.round(rows[0], 3),
            "share, your mask": np.round(rows[1], 3),
        },
        hide_index=True,
        height=240,
    )
    st.markdown(f"The row still sums to **{rows[1].sum():.3f}**: the softmax shares 1 among the keys that are left.")


def _score(value: float) -> str:
    return "−∞" if value == -np.inf else f"{value:.3f}".replace("-", "−")


def outputs(before: Trace, after: Trace, choice: Choice) -> None:
    """How far the vectors have moved, layer by layer."""
    stack = choice.layer.split(".")[0]
    moved = mask_effect.stream_change(before, after, stack)
    tokens = before.axes(f"{stack}.0.self_attn")[0].tokens
    most = int(moved[-1].argmax())
    show(
        figures.change(moved, tokens=tokens, theme=theme()),
        key="stream_change",
        alt="After the last layer: "
        + "; ".join(f"“{visible(t)}” {m:.0%}" for t, m in zip(tokens, moved[-1], strict=True)),
    )
    st.markdown(
        f"After the last layer the vectors have moved by {moved[-1].mean():.0%} of their length on average, most “"
        f"{controls.plain(visible(tokens[most]))}”, by {moved[-1, most]:.0%}."
    )


def next_words(before: Trace, after: Trace, choice: Choice, token: int) -> None:
    """What is predicted after the chosen token, with both masks."""
    vocabulary = models.load(choice.model).vocabulary
    old, new = (softmax(run["logits"][token]) for run in (before, after))
    best = np.argsort(-np.maximum(old, new), kind="stable")[:10]
    words = [vocabulary[index] for index in best]
    show(
        figures.before_after(
            words, old[best], new[best], title="probability", percent=True, tick_title="next token", theme=theme()
        ),
        key="mask_predictions",
        alt="; ".join(f"“{visible(w)}” {old[i]:.1%} → {new[i]:.1%}" for w, i in zip(words, best, strict=True)),
    )


def losses(before: Trace, after: Trace) -> None:
    """Surprise at every next word, with both masks."""
    if len(before.tokens) < 2 or "decoder.0.self_attn.pattern" not in before:
        return
    old, new = (mask_effect.next_token_losses(run["logits"], run.target.ids) for run in (before, after))
    tokens = before.tokens[1:]
    show(
        figures.before_after(
            tokens, old, new, title="−log p, nats", percent=False, tick_title="the word to predict", theme=theme()
        ),
        key="mask_losses",
        alt="; ".join(f"“{visible(t)}” {a:.1f} → {b:.1f}" for t, a, b in zip(tokens, old, new, strict=True)),
    )


def reach(after: Trace, chosen: Chosen, choice: Choice) -> None:
    """Who can influence whom after some layers of this mask."""
    if chosen.mask.shape[0] != chosen.mask.shape[1] or choice.layer.endswith("cross_attn"):
        st.info("Reach is about layers that look at their own text. Cross-attention reads everything in one step.")
        return
    n_layers = models.load(choice.model).config.n_layers
    shown = st.slider("Layers", 1, n_layers, n_layers, key="depth") if n_layers > 1 else 1
    steps = mask_effect.layers_to_reach([chosen.mask] * shown)
    tokens = after.axes(choice.layer)[0].tokens
    count = int((steps != mask_effect.OUT_OF_REACH).sum())
    show(
        figures.reach(steps, tokens=tokens, n_layers=shown, theme=theme()),
        key="reach",
        alt=f"{count} of {steps.size} pairs are within reach after {shown} layers.",
    )
    needed, everything = mask_effect.layers_needed(chosen.mask)
    st.markdown(
        f"After {shown} layers {count} of {steps.size} pairs are within reach. With as many layers as you like it takes "
        f"**{needed}** until {'everything is reachable' if everything else 'nothing more comes within reach'}; this model has {n_layers}. "
        f"For a window of radius r that is (n − 1)/r layers: O(n/r), against 1 for full attention."
    )
