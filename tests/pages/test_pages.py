"""The pages, run without a browser: what they show equals an independent forward pass, and bad input is met kindly."""

import base64
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from streamlit.testing.v1 import AppTest

from tests.app import alt, charts, forget, matrices, open_page, pictures, sent, views, words
from tests.browser import ROOT
from tests.pages import plain
from tests.pages.claims import number
from tests.pages.plain import MODEL
from tests.pages.tabs import is_there
from tests.traces import read_blob, read_mask, read_payload, read_weights
from tfmviz import zoo
from tfmviz.analysis import residual
from tfmviz.constants import ATTENTION_KINDS
from tfmviz.model.config import ModelConfig
from tfmviz.record.edits import SetMask
from tfmviz.record.trace import Trace
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.ui import inputs, router
from tfmviz.ui.home import heads_of
from tfmviz.ui.sentences import EXAMPLES, examples_for
from tfmviz.words.labels import quoted
from tfmviz.words.numbers import per_cent

SENTENCES = [example.text for example in examples_for("tiny-english")]
LESSONS = [page.name for page in router.PAGES if page.group]
"""Pages about a sentence."""

Put = Callable[..., ModelConfig]


def payload(app: AppTest) -> bytes:
    """What the explorer in the browser gets."""
    return bytes(views(app)["explorer"].bytes)


def tokens(app: AppTest) -> list[str]:
    return read_blob(payload(app))[0]["texts"]["target"]["tokens"]


def selection(app: AppTest) -> dict[str, Any]:
    """What Python tells the explorer to show."""
    return sent(app, "explorer_selection")


def texts(app: AppTest) -> str:
    shown = [*app.info, *app.warning, *app.error, *app.markdown, *app.text, *app.caption]
    return "\n".join(str(element.value) for element in shown)


def test_the_page_opens_with_the_lectures_sentence_and_all_pictures() -> None:
    app = open_page()
    assert app.text_area(key="text").value == SENTENCES[0]
    assert len(sent(app, "predictions")) == 10
    assert tokens(app)[:4] == ["The", " animal", " didn", "'t"]
    nothing = {"token": None, "to": None, "look": "", "details": "", "links": None, "sequence": 0}
    chosen = {"view": "explorer", "kind": "decoder.self_attn", "layer": 3, "head": 2, "first": 8}  # " it"
    assert selection(app) == nothing | chosen


def test_every_number_on_the_page_is_that_of_an_independent_forward_pass(tokenizer: Tokenizer) -> None:
    text, layer, head, token = "The cat sat on the mat, and the dog", 3, 5, 4
    encoding = tokenizer.encode(text, max_len=256)
    patterns, streams, logits = plain.forward(text)
    here = {"text": text, "layer": str(layer), "head": str(head), "token": str(token)}
    app = open_page(**here)
    header, masks, weights = read_payload(payload(app))
    assert header["texts"]["target"]["tokens"] == list(encoding.tokens)
    for n in range(6):
        np.testing.assert_array_equal(masks[f"decoder.{n}.self_attn"], np.tri(len(encoding), dtype=bool))
        np.testing.assert_allclose(weights[f"decoder.{n}.self_attn"], patterns[n], atol=0.0005)
    assert (selection(app)["layer"], selection(app)["head"], selection(app)["token"]) == (layer, head, token)

    p, bars = plain.softmax(logits[token]), sent(app, "predictions")
    np.testing.assert_allclose([p for _, p, _ in bars], np.sort(p)[::-1][:10], atol=1e-5)
    assert bars[0][0] == tokenizer.vocabulary[int(p.argmax())].strip()
    assert [written for _, _, written in bars] == [per_cent(p) for _, p, _ in bars]

    app = open_page(**here, view="Residual stream")
    assert {*charts(app), *matrices(app)} == {"norms", "writes"}
    np.testing.assert_allclose(matrices(app)["norms"][0], np.linalg.norm(streams, axis=-1), rtol=1e-4)
    share = residual.stream(zoo.load("tiny-english").trace(text), "decoder").attention_share
    parts = pictures(app)["norms"][0]["notes"][1 + layer][token]
    assert parts == f"of this layer's step: attention {share[layer, token]:.0%}, MLP {1 - share[layer, token]:.0%}"
    shown = [number(found) for found in re.findall(r"attention: [^;]*?(−?[\d.]+%)", alt(app, "writes"))]
    assert shown == pytest.approx(share[:, token], abs=0.0051)


