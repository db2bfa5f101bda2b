"""The pages, run without a browser: what they show equals an independent forward pass, and bad input is met kindly."""

from __future__ import annotations

import base64
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from streamlit.testing.v1 import AppTest

from tests.app import charts, matrices, open_page, pictures, views, words
from tests.model import numpy_model
from tests.model.helpers import flat
from tests.traces import read_blob, read_mask, read_payload, read_weights
from tfmviz import zoo
from tfmviz.constants import ATTENTION_KINDS
from tfmviz.model.transformer import build
from tfmviz.record.trace import Trace
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.training.export import export
from tfmviz.ui import icons, router
from tfmviz.ui.sentences import examples_for
from tfmviz.words.numbers import per_cent

ROOT = Path(__file__).parents[2]

SENTENCES = [example.text for example in examples_for("tiny-english")]

LESSONS = [page.name for page in router.PAGES if page.group]
"""Pages about a sentence."""
MODEL = zoo.MODELS / "tiny-english"
VIEWS = ("Predictions", "Residual stream", "Take it away")
ODD_TEXTS = {
    "html": "<img src=x onerror=alert(1)>",
    "markdown": "**bold** $x$ :red[no] `code` [a](b)",
    "emoji": "👩‍👩‍👧 says 😀",
    "chinese": "老王 批评 老李",
    "right-to-left": "שלום עולם",
    "control characters": "a\x00b\x07c\td",
    "one token": "a",
    "control token": "<|endoftext|>",
}


def array(value: Any) -> np.ndarray:
    """A number array of a figure: Plotly sends numpy arrays as base64."""
    if isinstance(value, dict):
        flat = np.frombuffer(base64.b64decode(value["bdata"]), dtype=np.dtype(value["dtype"]))
        return flat.reshape([int(n) for n in str(value["shape"]).split(",")]) if "shape" in value else flat
    return np.array(value, dtype=float)


def payload(app: AppTest) -> bytes:
    """What the explorer in the browser gets."""
    return bytes(views(app)["explorer"].bytes)


def tokens(app: AppTest) -> list[str]:
    return read_blob(payload(app))[0]["texts"]["target"]["tokens"]


def predictions(app: AppTest) -> list[list[Any]]:
    """The bars: label, probability and how it is written."""
    return json.loads(views(app)["predictions"].json)


def selection(app: AppTest) -> dict[str, Any]:
    """What Python tells the explorer to show."""
    return json.loads(views(app)["explorer_selection"].json)


def texts(app: AppTest) -> str:
    shown = [*app.info, *app.warning, *app.error, *app.markdown, *app.text, *app.caption]
    return "\n".join(str(element.value) for element in shown)


def test_the_page_opens_with_the_lectures_sentence_and_all_pictures() -> None:
    app = open_page()
    assert app.text_area(key="text").value == SENTENCES[0]
    assert len(predictions(app)) == 10
    assert "Most probable next tokens" in texts(app)
    assert tokens(app)[:4] == ["The", " animal", " didn", "'t"]
    chosen = {
        "view": "explorer",
        "kind": "decoder.self_attn",
        "layer": 3,
        "head": 2,
        "token": None,
        "first": 8,  # " it"
        "to": None,
        "look": "",
        "details": "",
        "links": None,
        "sequence": 0,
    }
    assert selection(app) == chosen


def test_every_number_on_the_page_is_that_of_an_independent_forward_pass() -> None:
    text, layer, head, token = "The cat sat on the mat, and the dog", 3, 5, 4
    encoding = Tokenizer.load(MODEL / "tokenizer.json").encode(text, max_len=256)
    ids = tuple(encoding.ids)
    patterns, streams, logits = numpy_model.forward(MODEL, ids)
    shown: dict[str, Any] = {}
    for view in VIEWS:
        app = open_page(text=text, layer=str(layer), head=str(head), token=str(token), view=view)
        shown |= charts(app) | pictures(app)
    assert set(shown) == {"norms", "writes"}

    header, masks, weights = read_payload(payload(app))
    assert header["texts"]["target"]["tokens"] == list(encoding.tokens)
    for n in range(6):
        np.testing.assert_array_equal(masks[f"decoder.{n}.self_attn"], np.tri(len(ids), dtype=bool))
        np.testing.assert_allclose(weights[f"decoder.{n}.self_attn"], patterns[n], atol=0.0005)
    assert (selection(app)["layer"], selection(app)["head"], selection(app)["token"]) == (layer, head, token)

    probabilities = np.exp(logits[token] - logits[token].max())
    probabilities /= probabilities.sum()
    bars = predictions(open_page(text=text, token=str(token)))
    np.testing.assert_allclose([p for _, p, _ in bars], np.sort(probabilities)[::-1][:10], atol=1e-5)
    vocabulary = Tokenizer.load(MODEL / "tokenizer.json").vocabulary
    assert bars[0][0] == vocabulary[int(probabilities.argmax())].strip()
    assert [written for _, _, written in bars] == [per_cent(p) for _, p, _ in bars]

    np.testing.assert_allclose(shown["norms"][1][0], np.linalg.norm(streams, axis=-1), rtol=1e-4)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
