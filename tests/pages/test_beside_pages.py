"""A and B side by side on the pages with figures of their own for it, against numbers computed here."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import tokenizers
from streamlit.testing.v1 import AppTest

from tests.app import columns, matrices, open_page, views, words
from tfmviz import zoo
from tfmviz.record.decoding import Rules
from tfmviz.record.edits import AblateHead
from tfmviz.ui.boxes import written
from tfmviz.ui.counting import choices
from tfmviz.words.labels import END

RIVER, MONEY = "We sat on the bank of the river.", "We put the money in the bank of the town."


CROSS_OFF = AblateHead(layer="decoder.1.cross_attn", head=2)


def compare(page: str, what: str = "another sentence", **address: str) -> AppTest:
    return open_page(page, **({"text": RIVER, "with": what} | address))


def rows(app: AppTest) -> list[tuple[str, str, list[list[str]]]]:
    """Title, note and boxes of A and of B; a box is its text, its kind and the lines below it."""
    return [(row["name"], row["note"], row["pieces"]) for row in json.loads(views(app)["side_rows"].json)["rows"]]


def only(pieces: list[list[str]]) -> list[str]:
    """The boxes that are marked."""
    return [text for text, kind, *_ in pieces if kind == "only"]


def in_a_box(token: str) -> str:
    return written(token).replace("␣", " ")


def backend(name: str) -> tokenizers.Tokenizer:
    return tokenizers.Tokenizer.from_file(str(zoo.MODELS / name / "tokenizer.json"))


def test_two_sentences_are_cut_in_two_rows_and_what_only_one_has_is_marked() -> None:
    app = compare("tokens", b=MONEY)
    a, b = rows(app)
    for (_, note, pieces), text in ((a, RIVER), (b, MONEY)):
        n = len(backend("tiny-english").encode(text).ids)
        assert len(pieces) == n
        assert note == f"{n} tokens"
        assert f"{n} tokens of {len(text) / n:.1f} characters" in words(app)
    assert only(a[2]) == ["␣sat", "␣on", "␣river"]
    assert sorted(only(b[2])) == ["␣in", "␣money", "␣put", "␣the", "␣town"]
    assert f"They share {len(a[2]) - 3}." in words(app)


def test_two_models_cut_one_sentence() -> None:
    text = "J'ai une voiture."
    app = compare("tokens", "another model", text=text, b_model="french-english")
    (_, _, a), (title, _, b) = rows(app)
    assert title == "B, French to English"
    spans = [{tuple(s) for s in backend(name).encode(text).offsets} for name in ("tiny-english", "french-english")]
    assert (len(a), len(b)) == (len(spans[0]), len(spans[1]))
    assert len(a) - len(only(a)) == len(b) - len(only(b)) == len(spans[0] & spans[1])
    assert "They share all." in words(compare("tokens"))
    assert "They share none." in words(compare("tokens", b="xyzzy"))


def continued(text: str, n: int, *, head: tuple[int, int] | None = None) -> tuple[list[str], list[float]]:
    """What a model writes greedily, one whole pass a token: the tokens and their probabilities."""
    model = zoo.load("tiny-english")
    edits = () if head is None else (AblateHead(layer=f"decoder.{head[0]}.self_attn", head=head[1]),)
    ids, shares = list(model.encode(text).ids), []
    for _ in range(n):
        logits = model.trace(ids, edits, ("logits",))["logits"][-1].astype(float)
        p = np.exp(logits - logits.max())
        logits[list(model.tokenizer.marks.ends)] = -np.inf  # the setting “no end mark”
        ids.append(int(logits.argmax()))
        shares.append(float(p[ids[-1]] / p.sum()))
    return [model.vocabulary[index] for index in ids[-n:]], shares


@pytest.mark.parametrize(
    "how",
    [{"with": "another sentence", "b": MONEY}, {"with": "a head off", "without_layer": "4", "without_head": "1"}],
)
def test_two_texts_are_written_and_part_at_the_first_token_that_differs(how: dict[str, str]) -> None:
    prompt = RIVER.removesuffix(".")
    app = open_page("writing", text=prompt, chosen_by="greedy", **how)
    (_, _, a), (_, _, b) = rows(app)
    assert len(a) == len(b) == 16
    sides = (continued(prompt, 16), continued(how["b"], 16) if "b" in how else continued(prompt, 16, head=(4, 1)))
    for shown, (tokens, shares) in zip((a, b), sides, strict=True):
        assert [text.replace("␣", " ") for text, *_ in shown] == [in_a_box(token) for token in tokens]
        for (_, _, said), share in zip(shown, shares, strict=True):
            assert float(said.strip("<>%")) == pytest.approx(100 * share, abs=1.01)
    parts = next(n for n, (one, other) in enumerate(zip(sides[0][0], sides[1][0], strict=True)) if one != other)
    assert [n for n, (_, kind, _) in enumerate(a) if kind == "only"] == [parts]
    assert [n for n, (_, kind, _) in enumerate(b) if kind == "only"] == [parts]
    assert f"They part at token {parts + 1}:" in words(app)


def test_a_temperature_of_its_own_meets_the_same_draws() -> None:
    model, prompt = zoo.load("tiny-english"), "The students opened their"
    rules = Rules(banned=model.tokenizer.marks.ends, temperature=0.8, top_k=40, top_p=0.95)
    app = open_page("writing", text=prompt, b_temperature="1.7", **{"with": "another temperature"})
    for (_, _, shown), t in zip(rows(app), (0.8, 1.7), strict=True):
        steps = zoo.writing.generate(model, prompt, rules=replace(rules, temperature=t), max_new_tokens=16).steps
        expected = [in_a_box(model.vocabulary[step.token]) for step in steps]
        assert [text.replace("␣", " ") for text, *_ in shown] == expected
    assert rows(app)[1][0] == "B, temperature 1.7"
    assert "Both write the same 16 tokens" in words(open_page("writing", text=prompt, **{"with": "another sentence"}))


def test_writing_offers_no_comparison_where_gaps_are_filled_and_models_of_one_kind_elsewhere() -> None:
    app = open_page("writing", model="fill-in", text="The ___ sat.", b=MONEY, **{"with": "another sentence"})
    assert not [box for box in app.selectbox if box.label == "Compare with"]
    assert "side_rows" not in views(app)
    (menu,) = (box for box in compare("writing", "another model").selectbox if box.label == "The other model")
    assert "RoPE twin" in menu.options
    assert not {"Fill in", "French to English", "Tiny English"} & set(menu.options)


@pytest.mark.parametrize("what", ["another sentence", "a head off"])
def test_neurons_that_fire_in_one_only_are_counted_and_those_that_differ_most_listed(what: str) -> None:
    app = compare("feed_forward", what, b=MONEY, layer="4", token="4", without_layer="2", without_head="1")
    model, site, found = zoo.load("tiny-english"), "decoder.4.mlp", []
    for text, edits in (
        (RIVER, ()),
        (MONEY, ()) if what == "another sentence" else (RIVER, (AblateHead(layer="decoder.2.self_attn", head=1),)),
    ):
        at = [token.strip() for token in model.encode(text).tokens].index("bank")
        found.append(model.trace(text, edits, (f"{site}.post",))[f"{site}.post"][at])
    a, b = found
    assert (a != b).any()
    assert (
        f"For “bank” {(a > 0).sum():,} of {a.size:,} neurons fire in A, {(b > 0).sum():,} in B: "
        f"{((a > 0) & (b > 0)).sum():,} in both, {((a > 0) & (b <= 0)).sum():,} only in A, "
        f"{((b > 0) & (a <= 0)).sum():,} only in B."
    ) in words(app)
    table = columns(app, "side_neurons")
    most = sorted(range(a.size), key=lambda n: -abs(b[n] - a[n]))[:10]
    assert [int(n) for n in table["neuron"]] == most
    for (title, shown), values in zip(list(table.items())[1:], (a, b, b - a), strict=True):
        numbers = [float(text.replace("−", "-")) for text in shown]
        np.testing.assert_allclose(numbers, values[most], atol=6e-4, err_msg=title)


def test_a_token_that_only_a_has_and_a_model_without_such_layers_get_one_sentence() -> None:
    assert "B has no token “river”." in words(compare("feed_forward", b=MONEY, token="7"))
    app = compare("feed_forward", b=MONEY, model="twins-attention-only")
    assert "has no feed-forward layers" in words(app)
    assert "side_neurons" not in views(app)


FRENCH, OTHER = "Elle ne mange jamais de viande.", "Elle ne mange jamais de pain."


def translated(name: str, text: str, edits: tuple[AblateHead, ...] = ()) -> tuple[list[str], np.ndarray]:
    """What a translator writes, one whole pass a token, and how a head of its last layer at most 1 looks."""
    model, ids, layer = zoo.load(name), list[int](), 0 if name == "reverse" else 1
    for _ in range(40):
        trace = model.trace(text, edits, target=ids)
        best = int(trace["logits"][-1].argmax())
        if best == trace.target.ids[0]:
            break
        ids.append(best)
    pattern = trace[f"decoder.{layer}.cross_attn.pattern"][0]
    return [written(model.vocabulary[index].strip()) for index in ids], pattern


@pytest.mark.parametrize(
    ("address", "b"),
    [
        ({"with": "another sentence", "b": OTHER}, ("french-english", OTHER)),
        ({"with": "another model", "b_model": "reverse"}, ("reverse", FRENCH)),
        ({"with": "a head off", "without_layer": "1", "without_head": "2"}, ("french-english", FRENCH, (CROSS_OFF,))),
    ],
)
def test_two_translations_part_and_look_at_their_sources(address: dict[str, str], b: tuple[str, str]) -> None:
    app = open_page("translating", model="french-english", text=FRENCH, layer="1", head="0", **address)
    sides = translated("french-english", FRENCH), translated(*b)
    for (_, note, shown), key, (tokens, pattern) in zip(rows(app), ("side_a", "side_b"), sides, strict=True):
        assert [text for text, *_ in shown[:-1]] == tokens
        assert shown[-1][0] == END
        assert note == f"{len(tokens) + 1} tokens"
        np.testing.assert_allclose(matrices(app)[key][0], pattern, atol=1e-3)
    (one, _), (other, _) = sides
    parts = next((n for n, (x, y) in enumerate(zip([*one, ""], [*other, ""], strict=False)) if x != y), None)
    assert "side_difference" in matrices(app)
    assert ("Both write the same." if parts is None else f"They part at token {parts + 1}:") in words(app)


def position(model: str, text: str) -> int:
    """Of “of”, which all vocabularies have."""
    return [token.strip() for token in zoo.load(model).encode(text).tokens].index("of")


@pytest.mark.parametrize("model", ["tiny-english", "twins-postnorm"])
@pytest.mark.parametrize("what", ["another sentence", "another model"])
def test_the_norm_of_one_token_on_both_sides(model: str, what: str) -> None:
    address = {"model": model, "b": MONEY, "b_model": "twins-rope", "layer": "1", "token": str(position(model, RIVER))}
    app = compare("normalisation", what, **address)
    sides = (model, RIVER), (model, MONEY) if what == "another sentence" else ("twins-rope", RIVER)
    table = list(columns(app, "side_norms").values())
    for (name, text), shown in zip(sides, table[1:], strict=True):
        at, trace = position(name, text), zoo.load(name).trace(text)
        before = trace["decoder.1.resid_pre"][at]
        if name == "twins-postnorm":
            before = before + trace["decoder.1.self_attn.out"][at]
        after = trace["decoder.1.self_attn.norm"][at]
        expected = [before.mean(), before.std(), after.mean(), after.std()]
        np.testing.assert_allclose([float(x.replace("−", "-")) for x in shown], expected, atol=6e-4)
    assert "B has no token “river”." in words(compare("normalisation", b=MONEY, token="7"))


def test_two_sentences_are_counted_word_by_word() -> None:
    a_text, b_text = "They sat on the bank.", "They sat on the money."
    app = open_page("counting", text=a_text, b=b_text, n="2", smoothing="add-δ", **{"with": "another sentence"})
    text, delta = choices.shipped_text(), 0.1
    words_of_it = [text.vocabulary[index] for index in text.stream]
    pairs, single = Counter(pairwise(words_of_it)), Counter(words_of_it[:-1])
    n_words = len(set(words_of_it) | {"⟨unk⟩"})
    for (_, _, shown), typed in zip(rows(app), (a_text, b_text), strict=True):
        names = [words_of_it[0], *typed.lower().replace(".", " .").split()]
        for (box, kind, p), before, word in zip(shown, names, names[1:], strict=False):
            assert box == word
            share = (pairs[before, word] + delta) / (single[before] + delta * n_words)
            assert number(p) == pytest.approx(share, rel=0.06)
            assert (kind == "only") == (word in ("bank", "money"))
    assert "They part at word 5: “bank” and “money”." in words(app)
    assert "Both are the same." in words(open_page("counting", text=a_text, **{"with": "another sentence"}))
    assert "tokens at a time" not in words(open_page("counting", b="word " * 990, **{"with": "another sentence"}))


def number(text: str) -> float:
    """A number as the page writes it: 0.25 or 6.2·10⁻⁶."""
    digits, _, power = text.partition("·10")
    return float(digits) * 10.0 ** int(power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")) or 0)


def test_a_comparison_that_the_next_page_lacks_is_left_behind() -> None:
    for page, what, following in (
        ("explorer", "another head", "tokens"),
        ("writing", "another temperature", "explorer"),
    ):
        app = compare(page, what)
        app.switch_page(f"pages/{following}.py").run()
        assert not app.exception
        (menu,) = (box for box in app.selectbox if box.label == "Compare with")
        assert menu.value is None
        assert not {"side_rows", "side_a"} & set(views(app))


ODD = [
    {"with": "another sentence", "b": "\u200b"},
    {"with": "another sentence", "b": "word " * 990},
    {"with": "another sentence", "b": "<img src=x onerror=alert(1)>"},
    {"with": "another sentence", "b": "我爱北京 😀"},
    {"with": "another model", "b_model": "no such model"},
    {"with": "another model", "b_model": "fill-in"},
    {"with": "another model", "b_model": "twins-linear"},
    {"with": "another head", "b_layer": "1"},
    {"with": "a head off", "without_layer": "-1", "without_head": "1e400"},
    {"with": "another temperature", "b_temperature": "inf"},
    {"with": "nonsense"},
]
"""What links may hold: on every page some of it is a comparison that the page does not offer."""


@pytest.mark.parametrize("page", ["tokens", "writing", "feed_forward", "translating", "normalisation", "counting"])
@pytest.mark.parametrize("address", ODD)
def test_odd_addresses_raise_nothing_and_leave_a_as_it_is(page: str, address: dict[str, str]) -> None:
    app = open_page(page, text=RIVER, **address)
    assert not app.error
    if "side_rows" in views(app):
        alone = open_page(page, text=RIVER, **{"with": "another sentence"})  # A beside itself
        texts = [[text for text, *_ in pieces] for _, _, pieces in (rows(app)[0], *rows(alone))]
        assert texts[0] == texts[1] == texts[2]
    if address.get("b", "").startswith("word"):
        cut = page != "counting"
        assert ("In the other sentence" in words(app)) == cut
