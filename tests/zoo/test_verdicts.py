"""Verdicts on heads, held against what is known of the shipped models and of the two languages."""

from collections.abc import Iterator

import numpy as np
import pytest

import tfmviz
from tests.cases import each
from tfmviz.analysis.heads import ALIGNED, layer_scores, verdicts
from tfmviz.record.trace import Array, Trace

ALIGNMENTS = {
    "J'ai une voiture rouge.": "I J, have ai, a une, red rouge, car voiture",
    "Elle ne mange jamais de viande.": "She Elle, never jamais, eat mange, meat viande",
    "Où est la gare ?": "Where Où, 's est, the la, station gare",
    "Mon frère a acheté une maison blanche.": "My Mon, brother frère, bought acheté, a une, house maison",
}
"""Which French word each English one translates, by hand."""


@pytest.fixture(scope="module")
def translations() -> dict[str, Trace]:
    model = tfmviz.load("french-english")
    return {text: model.trace(text) for text in ALIGNMENTS}


def links(trace: Trace, text: str) -> Iterator[tuple[int, int]]:
    """Positions of an English word in the answer and of the French word that it translates."""
    assert trace.source is not None
    english, french = ([token.strip() for token in tokens] for tokens in (trace.tokens, trace.source.tokens))
    for word, translated in (pair.split() for pair in ALIGNMENTS[text].split(", ")):
        yield english.index(word), french.index(translated)


def at_translations(translations: dict[str, Trace], *, row: int) -> Array:
    """Mean attention to the translation: (layer, head).

    Args:
        row: 0 for the row whose input is the word, -1 for the row before it, which writes the word.
    """
    found = []
    for text, trace in translations.items():
        crossing = np.stack([trace[f"decoder.{n}.cross_attn.pattern"] for n in range(3)])
        found += [crossing[:, :, written + row, read] for written, read in links(trace, text)]
    return np.mean(found, axis=0)


def test_the_row_that_writes_a_word_looks_at_its_translation(translations: dict[str, Trace]) -> None:
    """Why a row of cross-attention says both words: its label alone, the word it reads, would mislead."""
    writes, reads = (at_translations(translations, row=row) for row in (-1, 0))
    assert writes.max() > 0.8
    best = np.unravel_index(writes.argmax(), writes.shape)
    assert reads[best] < 0.15
    assert reads.max() < writes.max() / 2
    assert (writes > reads).all()


def test_alignment_goes_with_the_attention_to_translations(translations: dict[str, Trace]) -> None:
    scores = [
        [of_layer["alignment"] for layer, of_layer in layer_scores(trace).items() if layer.endswith("cross_attn")]
        for trace in translations.values()
    ]
    alignment, known = np.mean(scores, axis=0), at_translations(translations, row=-1)
    assert np.corrcoef(alignment.ravel(), known.ravel())[0, 1] > 0.85
    assert np.median(known[alignment >= ALIGNED]) > 0.6
    assert known[alignment >= ALIGNED].min() > 1 / 3
    assert known[alignment < ALIGNED].max() < 0.5
    assert np.median(known[alignment < ALIGNED]) < 1 / 3
    assert known.ravel()[alignment.argmax()] > 0.95 * known.max()


def test_heads_that_align_letters_and_rest_on_marks_are_found() -> None:
    scores = layer_scores(tfmviz.load("reverse").trace("transform"))
    (of_layer,) = (found for layer, found in scores.items() if layer.endswith("cross_attn"))
    assert of_layer["alignment"].max() > 0.9
    trace = tfmviz.load("tiny-english").trace("Of course we know. We know that, of course.")
    is_mark = np.array([token.strip() in {".", ","} for token in trace.tokens])
    rows = trace["decoder.3.self_attn.pattern"][0]
    first = int(is_mark.argmax())
    assert np.mean([rows[i, :i][is_mark[:i]].sum() for i in range(first + 1, len(rows))]) > 0.8
    assert verdicts(layer_scores(trace)["decoder.3.self_attn"])[0].kind == "punctuation"


@each("text", ["The cat ___ on the mat.", "He said that it was too late to go home."])
def test_the_heads_for_the_tokens_before_and_after_are_found_in_the_model_that_sees_both(text: str) -> None:
    trace = tfmviz.load("fill-in").trace(text)
    (first, *_) = layer_scores(trace).values()
    found = verdicts(first)
    for head, kind, step in ((6, "previous token", -1), (7, "next token", 1)):
        looked_at = np.diagonal(trace["encoder.0.self_attn.pattern"][head], offset=step)
        assert found[head].kind == kind
        assert looked_at.mean() == pytest.approx(found[head].score)
        assert looked_at.mean() > 0.95
