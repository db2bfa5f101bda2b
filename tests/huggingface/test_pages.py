"""A converted decoder, encoder and encoder-decoder on every page, with the right formulas and a sentence for what is
missing."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import BrowserContext, expect

from scripts import find_neurons
from tests.app import charts, forget, open_page, pictures, series, views, words
from tests.browser import ROOT, Visit, free_port, serve
from tests.cases import each
from tests.huggingface.folders import write
from tests.huggingface.models import tiny
from tests.huggingface.test_folders import run
from tests.traces import read_arrays, read_blob
from tfmviz import zoo
from tfmviz.analysis import contributions, rotations
from tfmviz.record.weights import PositionEffects
from tfmviz.ui import router
from tfmviz.ui.lesson import NO_HEAD
from tfmviz.views import steps

MODELS = (
    *("llama", "bert", "bert headless", "t5 1.1", "qwen3", "gemma2", "bart", "gpt_neox", "llama 3"),
    *("gpt_oss", "qwen2_moe", "albert", "albert headless", "umt5"),
)
TEXT = "The cat sat on the mat."
PAIR = f"{TEXT} ||| A dog ran."
OF_OTHER_MODELS = {"lectures", "ladder", "training"}
"""Pages that show the same whatever model is chosen."""

FOR_TRANSLATORS = {"translating", "bottleneck"}
"""Pages that replace a model that does not translate."""

LESSONS = [page.name for page in router.PAGES if page.name != "contents"]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The reader's folder with a model of every kind in it."""
    folder = tmp_path_factory.mktemp("checkpoints")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TFMVIZ_MODELS", str(folder / "own"))
        for name in MODELS:
            write(folder / name, name)
            assert run(folder / name, "--name", name.replace(" ", "-")) == 0
        yield folder / "own"
    forget()


@each("name", ["llama", "bert", "bert-headless", "t5-1.1", "bart", "gpt_oss", "qwen2_moe", "albert", "umt5"])
def test_every_page_shows_every_kind_of_model(own: Path, name: str) -> None:
    text = PAIR if name in ("bert", "albert") else TEXT
    app = open_page(model=name, text=text)
    assert name in app.selectbox(key="model").options
    for page in LESSONS:
        app.switch_page(f"pages/{page}.py").run()
        assert not app.exception, page
        assert not app.error, page


def test_two_sentences_for_bert_are_parts_and_each_head_says_what_goes_between_them(own: Path) -> None:
    app = open_page(model="bert", text=PAIR)
    header, _ = read_blob(views(app)["explorer"].bytes)
    assert header["texts"]["target"]["segments"] == list(zoo.load("bert").trace(PAIR).target.segments)
    assert header["kinds"][0]["between"]["parts"] == ["A", "B"]
    assert "|||" in words(app)
    assert "|||" not in words(open_page(model="llama", text=TEXT))


@each(
    "page, tab",
    [
        ("explorer", {"view": "Predictions"}),
        ("residual_stream", {"stream": "Logit lens"}),
        ("residual_stream", {"stream": "Who made the word"}),
        ("switch_off", {"removed": "Every part in turn"}),
        ("masks", {"effect": "Next word"}),
    ],
)
def test_a_model_without_a_head_says_so_where_predictions_would_be(own: Path, page: str, tab: dict[str, str]) -> None:
    app = open_page(page, model="bert-headless", text=TEXT, **tab)
    assert NO_HEAD in words(app)
    assert "Residual stream" in [tab.label for tab in open_page(model="bert-headless", text=TEXT).tabs]


def test_a_head_that_is_not_linear_has_no_account_and_says_why(own: Path) -> None:
    assert "so they are not such a sum" in words(
        open_page("residual_stream", model="bert", text=TEXT, stream="Who made the word")
    )
    assert "so they are not such a sum" not in words(
        open_page("residual_stream", model="llama", text=TEXT, stream="Who made the word")
    )