def test_the_page_that_can_be_exported_is_the_explorers(monkeypatch: pytest.MonkeyPatch) -> None:
    offered: dict[str, Callable[[], str]] = {}
    monkeypatch.setattr(inputs, "download_button", lambda label, data, *_, **__: offered.update({label: data}))
    app = open_page(text="the cat sat", view="Export")
    assert base64.b64encode(payload(app)).decode() in (page := offered["The explorer as a page"]())
    assert "<title>Attention of tiny-english</title>" in page


def test_an_empty_box_keeps_the_last_pictures_and_asks_for_text() -> None:
    app = open_page(text="the cat sat")
    before = payload(app)
    for blank in ("", "   ", "\t"):
        app.text_area(key="text").set_value(blank).run()
        assert payload(app) == before
        assert "Type a sentence" in app.warning[0].value


def test_a_text_longer_than_the_context_is_cut_and_each_note_says_by_whom_and_by_how_much() -> None:
    app = open_page()
    app.text_area(key="text").set_value(" dog" * 900).run()
    assert len(tokens(app)) == 256
    details = base64.b64decode(selection(app)["details"])
    assert read_blob(details)[0]["id"] == read_blob(payload(app))[0]["id"]
    assert "The last 644 tokens of your text were left out." in texts(app)
    text = "the cat sat on the mat . " * 100
    app = open_page("feed_forward", text=text, layer_part="Without it", without_it="Trained without")
    notes = [note.value for note in app.info if "at a time" in note.value]
    assert len(notes) == 2
    assert len({note.split(" read")[0] for note in notes}) == 2


def test_a_wrong_address_leads_to_the_nearest_choice_with_a_note() -> None:
    cases: list[tuple[dict[str, str], int, int, str]] = [
        ({"layer": "99"}, 5, 2, "This model has 6 layers (0 to 5); showing layer 5."),
        ({"layer": "-3"}, 0, 2, "This model has 6 layers (0 to 5); showing layer 0."),
        ({"layer": "2", "head": "abc"}, 2, 0, "This model has 8 heads (0 to 7); showing head 0."),
        ({"head": "1e999"}, 3, 0, "showing head 0."),
        ({"model": "tiny-englsh", "head": "5"}, 3, 5, "no model `` tiny-englsh `` here. This is Tiny English."),
        ({"model": "<b>`x`", "layer": "7.6"}, 5, 2, "There is no model"),
        ({"model": "induction", "layer": "4"}, 1, 0, "This model has two layers (0 and 1); showing layer 1."),
    ]
    for address, layer, head, note in cases:
        app = open_page(**address)
        assert (app.number_input(key="layer").value, app.number_input(key="head").value) == (layer, head), address
        assert note in app.info[0].value, address
        assert (selection(app)["layer"], selection(app)["head"]) == (layer, head), address
    app.selectbox(key="model").select("tiny-english").run()
    assert not app.info, "what was said of a model is not said of the next"


def test_a_menu_entry_replaces_the_sentence_and_each_page_begins_with_one_that_suits_it() -> None:
    """A page on counting English words offers no French because of a model that it does not use."""
    app = open_page(text="hello")
    app.selectbox(key="example").select(SENTENCES[3]).run()
    assert app.text_area(key="text").value == SENTENCES[3]
    assert tokens(app) == ["The", " students", " opened", " their"]
    assert (selection(app)["layer"], selection(app)["head"], selection(app)["first"]) == (3, 2, 3)  # " their"
    app = open_page("translating")
    assert app.text_area(key="text").value == "J'ai une voiture rouge."
    app.switch_page("pages/counting.py").run()
    assert app.text_area(key="text").value == SENTENCES[0]


def test_another_model_brings_its_own_sentences_but_keeps_the_readers(models: Path, put_random_model: Put) -> None:
    put_random_model("reverse", architecture="encoder-decoder")
    app = open_page()
    app.selectbox(key="model").select("reverse").run()
    assert app.text_area(key="text").value == examples_for("reverse")[0].text
    assert app.selectbox(key="example").options == [example.text for example in examples_for("reverse")]
    app.text_area(key="text").set_value("my own").run()
    app.selectbox(key="model").select("tiny-english").run()
    assert app.text_area(key="text").value == "my own"
    assert open_page(model="reverse").text_area(key="text").value == examples_for("reverse")[0].text


