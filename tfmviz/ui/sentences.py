"""Words that several pages need: sentences to start from, and what each architecture does."""

from tfmviz.model.config import Architecture

SENTENCES = (
    "I walked along the pond, and noticed that one of the trees along the bank had fallen into the water after the "
    "storm.",
    "I went to the store. At the store, I bought fresh strawberries.",
    "The animal didn't cross the street because it was too tired.",
    "The students opened their",
    "Today the price of",
    "The chef who went to the stores and cooked for everyone was",
    "Man eats small dinosaur.",
    "Of course we know. We know that, of course.",
    "Once upon a time there was a little girl. Once upon a",
    "The cat sat on the mat.",
)
"""Those that lectures on transformers use, or that show something at once. The first is on the page when it opens."""

OF_MODEL = {
    "french-english": (
        "J'ai une voiture rouge.",
        "Je suis étudiant.",
        "Elle ne mange jamais de viande.",
        "Où est la gare ?",
    ),
    "fill-in": (
        "The cat ___ on the mat.",
        "She drinks a cup of ___.",
        "He went to the ___ to get some money.",
        "The book is ___ the table.",
    ),
    "reverse": ("attention", "stressed", "transformer", "abcdefgh"),
}
"""What suits a model better."""


def sentences_for(model: str) -> tuple[str, ...]:
    """Sentences that suit a model; the first is there when it is chosen."""
    return OF_MODEL.get(model, SENTENCES)


HOW_IT_READS: dict[Architecture, str] = {
    "decoder-only": "This model writes from left to right and may only look back: what comes later is masked.",
    "encoder-only": "This model fills in missing words, so every word may look at all others: nothing is masked. "
    "Write `___` for a word that it is to fill in.",
    "encoder-decoder": "This model reads your text, looking everywhere, and writes an answer from left to right; "
    "cross-attention looks from the answer to your text. The sidebar chooses between the three.",
}

WHAT_IT_PREDICTS: dict[Architecture, str] = {
    "decoder-only": "Next, most probably",
    "encoder-only": "In this place, most probably",
    "encoder-decoder": "Next in the answer, most probably",
}
