"""The page on positions: its laws, its numbers against independent computation, and what becomes of odd input."""

import json
import math
import re
from itertools import pairwise

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from streamlit.testing.v1 import AppTest

from tests.app import alt, charts, columns, matrices, open_page, pictures, press, sent, series, views, words
from tests.pages import plain
from tests.pages.claims import told
from tests.pages.plain import losses_by_position, softmax
from tfmviz import zoo
from tfmviz.analysis import naive_positions, position_table, sinusoids, word_order
from tfmviz.record.edits import SetMask
from tfmviz.record.trace import Array
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.ui.positions import naive
from tfmviz.views.picture import from_text, to_text
from tfmviz.words.numbers import tiny

TEXT = "Man eats small dinosaur."
IDEAS = ("Append the index", "index / (N − 1)", "Count in bits")


def waves(length: int, d: int, base: float = 10_000.0) -> Array:
    """Sinusoids number by number, as the paper writes them."""
    return np.array(
        [
            [(math.cos if j % 2 else math.sin)(pos / base ** ((j - j % 2) / d)) for j in range(d)]
            for pos in range(length)
        ]
    )


def test_words_of_a_text_are_moved_as_whole_tokens_and_changes_measured_word_by_word() -> None:
    tokenizer = Tokenizer.load(zoo.MODELS / "twins-none" / "tokenizer.json")
    for expected in (
        [],
        ["Man", " eats", " small", " dinosaur", "."],
        ["Don't", " stop", "!?"],
        ["老", "王", "批", "评", "老", "李", "。"],
        ["老王", " 批评", " 老李", "。"],
        ["Tokyo", " 東", "京"],
        ["  two", "\n\nlines", " "],
        ["a", ",", " b"],
        ["'", "tis", " the", " dogs", "'"],
    ):
        text = "".join(expected)
        assert [text[start:end] for start, end in pairwise([*word_order.words(text), len(text)])] == expected
        encoding = tokenizer.encode(text or "👩‍👩‍👧 says 😀! é שלום", max_len=64)
        parts = word_order.pieces(encoding)
        assert [token for part in parts for token in part] == list(range(len(encoding))), text
        backwards = word_order.reordered(parts, range(len(parts))[::-1])
        assert backwards == [token for part in parts[::-1] for token in part], text
    before = np.array([[1.0, 0], [2, 0], [3, 0]])
    after = np.array([[3.0, 0.5], [1, 0], [2, -4]])  # what stood at 2, 0 and 1
    np.testing.assert_allclose(word_order.largest_changes(before, after, [2, 0, 1]), [0, 4, 0.5])
    assert word_order.is_order([1, 0, 2], 3)
    assert not any(word_order.is_order(order, 3) for order in ([], [0, 1], [0, 1, 1], [1, 2, 3], [0, 1, 2, 3]))


def test_changes_on_the_page_are_those_of_two_runs_under_each_mask() -> None:
    drawn = charts(app := open_page("positions", text=TEXT, order="3.1.2.0.4"))
    blind, sighted = zoo.load("twins-none"), zoo.load("twins-sinusoidal")
    encoding = blind.encode(TEXT)
    moved = word_order.reordered(word_order.pieces(encoding), [3, 1, 2, 0, 4])
    texts, n = (encoding.ids, [encoding.ids[token] for token in moved]), len(encoding)
    for chart, mask in (("order_everything", np.ones((n, n), bool)), ("order_past", np.tri(n, dtype=bool))):
        rows = tuple(map(tuple, mask.tolist()))
        edits = tuple(SetMask(layer=f"decoder.{i}.self_attn", mask=rows) for i in range(4))
        for found, model in zip(series(drawn[chart], "value", by="series").values(), (blind, sighted), strict=True):
            before, after = (model.trace(ids, edits)["decoder.3.resid_post"] for ids in texts)
            np.testing.assert_allclose(found, np.abs(after[np.argsort(moved)] - before).max(axis=-1), atol=1e-4)
            assert (found.max() < 5e-5) == (model is blind and chart == "order_everything")
            largest = tiny(found.max()) if found.max() < 5e-5 else f"{found.max():.2f}"
            assert f"`` {model.name} ``: **{largest}**" in words(app), chart


