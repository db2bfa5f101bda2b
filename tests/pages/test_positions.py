"""The page on positions: its laws, its numbers against independent computation, and what becomes of odd input."""

from __future__ import annotations

import json
import math
import re
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from streamlit.testing.v1 import AppTest

from tests.app import charts, columns, matrices, open_page, series, views, words
from tests.model.numpy_model import layer_norm, linear
from tests.pages import plain
from tfmviz import zoo
from tfmviz.analysis import naive_positions, sinusoids, word_order
from tfmviz.record.trace import Array
from tfmviz.text.tokenizer import Tokenizer

TEXT = "Man eats small dinosaur."
IDEAS = ("Append the index", "index / (N − 1)", "Count in bits")
WAVES = ("Curves", "By hand", "Why many waves", "Heat map", "A shift is a rotation", "Near and far", "On real words")
OF_TABLE = ("The table", "Similarity", "Main directions", "Well trained?", "The wall")

PARTS = (
    {"lesson": "Order-blind"},
    *({"lesson": "Naive ideas", "idea": idea} for idea in IDEAS),
    *({"lesson": "Sinusoidal", "wave": wave} for wave in WAVES),
    *({"lesson": "Learned", "of_table": part} for part in OF_TABLE),
)

OF_TEXT = tuple(
    address for address in PARTS if "of_table" not in address and address.get("wave", WAVES[-1]) == WAVES[-1]
)
"""Those that depend on the reader's sentence."""


def waves(length: int, d: int, base: float = 10_000.0) -> Array:
    """Sinusoids number by number, as the paper writes them."""
    return np.array(
        [
            [(math.cos if j % 2 else math.sin)(pos / base ** ((j - j % 2) / d)) for j in range(d)]
            for pos in range(length)
        ]
    )


def test_words_of_a_text() -> None:
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
        starts = [*word_order.words(text), len(text)]
        assert [text[start:end] for start, end in pairwise(starts)] == expected


def test_moving_words_moves_whole_tokens() -> None:
    tokenizer = Tokenizer.load(zoo.MODELS / "twins-none" / "tokenizer.json")
    for text in (TEXT, "老王 批评 老李", "👩‍👩‍👧 says 😀!", "<b>x</b> $a$ \t\t \n e\u0301 שלום", "x" * 90):
        encoding = tokenizer.encode(text, max_len=64)
        parts = word_order.pieces(encoding)
        assert [token for part in parts for token in part] == list(range(len(encoding))), text
        backwards = word_order.reordered(parts, range(len(parts))[::-1])
        assert backwards == [token for part in parts[::-1] for token in part], text
        assert word_order.reordered(parts, range(len(parts))) == list(range(len(encoding))), text


def test_changes_are_measured_word_by_word() -> None:
    before = np.array([[1.0, 0], [2, 0], [3, 0]])
    after = np.array([[3.0, 0.5], [1, 0], [2, -4]])  # what stood at 2, 0 and 1
    np.testing.assert_allclose(word_order.largest_changes(before, after, [2, 0, 1]), [0, 4, 0.5])
    assert word_order.is_order([1, 0, 2], 3)
    assert not any(word_order.is_order(order, 3) for order in ([], [0, 1], [0, 1, 1], [1, 2, 3], [0, 1, 2, 3]))


