"""The script that says what a translator has met."""

import pytest

from scripts import list_words
from tfmviz import load
from tfmviz.text.familiar import SingleWords

PAIRS = [
    ("Bonjour !", "Hello!"),
    ("Bonjour !", "Good morning."),
    ("Merci.", "Thank you."),
    ("Cours !", "Run!"),
    ("Le chat dort.", "The cat sleeps."),
]

WRITTEN = {"Bonjour !": "good morning", "bonjour": "to be alone", "Merci.": "Thank you.", "merci": "Thank you"}
WRITTEN |= {"Cours !": "Running!", "cours": "class"}


def test_single_words_are_right_if_a_reference_has_the_same_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_words, "greedy", lambda _, sources: {source: WRITTEN[source] for source in sources})
    found = list_words.single_words(load("french-english"), PAIRS)
    assert found == SingleWords(n=3, as_they_are=2, typed=1)
