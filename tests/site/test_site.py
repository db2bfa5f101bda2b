"""The site that needs no server: its files, and a model that computes in the reader's browser what Python computes."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.node import call
from tests.views.standalone import as_strip, strip_numbers
from tfmviz import masks as library
from tfmviz import site, zoo
from tfmviz.record.edits import AblateHead, SetMask
from tfmviz.record.trace import Array, Trace
from tfmviz.views import masks
from tfmviz.words.labels import visible

pytestmark = pytest.mark.browser

HOME = "http://localhost/"
"""Nothing is served there: the tests answer from the folder. Browsers trust this name, so they compute digests."""

SMALL = ("twins-rope", "twins-none")

KINDS = {".html": "text/html", ".js": "text/javascript", ".json": "application/json"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return site.write(tmp_path_factory.mktemp("site"), SMALL).parent


PARTS = {
    "The whole model": ".whole .hits button",
    "Step by step": ".steps .stages button",
    "Masks": ".lab .gallery button",
    "RoPE arrows": ".turning .dials button",
    "Heads": "#explorer .tiles button",
}
"""What can be seen of each part."""


class Visitor:
    """A tab that gets files from a folder and nothing from anywhere else."""

    def __init__(self, context: BrowserContext, folder: Path) -> None:
        self.page: Page = context.new_page()
        self.folder = folder
        self.replaced: dict[str, bytes] = {}
        self.complaints: list[str] = []
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        context.route("**/*", self._answer)

    def _answer(self, route: Route) -> None:
        where = urlsplit(route.request.url)
        path = self.folder / (where.path.lstrip("/") or "index.html")
        if not route.request.url.startswith(HOME) or not path.is_file():
            self.complaints.append(f"asked for {route.request.url}")
            route.abort()
        else:
            kind = KINDS.get(path.suffix, "application/octet-stream")
            route.fulfill(body=self.replaced.get(where.path, path.read_bytes()), content_type=kind)

    def open(self, query: str = "", *, drawn: str = "#below .words li") -> Page:
        """Goes to an address and waits for what comes last."""
        self.page.goto(f"{HOME}{query}")
        expect(self.page.locator(drawn).first).to_be_attached()
        return self.page


@pytest.fixture
def visitor(context: BrowserContext, folder: Path) -> Iterator[Visitor]:
    made = Visitor(context, folder)
    yield made
    assert made.complaints == []


def traced(text: str, model: str = "twins-rope", *off: tuple[int, int]) -> Trace:
    edits = tuple(AblateHead(layer=f"decoder.{layer}.self_attn", head=head) for layer, head in off)
    return zoo.load(model).trace(text, edits=edits)


def strip(trace: Trace, layer: int, head: int, token: int = -1) -> list[str]:
    at = range(len(trace.target.tokens))[token]
    weights = trace[f"decoder.{layer}.self_attn.pattern"][head][at].tolist()
    return [number if n <= at else "–" for n, number in enumerate(as_strip(weights))]


def first_words(trace: Trace, model: str, temperature: float = 1.0) -> dict[str, float]:
    logits = trace["logits"][-1].astype(np.float64) / temperature
    p = np.exp(logits - logits.max())
    p /= p.sum()
    vocabulary = zoo.load(model).vocabulary
    return {visible(vocabulary[n]): float(p[n]) for n in np.argsort(-p)[:3]}


def listed(page: Page) -> list[tuple[str, float]]:
    rows = page.locator("#below .words li").all()
    texts = [
        (row.locator(".label").text_content() or "", str(row.evaluate("(row) => row.lastChild.textContent")))
        for row in rows
    ]
    return [(word, float(share.strip("%<")) / 100) for word, share in texts]


def assert_words(page: Page, expected: dict[str, float]) -> None:
    for (word, share), (other, p) in zip(listed(page), expected.items(), strict=False):
        assert word == other
        assert share == pytest.approx(p, rel=0.06, abs=6e-4)


def test_every_key_shows_what_python_computes_and_the_address_follows(visitor: Visitor) -> None:
    page = visitor.open("?text=The+cat&layer=2&head=1")
    assert strip_numbers(page) == strip(traced("The cat"), 2, 1)
    box = page.get_by_label("Your sentence")
    box.press("End")
    for typed in (" s", "a", "t", " 🙂", " <img src=x onerror=alert(1)>"):
        page.keyboard.insert_text(typed)
        text = box.input_value()
        expected = traced(text)
        expect(page.locator(".strip").first.locator("button")).to_have_count(len(expected.target.tokens))
        assert strip_numbers(page) == strip(expected, 2, 1, int(np.flatnonzero(last_words(expected))[-1]))
    page.wait_for_function("() => location.search.includes('onerror')")
    asked = parse_qs(urlsplit(page.url).query)
    assert asked["text"] == [text]
    assert (asked["layer"], asked["head"]) == (["2"], ["1"])
    page.reload()
    expect(page.locator(".strip").first.locator("button")).to_have_count(len(expected.target.tokens))
    assert box.input_value() == text


def last_words(trace: Trace) -> list[bool]:
    return [any(map(str.isalnum, token)) for token in trace.target.tokens]


def test_a_head_is_switched_off_in_all_pictures_and_words_and_on_again(visitor: Visitor) -> None:
    text = "Once upon a time there was a little"
    page = visitor.open(f"?text={text.replace(' ', '+')}&layer=0&head=2&look=")
    whole = traced(text)
    assert_words(page, first_words(whole, "twins-rope"))
    page.get_by_role("button", name="Switch head 0.2 off").click()
    without = traced(text, "twins-rope", (0, 2))
    assert_words(page, first_words(without, "twins-rope"))
    expect(page.locator(".off")).to_contain_text("Off: 0.2.")
    page.locator(".tiles").get_by_role("button", name="Layer 3, head 1").click()
    assert strip_numbers(page) == strip(without, 3, 1) != strip(whole, 3, 1)
    page.get_by_role("button", name="All on").click()
    assert strip_numbers(page) == strip(whole, 3, 1)


def test_temperature_sharpens_the_words_while_it_moves(visitor: Visitor) -> None:
    page = visitor.open("?text=Once+upon+a")
    page.get_by_label("Temperature").fill("0.5")
    assert_words(page, first_words(traced("Once upon a"), "twins-rope", 0.5))


def test_another_model_and_another_sentence_stand_beside(visitor: Visitor) -> None:
    page = visitor.open("?text=The+cat+sat&b=The+dog+sat&layer=1&head=3")
    expect(page.locator(".beside .strip").first.locator("button")).to_have_count(3)
    page.get_by_label("Model", exact=True).select_option("twins-none")
    expect(page.locator("#controls .about")).to_contain_text("1.05 million parameters")
    page.wait_for_function("() => location.search.includes('twins-none')")
    page.locator(".tiles").first.get_by_role("button", name="Layer 2, head 0").click()
    numbers = [page.locator(f"{where} .strip").first.locator(".weight") for where in ("#explorer", ".beside")]
    for shown, text in zip(numbers, ("The cat sat", "The dog sat"), strict=True):
        expect(shown).to_have_text(strip(traced(text, "twins-none"), 2, 0))


def test_words_are_those_of_the_first_box_with_this_model_when_it_is_emptied(visitor: Visitor) -> None:
    page = visitor.open("?text=Once+upon+a&b=The+dog")
    page.get_by_label("Your sentence").fill("")
    page.get_by_label("The other sentence").fill("The dog and the")
    assert_words(page, first_words(traced("Once upon a"), "twins-rope"))
    page.get_by_label("Model", exact=True).select_option("twins-none")
    page.wait_for_function("() => location.search.includes('twins-none')")
    assert_words(page, first_words(traced("Once upon a", "twins-none"), "twins-none"))


@pytest.mark.parametrize("text", ["", "%20%0A", "+".join(["word"] * 900)])
def test_an_empty_box_keeps_the_picture_and_a_long_text_is_cut_as_in_python(visitor: Visitor, text: str) -> None:
    page = visitor.open(f"?text={text}")
    tokens = page.locator(".strip").first.locator("button")
    if len(text) > 100:
        limit = zoo.load("twins-rope").config.max_len
        expect(tokens).to_have_count(limit)
        expect(page.locator(".note")).to_contain_text(f"It reads {limit} tokens at a time; the last ")
        return
    before = tokens.count()
    page.get_by_label("Your sentence").fill("")
    assert tokens.count() == before > 0


VALUES = "(node) => JSON.stringify(globalThis.tfmvizSite.parts[node].view.values())"
"""The numbers of a part's figure."""