def test_any_text_is_shown_literally(text: str, view: str) -> None:
    app = open_page(text=text, view=view)
    assert not app.error
    assert app.text_area(key="text").value == text
    assert tokens(app) == list(Tokenizer.load(MODEL / "tokenizer.json").encode(text, max_len=256).tokens)
    assert bool(charts(app)) == bool(matrices(app)) == (view == "Residual stream")
    assert ("predictions" in views(app)) == (view == "Predictions")


@pytest.mark.parametrize("blank", ["", "   ", "\t"])
def test_an_empty_box_keeps_the_last_pictures_and_asks_for_text(blank: str) -> None:
    app = open_page(text="the cat sat")
    before = payload(app)
    app.text_area(key="text").set_value(blank).run()
    assert payload(app) == before
    assert "Type a sentence" in app.warning[0].value


def test_a_text_longer_than_the_context_is_cut_and_the_page_says_by_how_much() -> None:
    app = open_page()
    app.text_area(key="text").set_value(" dog" * 900).run()
    assert not app.exception
    assert len(tokens(app)) == 256
    assert "The last 644 tokens of your text were left out." in texts(app)


@pytest.mark.parametrize(
    ("address", "layer", "head", "note"),
    [
        ({"layer": "99"}, 5, 2, "This model has 6 layers, 0 to 5; you see layer 5."),
        ({"layer": "-3"}, 0, 2, "This model has 6 layers, 0 to 5; you see layer 0."),
        ({"layer": "2", "head": "abc"}, 2, 0, "This model has 8 heads, 0 to 7; you see head 0."),
        ({"head": "1e999"}, 3, 0, "you see head 0."),
        (
            {"model": "tiny-englsh", "head": "5"},
            3,
            5,
            "There is no model `` tiny-englsh `` here. This is Tiny English.",
        ),
        ({"model": "<b>`x`", "layer": "7.6"}, 5, 2, "There is no model"),
    ],
)
def test_a_wrong_address_leads_to_the_nearest_choice_with_a_note(
    address: dict[str, str], layer: int, head: int, note: str
) -> None:
    app = open_page(**address)
    assert (app.slider(key="layer").value, app.slider(key="head").value) == (layer, head)
    assert note in app.info[0].value
    assert (selection(app)["layer"], selection(app)["head"]) == (layer, head)


def test_what_was_said_of_a_model_is_not_said_of_the_next() -> None:
    app = open_page(model="reverse", layer="4")
    assert "This model has one layer, 0; you see layer 0." in app.info[0].value
    app = open_page(model="induction", layer="4")
    assert "This model has two layers, 0 and 1; you see layer 1." in app.info[0].value
    app.selectbox(key="model").select("tiny-english").run()
    assert not app.info


def test_the_address_chooses_sentence_layer_and_head() -> None:
    app = open_page(text="hello there", layer="4", head="7")
    assert not app.info
    assert (selection(app)["layer"], selection(app)["head"]) == (4, 7)
    assert tokens(app)[-1] == " there"


def test_a_menu_entry_replaces_the_sentence() -> None:
    app = open_page(text="hello")
    app.selectbox(key="example").select(SENTENCES[3]).run()
    assert app.text_area(key="text").value == SENTENCES[3]
    assert tokens(app) == ["The", " students", " opened", " their"]
    assert (selection(app)["layer"], selection(app)["head"], selection(app)["first"]) == (3, 2, 3)  # " their"


