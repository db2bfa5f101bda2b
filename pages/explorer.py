"""The explorer: type a sentence and see what every head of a small trained model does with it (L3, L5, L6, L8)."""

import streamlit as st

from tfmviz.ui import controls, models, panels
from tfmviz.ui.figures import show_code
from tfmviz.ui.router import ensure_routed

ensure_routed()
choice = controls.choice()

st.title("Type a sentence, take a transformer apart")
text = controls.sentence()
model = models.load(choice.model)
trace = models.trace(choice.model, text)
on_repeats = models.scores_on_repeats(choice.model)
token = controls.token(len(trace.tokens))
controls.say_what_was_cut(trace)

st.markdown(
    "Every word asks: *which earlier words matter to me?* Choose a token; the shade under every other token is the "
    "share of attention it gets from the chosen one. Striped tokens come later: the mask hides them."
)
panels.token_strip(trace, choice, token)

left, right = st.columns([2, 3])
with left:
    st.subheader("Every head at once")
    st.markdown(
        "One small picture per head; brighter is more attention. Point at one for its verdict, click to choose."
    )
    panels.all_heads(trace, choice, on_repeats)
with right:
    st.subheader("The chosen head")
    panels.verdict(trace, choice, on_repeats)
    panels.one_head(trace, choice, token)

st.subheader("What comes next?")
st.markdown(
    "After each token the model gives every entry of its vocabulary a probability. These are the ten most probable to "
    f"follow token {token}."
)
panels.next_words(trace, model.vocabulary, token)

st.subheader("The residual stream")
st.markdown(
    "Each token has one vector that all layers read and add to. On the left its length after every layer; on the right "
    "how much the attention and the feed-forward layer (MLP) of each layer add to the chosen token, and which part of "
    "the step that makes. A part over 100 % means that the other one worked against it."
)
panels.stream_norms(trace, token)
show_code(*models.attention_code())
