"""A reader's text as training documents."""

from __future__ import annotations

from itertools import islice

from tfmviz.text.corpora import is_held_out, split_documents
from tfmviz.text.tokenizer import END_OF_TEXT

LEAST, MOST = 2_000, 2_000_000
"""Bounds on the characters of a training text."""

KEPT_OUT, ENOUGH = 300, 20_000
"""The fewest and the most characters held out of training."""

CUTS = 2_000
"""Cuts tried: the hash rejects all once in 500 million texts."""


class UnfitText(ValueError):
    """A text cannot be trained on; the message says why."""


def prepared(text: str) -> str:
    """The text as a run's training file: documents with separators, about a tenth of it held out.

    A hash holds out one document in a hundred (`text.corpora`). If it holds out none, the text's end is cut off where
    it does.

    Raises:
        UnfitText: it is too short or too long.
    """
    text = "\n".join(text.replace("\x00", "").replace(END_OF_TEXT, "\n").splitlines()).strip()
    n_characters = len(text)
    if not LEAST <= n_characters <= MOST:
        raise UnfitText(
            f"The text has {n_characters:,} characters; a run takes {LEAST:,} to {MOST:,}. "
            + ("Paste more of it." if n_characters < LEAST else "Paste a part of it.")
        )
    body, held_out = _cut(text)
    documents = list(split_documents(body))
    if sum(len(document) for document in documents if not is_held_out(document)) < len(body) / 2:
        body = body.strip()  # one line, or copies of one that the hash keeps out
        while is_held_out(body):
            body = body[1:].lstrip()
        documents = [body]
    return f"\n{END_OF_TEXT}\n".join([*documents, held_out])


def _cut(text: str) -> tuple[str, str]:
    """The text and its held-out end: the first cut, from a tenth on, that the hash allows.

    Cuts before white space are skipped.
    """
    lengths = range(max(KEPT_OUT, min(len(text) // 10, ENOUGH)), len(text) // 2)
    for length in islice((n for n in lengths if not text[-n].isspace()), CUTS):
        end = text[-length:]
        if is_held_out(end):
            return text[:-length], end
    raise UnfitText(
        "No end of this text can be kept out of training: the rule that chooses one finds none. Change a word, or take "
        "white space out of the second half."
    )
