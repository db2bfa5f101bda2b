"""What is said of A and B, against a computation of its own on fifty pairs of sentences."""

import numpy as np

from tests.app import lesson
from tests.cases import each
from tfmviz.analysis.side_by_side import pair_tokens
from tfmviz.ui import models
from tfmviz.ui.head_comparison import HeadComparison, summary_text
from tfmviz.words.labels import quoted

WORDS = ["the dog", "a cat", "my friend", "the child", "an old man", "the river", "a bird", "the house"]
VERBS = ["saw", "found", "liked", "left", "painted"]


def sentences(seed: int) -> tuple[str, str]:
    """Two sentences that differ in one noun."""
    rng = np.random.default_rng(seed)
    subject, old, new = rng.choice(WORDS, 3, replace=False)
    verb = rng.choice(VERBS)
    return f"Then {subject} {verb} {old} again.", f"Then {subject} {verb} {new} again."


@each("seed", range(50))
def test_where_the_token_looks_in_both(seed: int) -> None:
    texts, rng = sentences(seed), np.random.default_rng(100 + seed)
    layer, head = f"decoder.{rng.integers(6)}.self_attn", int(rng.integers(8))
    here, there = (lesson("tiny-english", text, layer, head) for text in texts)
    pairing = pair_tokens(here.trace.target, there.trace.target)
    query = int(rng.integers(len(here.trace.tokens)))
    sides = HeadComparison(lessons=(here, there), titles=("A", "B"), queries=pairing, keys=pairing, query=query, key=0)
    sentence = summary_text(sides).replace("\\", "")

    model = models.load("tiny-english")
    a, b = ([token.strip() for token in model.encode(text).tokens] for text in texts)
    row = model.trace(texts[0])[f"{layer}.pattern"][head, query]
    names, others = quoted(a), quoted(b)
    looks = f"{names[query]} looks most at {names[row.argmax()]} "
    if pairing.partner(query) is None:
        assert a[query] not in b or a.count(a[query]) > b.count(a[query])
        assert sentence.startswith(f"In A, {looks}")
        assert "B has no such token" in sentence
        return
    other = model.trace(texts[1])[f"{layer}.pattern"][head, pairing.partner(query)]
    assert b[pairing.partner(query) or 0] == a[query]
    if " on both sides: " in sentence:
        assert a[row.argmax()] == b[other.argmax()]
        assert sentence.startswith(looks)
    else:
        assert f"but at {others[other.argmax()]} " in sentence
        assert (a[row.argmax()], pairing.partner(int(row.argmax()))) != (b[other.argmax()], int(other.argmax()))
    for share in (float(row.max()), float(other.max())):
        assert f"{share:.0%}" in sentence
