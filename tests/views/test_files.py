"""Attention as data files, and as a page that needs no server."""

import base64
import csv
import io
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

from tests.traces import FORMULAS, ODD_TOKENS, decoder, translation, words
from tfmviz import views


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
    data = re.search('id="payload">([^<]*)<', page)
    assert data is not None
    assert base64.b64decode(data[1]) == views.payload(trace)
    assert len(page.encode()) - len(data[1]) < 114_000  # with links, colours of several, views beside it
    monkeypatch.setattr(sys.modules["tfmviz.views.payload"], "WHOLE", 0)
    assert not views.travels_whole(trace)
    assert views.html(trace) == page
