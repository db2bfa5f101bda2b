"""Attention as data files, and as a page that needs no server."""

import base64
import csv
import io
import json
import re
import sys
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from tests.traces import FORMULAS, ODD_TOKENS, decoder, translation, words
from tfmviz import views, zoo
from tfmviz.analysis.biography.file import FILE, load
from tfmviz.analysis.heads import layer_scores
from tfmviz.record.edits import AblateHead
from tfmviz.views.engine import package
from tfmviz.views.shared import digest
from tfmviz.views.site import JS, LATER
from tfmviz.views.site.page import html


def test_the_table_holds_every_weight_that_the_mask_allows() -> None:
    trace = translation(ODD_TOKENS, words(7))
    rows = list(csv.DictReader(io.StringIO(views.csv_of(trace, "decoder.1.self_attn"))))
    assert len(rows) == 3 * 7 * 8 // 2
    for row in rows:
        head, q, k = int(row["head"]), int(row["query"]), int(row["key"])
        assert float(row["weight"]) == pytest.approx(trace["decoder.1.self_attn.pattern"][head, q, k], rel=1e-5)
        assert (row["layer"], row["query token"]) == ("1", trace.target.tokens[q])
    assert trace.source is not None
    rows = list(csv.DictReader(io.StringIO(views.csv_of(trace, "decoder.1.cross_attn"))))
    assert len(rows) == 3 * 7 * len(ODD_TOKENS)
    for row in rows:
        assert row["query token"] == trace.target.tokens[int(row["query"])]
        assert row["key token"].removeprefix("'") == trace.source.tokens[int(row["key"])].removeprefix("'")


def test_no_cell_of_the_table_begins_a_formula() -> None:
    tokens = (*FORMULAS, ";", ",", '"', "a=b")
    text = views.csv_of(decoder(tokens), "decoder.0.self_attn")
    expected = [f"'{token}" for token in FORMULAS] + list(tokens[len(FORMULAS) :])
    for row in csv.DictReader(io.StringIO(text, newline="")):
        assert (row["query token"], row["key token"]) == (expected[int(row["query"])], expected[int(row["key"])])
    assert '"\'=HYPERLINK(""http://x"")"' in text


def test_the_arrays_come_back_as_the_model_computed_them() -> None:
    trace = translation(ODD_TOKENS, words(7))
    arrays = np.load(io.BytesIO(views.npz_of(trace)), allow_pickle=False)
    for layer in trace.layers:
        np.testing.assert_array_equal(arrays[f"{layer}.pattern"], trace[f"{layer}.pattern"])
        np.testing.assert_array_equal(arrays[f"{layer}.mask"], trace[f"{layer}.mask"])
    assert arrays["target.ids"].tolist() == list(trace.target.ids)
    assert [token.rstrip("\0") for token in arrays["source.tokens"].tolist()] == [t.rstrip("\0") for t in ODD_TOKENS]


def kept(page: str, name: str) -> str:
    """What a page holds under a name."""
    return str(re.findall(f'id="{name}">([^<]*)<', page)[0])


def runs(page: str) -> list[str]:
    """What its policy lets run."""
    return str(re.findall("script-src ([^;]*);", page)[0]).split()


class Elements(HTMLParser):
    """The tags of a page in order, with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def test_text_from_the_reader_is_no_markup_and_the_page_refers_to_nothing_outside() -> None:
    title = "<img src=x onerror=alert(1)></title><script>alert(1)</script>"
    odd, plain = views.html(decoder(ODD_TOKENS), title=title), views.html(decoder(words(len(ODD_TOKENS))), title="x")
    assert [tag for tag, _ in Elements(odd).tags] == [tag for tag, _ in Elements(plain).tags]
    page = views.html(decoder(words(5)))
    for _, attributes in Elements(page).tags:
        named = {attributes[name] for name in ("src", "href", "action", "srcset") if name in attributes}
        assert named <= {"data:,"}, "no icon either"
    policy = re.search('http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert "unsafe" not in policy[1]
    assert "http" not in policy[1]


def test_the_page_is_small_and_holds_every_weight_however_many(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = decoder(words(24), layers=6, heads=8)
    page = views.html(trace)
    data = kept(page, "payload")
    assert base64.b64decode(data) == views.payload(trace)
    assert len(page.encode()) - len(data) < 114_000  # with links, colours of several, views beside it
    monkeypatch.setattr(sys.modules["tfmviz.views.payload"], "WHOLE", 0)
    assert not views.travels_whole(trace)
    assert views.html(trace) == page


def test_a_page_names_its_model_and_knows_of_its_heads_what_the_explorer_knows() -> None:
    model, folder = zoo.load("twins-rope"), zoo.MODELS / "twins-rope"
    trace, both = model.trace("The cat & I"), translation(words(3), words(2))
    known = {"book": load(folder / FILE, model.weights), "on_repeats": layer_scores(model.trace("a b a b"))}
    facts: dict[str, Any] = {"title": "twins-rope"} | known
    page = views.html(trace, **facts)
    assert base64.b64decode(kept(page, "payload")) == views.payload(trace, **facts)
    assert "<title>Attention of twins-rope</title>" in page
    assert '<h1 dir="auto">The cat &amp; I</h1>' in page
    assert both.source is not None
    assert f'<h1 dir="auto">{both.source.text}</h1>' in views.html(both)


def test_a_live_page_holds_its_model_and_runs_two_scripts_and_a_site_fetches_its_own() -> None:
    page = views.html(zoo.load("twins-rope").trace("The cat"), title="twins-rope", live=True)
    assert base64.b64decode(kept(page, "model")) == package(zoo.MODELS / "twins-rope")
    facts = json.loads(kept(page, "site"))
    assert (facts["text"], facts["parts"], facts["scripts"]) == ("The cat", ["explorer"], {})
    assert runs(page) == [digest(JS), digest(LATER["below"]), "'wasm-unsafe-eval'"]
    assert page.count('<script type="module">') == 2
    assert "connect-src" not in page
    page = html("The cat", [], inside={}, scripts={name: f"{name}.js" for name in LATER})
    assert runs(page) == [digest(JS), *map(digest, LATER.values()), "'wasm-unsafe-eval'"]
    assert page.count('<script type="module">') == 1
    assert "; connect-src 'self';" in page


def test_a_model_that_no_browser_computes_and_a_trace_of_another_or_with_edits_are_refused() -> None:
    for title in ("", "french-english", "<script>", "../../etc"):
        with pytest.raises(ValueError, match="the title names none of these"):
            views.html(decoder(words(5)), title=title, live=True)
    with pytest.raises(ValueError, match="no trace of twins-rope, which has 4 layers of 4 heads"):
        views.html(zoo.load("induction").trace("The cat"), title="twins-rope", live=True)
    edits = (AblateHead(layer="decoder.0.self_attn", head=0),)
    with pytest.raises(ValueError, match="has edits"):
        views.html(zoo.load("twins-rope").trace("The cat", edits=edits), title="twins-rope", live=True)