def values(page: Page, part: str) -> list[list[Any]]:
    found: list[list[Any]] = json.loads(page.evaluate(VALUES, part))["rows"]
    return found


def test_the_whole_model_a_block_and_a_head_follow_each_key_and_stand_in_the_address(visitor: Visitor) -> None:
    page = visitor.open("?page=whole_model&text=The+cat&layer=1&head=2", drawn=".whole .hits button")
    box = page.get_by_label("Your sentence")
    box.fill("The dog sat")
    trace = traced("The dog sat")
    best = zoo.load("twins-rope").vocabulary[int(trace["logits"][-1].argmax())]
    expect(page.locator(".whole .tip")).to_contain_text(f"“sat” → “{visible(best)}”")
    page.locator(".whole .zooms").get_by_role("button", name="Head 2").click()
    page.wait_for_function("() => location.search.includes('zoom=head')")
    shown = page.evaluate("[...globalThis.tfmvizSite.parts.whole_model.view.arrays.pattern.values]")
    assert shown == pytest.approx(trace["decoder.1.self_attn.pattern"][2].ravel().tolist(), abs=1e-5)
    page.get_by_label("Head", exact=True).select_option("3")
    page.wait_for_function("() => location.search.includes('head=3')")
    page.reload()
    expect(page.locator(".whole .hits button").first).to_be_attached()
    shown = page.evaluate("[...globalThis.tfmvizSite.parts.whole_model.view.arrays.pattern.values]")
    assert shown == pytest.approx(trace["decoder.1.self_attn.pattern"][3].ravel().tolist(), abs=1e-5)


