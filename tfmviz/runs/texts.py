"""The reader's text as documents that a run can train on."""

from __future__ import annotations

from itertools import islice

from tfmviz.text.corpora import is_held_out, split_documents
from tfmviz.text.tokenizer import END_OF_TEXT

LEAST, MOST = 2_000, 2_000_000
"""Characters of a text that can be trained on."""

KEPT_OUT, ENOUGH = 300, 20_000
"""The least characters that are kept out of training, more than a window of bytes; and how many are enough."""

CUTS = 2_000
"""Places that are tried: the hash refuses all of them once in 500 million texts."""


class UnfitText(ValueError):
    """A text cannot be trained on; the message says why."""


def prepared(text: str) -> str:
    """The text as the file that a run reads: documents with marks between them, about a tenth of it held out.

    A hash of a document decides whether it is held out, of one in a hundred (`text.corpora`). A short text may have no
    such document. Then its end is cut off where the hash of what follows says so.

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
    """The text in two parts, of which the second is held out: the first cut from a tenth on that the hash allows.

    Cuts before white space are none, since the same end follows the next one.
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
