"""Says before a translation how its source is read, and what speaks against it: the model has not learned such text."""

from __future__ import annotations

import streamlit as st

from tfmviz import zoo
from tfmviz.text.familiar import MET, Doubt, Familiar, SingleWords
from tfmviz.ui import icons
from tfmviz.ui.lesson import Lesson
from tfmviz.words import markdown

NAMED = 6
"""Unknown words that are listed."""

SHOWN = 80
"""Characters that are shown of a source that is read otherwise than it was typed."""


def say(here: Lesson) -> None:
    """Notes, where there is reason for them; doubts, if the model comes with what it has met."""
    if here.text.isupper() and not (read := here.model.tokenizer.spelled(here.text)).isupper():
        shown = markdown.plain(read if len(read) <= SHOWN else f"{read[:SHOWN]} …")
        st.info(f"Text in all capitals is read in lower case: “{shown}”", icon=icons.INFO)
    familiar = _familiar(here.model.name)
    if familiar is None:
        return
    doubt = familiar.doubt(here.text)
    if doubt.is_foreign:
        st.info(_foreign(doubt), icon=icons.INFO)
    elif doubt.is_long:
        st.info(
            f"The source has {doubt.n_words} words; 99% of the training sentences have at most {familiar.longest}.",
            icon=icons.INFO,
        )
    elif doubt.n_words == 1:
        st.info(_single(familiar.single), icon=icons.INFO)


def _single(measured: SingleWords | None) -> str:
    """What can be expected of a single word, as far as it was measured."""
    found = ""
    if measured is not None:
        found = (
            f" Of {measured.n} one-word sentences (“Bonjour !”) it translates {measured.as_they_are} as a reference "
            f"does, {measured.typed} if they are typed in lower case without punctuation."
        )
    return f"This is a single word, and the model learned from sentences.{found} Put it into a sentence."


def _foreign(doubt: Doubt) -> str:
    """Why the source is hardly French, with the rule."""
    listed = ", ".join(markdown.plain(word[:20]) for word in doubt.unknown[:NAMED])
    more = " …" if len(doubt.unknown) > NAMED else ""
    which = f" It does not know {listed}{more}." if doubt.unknown else ""
    rule = f"fewer than two thirds of its words occur at least {MET} times in training"
    return f"This does not look like French: {rule}.{which}"


@st.cache_resource(show_spinner=False)
def _familiar(name: str) -> Familiar | None:
    return Familiar.load(zoo.MODELS / name)
