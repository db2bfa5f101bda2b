"""The page on which the model writes: its numbers against whole passes, its address, odd input."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.app import charts, matrices, open_page, pictures, sent, series, trees, views, words
from tests.model import numpy_model
from tests.pages.claims import told
from tests.pages.plain import MODEL, ids_of, losses, softmax
from tfmviz import load, zoo
from tfmviz.analysis.keyboard import WORD, Words, taken
from tfmviz.constants import MASK
from tfmviz.record.decoding import Rules
from tfmviz.text.tokenizer import END, Tokenizer
from tfmviz.ui import beams, models
from tfmviz.ui.writing import branches, edits, temperature
from tfmviz.ui.writing.desk import AHEAD, AHEAD_AT_FIRST
from tfmviz.words import markdown
from tfmviz.words.labels import visible
from tfmviz.words.numbers import decimal

TEXT = "The students opened their"
open_writing = partial(open_page, "writing", text=TEXT)


def desk(app: AppTest) -> dict[str, Any]:
    """What the view in the browser gets."""
    return dict(sent(app, "writing"))


def path(*tokens: int, shown: int | None = None) -> str:
    """The address of one text."""
    listed = "".join(f".{np.base_repr(token, 36).lower()}" for token in tokens)
    return f"0.{len(tokens) if shown is None else shown}~0.0{listed}"


def written(found: dict[str, Any]) -> list[int]:
    return [place["token"] for place in found["places"]]


def test_every_place_shows_its_own_rivals_with_the_probabilities_of_one_pass(tokenizer: Tokenizer) -> None:
    """Elsewhere every word once showed the first word's rivals."""
    prompt, new = (tokenizer.encode(text, max_len=256).ids for text in (TEXT, " books and began to read"))
    places = desk(open_writing(path=path(*new)))["places"]
    p = softmax(load("tiny-english").trace((*prompt, *new))["logits"][len(prompt) - 1 :])
    assert [place["token"] for place in places[: len(new)]] == list(new)
    for n, place in enumerate(places[: len(new) + 1]):
        assert place["p"] == pytest.approx(p[n, place["token"]], rel=2e-3)
        assert place["entropy"] == pytest.approx(-(p[n] * np.log(p[n])).sum(), abs=2e-3)
        shown = {rival["token"]: rival["shares"][0] for rival in place["rivals"]}
        assert set(np.argsort(-p[n])[:6].tolist()) <= shown.keys()
        assert list(shown.values()) == pytest.approx(p[n, list(shown)].tolist(), rel=2e-3)


def test_settings_cut_and_say_so_in_their_order_and_a_seed_writes_its_own_text() -> None:
    found = desk(open_writing(topk="3", topp="0.5", temperature="1.5", order="llama.cpp"))
    assert found["stages"] == ["model", "no end token", "top-k 3", "top-p 0.5", "temperature 1.5"]
    for place in found["places"]:
        left = [rival["shares"][-1] for rival in place["rivals"]]
        assert 1 <= sum(share is not None for share in left) <= 3
        assert sum(share or 0 for share in left) == pytest.approx(1, abs=1e-3)
        assert place["low"] <= place["number"] < place["high"]
    found = desk(open_writing(chosen_by="greedy"))
    assert found["stages"] == ["model", "no end token", "greedy"]
    for place in found["places"]:
        best = max(place["rivals"], key=lambda rival: rival["shares"][1] or 0)
        assert (place["token"], place["number"]) == (best["token"], None)
    one, same, other = (written(desk(open_writing(sampling_seed=seed))) for seed in ("1", "1", "2"))
    assert one == same != other
    app = open_writing(topp="0.0")
    assert "The most probable word is always kept" in words(app)
    assert all(place["left"] == 1 for place in desk(app)["places"])


