"""What is said of A and B, against a computation of its own on fifty pairs of sentences."""

from dataclasses import replace

import numpy as np

from tests.app import lesson
from tests.cases import each
from tests.pages.plain import softmax
from tfmviz.analysis.side_by_side import pair_tokens
from tfmviz.ui import models
from tfmviz.ui.head_comparison import HeadComparison, expected, how, summary_text
from tfmviz.words.labels import quoted
from tfmviz.words.numbers import per_cent

WORDS = ["the dog", "a cat", "my friend", "the child", "an old man", "the river", "a bird", "the house"]
VERBS = ["saw", "found", "liked", "left", "painted"]


def sentences(seed: int) -> tuple[str, str]:
    """Two sentences that differ in one noun."""
    rng = np.random.default_rng(seed)
    subject, old, new = rng.choice(WORDS, 3, replace=False)
    verb = rng.choice(VERBS)
    return f"Then {subject} {verb} {old} again.", f"Then {subject} {verb} {new} again."


def best_after(text: str, at: int | None) -> tuple[str, str]:
    model = models.load("tiny-english")
    p = softmax(model.trace(text)["logits"].astype(np.float64))[at or 0]
    return model.vocabulary[p.argmax()].strip(), per_cent(p.max())


@each("seed", range(50))
def test_where_the_token_looks_in_both(seed: int) -> None:
    texts, rng = sentences(seed), np.random.default_rng(100 + seed)
    layer, head = f"decoder.{rng.integers(6)}.self_attn", int(rng.integers(8))
    here, there = (lesson("tiny-english", text, layer, head) for text in texts)
    pairing = pair_tokens(here.trace.target, there.trace.target)
    query = int(rng.integers(len(here.trace.tokens)))
    sides = HeadComparison(lessons=(here, there), titles=("A", "B"), queries=pairing, keys=pairing, query=query, key=0)
    sentence, expects = (say(sides).replace("\\", "") for say in (summary_text, expected))

    model = models.load("tiny-english")
    a, b = ([token.strip() for token in model.encode(text).tokens] for text in texts)
    row = model.trace(texts[0])[f"{layer}.pattern"][head, query]
    names, others = quoted(a), quoted(b)
    looks = f"{names[query]} looks most at {names[row.argmax()]} "
    (word, chance), (word_b, chance_b) = (
        best_after(text, at) for text, at in zip(texts, (query, pairing.partner(query)), strict=True)
    )
    assert ("Boxed tokens occur on one side" in how(sides)) == (sorted(a) != sorted(b))
    alone = expected(replace(sides, lessons=(here, here))).replace("\\", "")
    assert alone == f"After {names[query]} the model expects “{word}” ({chance})."
    in_a, in_b = f"A expects “{word}” ({chance})", f"B “{word_b}” ({chance_b})"
    if pairing.partner(query) is None:
        assert a[query] not in b or a.count(a[query]) > b.count(a[query])
        assert sentence.startswith(f"In A, {looks}")
        assert "B has no such token" in sentence
        assert expects == f"After {names[query]} {in_a}. B has no such token."
        return
    both = f"both expect “{word}”: {chance} in A, {chance_b} in B" if word == word_b else f"{in_a}, {in_b}"
    assert expects == f"After {names[query]} {both}."
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