def last_vectors(name: str, ids: list[int], added: Array, mask: Array) -> Array:
    """The stream after the last layer of a twin, in float64 from its files; `added` are its positions' vectors."""
    config = json.loads((zoo.MODELS / name / "config.json").read_text())
    w = plain.weights(name)
    n_heads, d_model = config["n_heads"], config["d_model"]
    x = w["embedding.W_E"][ids] * math.sqrt(d_model) + added
    for layer in range(config["n_layers"]):
        p = f"decoder.blocks.{layer}."
        h = layer_norm(x, w[p + "self_attn_residual.norm.weight"], w[p + "self_attn_residual.norm.bias"])
        q, k, v = (linear(h, w, f"{p}self_attn.W_{c}").reshape(len(ids), n_heads, -1).swapaxes(0, 1) for c in "QKV")
        weights = np.where(mask, np.exp(q @ k.swapaxes(1, 2) / math.sqrt(d_model / n_heads)), 0)
        z = weights / weights.sum(axis=-1, keepdims=True) @ v
        x = x + linear(z.swapaxes(0, 1).reshape(len(ids), -1), w, p + "self_attn.W_O")
        h = layer_norm(x, w[p + "mlp_residual.norm.weight"], w[p + "mlp_residual.norm.bias"])
        h = linear(h, w, p + "mlp.W_in")
        x = x + linear(h * (1 + np.vectorize(math.erf)(h / math.sqrt(2))) / 2, w, p + "mlp.W_out")
    return x


def test_changes_on_the_page_are_those_of_an_independent_forward_pass() -> None:
    encoding = Tokenizer.load(zoo.MODELS / "twins-none" / "tokenizer.json").encode(TEXT, max_len=64)
    moved = word_order.reordered(word_order.pieces(encoding), [3, 1, 2, 0, 4])
    n = len(encoding)
    drawn = charts(open_page("positions", text=TEXT, order="3.1.2.0.4"))
    for chart, mask in (("order_everything", np.ones((n, n))), ("order_past", np.tri(n))):
        runs = (("twins-none", np.zeros(1)), ("twins-sinusoidal", waves(n, 128)))
        for found, (name, added) in zip(series(drawn[chart], "value", by="series").values(), runs, strict=True):
            before = last_vectors(name, list(encoding.ids), added, mask)
            after = last_vectors(name, [encoding.ids[token] for token in moved], added, mask)
            expected = np.abs(after[np.argsort(moved)] - before).max(axis=-1)
            np.testing.assert_allclose(found, expected, atol=2e-3)
            blind = name == "twins-none" and chart == "order_everything"
            assert (expected.max() < 1e-9) == (found.max() < 5e-5) == blind


def test_without_a_mask_the_page_calls_the_model_blind_and_with_one_it_does_not() -> None:
    said = words(open_page("positions", text=TEXT))
    assert "`` twins-none ``: **" in said
    assert "·10⁻⁶** at most" in said
    assert "A sum has no order" in said
    assert "The causal mask tells the order" in said


def test_chinese_is_read_by_the_twins_that_know_its_characters() -> None:
    app = open_page("positions", text="老王 批评 老李")
    assert app.selectbox(key="twin").value == "chinese-sinusoidal"
    shown = charts(app)
    free, past = (series(shown[f"order_{sees}"], "value", by="series") for sees in ("everything", "past"))
    assert {len(values) for figure in (free, past) for values in figure.values()} == {len("老王 批评 老李")}
    assert free["no positions"].max() < 5e-5 < 0.1 < free["sinusoidal"].max()
    assert past["no positions"].max() > 0.1
    assert "**Every token sees all** (as trained)" in words(app)
    assert open_page("positions", text=TEXT).selectbox(key="twin").value == "twins-sinusoidal"


def test_an_order_of_another_sentence_is_left_out_with_a_note() -> None:
    for order in ("9.1.2.3.4", "x", "0.1.2.3.4." * 60):
        assert "no order of 5 words" in open_page("positions", text=TEXT, order=order).info[0].value


def test_buttons_move_the_words_and_the_address_keeps_the_order() -> None:
    """First and last leave the mark at the end where it is."""
    app = open_page("positions", text=TEXT)
    press(app, "Reverse")
    assert app.query_params["order"] == "4.3.2.1.0"
    press(app, "As typed")
    assert "nothing has moved" in words(app)
    for figure in charts(app).values():
        assert all(moved.max() == 0 for moved in series(figure, "value", by="series").values())
    press(app, "Shuffle")
    assert sorted(app.query_params["order"].split(".")) == list("01234")
    swapped = {TEXT: "3.1.2.0.4", "Man eats small dinosaur": "3.1.2.0", "Go!": "1.0", "a b": "1.0"}
    for text, order in swapped.items():
        press(app := open_page("positions", text=text), "First")
        assert app.query_params["order"] == order, text