def test_the_end_mark_is_written_where_the_reader_allows_it_and_behind_a_translation() -> None:
    address = {"text": "The cat sat on the mat.", "chosen_by": "greedy"}
    assert END not in written(desk(open_writing(**address)))
    assert written(desk(open_writing(**address, ends="true"))) == [END]
    address = {"model": "french-english", "text": "Je suis étudiant.", "chosen_by": "greedy"}
    first = desk(open_page("writing", **address))["places"][0]["token"]
    found = desk(open_page("writing", **address, path=path(first)))
    assert found["lead"] == "Je suis étudiant. →"
    assert found["prompt"] == []
    assert "".join(place["text"] for place in found["places"][:-1]).strip() == "I'm a student."
    assert found["places"][-1]["token"] == END


def test_gaps_are_filled_one_by_one_the_most_certain_first_and_without_any_it_says_how() -> None:
    text, model = "The ___ sat on the ___ and ___ slept.", load("fill-in")
    app = open_page("writing", model="fill-in", text=text)
    header, (shares,) = pictures(app)["gaps"]
    ids = list(model.encode(text).ids)
    gaps = [n for n, index in enumerate(ids) if index == MASK]
    assert shares.shape == (3, 3)
    for n, row in enumerate(shares):
        logits = model.trace(ids)["logits"][gaps].astype(float)
        logits[:, [END, MASK]] = -np.inf
        p = np.where(np.array(ids)[gaps, None] == MASK, softmax(logits), 0)
        np.testing.assert_allclose(np.nan_to_num(row), p.max(axis=1), atol=2e-3)
        chosen = int(p.max(axis=1).argmax())
        assert (header["frames"][n]["top"], header["frames"][n]["left"]) == (n, chosen)
        ids[gaps[chosen]] = int(p[chosen].argmax())
    assert app.code[0].value == model.tokenizer.decode(ids)
    for notes, frame in zip(header["notes"], header["frames"], strict=True):
        assert notes[frame["left"]] == f"“{visible(model.vocabulary[ids[gaps[frame['left']]]])}”"
    app = open_page("writing", model="fill-in", text="Nothing is missing.")
    assert "writing" not in views(app)
    assert pictures(app) == {}
    assert "for each gap" in words(app)
    assert "2 more remain open" in words(open_page("writing", model="fill-in", text="a " + "___ " * 10))


def test_a_path_that_is_none_is_dropped_with_a_sentence_and_another_sentences_without() -> None:
    for hostile in (
        *("x", "<script>", "0.5~0.0.1", "1.0~0.0.1", "0.1~0.0.0", "0.1~0.0.zzzz", "0.1~0.1.5", "0.1~0.0.5~1.0.6"),
        *("1.1~0.0.5~0.2.6", "1.1~0.0.5~0.1", "0.1~0.0.-1", "0.0" + "~0.0.1" * 13, "0.81~0.0" + ".1" * 81),
        "0.1~0.0.１",
    ):
        app = open_writing(path=hostile)
        assert "cannot have written" in words(app), hostile
        assert desk(app)["texts"] == {}, hostile
        assert "path" not in app.query_params, hostile
    app = open_writing(path=f"{path(300, 301)}_0123456789ab")
    assert desk(app)["texts"] == {}
    assert "cannot have written" not in words(app)
    assert "path" not in app.query_params


def test_another_sentence_begins_another_text_and_the_first_brings_back_its_own() -> None:
    app = open_writing(path=path(300, 301))
    assert len(desk(app)["texts"]) == 2
    app.text_area(key="text").set_value("Once upon a time").run()
    assert (desk(app)["texts"], desk(app)["edits"]) == ({}, [TEXT, None])
    assert "path" not in app.query_params
    app.text_area(key="text").set_value(TEXT).run()
    assert written(desk(app))[:2] == [300, 301]
    assert app.query_params["path"].startswith(path(300, 301))
    assert desk(app)["edits"] == [None, "Once upon a time"]


def test_typed_sentences_are_walked_back_and_on_and_a_new_one_ends_the_way_on() -> None:
    typed = edits.Edits()
    for text in ("a", "b", "c", "b"):  # the last one is a step back
        typed = typed.shows(text)
    assert (typed.by(-1), typed.by(1)) == ("a", "c")
    assert typed.shows("a").by(-1) is None
    other = typed.shows("d")
    assert (other.by(-1), other.by(1)) == ("b", None)
    for n in range(2 * edits.MOST_TEXTS):
        other = other.shows(str(n))
    assert len(other.texts) == edits.MOST_TEXTS
    assert other.by(-1) == str(2 * edits.MOST_TEXTS - 2)