def test_another_model_brings_its_own_sentences_but_keeps_the_readers(models: Path) -> None:
    put_random_model(models / "reverse", architecture="encoder-decoder")
    app = open_page()
    app.selectbox(key="model").select("reverse").run()
    assert app.text_area(key="text").value == examples_for("reverse")[0].text
    assert app.selectbox(key="example").options == [example.text for example in examples_for("reverse")]
    app.text_area(key="text").set_value("my own").run()
    app.selectbox(key="model").select("tiny-english").run()
    assert app.text_area(key="text").value == "my own"
    assert open_page(model="reverse").text_area(key="text").value == examples_for("reverse")[0].text


@pytest.fixture
def models(fresh: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of models to damage, in place of the shipped one."""
    shutil.copytree(MODEL, tmp_path / "tiny-english")
    monkeypatch.setattr(zoo.catalogue, "__defaults__", (tmp_path,))
    monkeypatch.setattr(zoo.load, "__defaults__", (tmp_path,))
    return tmp_path


def test_a_damaged_model_is_named_with_its_reason_and_the_others_work(models: Path) -> None:
    shutil.copytree(MODEL, models / "broken")
    weights = models / "broken" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    app = open_page()
    assert "broken" in app.sidebar.warning[0].value
    assert "damaged" in app.sidebar.warning[0].value
    assert app.selectbox(key="model").options == ["tiny-english"]
    assert tokens(app)


def test_a_model_whose_damage_shows_only_when_it_is_loaded_says_so(models: Path) -> None:
    weights = load_file(models / "tiny-english" / "model.safetensors")
    weights["decoder.norm.weight"][0] = np.nan
    save_file(weights, models / "tiny-english" / "model.safetensors")
    app = open_page()
    assert "decoder\\.norm\\.weight" in app.error[0].value
    assert not charts(app)
    assert not matrices(app)


def put_random_model(folder: Path, **changes: Any) -> None:
    """A model with random weights that shares the shipped one's tokenizer."""
    shape = {"d_model": 6, "n_layers": 1, "n_heads": 1, "n_kv_heads": 1, "d_ff": 7, "max_len": 19} | changes
    tokenizer = Tokenizer.load(MODEL / "tokenizer.json")
    export(folder, build(flat(vocab_size=tokenizer.vocab_size, **shape)), tokenizer, card="")


@pytest.mark.parametrize("view", VIEWS)
def test_a_model_with_one_layer_and_one_head_needs_no_sliders(models: Path, view: str) -> None:
    put_random_model(models / "one-head")
    app = open_page(model="one-head", layer="3", head="2", view=view)
    assert not app.slider
    assert tokens(app)
    assert "This model has one layer, 0; you see layer 0." in app.info[0].value


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(
    ("architecture", "kinds", "words"),
    [
        ("encoder-only", ["encoder"], "Most probable tokens here"),
        ("encoder-decoder", ["encoder", "decoder", "cross-attention"], "Most probable next tokens of the answer"),
    ],
)
def test_models_of_every_architecture_are_shown(
    models: Path, architecture: str, kinds: list[str], words: str, view: str
) -> None:
    put_random_model(models / "other", architecture=architecture, n_layers=2)
    app = open_page(model="other", text="the cat", view=view)
    header, _, weights = read_payload(payload(app))
    assert [ATTENTION_KINDS[kind["name"]] for kind in header["kinds"]] == kinds
    for pattern in weights.values():
        np.testing.assert_allclose(pattern.sum(axis=-1), 1, atol=0.01)
    assert words in texts(app)
    assert ATTENTION_KINDS[selection(app)["kind"]] == kinds[-1]
    if len(kinds) > 1:
        app.selectbox(key="kind").select("encoder").run()
        assert selection(app)["kind"] == "encoder.self_attn"
        assert tokens(app)[0] == "<|endoftext|>"


def test_a_kind_of_attention_the_model_lacks_leads_to_one_it_has(models: Path) -> None:
    put_random_model(models / "other", architecture="encoder-decoder", n_layers=2)
    app = open_page(model="other", kind="cross")
    assert "has no attention `` cross ``. This is `` cross-attention ``." in app.info[0].value
    app = open_page(model="tiny-english", kind="cross-attention")
    assert "has no attention `` cross-attention ``. This is `` decoder ``." in app.info[0].value
    assert selection(app)["kind"] == "decoder.self_attn"


@pytest.mark.usefixtures("fresh")
def test_values_that_are_no_attention_are_named_in_place_of_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = zoo.ZooModel.trace

    def broken(self: zoo.ZooModel, inputs: Any, edits: Any = (), sites: Any = None, *, target: Any = None) -> Trace:
        record = trace(self, inputs, edits, sites, target=target)
        site = "decoder.1.self_attn.pattern"
        if sites is not None or inputs == zoo.TRIAL:
            return record
        return replace(record, values=dict(record.values) | {site: np.full_like(record[site], np.nan)})

    monkeypatch.setattr(zoo.ZooModel, "trace", broken)
    app = open_page(text="the cat")
    assert app.error[0].value.startswith(r"decoder\.1\.self\_attn\.pattern holds values from nan to nan")
    assert "explorer" not in views(app)


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.soak)])
@pytest.mark.parametrize(("n", "name"), enumerate(zoo.available()))
def test_every_shipped_model_is_shown_on_every_page(n: int, name: str, step: int) -> None:
    """`make test` shows each model on every third page, and another third to the next model."""
    app = open_page(model=name)
    assert tokens(app)
    for page in LESSONS[n % step :: step]:
        app.switch_page(f"pages/{page}.py").run()
        assert not app.exception, page
        assert not app.error, page
        assert views(app) or charts(app) or app.info, page