@each("name", MODELS)
def test_the_river_and_what_the_browser_multiplies_out_are_what_the_model_computed(own: Path, name: str) -> None:
    model = zoo.load(name.replace(" ", "-"))
    trace = model.trace(TEXT)
    for stack, matrices in model.weights.stacks.items():
        river = contributions.river(trace, stack, 2, matrices)
        assert river.residue < 1e-4 * max(1.0, float(np.abs(river.final).max()))
    for layer in model.config.layers:
        weights = model.weights.attention(layer)
        part = layer.split(".")[2]
        positions = (
            model.position_effects(layer, len(trace.axes(layer)[1].tokens))
            if part == "self_attn"
            else PositionEffects()
        )
        for head in range(model.config.attention.n_heads):
            header, sent = read_arrays(steps.payload(trace, layer, head, weights, positions, title=""))
            q, k = (sent.get(f"rot_{x}", sent[x]).astype(float) for x in "qk")
            scores = q @ k.T / header["divisor"]
            if header["cap"] is not None:
                scores = header["cap"] * np.tanh(scores / header["cap"])
            scores = np.where(sent["mask"], scores + sent.get("bias", 0.0), -np.inf)
            sink = -np.inf if header["sink"] is None else header["sink"]
            highest = np.maximum(scores.max(axis=1, keepdims=True), sink)
            powers, rest = np.exp(scores - highest), np.exp(sink - highest)
            np.testing.assert_allclose(powers / (powers.sum(axis=1, keepdims=True) + rest), sent["pattern"], atol=2e-5)
        assert (header["divided"] == "") == (header["divisor"] == 1)


@each(
    "name, formula",
    [("t5-1.1", "softmax(q kᵀ)"), ("llama", "softmax(q kᵀ / √14)"), ("gemma2", "softmax(q kᵀ / 3.317)")],
)
def test_the_whole_model_writes_the_formula_that_the_model_has(own: Path, name: str, formula: str) -> None:
    from tfmviz.ui.whole_model import payload

    model = zoo.load(name)
    data = payload(model, TEXT, "block", model.config.layers[-1], 0).decode("utf-8", errors="replace")
    assert formula in data
    assert "RMSNorm" in data
    assert "LayerNorm" not in data


@each(
    "name, said, placeholder",
    [
        ("llama", "has base 777, unstretched.", "777"),
        ("llama 3", "have no single base; 7 of 7 pairs turn.", "the model's own"),
        ("gpt_neox", "has base 777, unstretched; 4 of 7 pairs do not turn.", "777"),
    ],
)
def test_wavelengths_and_decay_are_those_of_the_model(own: Path, name: str, said: str, placeholder: str) -> None:
    theta = next(of.numpy() for part, of in tiny(name).named_buffers() if part.endswith("rotary_emb.inv_freq"))
    address = {"model": name.replace(" ", "-"), "text": TEXT}
    app = open_page("positions_rope", scheme="Wavelengths", **address)
    (drawn,) = series(charts(app)["wavelengths"], by=None).values()
    np.testing.assert_allclose(drawn, 2 * np.pi / theta, rtol=1e-5)
    assert said in app.caption[0].value
    assert app.number_input(key="rope_base").placeholder == placeholder
    decay = series(charts(open_page("positions_rope", scheme="Decay", up_to="64", **address))["decay"])
    expected = np.append(theta, np.zeros(7 - len(theta)))
    bound = rotations.relative_bound(expected, np.arange(65))
    np.testing.assert_allclose(decay["the paper's bound"], bound / bound[0], rtol=1e-4)


def test_a_base_of_the_readers_takes_the_place_of_the_models(own: Path) -> None:
    app = open_page("positions_rope", model="llama-3", text=TEXT, scheme="Wavelengths", rope_base="50", stretch="none")
    (drawn,) = series(charts(app)["wavelengths"], by=None).values()
    np.testing.assert_allclose(drawn, 2 * np.pi * 50 ** (np.arange(7) / 7), rtol=1e-6)