def test_more_words_wait_once_the_model_writes() -> None:
    app = open_writing(text="word " * 600)
    assert "were left out" in words(app)
    assert len(desk(app)["places"]) == AHEAD_AT_FIRST
    assert len(desk(open_writing(path=path(desk(open_writing())["places"][0]["token"])))["places"]) == 1 + AHEAD


def test_a_tree_is_read_as_it_was_written() -> None:
    tree = branches.parse_tree("1.1~0.0.5.5eg.z~0.1.10", vocab_size=8000, ends=(END,))
    assert tree is not None
    assert tree.path(0) == (5, 7000, 35)
    assert tree.path(1) == (5, 36)
    assert tree.written == (5,)
    assert branches.parse_tree("", vocab_size=8000, ends=(END,)) == branches.NOTHING


def test_a_hundred_draws_add_up_and_lie_where_chance_puts_them() -> None:
    drawn = series(charts(open_writing(behind="Draw 100", topk="7", topp="1.0"))["draws"], "value", by="series")
    expected, found = drawn["expected"], drawn["in 100 samples"]
    assert expected.sum() == pytest.approx(1)
    assert found.sum() == pytest.approx(1)
    assert np.allclose(found * 100, np.round(found * 100))
    assert (np.abs(found - expected) <= 4 * np.sqrt(expected * (1 - expected) / 100) + 1e-9).all()
    assert not np.array_equal(found, expected)
    app = open_writing(behind="Draw 100", chosen_by="greedy")
    assert charts(app) == {}
    assert "draws no samples" in words(app)


def test_attention_grows_by_a_row_a_word_and_a_softmax_is_shown_by_degrees(tokenizer: Tokenizer) -> None:
    new = tokenizer.encode(" books and", max_len=256).ids
    address = {"behind": "What went into this word", "layer": "2", "head": "5"}
    rows = matrices(app := open_writing(path=path(*new), **address))["rows"][0]
    ids = (*tokenizer.encode(TEXT, max_len=256).ids, *new)
    pattern = load("tiny-english").trace(ids)["decoder.2.self_attn.pattern"][5]
    np.testing.assert_allclose(np.nan_to_num(rows), pattern[-len(new) - 1 :], atol=2e-3)
    assert told(app, r"attends most to “\S+” (\d+%)") == pytest.approx([pattern[-1].max()], abs=0.006)
    shorter = matrices(open_writing(path=path(*new[:1]), **address))["rows"][0]
    np.testing.assert_allclose(shorter, rows[: len(new), : shorter.shape[1]], atol=1e-6)
    logits = load("tiny-english").trace(TEXT)["logits"][-1]
    shown = matrices(app := open_writing(behind="Temperature"))["degrees"][0]
    for row, degree in zip(shown, (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.5, 2.0), strict=True):
        np.testing.assert_allclose(row, np.sort(softmax(logits / degree))[::-1][:10], atol=2e-3)
    ends = [softmax(logits / degree) for degree in (0.2, 2.0)]
    entropies = [-(p * np.log(np.maximum(p, 1e-300))).sum() for p in ends]
    grows = r"has (\S+) at T = 0.2, (\S+) at T = 2\. .* from (\S+) to (\S+) nats, as with (\S+) and (\S+) equally"
    cold, hot, *rest = told(app, grows)
    assert [cold, hot] == pytest.approx([p.max() for p in ends], rel=0.05)
    assert rest == pytest.approx([*entropies, *np.exp(entropies)], abs=0.051, rel=1e-3)
    assert [temperature._equal(float(np.log(n))) for n in (9.5, 10.6)] == ["9.5", "11"]


