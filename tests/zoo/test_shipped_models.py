"""The shipped models have learned what their cards say, and what the lectures need of them."""

import re
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

import tfmviz
from tests.cases import each
from tfmviz import zoo
from tfmviz.analysis.attention_layer import ranking
from tfmviz.analysis.heads import ALIGNED, layer_scores, links, verdicts
from tfmviz.analysis.mask_effect import next_token_losses
from tfmviz.analysis.predictions import softmax
from tfmviz.constants import MASK
from tfmviz.record.edits import SetMask
from tfmviz.record.trace import Array, Trace, kind_of
from tfmviz.ui import held_out
from tfmviz.ui.sentences import EXAMPLES, Example, opening
from tfmviz.zoo import ZooModel


@cache
def model() -> ZooModel:
    return tfmviz.load("tiny-english")


def card(name: str = "tiny-english") -> str:
    return (zoo.MODELS / name / "CARD.md").read_text(encoding="utf-8")


def figures(pattern: str, name: str = "tiny-english") -> list[float]:
    """The numbers in a place of the card, wherever its lines are folded."""
    found = re.search(pattern, " ".join(card(name).split()))
    assert found
    return [float(number) for number in found.groups()]


HELD_OUT = r"\| held-out loss \| ([\d.]+) nats"


def test_its_losses_beat_counts_and_words_are_filled_in() -> None:
    (loss,), (unigram,) = (figures(row) for row in (HELD_OUT, r"\| unigram cross-entropy on the same text \| ([\d.]+)"))
    assert loss < 0.7 * unigram
    assert figures(r"better than the 5-gram model by \| ([\d.]+)%")[0] >= 10
    model = tfmviz.load("fill-in")
    for text, expected in (("She drinks a cup of ___.", " tea"), ("I ___ to go home.", " want")):
        trace = model.trace(text)
        best = trace["logits"][trace.target.ids.index(MASK)].argsort()[::-1][:5]
        assert expected in [model.vocabulary[index] for index in best]


def test_it_writes_stories_that_it_has_not_merely_learned() -> None:
    assert zoo.writing.generate(model(), "Once upon a", max_new_tokens=12).text.startswith("Once upon a time")
    text = "One day, a little girl went to the park with her mother. They saw a big dog. The girl was very happy."
    trace = model().trace(text)
    log_probabilities = np.log(softmax(trace["logits"]))
    ids = trace.target.ids
    assert -np.mean([log_probabilities[i, ids[i + 1]] for i in range(len(ids) - 1)]) < figures(HELD_OUT)[0]


def test_it_has_the_heads_of_the_lectures() -> None:
    """Two on new random tokens and the same again; neither training nor the app uses this seed."""
    random = tuple(np.random.default_rng(71).integers(1, model().config.vocab_size, size=43).tolist()) * 2
    sentence = "The animal didn't cross the street because it was too tired."
    for read, kind, least in (
        (random, "previous token", 0.5),
        (random, "induction", 0.3),
        (sentence, "first token", 0.6),
    ):
        scores = layer_scores(model().trace(read, sites=("*.pattern", "*.mask"))).values()
        assert max(float(layer[kind].max()) for layer in scores) > least, kind  # type: ignore[index]


def entropy(text: str) -> float:
    """Of tiny-english's predictions, averaged over the tokens of a text, in nats."""
    p = softmax(model().trace(text, sites=("logits",))["logits"])
    return float(-(p * np.log(np.maximum(p, 1e-300))).sum(axis=-1).mean())


def test_letters_it_hardly_knows_make_it_as_unsure_as_its_card_says() -> None:
    low, high, least, most = figures(
        r"entropy of its prediction is (\d) to (\d) nats.* English sentence gives (\d) to (\d)\."
    )
    for text in ("Γειά σου Κόσμε, τι κάνεις;", "Привет, как дела сегодня?", "你好世界今天天气很好"):
        assert low <= round(entropy(text)) <= high
    for text in ("She opened the door and looked at him.", "Today the price of bread went up."):
        assert least <= round(entropy(text)) <= most


SHOWING = [(name, example) for name, examples in EXAMPLES.items() for example in examples if example.word]