def test_what_a_model_was_trained_on_is_longer_than_what_it_reads_here(own: Path, tmp_path: Path) -> None:
    write(tmp_path / "cut", "llama")
    assert run(tmp_path / "cut", "--name", "cut", "--max-len", "31") == 0
    said = words(open_page("positions_rope", model="cut", text=TEXT, scheme="Wavelengths"))
    assert "within the 61 training positions" in said
    shutil.rmtree(own / "cut")


def test_the_neurons_of_a_converted_model_are_found(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command looked for the shipped models alone. What such a model was trained on is not known."""
    monkeypatch.setattr(find_neurons, "traces", lambda model, lines: [model.trace(line) for line in lines[:5]])
    find_neurons.find("llama", texts="english.txt")
    said = words(open_page("feed_forward", model="llama", text=TEXT, layer_part="Neurons"))
    assert "orange-background" in said
    assert "not trained on" not in said


def test_a_model_that_takes_the_place_of_another_is_shown_at_once(own: Path, tmp_path: Path) -> None:
    for name, head in (("bert", True), ("bert headless", False)):
        write(tmp_path / name, name)
        assert run(tmp_path / name, "--name", "again") == 0
        said = words(open_page("residual_stream", model="again", text=TEXT, stream="Logit lens"))
        shutil.rmtree(own / "again")
        assert (NO_HEAD not in said) == head


def test_a_window_is_the_models_own_mask_and_all_that_its_cache_keeps(own: Path, tmp_path: Path) -> None:
    """Two for keys and values, 3 layers, 2 heads of 14 numbers of 2 bytes: 336 bytes a token, of 13 tokens."""
    write(tmp_path / "window", "mistral")
    assert run(tmp_path / "window", "--name", "window") == 0
    app = open_page("masks", model="window", text=2 * TEXT, effect="Vectors")
    assert "stream_change" not in pictures(app)
    said = words(open_page("writing", model="window", text=TEXT, behind="What it takes"))
    shutil.rmtree(own / "window")
    assert "A text of 4,096 tokens takes **4.3 KiB**" in said
    assert "3 of the 3 layers keep only their last 13 tokens" in said


def test_a_table_that_conversion_cut_is_not_shown_as_the_whole(own: Path, tmp_path: Path) -> None:
    write(tmp_path / "cut", "bert")
    assert run(tmp_path / "cut", "--name", "cut", "--max-len", "31") == 0
    app = open_page("positions", model="cut", text=TEXT, lesson="Learned", trained="cut, encoder")
    for tab in ("The table", "Similarity", "Well trained?", "The wall"):
        app.session_state["of_table"] = tab
        assert "the first 31 of the model's 61 positions" in words(app.run()), tab
    shutil.rmtree(own / "cut")
    address = {"model": "bert", "text": TEXT, "lesson": "Learned", "trained": "bert, encoder"}
    whole = words(open_page("positions", **address, of_table="Well trained?"))
    for untrue in ("These are the first", "Every row has grown", "before training"):
        assert untrue not in whole


@pytest.mark.browser
@pytest.mark.soak
def test_a_converted_decoder_encoder_and_translator_go_through_every_page(own: Path, context: BrowserContext) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TFMVIZ_MODELS", str(own))
        server = serve(ROOT / "app.py", free_port())
    try:
        visit = Visit(context.new_page(), server)
        for model in ("llama", "bert", "t5-1.1"):
            visit.open(f"/explorer?model={model}&text=The+cat+sat", drawn=".st-key-header h1")
            for name in sorted(set(LESSONS) - OF_OTHER_MODELS - {"explorer"}):
                page = visit.turn_to(f"/{name}?model={model}&text=The+cat+sat")
                expect(page.get_by_text("BidiComponent Error")).to_have_count(0)
                expect(page.get_by_text("This app has encountered an error")).to_have_count(0)
                if name not in FOR_TRANSLATORS | {"home"}:  # home has no model to choose
                    expect(page.locator(".st-key-model input")).to_have_value(model)  # seen or not
        assert visit.complaints == []
    finally:
        server.process.kill()
