"""The explorer: type a sentence and see what every head of a small trained model does with it (L3, L5, L6, L8)."""

import streamlit as st

from tfmviz.ui import guess, lesson
from tfmviz.ui.explorer import pair, panels
from tfmviz.ui.lesson import Lesson
from tfmviz.ui.sentences import HOW_IT_READS


def draw(here: Lesson) -> None:
    with guess.first(here.question, name="looks"):
        panels.explorer(here)
    with guess.along("predicted"), lesson.where_it_predicts():
        panels.predictions_in_short(here)
    st.markdown(HOW_IT_READS[here.model.config.architecture])

    lesson.tabs(
        "view",
        {
            "Predictions": (
                "At every token the model gives each entry of its vocabulary a probability: of coming next or, in a "
                "model that fills in words, of standing there. These are the ten most probable at token "
                f"{here.target}; click another token to pin it.",
                lambda: panels.predictions(here),
                "Which word does the model expect here, and how sure is it?",
            ),
            "Which head links two words?": (
                "Choose a token and one that it may look at, or click a cell of the matrix above. Every head of this "
                "kind of attention is measured on this pair.",
                lambda: pair.pair(here),
            ),
            "Residual stream": (
                "Each token has one vector, which all layers read and add to. First comes its length after every "
                "layer; then what the attention and the feed-forward layer (MLP) of each layer add to the chosen "
                "token, and their shares of the step. A share over 100% means that the other one worked against it.",
                lambda: panels.stream_norms(here),
                here.asks("Which token's vector becomes the longest?"),
            ),
            "Take it away": (
                "Everything above as files, to use without this app. Every figure has its own button for a picture; "
                "“Copy link” makes an address that shows exactly what you see.",
                lambda: panels.files(here),
            ),
        },
    )
    panels.code()


lesson.page(
    "Type a sentence, take a transformer apart",
    "Every word asks: *which other words matter to me?* Point at one: the brighter another, the larger its share.",
    draw,
)