def test_chinese_is_read_by_the_twins_that_know_its_characters() -> None:
    app = open_page("positions", text="老王 批评 老李")
    assert app.selectbox(key="twin").value == "chinese-sinusoidal"
    shown = charts(app)
    free, past = (series(shown[f"order_{sees}"], "value", by="series") for sees in ("everything", "past"))
    assert {len(values) for figure in (free, past) for values in figure.values()} == {len("老王 批评 老李")}
    assert free["no positions"].max() < 5e-5 < 0.1 < free["sinusoidal"].max()
    assert past["no positions"].max() > 0.1
    assert r"**Every token sees all \(as trained\)**" in words(app)
    assert open_page("positions", text=TEXT).selectbox(key="twin").value == "twins-sinusoidal"


def test_buttons_move_the_words_and_the_address_keeps_the_order_of_this_sentence_alone() -> None:
    """First and last leave the mark at the end where it is."""
    app = open_page("positions", text=TEXT)
    press(app, "Reverse")
    assert app.query_params["order"] == "4.3.2.1.0"
    press(app, "As typed")
    assert "Nothing has moved" in words(app)
    assert not re.search("A sum has no order|sees the order|reveals the order", words(app))
    for figure in charts(app).values():
        assert all(moved.max() == 0 for moved in series(figure, "value", by="series").values())
    press(app, "Shuffle")
    assert sorted(app.query_params["order"].split(".")) == list("01234")
    swapped = {TEXT: "3.1.2.0.4", "Man eats small dinosaur": "3.1.2.0", "Go!": "1.0", "a b": "1.0"}
    for text, order in swapped.items():
        press(app := open_page("positions", text=text), "First")
        assert app.query_params["order"] == order, text
    for order in ("9.1.2.3.4", "x", "0.1.2.3.4." * 60):
        assert "no order of 5 words" in open_page("positions", text=TEXT, order=order).info[0].value


def test_the_numbers_are_folded_away_and_tell_where_each_word_has_gone() -> None:
    app = open_page("positions", text=TEXT, order="4.3.2.1.0")
    assert "moves" not in views(app)
    app.session_state["order_numbers"] = True  # a click on the fold
    app.run()
    shown = columns(app, "moves")
    assert [int(place) for place in shown["position"]] == list(range(len(shown["token"])))
    moved = dict(zip(map(int, shown["new position"]), shown["token"], strict=True))
    assert "".join(moved[place].strip("␣ ") for place in sorted(moved)) == ".dinosaursmalleatsMan"


def test_bits_count_and_an_appended_index_makes_words_alike() -> None:
    table = naive_positions.binary(16, 4)
    assert ["".join(map(str, row[::-1])) for row in table] == [format(n, "04b") for n in range(16)]
    flips = [bin(n ^ (n + 1)).count("1") for n in range(15)]
    np.testing.assert_allclose(naive_positions.steps(table), np.sqrt(flips))
    np.testing.assert_allclose(np.ptp(naive_positions.steps(waves(16, 4))), 0, atol=1e-12)
    vectors = np.random.default_rng(0).standard_normal((5, 7))
    found = naive_positions.alike_with_index(vectors, [0, 3, 500])
    for index, alike in zip([0, 3, 500], found, strict=True):
        wide = torch.cat((torch.tensor(vectors), torch.full((5, 1), float(index), dtype=torch.float64)), dim=1)
        cosines = F.cosine_similarity(wide[:, None], wide[None], dim=-1)
        assert alike == pytest.approx((cosines.sum().item() - 5) / 20)
    assert found[2] > 0.999
    assert naive_positions.alikeness(vectors, np.zeros(7)) == pytest.approx(found[0])
    trace = zoo.load("twins-sinusoidal").trace(TEXT)  # all its tokens differ
    alike = naive_positions.alike_with_index(embed := trace["embed"], range(200))
    among = [naive_positions.alikeness(embed, wave) for wave in waves(200, embed.shape[1])]
    pattern = r"rises from (\S+) to \*\*(\S+)\*\* at 199 and passes 0.5 at position (\d+)\. .* is at most (\S+)\."
    rises = told(open_page("positions", text=TEXT, lesson="Naive ideas", idea=IDEAS[0]), pattern)
    assert rises == pytest.approx([alike[0], alike[-1], np.flatnonzero(alike > 0.5)[0], max(among)], abs=0.0051)
    said = words(open_page("positions", text=TEXT, lesson="Naive ideas", idea=IDEAS[2]))
    assert "4 bits count 16 positions, but from 7 to 8, **4 bits flip at once**" in said