@each("name, example", SHOWING)
def test_a_sentence_of_the_menu_comes_with_the_head_that_shows_its_point(name: str, example: Example) -> None:
    model = tfmviz.load(name)
    trace = model.trace(example.text)
    queries, keys = trace.axes(example.layer)
    query = opening(queries.tokens, example.word)
    assert queries.tokens[query].strip() == example.word
    best: tuple[float, str, int] = (0, "", 0)
    for key in (n for n, token in enumerate(keys.tokens) if token.strip() == example.to):
        kind = kind_of(example.layer)
        layer, head, weight = ranking(links(trace, kind, query, key))[0]
        best = max(best, (weight, kind.replace(".", f".{layer}."), head))
    assert best[1:] == (example.layer, example.head)
    assert best[0] > 1 / 3


# The twins: models that differ in one thing only.

TWINS = tuple(name for name in tfmviz.available() if name.startswith("twins-"))
OTHER_TWINS = {
    "twins-postnorm": "norm_position",
    "twins-attention-only": "feed_forward",
    "twins-unmasked": "training_mask",
    "twins-gqa": "n_kv_heads",
    "twins-window": "window",
    "twins-sink": "sink",
}
"""Twins of `twins-rope`, and what each differs in; the others differ in their positions."""

LINEAR = "twins-linear"
"""The twin of `twins-sinusoidal` with another attention: RoPE would not go with it."""

TRAINED = 64


def losses_by_position(name: str) -> np.ndarray:
    found = held_out.by_position(name)
    assert found is not None
    assert found.trained == TRAINED
    return found.losses


def test_each_twin_has_the_scheme_of_its_name_and_differs_in_one_thing_alone() -> None:
    schemes = {name: tfmviz.load(name).config.positions.kind for name in TWINS}
    assert schemes.pop(LINEAR) == "sinusoidal"
    assert [schemes.pop(name) for name in OTHER_TWINS] == ["rope"] * len(OTHER_TWINS)
    assert schemes == {f"twins-{scheme}": scheme for scheme in schemes.values()}
    assert len(schemes) >= 6
    configs = {name: tfmviz.load(name).config.to_dict() for name in TWINS}
    for name, config in configs.items():
        like = configs["twins-sinusoidal" if name == LINEAR else "twins-rope"]
        differs_in = "attention" if name == LINEAR else OTHER_TWINS.get(name, "positions")
        assert {key for key in like if like[key] != config[key]} <= {differs_in}
    assert len({(zoo.MODELS / name / "tokenizer.json").read_bytes() for name in TWINS}) == 1


@each("name", TWINS)
def test_the_curve_of_losses_agrees_with_the_card_up_to_the_trained_length(name: str) -> None:
    """Two measurements: windows of 64 tokens for the card, the first 64 of 512 for the curve."""
    (nats,) = figures(r"held-out bits per byte \| [\d.]+ \(([\d.]+) nats", name)
    assert losses_by_position(name)[:TRAINED].mean() == pytest.approx(nats, abs=0.12)


def test_linear_biases_carry_on_past_the_trained_length_where_sinusoids_fail() -> None:
    """The lecture's extrapolation curve (Press et al. 2022, figure 1). No pair is further apart in a window."""
    within = {name: losses_by_position(name)[8:TRAINED].mean() for name in TWINS}
    beyond = {name: losses_by_position(name)[2 * TRAINED :].mean() for name in TWINS if name != "twins-learned"}
    assert beyond["twins-alibi"] < within["twins-alibi"] + 0.1
    assert beyond["twins-window"] < within["twins-window"] + 0.1
    assert beyond["twins-sinusoidal"] > within["twins-sinusoidal"] + 1
    assert beyond["twins-rope"] > beyond["twins-alibi"] + 0.3
    assert beyond["twins-rope"] > beyond["twins-window"] + 0.5
    assert len(losses_by_position("twins-learned")) == TRAINED  # there the table ends
    assert max(set(TWINS) - {*OTHER_TWINS, LINEAR}, key=lambda name: within[name]) == "twins-none"


def test_a_model_without_feed_forward_layers_is_worse_than_its_twin_and_half_as_large() -> None:
    names = ("twins-rope", "twins-attention-only")
    full, bare = (tfmviz.load(name).weights.n_parameters for name in names)
    assert 0.49 < bare / full < 0.51
    assert all(f"{count:,}" in card("twins-attention-only") for count in (full, bare, full - bare))
    losses = [losses_by_position(name)[:TRAINED].mean() for name in names]
    assert losses[1] > losses[0] + 0.2


