from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

import numpy as np
import streamlit as st

from tfmviz.analysis.labelling import from_mean_of_states
from tfmviz.analysis.predictions import softmax
from tfmviz.paths import PROJECT
from tfmviz.plots.cells import Cells, Scale, ValueFormat, named, of_tokens, written
from tfmviz.plots.lines import Axes
from tfmviz.record.model import AnyModel
from tfmviz.record.trace import Array, Encoding
from tfmviz.text.familiar import is_latin
from tfmviz.ui import controls, icons, inputs, lesson, models, translators
from tfmviz.ui.cache import cached_for_all, read_json
from tfmviz.ui.figures import show, show_curves
from tfmviz.ui.ladder import rungs
from tfmviz.ui.lesson import PageContext
from tfmviz.ui.sentences import examples_for
from tfmviz.words import markdown
from tfmviz.words.labels import quoted, visible
from tfmviz.words.numbers import per_cent

BOTH, FORWARD, CLASSIFIER = NAMES = ("label-both", "label-forward", "label-text")

FRENCH = 0
"""The label of French. That of English is 1; see the models' cards."""

QUOTED = 8

WAYS = {BOTH: "both directions", FORWARD: "forward alone"}

READOUTS = ("last state", "mean of the states")

SENTENCES = (
    "Attention, the door is open.",
    "Attention à la marche.",
    "Je pense que the weather is nice.",
    "Table for two, s'il vous plaît.",
    "Six friends are waiting.",
)
"""Texts whose first words only the later ones identify, or whose language changes."""

LONGEST_LINK = 300
"""Characters of a text that goes along to another page."""


MIXED = SENTENCES[2]
"""The tab opens with it: a sentence of one language would show nothing."""


def opens() -> str:
    return controls.opens_with(MIXED, examples_for("")[0].text, row="ladder", tab="Four uses")


def uses(ctx: PageContext) -> None:
    with lesson.control_row("uses"):
        lesson.presets("Sentences in two languages", SENTENCES, key="mixed", width=360)
    networks = {name: model for name in NAMES if (model := models.earlier(name)) is not None}
    if len(networks) < len(NAMES):
        return
    text = encode(networks[BOTH], ctx.text)
    if not text.ids:
        st.info("This text contains nothing that these networks read.", icon=icons.INFO)
        return
    controls.say_what_was_cut(text, "These networks read")
    if note := doubt(text.text):
        st.info(note, icon=icons.INFO)
    by_token = np.stack([softmax(logits(networks[name], text.ids))[:, FRENCH] for name in WAYS])
    show("labels", _languages(by_token, text.tokens, tuple(WAYS.values()), "Labelling, w₁ w₂ … wₙ → y₁ y₂ … yₙ"))
    from_last = logits(networks[CLASSIFIER], text.ids)
    french = np.stack([softmax(part)[:, FRENCH] for part in (from_last, from_mean_of_states(from_last))])
    title = "Classifying, w₁ w₂ … wₙ → y: is the text so far French?"
    show("classes", _languages(french, text.tokens, READOUTS, title), follows=True)
    _others(ctx.text)
    differing = (by_token[0] > 0.5) != (by_token[1] > 0.5)
    compared = f"They differ at {markdown.plain(listed(text, differing))}." if differing.any() else "They agree."
    st.markdown(
        f"“Forward alone” has read only up to this token. {compared} The classifier learned each language alone."
    )
    with lesson.control_row("right"):
        by = inputs.segmented_control("Held-out tokens by", list(PLACES), key="sorted")
    points = {name: (np.arange(1.0, len(y) + 1), y) for name, y in right_by(by).items()}
    axes, tooltips = Axes(PLACES[by], "share of correct labels", 280), "{}, token {:.0f}: {:.1%} correct".format
    show_curves(
        "right", points, axes, tooltips, y_range=(0.8, 1.0), title="How often are they correct on held-out text?"
    )
    st.caption("The mixed texts join Tatoeba sentences.")


def _languages(french: Array, tokens: Sequence[str], readers: Sequence[str], title: str) -> Cells:
    scale, texts = Scale("probability", 0, 1, "P(French)", ticks="per cent"), written(100 * french, ".0f")
    form, columns = ValueFormat(name="P(French) = ", digits=1, percent=True), of_tokens("token", tokens)
    return Cells(french[None], named(readers), columns, scale, form=form, titles=(title,), texts=texts)


def listed(text: Encoding, chosen: Array) -> str:
    """The chosen tokens in words; of many, the first few."""
    names = quoted(text.tokens)
    if not (tokens := [names[place] for place in np.flatnonzero(chosen)]):
        return "nothing"
    return ", ".join(tokens[:QUOTED]) + (f" and {len(tokens) - QUOTED} more" if len(tokens) > QUOTED else "")


def _others(text: str) -> None:
    along = {"text": text} if len(text) <= LONGEST_LINK else {}
    counting = _address("counting", {"counted_in": "Write with it", **along})
    bottleneck = _address("bottleneck", {"model": "french-english", "text": "Je suis étudiant."})
    p = rungs.read_text(rungs.ladder(), text).p[list(rungs.TITLES).index("ladder-rnn"), -1]
    word = markdown.plain(visible(rungs.ladder().transformer.vocabulary[int(p.argmax())]))
    translator = translators.loadable().get("none")
    sentence = translator and translator.tokenizer.decode(translators.translation(translator, text)).strip()
    st.markdown(
        f"- **Writing**: w₁ w₂ … wₙ → wₙ₊₁ = “{word}” ({per_cent(p.max())}). See [these "
        f"models]({_address('ladder', along)}), [a transformer]({_address('writing', along)}), [counts]({counting}).\n"
        f"- **Encoder-decoder**: w₁ w₂ … wₙ → hₙ → v₁ v₂ … vₘ = “{markdown.plain(sentence or '')}”: [The "
        f"bottleneck]({bottleneck})."
    )


def _address(page: str, choices: Mapping[str, str]) -> str:
    return f"./{page}?{urlencode(choices)}"


PLACES = {
    "after a change": "tokens after a change of language",
    "before a change": "tokens before a change of language",
    "position": "tokens from the start",
    "whole texts": "tokens read of a text in one language",
}
"""Events from which the held-out tokens are counted, and the title of that axis."""


def right_by(place: str) -> dict[str, Array]:
    """Measured accuracy at the distances 1, 2, 3 …, by the names of the lines."""
    if place == "whole texts":
        found = measured(CLASSIFIER)
        return {READOUTS[0]: np.array(found["position"]), READOUTS[1]: np.array(found["mean of the states"])}
    return {way: np.array(measured(name)[place]) for name, way in WAYS.items()}


def measured(name: str) -> Mapping[str, list[float]]:
    """Measurements of `scripts.evaluate` on held-out text."""
    return read_json(PROJECT / "assets" / "training" / f"{name}-by-position.json")


def doubt(text: str) -> str:
    """A note on a text that these networks were not made for; else ""."""
    letters = [character for character in text if character.isalpha()]
    if len(letters) < 3:
        return "With so few letters the networks are guessing."
    if not all(map(is_latin, letters)):
        return "Not all letters are Latin; these networks know only French and English."
    return ""


@cached_for_all
def encode(model: AnyModel, text: str) -> Encoding:
    return model.encode(text)


@cached_for_all
def logits(model: AnyModel, ids: tuple[int, ...]) -> Array:
    """(len, label)."""
    return model.trace(ids, sites=("logits",))["logits"]