def test_a_shift_is_the_flow_of_one_generator() -> None:
    """R_k = exp(k G), with G the matrix that says how each pair's numbers change: sin' = ω cos, cos' = -ω sin."""
    lengths = 2 * np.pi * 10_000 ** (np.arange(0, 6, 2) / 6)
    generator = torch.block_diag(
        *(torch.tensor([[0.0, w], [-w, 0.0]], dtype=torch.float64) for w in 2 * np.pi / lengths)
    )
    for shift in (1, 7, 40):
        matrix = sinusoids.shift_matrix(lengths, shift)
        np.testing.assert_allclose(matrix, torch.linalg.matrix_exp(shift * generator).numpy(), atol=1e-12)
        assert sinusoids.shift_error(waves(60, 6), matrix, shift) < 1e-12
        assert sinusoids.shift_error(waves(60, 6), sinusoids.shift_matrix(lengths, shift + 1), shift) > 0.01


def test_distances_products_and_cosines_are_torchs_and_one_wave_alone_comes_back() -> None:
    table = torch.tensor(waves(11, 6))
    np.testing.assert_allclose(sinusoids.distances(table.numpy()), torch.cdist(table, table), atol=1e-7)
    np.testing.assert_allclose(sinusoids.products(table.numpy()), table @ table.T)
    some = torch.tensor(np.random.default_rng(1).standard_normal((5, 7)))
    expected = F.cosine_similarity(some[:, None], some[None], dim=-1)
    np.testing.assert_allclose(sinusoids.cosines(some.numpy()), expected, atol=1e-12)
    assert sinusoids.cosines(np.zeros((2, 3))).tolist() == [[0, 0], [0, 0]]
    single = sinusoids.wave(np.arange(19), 6)[:, None]
    np.testing.assert_allclose(sinusoids.far_from_first(single)[[0, 6, 12, 18]], 0, atol=1e-12)
    assert sinusoids.far_from_first(waves(200, 4))[1:].min() > 0.04
    np.testing.assert_allclose(sinusoids.wave(np.arange(9), 7, quarter=1), np.cos(2 * np.pi * np.arange(9) / 7))


def sinusoidal(wave: str, **address: str) -> AppTest:
    return open_page("positions", text=TEXT, lesson="Sinusoidal", wave=wave, **address)


def test_the_heat_map_holds_the_formulas_numbers_in_both_layouts() -> None:
    expected = waves(11, 6, base=100)
    address = {"width": "6", "places": "11", "base": "100"}
    (shown,) = matrices(sinusoidal("Heat map", **address))["heat_map"]
    np.testing.assert_allclose(shown, expected, atol=1e-6)
    (halves,) = matrices(sinusoidal("Heat map", stored="all sines | all cosines", **address))["heat_map"]
    np.testing.assert_allclose(halves, expected[:, [0, 2, 4, 1, 3, 5]], atol=1e-6)


def test_curves_carry_frequency_and_wavelength() -> None:
    app = sinusoidal("Curves", width="8", places="20")
    assert app.table[0].value["term"].tolist() == [
        f"{wave}(pos / 10,000^({even}/8))" for wave, even in (("sin", 0), ("cos", 0), ("sin", 2), ("sin", 4))
    ]
    shown = charts(app)
    assert app.table[0].value["frequency"].tolist() == ["1", "1", "0.1", "0.01"]
    assert "grow from 2π to **6,283**. Within 20 positions 1 of 4 pairs" in words(app)
    assert [app.slider(key=key).label for key in ("at_a", "at_b")] == ["Position a", "Position b"]
    np.testing.assert_allclose(series(shown["curves"])["dim 4"], waves(20, 8)[:, 4], atol=1e-6)
    rows = shown["curves"]["tables"]["rows"]
    of_dim_4 = [said for line, said in zip(rows["line"], rows["hover"], strict=True) if line.endswith(" dim 4")]
    assert len(of_dim_4) == 20
    assert all("frequency 0.01, wavelength 628.3" in said for said in of_dim_4)
    tables = charts(sinusoidal("Curves", width="8", places="20", at_a="5", at_b="19"))["curves"]["tables"]
    read = tables["read"]
    at_b = [float(word.replace("−", "-")) for n, word in zip(read["cursor"], read["word"], strict=True) if n]
    drawn = sorted({int(line.split()[-1]) for line in tables["rows"]["line"]})
    np.testing.assert_allclose(at_b, waves(20, 8)[19, drawn], atol=0.005)
    pairs = waves(20, 8)[[5, 19]][:, drawn].reshape(2, -1, 2)  # (cursor, pair, sine and cosine)
    turns = np.radians(np.reshape(tables["hands"]["turn"], (-1, 2)).T)  # clockwise from above
    np.testing.assert_allclose(np.stack([np.cos(turns), np.sin(turns)], axis=-1), pairs, atol=1e-6)
    (lengths,) = series(shown["wavelengths"]).values()
    np.testing.assert_allclose(lengths, 2 * np.pi * 10_000 ** np.array([0, 0.25, 0.5, 0.75]))