WRITTEN = ("The cat sat on the mat.", "One day, a little girl went to the park with her mother. They saw a big dog.")


@each("text", WRITTEN)
def test_trained_without_the_mask_a_model_looks_up_the_next_token_and_fails_as_a_writer(text: str) -> None:
    model = tfmviz.load("twins-unmasked")
    trace = model.trace(text)
    everything = ((True,) * len(trace.tokens),) * len(trace.tokens)
    seeing = model.trace(text, tuple(SetMask(layer=layer, mask=everything) for layer in trace.layers))
    writing = next_token_losses(trace["logits"], trace.target.ids).mean()
    assert next_token_losses(seeing["logits"], trace.target.ids).mean() < 0.1
    assert writing > next_token_losses(tfmviz.load("twins-rope").trace(text)["logits"], trace.target.ids).mean() + 3


def test_reverse_writes_backwards_and_shows_how() -> None:
    model = tfmviz.load("reverse")
    for word in ("attention", "stressed", "a", "transformer", "qwertyuiopas"):
        assert zoo.writing.generate(model, word).text == word[::-1]
    trace = model.trace("attention")
    crossing = trace["decoder.0.cross_attn.pattern"]  # (head, 1 + 9, 9)
    expected = np.arange(8, -1, -1)  # the letter to be written: an anti-diagonal
    assert max((pattern[:9].argmax(axis=-1) == expected).mean() for pattern in crossing) >= 8 / 9


ENGLISH = ("Tatoeba", "Common Voice", "Storybook", "TinyStories", "CC BY", "CDLA-Sharing-1.0")
OF_CHINESE = ("Tatoeba", "CC BY 2.0 FR", "老王 (Old Wang) and 老李 (Old Li)\noccur in no line of the collection")
SOURCES = {
    "reverse": ("drawn at random",),
    "french-english": ("Tatoeba", "CC BY 2.0 FR", "pairs"),
    "chinese-none": OF_CHINESE,
    "chinese-sinusoidal": OF_CHINESE,
}


def test_cards_say_where_the_data_come_from() -> None:
    for name in tfmviz.available():
        for source in ("python -m tfmviz.training", *SOURCES.get(name, ENGLISH)):
            assert source in card(name), name


def test_the_translator_translates() -> None:
    model = tfmviz.load("french-english")
    assert zoo.writing.generate(model, "Je suis étudiant.").text == "I'm a student."
    assert zoo.writing.generate(model, "J'ai une voiture rouge.").text == "I have a red car."


def test_only_positions_tell_who_criticises_whom() -> None:
    apart = {}
    for name in ("chinese-none", "chinese-sinusoidal"):
        model = tfmviz.load(name)
        guesses = []
        for text in ("老王批评老李，老___很难过。", "老李批评老王，老___很难过。"):
            trace = model.trace(text, sites=("logits",))
            assert trace.target.tokens[:2] == tuple(text[:2])  # each character is a token
            guesses.append(trace["logits"][trace.target.ids.index(MASK)])
        apart[name] = float(np.abs(guesses[0] - guesses[1]).max())
    assert apart["chinese-none"] < 1e-3 < 1e-1 < apart["chinese-sinusoidal"]


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


def links_of_verdicts(trace: Trace, text: str) -> Iterator[tuple[int, int]]:
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
        found += [crossing[:, :, written + row, read] for written, read in links_of_verdicts(trace, text)]
    return np.mean(found, axis=0)


def test_the_row_that_writes_a_word_looks_at_its_translation(translations: dict[str, Trace]) -> None:
    """Why a row of cross-attention says both words: its label alone, the word it reads, would mislead."""
    writes, reads = (at_translations(translations, row=row) for row in (-1, 0))
    assert writes.max() > 0.8
    assert reads[np.unravel_index(writes.argmax(), writes.shape)] < 0.15
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
    assert np.mean([rows[i, :i][is_mark[:i]].sum() for i in range(int(is_mark.argmax()) + 1, len(rows))]) > 0.8
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
