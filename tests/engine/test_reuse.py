"""Whatever a reader types before, the record is that of one pass over the final text, to the last bit."""

import random

import numpy as np
import pytest

from tests.cases import each
from tests.engine import MODELS, Engine, wishes
from tests.engine.parity import PIECES, check, edits
from tfmviz.record.edits import Edit, Scale, SetMask
from tfmviz.ui.writing.desk import running
from tfmviz.zoo import load

NAMES = (
    *("twins-rope", "twins-t5", "twins-learned", "twins-alibi", "twins-sinusoidal", "twins-window", "twins-postnorm"),
    *("twins-gqa", "induction", "chinese-none"),
)
"""All ways in which a position enters, and what else could go wrong with the past. The last one reads both ways."""

PROPOSALS = (("n", "ni", "nih", "你", "你好"), ("´", "é"), ("ㅎ", "하", "한"), ("k", "か", "かな", "仮名"))


def typed(text: str, rng: random.Random) -> str:
    """The text after something that a hand may do: type, paste, delete, or begin anew."""
    at = rng.randint(0, len(text))
    piece = rng.choice(PIECES)[: rng.randint(1, 20)]
    end = min(len(text), at + rng.randint(1, 9))
    after = rng.choice(
        [text + piece[:1], text + piece, text[:at] + piece + text[at:], text[:at] + text[end:], text[:-1], piece]
    )
    return after[:90] or piece


def composed(text: str, rng: random.Random) -> list[str]:
    """What an input method proposes at a place, one after the other; the last one stays."""
    at = rng.randint(0, min(len(text), 80))
    return [text[:at] + proposal + text[at:] for proposal in rng.choice(PROPOSALS)]


@each("name", NAMES)
def test_any_way_of_typing_ends_in_the_record_of_one_pass(engine: Engine, name: str) -> None:
    type_and_compare(engine, name, 25)


def type_and_compare(engine: Engine, name: str, count: int) -> None:
    """Types so many times at random, each time a few changes; then the record is compared with that of one pass."""
    rng = random.Random(f"{name} {count}")
    engine.load(name, MODELS / name)
    engine.load("anew", MODELS / name)
    text = "The cat"
    trace = load(name).trace("The cat sat.")
    layer = trace.layers[1]
    edited: list[tuple[Edit, ...]] = [
        (),
        (Scale(site=f"{layer}.z", factor=0.0, head=1),),
        (Scale(site=f"{layer}.k", factor=0.5),),
    ]
    changes, earlier = edited[0], [text]
    for _ in range(count):
        passes = []
        for _ in range(rng.randint(1, 12)):
            text = typed(text, rng) if rng.random() < 0.9 else rng.choice(earlier)  # undone
            if rng.random() < 0.1:
                *proposals, text = composed(text, rng)
                passes += [(proposal, changes, ["*"]) for proposal in proposals]
            earlier.append(text)
            changes = rng.choice(edited) if rng.random() < 0.1 else changes
            passes.append((text, changes, ["*"] if rng.random() < 0.9 else ["*.pattern"]))
        engine.type(name, passes)
        same(engine, name, text, changes)


def same(engine: Engine, name: str, text: str, changes: tuple[Edit, ...]) -> None:
    engine.trace("anew", "!", (), ["embed"])  # forgets what it has read
    facts, ours = engine.trace(name, text, changes, ["*"])
    other, anew = engine.trace("anew", text, changes, ["*"])
    assert facts == other
    assert list(ours) == list(anew)
    for site in ours:
        np.testing.assert_array_equal(ours[site], anew[site], err_msg=f"{site} of {text!r}")
    assert engine.ask("next", name=name) == engine.ask("next", name="anew")