@pytest.fixture
def models(own_zoo: Path) -> Path:
    """A folder of models to damage, in place of the shipped one."""
    shutil.copytree(MODEL, own_zoo / "tiny-english")
    return own_zoo


def test_a_damaged_model_is_named_with_its_reason_and_where_no_other_works_the_page_says_what_to_do(
    models: Path,
) -> None:
    shutil.copytree(MODEL, models / "broken")
    path = models / "broken" / "model.safetensors"
    path.write_bytes(path.read_bytes()[:1000])
    app = open_page()
    assert "broken" in app.warning[0].value
    assert "damaged" in app.warning[0].value
    assert app.selectbox(key="model").options == ["tiny-english"]
    assert tokens(app)
    path = models / "tiny-english" / "model.safetensors"
    weights = load_file(path)
    weights["decoder.norm.weight"][0] = np.nan  # seen only when it is loaded
    save_file(weights, path)
    forget()
    app = open_page()
    assert "decoder\\.norm\\.weight" in app.error[0].value
    assert {*charts(app), *matrices(app)} == set()
    path.unlink()
    forget()
    app = open_page()
    assert "README.md" in app.error[0].value
    assert r"model\.safetensors is missing" in "".join(one.value for one in app.warning)


def test_models_of_every_architecture_are_shown_with_a_kind_of_attention_they_have(
    models: Path, put_random_model: Put
) -> None:
    one: dict[str, Any] = {"n_layers": 1, "n_heads": 1, "n_kv_heads": 1}
    for architecture, shape, kinds, said in (
        ("decoder-only", one, ["decoder"], "Most probable next tokens"),
        ("encoder-only", {}, ["encoder"], "Most probable tokens here"),
        ("encoder-decoder", {}, ["encoder", "decoder", "cross-attention"], "Most probable next tokens of the answer"),
    ):
        put_random_model(architecture, architecture=architecture, **shape)
        app = open_page(model=architecture, text="the cat", layer="3")
        header, _, weights = read_payload(payload(app))
        assert [ATTENTION_KINDS[kind["name"]] for kind in header["kinds"]] == kinds
        assert all(np.allclose(pattern.sum(axis=-1), 1, atol=0.01) for pattern in weights.values())
        assert said in texts(app)
        assert ATTENTION_KINDS[selection(app)["kind"]] == kinds[-1]
        if shape:
            assert not app.number_input
            assert "This model has one layer (0); showing layer 0." in app.info[0].value
    app.selectbox(key="kind").select("encoder").run()
    assert selection(app)["kind"] == "encoder.self_attn"
    assert tokens(app)[0] == "<|endoftext|>"
    app = open_page(model="encoder-decoder", kind="cross")
    assert "has no attention `` cross ``; showing `` cross-attention ``." in app.info[0].value
    app = open_page(model="tiny-english", kind="cross-attention")
    assert "has no attention `` cross-attention ``; showing `` decoder ``." in app.info[0].value
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
@pytest.mark.parametrize("name", zoo.available())
def test_every_shipped_model_is_shown_on_every_page(name: str, step: int) -> None:
    """`make test` shows each model on every third page, and another third to the next model."""
    app = open_page(model=name)
    assert tokens(app)
    for page in LESSONS[zoo.available().index(name) % step :: step]:
        app.switch_page(f"pages/{page}.py").run()
        assert not app.error, page
        assert views(app) or charts(app) or app.info, page