def press(app: AppTest, label: str) -> None:
    next(button for button in app.button if button.label.startswith(label)).click()
    app.run()


def test_the_numbers_are_folded_away_and_tell_where_each_word_has_gone() -> None:
    app = open_page("positions", text=TEXT, order="4.3.2.1.0")
    assert "moves" not in views(app)
    app.session_state["order_numbers"] = True  # a click on the fold
    app.run()
    assert not app.exception
    shown = columns(app, "moves")
    assert [int(place) for place in shown["position"]] == list(range(len(shown["token"])))
    moved = dict(zip(map(int, shown["new position"]), shown["token"], strict=True))
    assert "".join(moved[place].strip("␣ ") for place in sorted(moved)) == ".dinosaursmalleatsMan"


def test_counting_in_bits() -> None:
    table = naive_positions.binary(16, 4)
    assert ["".join(map(str, row[::-1])) for row in table] == [format(n, "04b") for n in range(16)]
    flips = [bin(n ^ (n + 1)).count("1") for n in range(15)]
    np.testing.assert_allclose(naive_positions.steps(table), np.sqrt(flips))
    np.testing.assert_allclose(np.ptp(naive_positions.steps(waves(16, 4))), 0, atol=1e-12)


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


def test_distances_products_and_cosines_are_torchs() -> None:
    table = torch.tensor(waves(11, 6))
    np.testing.assert_allclose(sinusoids.distances(table.numpy()), torch.cdist(table, table), atol=1e-7)
    np.testing.assert_allclose(sinusoids.products(table.numpy()).diagonal(), 3)
    some = torch.tensor(np.random.default_rng(1).standard_normal((5, 7)))
    expected = F.cosine_similarity(some[:, None], some[None], dim=-1)
    np.testing.assert_allclose(sinusoids.cosines(some.numpy()), expected, atol=1e-12)
    assert sinusoids.cosines(np.zeros((2, 3))).tolist() == [[0, 0], [0, 0]]


def test_products_depend_on_the_distance_only_and_other_tables_do_not() -> None:
    """The largest difference between two entries of one diagonal, where q − p is the same."""

    def spread(matrix: Array) -> float:
        return max(float(np.ptp(matrix.diagonal(offset))) for offset in range(1 - len(matrix), len(matrix)))

    assert spread(sinusoids.products(waves(20, 6))) < 1e-12
    other = np.random.default_rng(2).standard_normal((20, 6))
    assert spread(sinusoids.products(other)) > 1


def test_one_wave_comes_back_and_many_do_not() -> None:
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
    shown = charts(app)
    np.testing.assert_allclose(series(shown["curves"])["dim 4"], waves(20, 8)[:, 4], atol=1e-6)
    rows = shown["curves"]["tables"]["rows"]
    of_dim_4 = [said for line, said in zip(rows["line"], rows["hover"], strict=True) if line.endswith(" dim 4")]
    assert len(of_dim_4) == 20
    assert all("frequency 0.01, wavelength 628.3" in said for said in of_dim_4)
    (lengths,) = series(shown["wavelengths"]).values()
    np.testing.assert_allclose(lengths, 2 * np.pi * 10_000 ** np.array([0, 0.25, 0.5, 0.75]))


def test_the_worked_example_is_written_out() -> None:
    code = sinusoidal("By hand", by_hand="2").code[0].value
    assert "PE(2, 1) = cos(2 / 10000^(0/4)) = cos(2) = −0.41615" in code.replace("= -", "= −")
    assert "PE(2, 2) = sin(2 / 10000^(2/4)) = sin(0.02) = 0.02000" in code