def test_step_by_step_shows_the_stage_of_the_address_on_what_is_typed(visitor: Visitor) -> None:
    page = visitor.open("?page=step_by_step&text=The+cat&layer=2&head=1&stage=share", drawn=".steps .stages button")
    page.get_by_label("Your sentence").fill("The dog sat on <b>it</b>")
    trace = traced("The dog sat on <b>it</b>")
    expect(page.locator(".steps .tokens button")).to_have_count(len(trace.target))
    expect(page.locator(".steps [aria-current=step]")).to_have_text("softmax")
    rows = [row[1:] for row in values(page, "step_by_step")]
    np.testing.assert_allclose(rows, trace["decoder.2.self_attn.pattern"][1], atol=1e-5)
    page.get_by_role("button", name="Next →").click()
    page.wait_for_function("() => location.search.includes('stage=z')")


def test_a_mask_is_drawn_and_the_model_runs_with_it_and_the_address_is_the_apps(visitor: Visitor) -> None:
    text = "The cat sat on it"
    page = visitor.open(f"?page=masks&text={text.replace(' ', '+')}&layer=1&head=0&start=full", drawn=".lab canvas")
    length = len(traced(text).target)
    drawn = np.ones((length, length), dtype=bool)
    assert_runs_with(page, text, drawn)
    page.locator(".lab .board canvas").focus()
    page.keyboard.press("c")  # hides the first word
    drawn[:, 0] = False
    assert_runs_with(page, text, drawn)
    page.wait_for_function("() => location.search.includes('edit=')")
    asked = parse_qs(urlsplit(page.url).query)
    changed = masks.expand(asked["edit"][0], drawn.shape)
    assert changed is not None
    assert (changed == ~drawn).all()
    page.reload()
    expect(page.locator(".lab .count")).to_contain_text(f"{drawn.sum()} of ")
    assert_runs_with(page, text, drawn)


def assert_runs_with(page: Page, text: str, mask: Array) -> None:
    """The heads beside the board, in layer 1, are those of a run with the mask in every layer."""
    rows = tuple(map(tuple, mask.tolist()))
    edits = tuple(SetMask(layer=f"decoder.{layer}.self_attn", mask=rows) for layer in range(4))
    pattern = zoo.load("twins-rope").trace(text, edits=edits)["decoder.1.self_attn.pattern"][0, -1]
    shares = [share if seen else "–" for share, seen in zip(as_strip(pattern.tolist()), mask[-1], strict=True)]
    expect(page.locator("#parts .strip").first.locator(".weight")).to_have_text(shares)


def test_arrows_turn_by_the_models_own_angles_and_other_models_say_that_they_have_none(visitor: Visitor) -> None:
    page = visitor.open("?page=positions_rope&text=The+cat+sat&layer=0&head=3", drawn=".turning .dials button")
    trace = traced("The cat sat")
    q, k = (trace[f"decoder.0.self_attn.rot_{name}"][3].astype(np.float64) for name in "qk")
    shown = {row[0]: row[1] for row in values(page, "positions_rope")}
    assert shown[1] == pytest.approx(float(q[2] @ k[1]), rel=1e-4, abs=1e-4)
    page.get_by_label("Model", exact=True).select_option("twins-none")
    expect(page.get_by_text("does not turn its queries and keys")).to_be_visible()
    expect(page.locator(".turning")).to_be_hidden()