def test_every_page_names_the_word_that_is_read_and_the_one_that_is_written() -> None:
    crossing = {"model": "french-english", "text": "Je suis étudiant.", "kind": "cross-attention", "layer": "1"}
    keys = ["Je", "suis", "étudiant", "."]
    rows = ["<START> → I", "I → 'm", "'m → a", "a → student", "student → .", ". → <END>"]
    header, _ = read_blob(payload(open_page(**crossing)))
    assert header["texts"]["rows"]["labels"] == rows
    assert header["texts"]["rows"]["said"][3] == "“a”, about to write “student”"
    assert {kind["name"]: kind["queries"] for kind in header["kinds"]}["decoder.cross_attn"] == "rows"
    header, _ = read_blob(bytes(views(open_page("step_by_step", **crossing))["steps"].bytes))
    assert (header["queries"], header["keys"]) == (rows, keys)
    header, _ = read_blob(bytes(views(open_page("whole_model", **crossing, zoom="head"))["whole_model"].bytes))
    assert [lane["tokens"] for lane in header["lanes"]] == [keys, rows]
    assert sent(open_page("masks", **crossing), "masks")["queries"] == rows
    offered = open_page("why", **crossing, token="3", to="2").selectbox(key="chosen_token").options
    assert offered == [f"{n}  {row}" for n, row in enumerate(rows)]
    hashed = open_page("step_by_step", **crossing, token="3", part="A fuzzy hash table")
    assert "“a”, about to write “student”" in words(hashed)
    for name, tab in (("masks", {"effect": "Attention"}), ("step_by_step", {"part": "Heads or their mean?"})):
        drawn = [header for header, _ in pictures(open_page(name, **crossing, **tab)).values()]
        assert any("“a → student”" in json.dumps(header, ensure_ascii=False) for header in drawn), name


def test_a_gap_is_what_the_page_looks_at_first() -> None:
    app = open_page(model="fill-in", text="The cat ___ on the mat.")
    assert "ten most probable words at token 2" in words(app)
    assert selection(app)["first"] == 2
    assert "`___`" in words(app)


def test_of_a_long_text_the_heads_that_are_looked_at_are_sent() -> None:
    text = " ".join(f"word{n}" for n in range(200))
    app = open_page(text=text, layer="3", head="4")
    assert "thumbnails" in read_blob(payload(app))[0]["kinds"][0]["layers"][0]
    header, data = read_blob(base64.b64decode(selection(app)["details"]))
    (head,) = header["heads"]
    assert head["key"] == "decoder.3.self_attn/4"
    weights = read_weights(head["at"], read_mask(head["mask"], data), data)
    np.testing.assert_allclose(weights, plain.forward(text)[0][3, 4], atol=0.0006)


NEAR = {"frnch-english": "french-english", "tiny-englsh": "tiny-english", "twins-rop": "twins-rope"}
"""Damaged names, and the models that they are near to."""

FAR = ("j-cut", "h-list", "french", "<b>`x`", "..", "english-french" * 30)


def test_a_damaged_name_is_the_one_near_it_where_the_page_can_be_about_that() -> None:
    kinds = {entry.name: entry.config.architecture for entry in zoo.catalogue() if entry.config is not None}
    for page, usual in (
        ("explorer", "tiny-english"),
        ("positions_rope", "tiny-english"),
        ("translating", "french-english"),
    ):
        fits = [name for name, kind in kinds.items() if page != "translating" or kind == "encoder-decoder"]
        for asked, near in (NEAR | dict.fromkeys(FAR, usual)).items():
            app = open_page(page, model=asked)
            assert app.selectbox(key="model").value == (near if near in fits else usual), (page, asked)
            assert sum("There is no model" in note.value for note in app.info) == 1, (page, asked)
            assert not app.error, (page, asked)
    assert open_page("translating", model="").selectbox(key="model").value == "french-english"


def test_a_model_near_the_name_that_cannot_be_loaded_is_not_taken(own_zoo: Path) -> None:
    for name in ("tiny-english", "r-token", "r-tokens"):
        shutil.copytree(MODEL, own_zoo / name)
    for damaged, taken in (("r-token", "r-tokens"), ("r-tokens", "tiny-english")):
        (own_zoo / damaged / "tokenizer.json").write_text("{}")  # seen only when the model is loaded
        forget()
        app = open_page(model="r-tokn")
        assert app.selectbox(key="model").value == taken
        assert not app.error


FIRST = EXAMPLES["tiny-english"][0]