def test_the_worked_example_is_written_out() -> None:
    code = sinusoidal("By hand", by_hand="2").code[0].value
    assert "PE(2, 1) = cos(2 / 10000^(0/4)) = cos(2) = −0.41615" in code.replace("= -", "= −")
    assert "PE(2, 2) = sin(2 / 10000^(2/4)) = sin(0.02) = 0.02000" in code
    code = sinusoidal("By hand", by_hand="2", as_printed="without the power").code[0].value
    assert "PE(2, 2) = sin(2 / (10000 · 2/4)) = sin(0.0004) = 0.00040" in code
    near = np.linalg.norm(waves(50, 512)[1:] - waves(50, 512)[0], axis=1).min()
    assert f"none of 50 positions comes closer to P0 than **{near:.2f}**" in words(sinusoidal("Why many waves"))


def test_what_adding_positions_does_to_the_words_of_the_sentence() -> None:
    text = " the cat saw the dog"
    trace = zoo.load("twins-sinusoidal").trace(text)
    app = open_page("positions", text=text, lesson="Sinusoidal", wave="On real words")
    word, position = series(charts(app)["added_lengths"], "value", by="series").values()
    np.testing.assert_allclose(word, np.linalg.norm(trace["embed"], axis=-1), rtol=1e-4)
    np.testing.assert_allclose(position, 8, rtol=1e-6)
    assert f"have norm 8.00, words {np.linalg.norm(trace['embed'], axis=-1).mean():.2f};" in words(app)
    after = sinusoids.cosines(trace["decoder.0.resid_pre"])[0, 3]
    assert f"“the” at 0 and 3: one vector before (cosine 1.00), two after (**{after:.2f}**)" in words(app)


def test_bad_settings_get_one_clear_sentence_and_a_shift_stays_within_fewer_positions() -> None:
    asked: dict[str, list[tuple[str, int, str | None]]] = {
        "Curves": [
            *(("width", 7, "even.*7"), ("width", 0, "even.*0"), ("width", 514, "at most 512.*514"), ("width", 2, None)),
            *(("places", 1, "2 to 512.*1"), ("places", -5, "2 to 512.*-5"), ("places", 2, None)),
        ],
        "By hand": [("by_hand", -3, "from 0.*-3"), ("by_hand", 99_999_999, "16,777,216"), ("by_hand", 0, None)],
        "Near and far": [
            *(("far", 50, "50.*0 to 49"), ("far", 0, None), ("near", -1, "-1.*0 to 49"), ("near", 0, None))
        ],
    }
    for wave, settings in asked.items():
        app = sinusoidal(wave)
        for key, value, said in settings:
            app.number_input(key=key).set_value(value).run()
            warned = [one.value.replace("\\", "") for one in app.warning]
            assert len(warned) == (said is not None), (wave, key, value)
            assert said is None or re.search(said, warned[0]), (wave, key, value)
    (warning,) = sinusoidal("Curves", base="1").warning
    assert "base must be more than 1" in warning.value
    app = sinusoidal("A shift is a rotation", k="40")
    app.number_input(key="places").set_value(10)
    app.run()
    assert app.slider(key="k").value == 5
    assert "over all 5 positions" in words(app)
    assert r"from position 4 to 9\: rotated by" in words(app)
    assert "rows and columns 62 to 69" in pictures(app)["rotation"][0]["scale"]["title"]