def test_the_menu_has_every_page_once() -> None:
    assert sorted(page.name for page in router.PAGES) == sorted(path.stem for path in (ROOT / "pages").glob("*.py"))


def test_the_contents_link_to_every_lesson_with_its_question() -> None:
    app = open_page("contents")
    links = {link.proto.page: link.proto.label for link in app.get("page_link")}
    for page in (page for page in router.PAGES if page.name not in (router.DEFAULT, "contents")):
        assert any(page.title in label and page.answers in label for label in links.values()), page


@pytest.mark.parametrize("page", LESSONS)
def test_every_page_meets_an_empty_box_a_long_paste_and_odd_characters(page: str) -> None:
    empty = open_page(page, text="")
    assert ["Type a sentence" in warning.value for warning in empty.warning] == [True]
    for text in ("word " * 1000, "<img onerror=alert(1)> 老王 😀"):
        app = open_page(page, text=text)
        assert not app.error
        assert not app.warning
        assert any(note.icon == icons.CUT for note in app.info) == (len(text) > 1000)


def test_a_gap_is_what_the_page_looks_at_first() -> None:
    app = open_page(model="fill-in", text="The cat ___ on the mat.")
    assert "ten most probable words at token 2" in words(app)
    assert "`___`" in words(app)


LONG_TEXT = " ".join(f"word{n}" for n in range(200))


def test_of_a_long_text_the_heads_that_are_looked_at_are_sent() -> None:
    app = open_page(text=LONG_TEXT, layer="3", head="4")
    assert "thumbnails" in read_blob(payload(app))[0]["kinds"][0]["layers"][0]
    header, data = read_blob(base64.b64decode(selection(app)["details"]))
    (head,) = header["heads"]
    assert head["key"] == "decoder.3.self_attn/4"
    ids = Tokenizer.load(MODEL / "tokenizer.json").encode(LONG_TEXT, max_len=256).ids
    patterns, _, _ = numpy_model.forward(MODEL, tuple(ids))
    weights = read_weights(head["at"], read_mask(head["mask"], data), data)
    np.testing.assert_allclose(weights, patterns[3, 4], atol=0.0006)


def test_an_address_with_far_too_long_a_text_still_opens() -> None:
    assert len(tokens(open_page(text="word " * 3000))) > 100


def test_without_any_model_the_page_says_what_to_do(models: Path) -> None:
    (models / "tiny-english" / "model.safetensors").unlink()
    app = open_page()
    assert "train one" in app.error[0].value
    assert r"model\.safetensors is missing" in app.sidebar.warning[0].value


def test_two_sessions_do_not_mix() -> None:
    one, other = open_page(text="the cat", layer="1"), open_page(text="my dog ran", layer="2")
    assert tokens(one) == ["the", " cat"]
    assert tokens(other) == ["my", " dog", " ran"]


def test_each_note_on_a_long_text_names_its_reader() -> None:
    app = open_page("feed_forward", text="the cat sat on the mat . " * 100, layer_part="Without it")
    notes = [note.value for note in app.info if "at a time" in note.value]
    assert len(notes) == 2
    assert len({note.split(" read")[0] for note in notes}) == 2
