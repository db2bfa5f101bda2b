"""Sentences that lectures on transformers use, or that show something at once."""

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
"""The first one is on the page when it opens."""