def test_the_rotation_on_the_page_moves_every_position() -> None:
    app = sinusoidal("A shift is a rotation", width="6", places="30", k="7")
    (matrix,) = matrices(app)["rotation"]
    table = waves(30, 6)
    np.testing.assert_allclose(table[:-7] @ matrix.T, table[7:], atol=1e-6)
    error = re.search(r"positions: \*\*(\d\.\d)·10⁻([⁰¹²³⁴⁵⁶⁷⁸⁹]+)\*\*", words(app))
    assert error is not None
    assert error[2] in ("⁷", "⁸")


def test_4_is_closer_to_7_than_to_17() -> None:
    app = sinusoidal("Near and far")
    frequencies = 10_000.0 ** (-np.arange(0, 512, 2) / 512)
    near, far = (np.cos(distance * frequencies).sum() for distance in (3, 13))
    assert "Position 4 is closer to 7 than to 17" in words(app)
    assert f"product {near:.2f} and {far:.2f}" in words(app)
    assert f"distance {math.sqrt(2 * (256 - near)):.2f} and {math.sqrt(2 * (256 - far)):.2f}" in words(app)


def test_what_adding_positions_does_to_the_words_of_the_sentence() -> None:
    text = " the cat saw the dog"
    ids = list(plain.ids_of(text, "twins-sinusoidal"))
    x = plain.weights("twins-sinusoidal")["embedding.W_E"][ids] * math.sqrt(128)
    app = open_page("positions", text=text, lesson="Sinusoidal", wave="On real words")
    word, position = series(charts(app)["added_lengths"], "value", by="series").values()
    np.testing.assert_allclose(word, np.linalg.norm(x, axis=-1), rtol=1e-4)
    np.testing.assert_allclose(position, 8, rtol=1e-6)
    first, second = (n for n, token in enumerate(ids) if token == ids[0])
    a, b = (x[n] + waves(len(ids), 128)[n] for n in (first, second))
    assert f"(**{a @ b / np.linalg.norm(a) / np.linalg.norm(b):.2f}**)" in words(app)


def test_bad_settings_get_one_clear_sentence() -> None:
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
            assert not app.exception
            warned = [one.value.replace("\\", "") for one in app.warning]
            assert len(warned) == (said is not None), (wave, key, value)
            assert said is None or re.search(said, warned[0]), (wave, key, value)
    (warning,) = sinusoidal("Curves", base="1").warning
    assert "base must be more than 1" in warning.value


def test_a_shift_stays_within_fewer_positions() -> None:
    app = sinusoidal("A shift is a rotation", k="40")
    app.number_input(key="places").set_value(10)
    app.run()
    assert not app.exception
    assert app.slider(key="k").value == 5
    assert "over all 5 positions" in words(app)


ODD = "<img src=x onerror=alert(1)> $x$ **b** 👩\u200d👩\u200d👧 老王"


@pytest.mark.parametrize(
    ("text", "model", "parts"),
    [(ODD, "twins-rope", PARTS), ("word " * 1000, "tiny-english", OF_TEXT), ("a", "reverse", OF_TEXT)],
)
def test_no_figure_of_an_odd_text_lacks_a_number(text: str, model: str, parts: tuple[dict[str, str], ...]) -> None:
    opened = set()
    for address in parts:
        app = open_page("positions", text=text, model=model, **address)
        assert not app.error
        drawn = charts(app)
        opened |= {*drawn, *matrices(app)}
        assert all(np.isfinite(values).all() for values in matrices(app).values())
        columns = (column for spec in drawn.values() for table in spec["tables"].values() for column in table.values())
        assert not any(value is None for column in columns for value in column), "a number left out"
    if parts is PARTS:
        assert len(opened) == 26


def test_a_missing_model_is_named_and_the_rest_goes_on(own_zoo: Path) -> None:
    shutil.copytree(plain.MODEL, own_zoo / "tiny-english")
    assert "twins-none" in open_page("positions").info[0].value
    assert "twins-learned" in open_page("positions", lesson="Learned").info[0].value
    assert "twins-sinusoidal" in sinusoidal("On real words").info[0].value
    assert matrices(sinusoidal("Heat map"))