def test_a_part_whose_script_was_changed_is_not_run(visitor: Visitor, folder: Path) -> None:
    page = visitor.open()
    (path,) = folder.glob("masks-*.js")
    visitor.replaced[f"/{path.name}"] = path.read_bytes() + b"\nglobalThis.changed = true;"
    page.get_by_role("tab", name="Masks").click()
    page.wait_for_function("() => document.querySelectorAll('script[type=module]').length > 2")
    assert page.evaluate("globalThis.changed") is None
    assert any("Content Security Policy" in complaint for complaint in visitor.complaints)
    visitor.complaints.clear()


def test_the_gallery_holds_the_masks_of_the_library() -> None:
    n = 9
    past = library.causal(n)
    expected = {
        "full": library.full(n, n),
        "causal": past,
        "prefix": library.prefix(n, 5),
        "window": library.window(n, 2) & past,
        "dilated": library.dilated(n, 2, 3) & past,
        "blocks": library.blocks(n, 5) & past,
        "global": library.global_tokens(n, 1) & past,
    }
    listed = "module.galleryOf(given, { isDecoder: true, window: 4 }).map(({ id, mask }) => [id, [...mask.open]])"
    found = dict(call("site/gallery.js", listed, n))
    assert found.pop("own") == library.causal(n, window=4).int().ravel().tolist()
    assert found == {name: mask.int().ravel().tolist() for name, mask in expected.items()}


def test_damaged_weights_are_refused_and_an_unknown_model_is_the_first(visitor: Visitor, folder: Path) -> None:
    visitor.open("?text=The+cat&model=nobody&layer=99&head=99&token=99&off=decoder.9.self_attn.9")
    entries: list[dict[str, Any]] = shown(folder / "index.html")["models"]
    weights = f"/{entries[1]['parcel']['at']}/0"
    data = bytearray((folder / weights.lstrip("/")).read_bytes())
    data[-1] ^= 1
    visitor.replaced[weights] = bytes(data)
    visitor.page.get_by_label("Model", exact=True).select_option("twins-none")
    expect(visitor.page.locator(".note")).to_contain_text("changed on their way")
    visitor.replaced[weights] = bytes(data[:-9])
    visitor.page.get_by_label("Model", exact=True).select_option("twins-rope")
    visitor.page.get_by_label("Model", exact=True).select_option("twins-none")
    expect(visitor.page.locator(".note")).to_contain_text("changed on their way")


def test_one_file_needs_nothing_else(context: BrowserContext, tmp_path: Path) -> None:
    page, asked = context.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    path = site.write(tmp_path, SMALL[:1], single=True)
    page.goto(f"{path.as_uri()}?text=My+dog+ran.")
    expect(page.locator("#below .words li").first).to_be_attached()
    assert strip_numbers(page)
    for name, shown in PARTS.items():
        page.get_by_role("tab", name=name).click()
        expect(page.locator(shown).first).to_be_visible()
    assert [url for url in asked if not url.startswith(path.as_uri())] == []


def shown(page: Path) -> dict[str, Any]:
    found = re.search(r'id="site">(.*?)</script>', page.read_text(encoding="utf-8"))
    assert found
    told: dict[str, Any] = json.loads(found[1])
    return told


def test_files_hold_the_shipped_models_and_the_page_allows_itself_alone(folder: Path) -> None:
    for entry in shown(folder / "index.html")["models"]:
        parcel = entry["parcel"]
        parts = [(folder / parcel["at"] / str(n)).read_bytes() for n in range(parcel["parts"])]
        assert all(len(part) <= 4_000_000 for part in parts)
        data = b"".join(parts)
        assert data.endswith((zoo.MODELS / entry["model"] / "model.safetensors").read_bytes())
        assert hashlib.sha256(data).hexdigest() == parcel["digest"]
    page = (folder / "index.html").read_text(encoding="utf-8")
    policy = re.search(r'Policy" content="([^"]*)"', page)
    (script,) = re.findall(r'<script type="module">(.*?)</script>', page, re.DOTALL)
    assert policy
    scripts = [script.encode(), *(path.read_bytes() for path in folder.glob("*.js"))]
    named = {base64.b64encode(hashlib.sha256(js).digest()).decode() for js in scripts}
    assert set(re.findall(r"'sha256-([^']+)'", policy[1].split("style-src")[0])) == named
    assert "unsafe-inline" not in policy[1]
    assert len(script.encode()) <= 150_000, "before the first picture"


def test_a_model_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        site.main([str(tmp_path), "--models", "../../etc"])
    assert "cannot compute ../../etc; it can compute " in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