def test_the_fan_adds_up_the_surprise_of_every_text() -> None:
    app = open_writing(behind="Fifty texts", topk="2")
    rows = charts(app)["fan"]["tables"]
    assert not any("only the last" in note.value for note in app.info)
    lines = rows["curves"] if "curves" in rows else rows["rows"]
    assert len(set(lines["line"])) == 51
    y = np.array(lines["y"]).reshape(51, 13)
    assert (y[:, 0] == 0).all()
    assert (np.diff(y, axis=1) >= 0).all()
    greedy = Rules(temperature=0.0, banned=(END,))
    steps = zoo.writing.generate(load("tiny-english"), TEXT, rules=greedy, max_new_tokens=12).steps
    assert y[-1, -1] == pytest.approx(-sum(np.log(step.probability) for step in steps), abs=1e-3)


def test_a_text_that_leaves_no_room_is_continued_from_its_end_and_the_page_says_so() -> None:
    for tab, room in (("Fifty texts", 244), ("Repetition", 176), ("Beam search", 244)):
        app = open_writing(behind=tab, text="word " * 999)
        assert any(f"only the last {room} tokens of your text" in note.value for note in app.info), tab
        assert ("The last 128 tokens of your text, read twice" in words(app)) == (tab == "Repetition")


def test_repetition_is_counted_in_the_texts_that_are_shown(tokenizer: Tokenizer) -> None:
    app = open_writing(behind="Repetition", text="Once upon a time")
    ids = tokenizer.encode("Once upon a time", max_len=256).ids
    n, twice = len(ids), losses(load("tiny-english").trace((*ids, *ids))["logits"], (*ids, *ids))
    costs = r"Your text, read twice in a row, costs \*\*(\S+)\*\* nats per token .*, \*\*(\S+)\*\* the second"
    first, second = twice[: n - 1].mean(), twice[n:].mean()
    assert told(app, costs) == pytest.approx([first, second], abs=0.006)
    assert f"What was written once is {'more' if first > second else 'less'} probable than before" in words(app)
    one, two = (temperature._read_twice(models.load("tiny-english"), text, ()) for text in ("a", "a b"))
    assert bool(two) > bool(one)
    shown = [tokenizer.encode(block.value, max_len=256).ids for block in app.code]
    shares = charts(app)["repeated"]["tables"]["rows"]["value"]
    assert len(shown) == len(shares) == 3
    for ids, share in zip(shown, shares, strict=True):
        grams = [ids[n : n + 4] for n in range(len(ids) - 3)]
        expected = 100 - 100 * len(set(grams)) / len(grams)  # per cent; the text may split otherwise
        assert share == pytest.approx(expected, abs=2)


def test_the_tree_of_beams_is_that_of_the_search() -> None:
    model = zoo.with_copies(load("french-english"))  # as the app has it, to every digit
    for source, width, alpha in (("La voiture rouge", 1, 1.0), ("Pourquoi pas nous ?", 8, 2.0)):
        address = {"behind": "Beam search", "beams": str(width), "alpha": f"{alpha:.1f}"}
        app = open_page("writing", model="french-english", text=source, **address)
        found = (
            zoo.writing.search(model, source, width=width, length_penalty=alpha, max_new_tokens=12).beams[-1].complete
        )
        nodes = {(node["step"], node["rank"]): node for node in trees(app)["tree"]}
        ways = set()
        for place in nodes:
            way = []
            while place[0] > 0:
                way.append(nodes[place]["word"])
                place = (place[0] - 1, nodes[place]["parent"])
            ways.add(tuple(way[::-1]))
        for one in found:
            assert tuple(beams.named(model, index) for index in one.ids) in ways
            scores = [decimal(one.score), decimal(one.normalised, ".3f")]
            read = " ".join(model.tokenizer.decode([index for index in one.ids if index]).split())
            assert [read, str(len(one.ids)), *scores] in sent(app, "complete")["rows"]
        assert sum(node["kind"] == "best" for node in nodes.values()) == len(found[0].ids)
        best = sent(app, "complete")["rows"][0]
        assert f"with {width} beams: {best[0]}, score {found[0].score:.2f}, " in sent(app, "tree")["alt"]
        assert f" the worst of {width} complete ones" in sent(app, "complete")["about"]
        (greedy,) = zoo.writing.search(model, source, width=1, max_new_tokens=12).beams[-1].complete
        result = "The best text is the greedy one."
        if width > 1:
            at = next(n for n, both in enumerate(zip(greedy.ids, found[0].ids, strict=False)) if both[0] != both[1])
            own, other = (markdown.plain(beams.named(model, ids[at])) for ids in (greedy.ids, found[0].ids))
            sums = f"Scores: {decimal(greedy.score)} and {decimal(found[0].score)}."
            result = f"at word {at + 1}: greedy “{own}”, best “{other}”. {sums}"
        assert result in words(app)


