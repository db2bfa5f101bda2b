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
token = controls.token(len(trace.tokens))
controls.say_what_was_cut(trace)

st.markdown(
    "Every word asks: *which earlier words matter to me?* Choose a token; the shade of every other token is the share "
    "of attention it gets from the chosen one. Striped tokens come later: the mask hides them."
)
panels.token_strip(trace, choice, token)
panels.next_words_in_short(trace, model.vocabulary, token)

# Only the open tab is computed and drawn, which keeps the way from Enter to the new pictures short.
attention, predictions, stream = st.tabs(
    ["Attention", "What comes next?", "Residual stream"], key="view", bind="query-params"
)
if attention.open:
    with attention:
        on_repeats = models.scores_on_repeats(choice.model)
        left, right = st.columns([2, 3])
        with left:
            st.subheader("Every head at once")
            st.markdown("Brighter is more attention. Point at a head for its verdict, click to choose it.")
            panels.all_heads(trace, choice, on_repeats)
        with right:
            st.subheader("The chosen head")
            panels.verdict(trace, choice, on_repeats)
            panels.one_head(trace, choice, token)
        show_code(*models.attention_code())
if predictions.open:
    with predictions:
        st.markdown(
            "After each token the model gives every entry of its vocabulary a probability of being the next one. These "
            f"are the ten most probable to follow token {token}; choose another token above to see its."
        )
        panels.next_words(trace, model.vocabulary, token)
if stream.open:
    with stream:
        st.markdown(
            "Each token has one vector that all layers read and add to. First its length after every layer; then how "
            "much the attention and the feed-forward layer (MLP) of each layer add to the chosen token, and which part "
            "of the step that makes. A part over 100 % means that the other one worked against it."
        )
        panels.stream_norms(trace, token)
