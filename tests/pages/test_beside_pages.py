"""A and B side by side on the pages with figures of their own for it, against numbers computed here."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
import tokenizers
from streamlit.testing.v1 import AppTest

from tests.app import charts, columns, matrices, open_page, sent, spaces, views, words
from tests.pages.claims import number, told
from tests.pages.tabs import addresses
from tfmviz import zoo
from tfmviz.record.decoding import Rules
from tfmviz.record.edits import AblateHead
from tfmviz.ui import counting
from tfmviz.ui.boxes import written
from tfmviz.words.labels import END

RIVER, MONEY = "We sat on the bank of the river.", "We put the money in the bank of the town."


def compare(page: str, what: str = "another sentence", **address: str) -> AppTest:
    return open_page(page, **({"text": RIVER, "with": what} | address))


def off(layer: int, head: int, kind: str = "self_attn") -> tuple[AblateHead, ...]:
    return (AblateHead(layer=f"decoder.{layer}.{kind}", head=head),)


def rows(app: AppTest) -> list[tuple[str, str, list[list[str]]]]:
    """Title, note and boxes of A and of B; a box is its text, its kind and the lines below it."""
    return [(row["name"], row["note"], row["pieces"]) for row in sent(app, "side_rows")["rows"]]


def place(text: str, token: str, model: str = "tiny-english") -> int:
    return [label.strip() for label in zoo.load(model).encode(text).tokens].index(token)


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
        assert (len(pieces), note) == (n, f"{n} tokens")
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
    assert "They share all." in words(compare("tokens", b=RIVER))
    assert "They share none." in words(compare("tokens", b="xyzzy"))


def continued(text: str, edits: tuple[AblateHead, ...] = ()) -> tuple[list[str], list[float]]:
    """What the model writes greedily without an end mark: 16 tokens and their probabilities."""
    model = zoo.load("tiny-english")
    rules = Rules(banned=model.tokenizer.marks.ends, temperature=0.0)
    steps = zoo.writing.generate(model, text, rules=rules, max_new_tokens=16, edits=edits).steps
    return [model.vocabulary[step.token] for step in steps], [step.probability for step in steps]


@pytest.mark.parametrize("what", ["another sentence", "a head off"])
def test_two_texts_are_written_and_part_at_the_first_token_that_differs(what: str) -> None:
    prompt = RIVER.removesuffix(".")
    app = compare("writing", what, text=prompt, chosen_by="greedy", b=MONEY, without_layer="4", without_head="1")
    sides = continued(prompt), continued(prompt, off(4, 1)) if what == "a head off" else continued(MONEY)
    parts = next(n for n, (one, other) in enumerate(zip(sides[0][0], sides[1][0], strict=True)) if one != other)
    for (_, _, shown), (tokens, shares) in zip(rows(app), sides, strict=True):
        assert [text.replace("␣", " ") for text, *_ in shown] == [in_a_box(token) for token in tokens]
        assert [number(said) for _, _, said in shown] == pytest.approx(shares, abs=0.0101)
        assert [n for n, (_, kind, _) in enumerate(shown) if kind == "only"] == [parts]
    assert f"They diverge at token {parts + 1}:" in words(app)


def test_a_temperature_of_its_own_meets_the_same_draws() -> None:
    model, prompt = zoo.load("tiny-english"), "The students opened their"
    rules = Rules(banned=model.tokenizer.marks.ends, temperature=0.8, top_k=40, top_p=0.95)
    app = compare("writing", "another temperature", text=prompt, b_temperature="1.7")
    for (_, _, shown), t in zip(rows(app), (0.8, 1.7), strict=True):
        steps = zoo.writing.generate(model, prompt, rules=replace(rules, temperature=t), max_new_tokens=16).steps
        expected = [in_a_box(model.vocabulary[step.token]) for step in steps]
        assert [text.replace("␣", " ") for text, *_ in shown] == expected
    assert rows(app)[1][0] == "B, temperature 1.7"
    assert "Both write the same 16 tokens" in words(compare("writing", text=prompt, b=prompt))


def test_neurons_that_fire_in_one_only_are_counted_and_those_that_differ_most_listed() -> None:
    where = {"layer": "4", "token": "4", "without_layer": "2", "without_head": "1"}
    for what, b_text, edits in (("another sentence", MONEY, ()), ("a head off", RIVER, off(2, 1))):
        app = compare("feed_forward", what, layer_part="Neurons", b=MONEY, **where)
        runs, site = ((RIVER, ()), (b_text, edits)), "decoder.4.mlp.post"
        a, b = (zoo.load("tiny-english").trace(*run)[site][place(run[0], "bank")] for run in runs)
        on_a, on_b = a > 0, b > 0
        both = (on_a & on_b).sum()
        counted = [on_a.sum(), a.size, on_b.sum(), both, on_a.sum() - both, on_b.sum() - both]
        pattern = r"“bank” (\S+) of (\S+) neurons .*?(\d\S*) in B: (\S+) in both, (\S+) only in A, (\S+) only"
        assert told(app, pattern) == counted
        most = sorted(range(a.size), key=lambda n: -abs(b[n] - a[n]))[:10]
        neurons, *shown = ([number(cell) for cell in cells] for cells in columns(app, "neurons_apart").values())
        assert neurons == most
        np.testing.assert_allclose(shown, np.array((a, b, b - a))[:, most], atol=6e-4, err_msg=what)
    assert "B has no token “river”." in words(compare("feed_forward", b=MONEY, token="7"))
    assert "neurons_apart" not in views(compare("feed_forward", b=MONEY, model="twins-attention-only"))


FRENCH, OTHER = "Elle ne mange jamais de viande.", "Elle ne mange jamais de pain."


def translated(name: str, text: str, edits: tuple[AblateHead, ...] = ()) -> tuple[list[str], np.ndarray]:
    """What a translator writes, and how the first head of its last layer at most 1 looks."""
    model, layer = zoo.load(name), 0 if name == "reverse" else 1
    ids = zoo.writing.generate(model, text, edits=edits).ids
    pattern = model.trace(text, edits, target=ids)[f"decoder.{layer}.cross_attn.pattern"][0]
    return [written(model.vocabulary[index].strip()) for index in ids], pattern


def test_two_translations_part_and_look_at_their_sources() -> None:
    address = {"b": OTHER, "b_model": "reverse", "without_layer": "1", "without_head": "2", "layer": "1", "head": "0"}
    for what, b in (
        ("another sentence", translated("french-english", OTHER)),
        ("another model", translated("reverse", FRENCH)),
        ("a head off", translated("french-english", FRENCH, off(1, 2, "cross_attn"))),
    ):
        app = compare("translating", what, **address | {"model": "french-english", "text": FRENCH})
        sides = translated("french-english", FRENCH), b
        for (_, note, shown), key, (tokens, pattern) in zip(rows(app), ("side_a", "side_b"), sides, strict=True):
            assert [text for text, *_ in shown] == [*tokens, END], what
            assert note == f"{len(tokens) + 1} tokens"
            np.testing.assert_allclose(matrices(app)[key][0], pattern, atol=1e-3, err_msg=what)
        both = zip([*sides[0][0], ""], [*sides[1][0], ""], strict=False)
        parts = next((n for n, (one, other) in enumerate(both) if one != other), None)
        assert "side_difference" in matrices(app)
        assert ("Both write the same." if parts is None else f"They diverge at token {parts + 1}:") in words(app)


def test_the_norm_of_one_token_on_both_sides() -> None:
    for model, what in product(("tiny-english", "twins-postnorm"), ("another sentence", "another model")):
        token = place(RIVER, "of", model)  # which all vocabularies have
        address = {"model": model, "b": MONEY, "b_model": "twins-rope", "layer": "1", "token": str(token)}
        table = list(columns(compare("normalisation", what, **address), "norms_apart").values())
        sides = (model, RIVER), (model, MONEY) if what == "another sentence" else ("twins-rope", RIVER)
        for (name, text), shown in zip(sides, table[1:], strict=True):
            at, trace = place(text, "of", name), zoo.load(name).trace(text)
            before = trace["decoder.1.resid_pre"][at]
            if name == "twins-postnorm":
                before = before + trace["decoder.1.self_attn.out"][at]
            after = trace["decoder.1.self_attn.norm"][at]
            expected = [before.mean(), before.std(), after.mean(), after.std()]
            np.testing.assert_allclose([number(x) for x in shown], expected, atol=6e-4, err_msg=f"{model}, {what}")
    assert "B has no token “river”." in words(compare("normalisation", b=MONEY, token="7"))


def test_two_sentences_are_counted_word_by_word() -> None:
    a_text, b_text = "They sat on the bank.", "They sat on the money."
    app = compare("counting", text=a_text, b=b_text, n="2", smoothing="add-δ")
    text, delta = counting.shipped_text(), 0.1
    words_of_it = [text.vocabulary[index] for index in text.stream]
    pairs, single = Counter(pairwise(words_of_it)), Counter(words_of_it[:-1])
    n_words = len(set(words_of_it) | {"⟨unk⟩"})
    for (_, _, shown), typed in zip(rows(app), (a_text, b_text), strict=True):
        names = [words_of_it[0], *typed.lower().replace(".", " .").split()]
        for (box, kind, p), before, word in zip(shown, names, names[1:], strict=False):
            assert (box, kind == "only") == (word, word in ("bank", "money"))
            share = (pairs[before, word] + delta) / (single[before] + delta * n_words)
            assert number(p) == pytest.approx(share, rel=0.06)
    assert "They diverge at word 5: “bank” and “money”." in words(app)
    assert "Both are the same." in words(compare("counting", text=a_text, b=a_text))
    assert "One continues where the other ends." in words(compare("counting", text="They", b=a_text))
    assert "left out" not in words(compare("counting", b="word " * 990))


def test_a_comparison_that_the_next_page_or_model_lacks_is_left_behind() -> None:
    for page, what, then in (("explorer", "another head", "tokens"), ("writing", "another temperature", "explorer")):
        app = compare(page, what)
        app.switch_page(f"pages/{then}.py").run()
        (menu,) = (box for box in app.selectbox if box.label == "Compare with")
        assert menu.value is None
        assert not {"side_rows", "side_a"} & set(views(app))
    app = compare("writing", model="fill-in", text="The ___ sat.", b=MONEY)
    assert not [box for box in app.selectbox if box.label == "Compare with"]
    assert "side_rows" not in views(app)
    (menu,) = (box for box in compare("writing", "another model").selectbox if box.label == "The other model")
    assert "RoPE twin" in menu.options
    assert not {"Fill in", "French to English", "Tiny English"} & set(menu.options)


def test_every_tab_of_a_page_that_compares_shows_something_else_in_b_or_says_that_it_is_the_same() -> None:
    silent = []
    pages = ("explorer", "residual_stream", "feed_forward", "normalisation", "tokens", "why", "ladder", "efficient")
    for page in (*pages, "recipe", "writing"):
        for address in addresses(page):
            app = compare(page, b=MONEY, **address)
            said = words(app) + "".join(str(one.value) for one in app.caption)
            drawn = {**views(app), **charts(app)}
            differs = any(key.endswith("_b") for key in drawn) or len(spaces(app)) > 1
            if not differs and not any(why in said for why in ("same", "already", "hold A", "Type a word")):
                silent.append((page, address))
    assert silent == []


def test_a_model_that_stands_in_for_b_s_has_tokens_of_its_own() -> None:
    """It may read a shorter text than the model whose tokens are paired."""
    long = "The cat sat on the mat and the dog sat on the log. " * 20
    app = compare("efficient", text=long, b=f"Once {long}", method="Linformer")
    assert any(key.endswith("_b") for key in {**views(app), **charts(app)})


def test_of_the_head_that_is_off_nothing_is_said_to_be_written() -> None:
    off_itself = {"what": "a head off", "layer": "3", "head": "2", "without_layer": "3", "without_head": "2"}
    tabs = [
        ("step_by_step", "part", "A fuzzy hash table", "lookup", "attention takes"),
        ("step_by_step", "part", "What heads add", "look_effects", "Largest effect"),
        ("residual_stream", "stream", "Who made the word", "wrote", "It raises most"),
        ("feed_forward", "layer_part", "Without it", "average", "what it writes for"),
    ]
    for page, key, title, figure, claim in tabs:
        app = compare(page, **off_itself, **{key: title})
        drawn = {**views(app), **charts(app)}
        assert (figure in drawn, f"{figure}_b" in drawn) == (True, False), title
        assert (words(app).count(claim), words(app).count("Head 3.2 is off")) == (1, 1), title
        intact = compare(page, **off_itself | {"without_head": "1"}, **{key: title})
        assert (words(intact).count(claim), words(intact).count("is off:")) == (2, 0), title