def test_the_cache_is_read_off_the_steps_of_the_model(tokenizer: Tokenizer) -> None:
    n = len(tokenizer.encode(TEXT, max_len=256).ids)
    read = matrices(open_writing(behind="The cache"))["cache"][0]
    assert read.shape == (10, n + 9)
    assert (read[0, :n] == 1).all()
    for step, row in enumerate(read[1:], start=1):
        assert (row[: n + step - 1] == 0).all()
        assert row[n + step - 1] == 1
        assert np.isnan(row[n + step :]).all()
    app = open_writing(behind="The cache", text="word " * 600)
    assert np.nansum(matrices(app)["cache"][0][1:], axis=1).tolist() == [256] * 9
    assert "all tokens are read again" in words(app)


def test_costs_are_drawn_for_every_length_the_model_reads() -> None:
    drawn = charts(app := open_writing(behind="What it saves"))
    for key in ("multiplications", "times"):
        lines = series(drawn[key])
        assert {name: len(y) for name, y in lines.items()} == {"without cache": 6, "with cache": 6}
        assert all((y > 0).all() for y in lines.values())
    saved = series(drawn["multiplications"])
    assert (saved["with cache"] < saved["without cache"]).all()
    (slow, fast), (all_of, one) = (list(series(drawn[key]).values()) for key in ("times", "multiplications"))
    pattern = r"At (\d+) tokens a step .* needs (\S+) of .* took (\S+) of the time \((\S+) instead of (\S+) ms\)"
    expected = [256, one[-1] / all_of[-1], fast[-1] / slow[-1], fast[-1], slow[-1]]
    assert told(app, pattern) == pytest.approx(expected, abs=0.051)


def test_what_a_cache_takes_is_counted_layer_by_layer() -> None:
    """With windows, of the chosen model, and of linear attention, which keeps sums: 4 · 4 · (32² + 32) · 4 bytes."""
    per_token = "8 key/value heads · {} values · {} bytes = **{} KiB per token**"
    cases: tuple[tuple[dict[str, str], list[str]], ...] = (
        (
            {"preset": "Gemma 2 9B", "cache_tokens": "8192"},
            ["42 layers · " + per_token.format(256, 2, 336), "**2.0 GiB**", "2.6 GiB, 33%"],
        ),
        ({"bytes": "float32", "cache_tokens": "128"}, [per_token.format(32, 4, 12), "takes **1.5 MiB**"]),
        ({"model": "twins-linear", "bytes": "float32"}, ["**66 KiB** after a text of any length"]),
    )
    for address, parts in cases:
        said = words(open_writing(behind="What it takes", **address))
        assert [one for one in parts if one not in said] == []


