"""Everything that was added to one token's stream, as a sum."""

from __future__ import annotations

import numpy as np
import streamlit as st

from tfmviz.analysis import contributions, deletions
from tfmviz.analysis.attention_layer import is_pre_norm
from tfmviz.analysis.contributions import River
from tfmviz.plots import bars, dots
from tfmviz.ui import controls, icons, lesson
from tfmviz.ui.figures import result, show, theme
from tfmviz.ui.lesson import Lesson
from tfmviz.views.counts import of_columns
from tfmviz.words.labels import visible
from tfmviz.words.numbers import decimal, per_cent, tiny


def river(here: Lesson) -> None:
    trace, stack = here.trace, here.choice.layer.split(".")[0]
    tokens = trace.axes(here.choice.layer)[0].tokens
    with lesson.line("token"):
        controls.token_box([visible(t) for t in tokens], here.query)
    found = contributions.river(trace, stack, here.query, here.model.weights.stacks[stack])
    _waterfall(found)
    result(
        f"The {len(found.parts)} parts sum to the model's own vector, to within **{tiny(found.residue)}**. Heads are "
        "blue, feed-forward layers (MLP) orange."
    )
    if not is_pre_norm(trace):
        st.info("Post-norm: the norms rescale the stream, so they are parts too (grey).", icon=icons.NORM)
    _against_in_words(found)
    _sizes(found)
    _deleted(here, found, stack)
    with st.expander("All parts in numbers"):
        _table(found)


def _waterfall(found: River) -> None:
    """Each part as a step along the direction in which the stream ends."""
    names = [part.name for part in found.parts]
    show(
        "river",
        bars.waterfall(
            found.along,
            kinds=[part.kind for part in found.parts],
            names=names,
            steps=[part.step for part in found.parts],
            theme=theme(),
        ),
        title="How far each part takes the vector along its final direction",
    )


def _sizes(found: River) -> None:
    """Length of each part, and whether it points with or against the stream it is added to."""
    names = [part.name for part in found.parts]
    show(
        "sizes",
        dots.sizes(found.size, found.to_stream, kinds=[part.kind for part in found.parts], names=names, theme=theme()),
        title="Each part's norm and its cosine with the stream it is added to",
    )


def _against_in_words(found: River) -> None:
    worst = found.against()
    if not worst:
        st.markdown("No part points against the stream here (cosine below −0.1).")
        return
    named = "; ".join(
        f"**{found.parts[n].name}** (norm {found.size[n]:.2f}, cosine {decimal(found.to_stream[n])})" for n in worst[:5]
    )
    count = "1 part points" if len(worst) == 1 else f"{len(worst)} parts point"
    st.markdown(f"{count} against the stream (cosine below −0.1): {named}.")


def _deleted(here: Lesson, found: River, stack: str) -> None:
    """The later part that takes most of an earlier one back, and the words that it takes back."""
    gone = deletions.strongest(found)
    if gone is None:
        return
    first, then = found.parts[gone.earlier].name, found.parts[gone.later].name
    amount = f"{per_cent(gone.share)} of {first} back" if gone.share <= 1 else f"more than all of {first} back"
    st.markdown(
        f"**{then[0].upper()}{then[1:]} takes {amount}**: theirs is the most negative product (cosine "
        f"{decimal(gone.cosine)})."
    )
    if not here.model.weights.has_head or stack != here.model.writes_from:
        return
    weights = here.model.weights.stacks[stack]
    if weights.readout.transform is not None:  # not linear: no part has a share of the logits
        return
    raised, lowered = (
        weights.readout.W_U @ contributions.carried(found, weights, n) for n in (gone.earlier, gone.later)
    )
    best = np.argsort(-np.minimum(raised, -lowered), kind="stable")[:6]
    show(
        "deleted",
        of_columns(
            {
                "word": [visible(here.model.vocabulary[n]) for n in best.tolist()],
                first: [decimal(float(raised[n]), "+.2f") for n in best],
                then: [decimal(float(lowered[n]), "+.2f") for n in best],
            },
            caption="Words it takes back, and what both add to their logits",
        ),
    )


def _table(found: River) -> None:
    columns = {
        "norm": found.size,
        "cosine to the stream before": found.to_stream,
        "cosine to the final vector": found.to_final,
        "along the final direction": found.along,
    }
    show(
        "parts",
        of_columns(
            {"part": [part.name for part in found.parts]}
            | {name: [decimal(value, ".3f") for value in values] for name, values in columns.items()},
            caption="Every part, in the order of writing.",
            low=True,
        ),
    )