def learned(part: str, **address: str) -> AppTest:
    return open_page("positions", text=TEXT, lesson="Learned", of_table=part, **address)


def test_the_axes_of_a_table_are_those_of_its_covariance_and_untrained_rows_are_found() -> None:
    table = np.random.default_rng(3).standard_normal((13, 5)) * [5, 3, 2, 1, 0.5]
    found = position_table.principal_components(table)
    values, vectors = np.linalg.eigh(np.cov(table.T))
    np.testing.assert_allclose(found.shares, values[::-1][:3] / values.sum())
    expected = (table - table.mean(axis=0)) @ vectors[:, ::-1][:, :3]
    np.testing.assert_allclose(np.abs(found.scores), np.abs(expected), atol=1e-9)
    assert (found.scores[np.abs(found.scores).argmax(axis=0), range(3)] > 0).all()
    table = np.random.default_rng(4).normal(0, 0.02, (29, 128))
    assert position_table.untrained(table, std=0.02).tolist() == list(range(29))
    table[:17] *= 5
    assert position_table.untrained(table, std=0.02).tolist() == list(range(17, 29))
    np.testing.assert_allclose(position_table.smoothed(np.array([1.0, 2, 6, 4]), window=3), [1.5, 3, 4, 5])


def test_the_trained_table_its_lengths_and_the_measured_loss_are_shown_as_they_are() -> None:
    table, sinusoids = plain.weights("twins-learned")["decoder.positions.table"], waves(64, 128)
    app = learned("The table")
    np.testing.assert_allclose(matrices(app)["trained_table"][0], table, atol=1e-6)
    assert "64 × 128 = **8,192 parameters**" in words(app)
    shares = position_table.principal_components(table).shares
    names = list(series(charts(learned("Main directions"))["components"]))
    assert names == [f"{n}: {share:.0%}" for n, share in enumerate(shares, start=1)]
    unit, alike = table / np.linalg.norm(table, axis=1, keepdims=True), matrices(learned("Similarity"))
    np.testing.assert_allclose(alike["similar_trained"][0], unit @ unit.T, atol=1e-5)
    np.testing.assert_allclose(alike["similar_sinusoids"][0], sinusoids @ sinusoids.T / 64, atol=1e-5)
    app = learned("Well trained?")
    lengths, loss = (series(charts(app)[key]) for key in ("trained_norms", "loss_by_position"))
    np.testing.assert_allclose(lengths["norm now"], np.linalg.norm(table, axis=1), rtol=1e-5)
    measured = losses_by_position("twins-learned")
    assert loss["measured"].tolist() == measured
    assert len(measured) == 64
    assert "Every row has grown from its random" in words(app)
    said = words(learned("Well trained?", trained="reverse, encoder"))
    assert re.search(r"\*\*(\d+) of (\d+) rows, from position 12 on", said)


def test_the_wall() -> None:
    app = learned("The wall", letters="Attention!")
    assert app.code[0].value == "There are 64 learned positions, but the text has 65 tokens."
    (table,) = app.table
    assert table.value["asked"].tolist() == ["atte", "attentio", "attention"]
    assert table.value["answer"].tolist() == ["etta", "oitnetta", "noitnetta"]
    longer = learned("The wall", letters="abcdefghijklmnopq").table[0].value
    marks = dict(zip(longer["letters"], longer["right"], strict=True))
    assert (marks[12], marks[13], marks[16]) == ("✓", "✗", "✗")
    assert re.search(r"first 12 rows of .* reverses here has \*\*9\*\* letters", words(app))
    assert "at least two letters" in words(learned("The wall", letters="7!"))


SEVEN = "".join("00gggg00" if row == 0 else "0000gg00" if row < 4 else "000gg000" for row in range(8))


def digits(**address: str) -> AppTest:
    return open_page("positions", lesson="Not only words", **address)


def bars(app: AppTest) -> list[float]:
    return [row[1] for row in sorted(sent(app, "digit_bars"))]