@each("name", ["twins-rope", "chinese-none"])
def test_an_earlier_pass_still_says_what_comes_next(engine: Engine, name: str) -> None:
    engine.load(name, MODELS / name)
    edit = Scale(site=f"{load(name).trace('The').layers[0]}.z", factor=0.0, head=1)
    engine.trace(name, "The cat sat", [edit], ["*.pattern"])
    expected = engine.ask("next", name=name, position=1)
    given = {"text": "The cat sat", "wishes": wishes([edit], ["*.pattern"]), "position": 1}
    assert engine.ask("earlier", name=name, others=["A dog", "The cat sat on the mat"], **given) == expected


def test_tokens_after_a_text_are_read_as_if_they_were_typed(engine: Engine) -> None:
    name = "twins-rope"
    engine.load(name, MODELS / name)
    ids = load(name).encode("The cat sat on the mat").ids
    engine.trace(name, "The cat sat on the mat", (), ["*"])
    expected = engine.ask("next", name=name)
    for n in (2, 4, 3):
        text = load(name).tokenizer.decode(ids[:n])
        engine.ask("type", name=name, passes=[{"text": text, "wishes": {"sites": [], "more": ids[n:]}}])
        assert engine.ask("next", name=name) == expected
    with pytest.raises(ValueError, match="longer than the model can read"):
        engine.ask("type", name=name, passes=[{"text": "The", "wishes": {"more": [1] * 10_000}}])


def test_a_token_stands_in_a_text_as_on_the_desk(engine: Engine) -> None:
    engine.load("tiny-english", MODELS / "tiny-english")
    vocabulary = load("tiny-english").vocabulary
    assert engine.ask("running", name="tiny-english") == [running(token) for token in vocabulary]


def test_what_comes_before_a_change_is_remembered_whatever_fails(engine: Engine) -> None:
    engine.load("twins-rope", MODELS / "twins-rope")
    text = "The cat sat on the mat and looked at the dog"
    texts = [text, f"{text}.", text, text.replace("mat", "hat"), "The", f"A{text}"]
    read = engine.ask("read", name="twins-rope", texts=texts)  # first and last token of each pass
    assert read == [[0, 11], [11, 12], [10, 11], [5, 11], [0, 1], [0, 12]]
    changed = [wishes(edits, None) for edits in ((), (Scale(site=f"{LAYER}.z", factor=0.0),))]
    texts = ["The cat sat", "The cat sat", "The cat sat on", "The cat sat on"]
    read = engine.ask("read", name="twins-rope", texts=texts, changes=changed * 2)
    assert read == [[0, 3], [0, 3], [3, 4], [3, 4]]
    model = load("twins-rope")
    engine.trace("twins-rope", "The cat sat.")
    with pytest.raises(ValueError, match="No site"):
        engine.trace("twins-rope", "The cat sat.", [Scale(site="no", factor=0.0)])
    check(engine, model, "The cat sat on.")


LAYER = "decoder.1.self_attn"
SLIM = tuple(tuple(i == j or j == 0 for j in range(6)) for i in range(6))
WIDE = ((True,) * 6,) * 6


@each(
    "changes",
    [
        *((SetMask(layer=LAYER, mask=SLIM, heads=heads),) for heads in (None, (True, False, True, False))),
        tuple(
            SetMask(layer=LAYER, mask=mask, heads=tuple(head == one for head in range(4)))
            for one, mask in enumerate((SLIM, WIDE))
        ),
    ],
)
def test_edits_of_single_tokens_stay_while_a_later_word_changes(engine: Engine, changes: tuple[Edit, ...]) -> None:
    engine.load("twins-none", MODELS / "twins-none")
    for last in ("mat", "dog", "mat"):
        check(engine, load("twins-none"), f"The cat sat on the {last}", changes)


def test_edits_of_single_tokens_are_carried_out_while_a_text_grows(engine: Engine) -> None:
    name = "twins-none"
    engine.load(name, MODELS / name)
    model = load(name)
    for n in range(3, 12):
        text = "The cat sat on the mat and looked."[: 3 * n]
        check(engine, model, text, edits(model.trace(text), seed=n))