def test_arcs_and_doors_show_what_the_model_computes_and_doors_lead_to_tabs_that_there_are() -> None:
    app = open_page("home")
    data, trace = sent(app, "home"), zoo.load("tiny-english").trace(FIRST.text)
    heads = json.loads(data["heads"])
    for head in heads:
        n = len(head["weights"])
        head["weights"] = np.array([row + [0] * (n - len(row)) for row in head["weights"]]) / 1e4
        np.testing.assert_allclose(head["weights"], trace[f"{head['layer']}.pattern"][head["head"]], atol=1e-4)
        assert f"decoder.{head['name']}" == f"{head['layer']}.{head['head']}".replace(".self_attn", "")
    first, word = heads[0], data["word"]
    assert (first["layer"], first["head"], data["labels"][word]) == (FIRST.layer, FIRST.head, FIRST.word)
    assert first["does"] == f"links “{FIRST.word}” to “{FIRST.to}”"
    other = zoo.load("tiny-english").trace("The cat sat on the mat, and the dog")
    layer, head, does = heads_of(other, 7, labels := [token.strip() for token in other.tokens])[0]
    assert does == f"links “and” to “{labels[1 + other[f'{layer}.pattern'][head, 7, 1:6].argmax()]}”"
    before, begins = heads[1]["weights"], heads[2]["weights"]
    assert np.mean(np.diagonal(before, -1)) > 0.7
    assert np.mean([row[0] for row in begins]) > 0.7
    doors = json.loads(sent(app, "doors")["doors"])
    cells = np.frombuffer(base64.b64decode(doors[0]["grids"]["cells"]), np.uint8).reshape(6, 8, 13, 13)
    patterns = np.stack([trace[f"{layer}.pattern"] for layer in trace.layers])
    np.testing.assert_allclose(np.where(cells == 255, 0, cells / 253), patterns, atol=1 / 250)
    assert len(doors) == 6
    mask = np.tri(len(first["weights"]), dtype=bool)
    mask[word, first["weights"][word].argmax()] = False
    edit = SetMask(layer=first["layer"], mask=tuple(map(tuple, mask.tolist())))
    after = zoo.load("tiny-english").trace(FIRST.text, (edit,))[f"{first['layer']}.pattern"][first["head"], word]
    painted = next(door["says"] for door in doors if door["title"] == "A mask being painted")
    assert painted.endswith(f"gives {quoted(trace.tokens)[after.argmax()]} {after.max():.0%}.")
    for door in doors:
        assert is_there(door["address"]), door["title"]


def test_each_page_leads_to_the_ones_before_and_after_it_and_home_to_lectures(monkeypatch: pytest.MonkeyPatch) -> None:
    course = [page.name for page in router.PAGES if page.group]
    for n in (0, 4, len(course) - 1):
        app = open_page(course[n])
        leads = [link.proto for link in app.get("page_link")]
        assert [link.page for link in leads] == [*course[max(n - 1, 0) : n], *course[n + 1 : n + 2]]
        assert all(("←" if link.page in course[:n] else "→") in link.label for link in leads), course[n]
        assert "`|||`" not in words(app), "for models that read two sentences"
    assert not [link for link in open_page("lectures").get("page_link") if link.proto.page in course]
    assert [page.title for page in router._made()] == [page.title for page in router.PAGES]
    assert sorted(page.name for page in router.PAGES) == sorted(path.stem for path in (ROOT / "pages").glob("*.py"))
    app = open_page("home")
    monkeypatch.setattr(zoo, "catalogue", lambda: ())
    empty = open_page("home")
    assert "There is no model to show." in words(empty)
    for links in (app, empty):
        found = {link.proto.page: link.proto.label for link in links.get("page_link")}
        assert found == {"lectures": "Give a lecture", "tokens": "Learn step by step"}


def test_a_session_that_begins_at_home_is_led_on_by_its_address_and_another_shows_its_sentence() -> None:
    """`/?text=…` was the explorer's once; who comes back has chosen to be at home."""
    assert {"home", "explorer"} & set(views(open_page("home", text="The cat"))) == {"explorer"}
    for first in ("home", "explorer"):
        app = open_page(first).switch_page("pages/home.py")
        app.query_params["text"] = "The cat"
        assert {"home", "explorer"} & set(views(app.run())) == {"home"}
    for asked, text in (({}, FIRST.text), ({"text": "a"}, "a"), ({"text": "a", "model": "chinese-none"}, FIRST.text)):
        app = open_page("explorer").switch_page("pages/home.py")
        for key, value in asked.items():
            app.query_params[key] = value
        assert sent(app.run(), "home")["text"] == text