def test_the_bars_and_the_heads_are_those_of_the_chosen_model() -> None:
    held_out, labels = zoo.pictures.digits().held_out
    for reader, kind in (("trained positions", "learned"), ("no positions", "none")):
        app = digits(digit="7", reader=reader, reader_layer="1")
        values = zoo.pictures.read_picture(zoo.pictures.load(kind), held_out[7])
        assert bars(app) == pytest.approx(softmax(values["logits"]).tolist(), abs=1e-4), kind
        heads = values["encoder.1.self_attn.pattern"][:, 0, 1:].reshape(-1, 4, 4)
        np.testing.assert_allclose(matrices(app)["digit_looks"], heads, atol=1e-4, err_msg=kind)
        says = rf"with {reader} says \*\*(\d)\*\* \(([\d.]+%)\)"
        assert told(app, says) == pytest.approx([np.argmax(bars(app)), max(bars(app))], abs=0.006)
        assert sent(app, "picture")["title"] == f"A “{labels[7]}” from the test set"
        assert sent(app, "picture_selection")["cells"] == to_text((held_out[7] * 16).astype(int))


def test_a_drawing_in_the_address_is_read_and_shuffled_patches_change_one_model_s_answer() -> None:
    app, drawn = digits(digit="7", drawn=SEVEN), from_text(SEVEN, 8)
    assert drawn is not None
    logits = zoo.pictures.read_picture(zoo.pictures.load("learned"), drawn.astype(np.float32) / 16)["logits"]
    assert np.argmax(bars(app)) == logits.argmax()
    assert sent(app, "picture")["title"] == "Drawn by hand"
    assert sum(bars(digits(drawn="0" * 64))) == pytest.approx(1, abs=1e-3), "an empty one is read too"
    for none in ("", "0", "z" * 64, "<img src=x onerror=alert(1)>", "0" * 5000, "😀" * 64):
        app = digits(drawn=none)
        assert not app.error, none
        assert "Of 359 held-out digits" in words(app), none
        assert sent(app, "picture")["title"].endswith("from the test set"), none
    in_order, shuffled = digits(digit="3"), digits(digit="3", shuffle="2")
    assert bars(in_order) != pytest.approx(bars(shuffled), abs=1e-3)
    assert "shuffled_digit" in matrices(shuffled)
    order = np.random.default_rng(2).permutation(16)
    assert alt(shuffled, "shuffled_digit") == f"Patches in the order {', '.join(map(str, order))}"
    measured = json.loads((zoo.pictures.FOLDER / "measured.json").read_text(encoding="utf-8"))
    shares = [measured[kind][order] for kind in ("learned", "none") for order in ("in order", "shuffled")]
    right = r"identifies \*\*(\S+)\*\*, or (\S+) with .* it is \*\*(\S+)\*\* and (\S+)\. A conv"
    assert told(shuffled, right) == pytest.approx(shares, abs=0.006)
    blind = [bars(digits(digit="3", shuffle=seed, reader="no positions")) for seed in ("0", "2")]
    assert blind[0] == pytest.approx(blind[1], abs=1e-4)


def test_fractions_of_two_sentences_differ_but_where_both_are_equally_long(monkeypatch: pytest.MonkeyPatch) -> None:
    assert naive_positions.fractions(1).tolist() == [0]
    app = open_page("positions", text=TEXT, lesson="Naive ideas", idea=IDEAS[1], another="The cat sat.")
    first, second = series(charts(app)["fractions"], "x", by="text").values()
    assert (len(first), len(second)) == (6, 4)
    np.testing.assert_allclose(second, [0, 1 / 3, 2 / 3, 1])
    steps = "1/5 = **0.200** in the sentence with 6 tokens and 1/3 = **0.333** in the one with 4:"
    assert f"A step of one token is {steps}" in words(app)
    for text in (TEXT, "Once upon a time there was a little girl.", "The cat sat on the mat."):
        app = open_page("positions", text=text, lesson="Naive ideas", idea=IDEAS[1])
        first, second = series(charts(app)["fractions"], "x", by="text").values()
        assert len(first) != len(second), text
        assert "means different things" in words(app), text
    app = open_page("positions", text=TEXT, lesson="Naive ideas", idea=IDEAS[1], another="The cat sat down here.")
    assert "means different things" not in words(app)
    assert "the same number of tokens" in words(app)
    monkeypatch.setattr(naive, "OTHERS", ("The cat sat down here.",))  # each other one as long as the reader's
    assert "the same number of tokens" in words(open_page("positions", text=TEXT, lesson="Naive ideas", idea=IDEAS[1]))