def test_a_guess_costs_what_one_pass_over_the_text_with_it_says() -> None:
    n = len(ids_of(TEXT))
    for word, several in (("books", False), ("encyclopaedias", True)):
        app, ids = open_writing(behind="Your guess", guessed=word), ids_of(f"{TEXT} {word}")
        assert (len(ids) - n > 1) is several
        logits = numpy_model.forward(MODEL, ids).logits
        loss = losses(logits, ids)[n - 1 :].sum() / np.log(2)
        drawn = series(charts(app)["guesses"], "value", by="series")
        assert drawn["your word"] == pytest.approx([loss], rel=2e-3)
        assert drawn["the model's first choice"] == pytest.approx([-np.log2(softmax(logits[n - 1]).max())], rel=2e-3)
        assert f"costs **{loss:.1f} bits**" in words(app)
        expected = [2**-loss, 1 + (logits[n - 1] > logits[n - 1, ids[n]]).sum(), softmax(logits[n - 1]).max()]
        pattern = r"\(probability (\S+); .* rank (\S+) of 6,144\)\. .* bits\*\* \((\S+%)\)"
        assert told(app, pattern) == pytest.approx(expected, rel=0.05)
        assert ("The losses of its" in words(app)) is several


def test_the_score_is_kept_over_the_places_and_the_first_guess_at_each_counts() -> None:
    app = open_writing(behind="Your guess")
    assert charts(app) == {}
    for word in ("books", "eyes"):
        app.text_input(key="guessed").set_value(word).run()
    (first,) = series(charts(app)["guesses"], "value", by="series")["your word"]
    assert "Only your first guess" in words(app)
    assert "Over 1 guess, your" in words(app)
    app.text_area(key="text").set_value("Once upon a").run()
    assert app.text_input(key="guessed").value == ""
    app.text_input(key="guessed").set_value("time").run()
    own, best = series(charts(app)["guesses"], "value", by="series").values()
    assert own[0] == first
    assert own[1] == best[1]
    assert f"{own.mean():.1f} bits on average, the model's first choices {best.mean():.1f}**; 1 of yours" in words(app)
    assert "Over 2 guesses, your" in words(app)
    app.button(key="new_score").click().run()
    assert charts(app) == {}


def test_odd_guesses_are_scored_or_refused_and_a_translation_begins_without_a_space() -> None:
    app = open_writing(model="french-english", text="Je suis étudiant.", behind="Your guess", guessed="I'm")
    own, best = series(charts(app)["guesses"], "value", by="series").values()
    model = load("french-english")
    steps = zoo.writing.generate(model, "Je suis étudiant.", given=model.tokenizer.encode("I'm", max_len=9).ids).steps
    assert own[0] == pytest.approx(-sum(np.log2(step.probability) for step in steps[:2]), rel=1e-3)
    assert best[0] == pytest.approx(-np.log2(steps[0].stages[0].probabilities.max()), rel=1e-3)
    odd = {"   ": "Type a word above", "😀" * 9: "more than a word", "<b>$x$": "costs", "中": "costs"}
    for word, said in odd.items():
        assert said in words(open_writing(behind="Your guess", guessed=word)), word


TYPED = "The little girl opened the door and saw a big d"


def open_keyboard(**address: str) -> Any:
    return open_page("writing", **{"text": TYPED, "behind": "Keyboard", **address})


def test_offers_and_keys_are_those_of_typing_with_a_model_of_english_words() -> None:
    app, model = open_keyboard(), zoo.load("tiny-english")
    row, offered = sent(app, "keyboard")["rows"][0], sent(app, "offers")
    offers, saved = Words(tuple(model.vocabulary[n].strip() for n in offered["ids"])), 0
    for word in WORD.finditer(TYPED):
        scores = model.trace(TYPED[: word.start() - 1])["logits"][-1][offered["ids"]]
        saved += taken(word, scores, offers).saved
    best = sorted((n for n in range(len(scores)) if offers.names[n].startswith("d")), key=lambda n: -scores[n])[:3]
    assert (offered["words"], offered["before"]) == ([offers.names[n] for n in best], TYPED[:-1])
    assert "".join(text for text, *_ in row["pieces"]).replace("␣", " ") == TYPED
    assert row["note"] == f"{len(TYPED) - saved} keys"
    assert sum(len(text) - 1 for text, kind in row["pieces"] if kind == "tap") == saved
    assert f"{saved} keys** ({saved / len(TYPED):.0%}) with the model" in words(app)
    for other in ("french-english", "induction"):
        assert "a language model with English words" in words(open_keyboard(model=other, text="Le chien est ici"))
