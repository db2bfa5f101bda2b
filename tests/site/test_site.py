"""The site that needs no server: its files, and a model that computes in the reader's browser what Python computes."""

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.site import PARTS, SMALL, Visitor, traced
from tests.views.standalone import as_strip, strip_numbers
from tfmviz import site, views, zoo
from tfmviz.record.trace import Trace
from tfmviz.ui.sentences import examples_for
from tfmviz.words.labels import visible

pytestmark = pytest.mark.browser


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
    shares = (str(row.evaluate("(row) => row.lastChild.textContent")) for row in rows)
    words = (row.locator(".label").text_content() or "" for row in rows)
    return [(word, float(share.strip("%<")) / 100) for word, share in zip(words, shares, strict=True)]


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
        is_word = [any(map(str.isalnum, token)) for token in expected.target.tokens]
        assert strip_numbers(page) == strip(expected, 2, 1, int(np.flatnonzero(is_word)[-1]))
    page.wait_for_function("() => location.search.includes('onerror')")
    asked = parse_qs(urlsplit(page.url).query)
    assert asked["text"] == [text]
    assert (asked["layer"], asked["head"]) == (["2"], ["1"])
    page.reload()
    expect(page.locator(".strip").first.locator("button")).to_have_count(len(expected.target.tokens))
    expect(box).to_have_value(text)


def test_what_the_address_asks_for_does_not_come_back_after_another_choice(visitor: Visitor) -> None:
    page = visitor.open("?text=The+cat+sat&layer=1&head=1&token=2&to=0")
    page.wait_for_function("() => location.search.includes('to=0')")
    page.locator(".strip").first.locator("button").nth(1).click()
    page.wait_for_function("() => location.search.includes('token=1') && !location.search.includes('to=0')")
    page.get_by_label("Your sentence").fill("The cat sat!")
    page.wait_for_function("() => location.search.includes('%21')")
    asked = parse_qs(urlsplit(page.url).query)
    assert asked["token"] == ["1"]
    assert "to" not in asked


def test_the_header_shares_what_is_seen_and_the_projector_hides_it(visitor: Visitor) -> None:
    page = visitor.open("?page=masks&text=The+cat&start=full", drawn=".lab canvas")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_label("Your sentence").fill("The cat sat")
    page.get_by_role("button", name="Share").click()
    expect(page.get_by_role("status").filter(has_text="Copied")).to_be_visible()
    shared = page.evaluate("navigator.clipboard.readText()")
    asked = parse_qs(urlsplit(shared).query)
    assert (asked["page"], asked["text"], asked["start"]) == (["masks"], ["The cat sat"], ["full"])
    expect(page.get_by_role("heading", level=1)).to_have_text("Masks")
    page.locator("#about").click()
    page.keyboard.press("f")
    expect(page.locator("#frame")).to_have_css("opacity", "0")
    page.wait_for_function("() => location.search.includes('projector=1')")
    page.reload()
    expect(page.locator("#frame")).to_have_css("opacity", "0")


def test_a_sentence_to_try_is_run_and_temperature_sharpens_the_words_while_it_moves(visitor: Visitor) -> None:
    page = visitor.open("?text=The+cat&token=1")
    text = examples_for(SMALL[0])[1].text
    page.get_by_label("Try", exact=True).select_option(text)
    expect(page.locator(".strip").first.locator("button")).to_have_count(len(traced(text).target))
    expect(page.get_by_label("Your sentence")).to_have_value(text)
    page = visitor.open("?text=Once+upon+a")
    page.get_by_label("Temperature").fill("0.5")
    assert_words(page, first_words(traced("Once upon a"), "twins-rope", 0.5))


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


def test_another_model_and_another_sentence_stand_beside_and_words_are_those_of_the_first_box(visitor: Visitor) -> None:
    page = visitor.open("?text=The+cat+sat&b=The+dog+sat&layer=1&head=3")
    expect(page.locator(".beside .strip").first.locator("button")).to_have_count(3)
    page.get_by_label("Model", exact=True).select_option("twins-none")
    expect(page.locator("#about")).to_contain_text("1.05 million parameters")
    page.wait_for_function("() => location.search.includes('twins-none')")
    page.locator(".tiles").first.get_by_role("button", name="Layer 2, head 0").click()
    numbers = [page.locator(f"{where} .strip").first.locator(".weight") for where in ("#explorer", ".beside")]
    for shown, text in zip(numbers, ("The cat sat", "The dog sat"), strict=True):
        expect(shown).to_have_text(strip(traced(text, "twins-none"), 2, 0))
    page.get_by_label("Your sentence").fill("")
    page.get_by_label("The other sentence").fill("The dog and the")
    assert_words(page, first_words(traced("The cat sat", "twins-none"), "twins-none"))
    page.get_by_label("Model", exact=True).select_option("twins-rope")
    page.wait_for_function("() => location.search.includes('twins-rope')")
    assert_words(page, first_words(traced("The cat sat"), "twins-rope"))


SAID = """() => {
  globalThis.said = [];
  const keep = (changes) => globalThis.said.push(...changes.flatMap(({ addedNodes: [text] }) => text?.data ?? []));
  new MutationObserver(keep).observe(document.querySelector(".note"), { childList: true });
}"""
"""Keeps all that is said from now on."""


def test_the_address_names_a_model_once_it_is_shown_and_until_then_how_much_is_here(visitor: Visitor) -> None:
    page = visitor.open("?text=Once")
    page.evaluate(SAID)
    held: list[Route] = []
    may_come: list[bool] = []
    page.route("**/models/**", lambda route: visitor.answer(route) if may_come else held.append(route))
    page.get_by_label("Your sentence").fill("Once upon a")
    page.get_by_label("Model", exact=True).select_option("twins-none")
    page.evaluate("() => new Promise((resolve) => setTimeout(resolve, 1000))")  # longer than a hand is waited for
    assert held
    expect(page).not_to_have_url(re.compile("twins-none"))
    may_come.append(True)
    for route in held:
        visitor.answer(route)
    page.wait_for_function("() => location.search.includes('twins-none')")
    first, *others = page.evaluate("globalThis.said")
    assert first.endswith(" is loading …")
    assert others[-1].endswith(" is loading: 100%")
    assert_words(page, first_words(traced("Once upon a", "twins-none"), "twins-none"))


def test_an_empty_box_keeps_the_picture_and_a_long_text_is_cut_as_in_python(visitor: Visitor) -> None:
    for text in ("", "%20%0A"):
        page = visitor.open(f"?text={text}")
        tokens = page.locator(".strip").first.locator("button")
        before = tokens.count()
        page.get_by_label("Your sentence").fill("")
        assert before > 0
        expect(tokens).to_have_count(before)
    page = visitor.open(f"?text={'+'.join(['word'] * 900)}")
    limit = zoo.load("twins-rope").config.max_len
    expect(page.locator(".strip").first.locator("button")).to_have_count(limit)
    expect(page.locator(".note")).to_contain_text(f"It reads {limit} tokens at a time; the last ")


def test_damaged_weights_are_refused_and_an_unknown_model_is_the_first(visitor: Visitor, folder: Path) -> None:
    visitor.open("?text=The+cat&model=nobody&layer=99&head=99&token=99&off=decoder.9.self_attn.9")
    entries: list[dict[str, Any]] = shown(folder / "index.html")["models"]
    weights = f"/{entries[1]['parcel']['at']}/0"
    data = bytearray((folder / weights.lstrip("/")).read_bytes())
    data[-1] ^= 1
    visitor.replaced[weights] = bytes(data)
    visitor.page.get_by_label("Model", exact=True).select_option("twins-none")
    expect(visitor.page.locator(".note")).to_contain_text("were damaged in transit")
    visitor.replaced[weights] = bytes(data[:-9])
    visitor.page.get_by_label("Model", exact=True).select_option("twins-rope")
    visitor.page.get_by_label("Model", exact=True).select_option("twins-none")
    expect(visitor.page.locator(".note")).to_contain_text("were damaged in transit")


def test_one_file_needs_nothing_else(context: BrowserContext, tmp_path: Path) -> None:
    page, asked = context.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    path = site.write(tmp_path, SMALL[:1], single=True)
    page.goto(f"{path.as_uri()}?text=My+dog+ran.")
    expect(page.locator("#below .words li").first).to_be_attached()
    assert strip_numbers(page)
    for name, shown in PARTS.items():
        page.get_by_role("link", name=name).click()
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


@pytest.fixture
def page(context: BrowserContext, tmp_path: Path) -> Page:
    """On a page of a text with odd signs; whatever it complains about or asks for elsewhere fails the test."""
    trace = zoo.load("twins-rope").trace("The <b>cat</b> & I")
    path = tmp_path / "attention.html"
    path.write_text(views.html(trace, title="twins-rope", live=True), encoding="utf-8")
    made = context.new_page()
    made.on("pageerror", lambda error: pytest.fail(str(error)))
    own = (path.as_uri(), "data:")
    made.on("request", lambda request: None if request.url.startswith(own) else pytest.fail(request.url))
    made.goto(path.as_uri())
    expect(made.locator("#below .words li").first).to_be_attached()
    return made


@pytest.mark.browser
def test_it_opens_with_the_trace_and_each_key_runs_the_model(page: Page) -> None:
    box = page.get_by_label("Your sentence")
    expect(box).to_have_value("The <b>cat</b> & I")
    expect(page.get_by_role("heading", level=1)).to_have_text("Heads")
    for text in ("The <b>cat</b> & I", "The dog sat"):
        box.fill(text)
        pattern = zoo.load("twins-rope").trace(text)["decoder.3.self_attn.pattern"][0]
        expect(page.locator(".strip").first.locator("button")).to_have_count(len(pattern))
        assert strip_numbers(page) == as_strip(pattern[-1].tolist())


@pytest.mark.browser
def test_it_works_in_a_frame_without_an_address(context: BrowserContext) -> None:
    trace = zoo.load("twins-rope").trace("The cat")
    outer = context.new_page()
    outer.set_content("<iframe width=1200 height=900></iframe>")
    html = views.html(trace, title="twins-rope", live=True)
    outer.evaluate("(html) => { document.querySelector('iframe').srcdoc = html; }", html)
    frame = outer.frame_locator("iframe")
    frame.get_by_label("Your sentence").fill("The dog sat")
    expect(frame.locator(".strip").first.locator("button")).to_have_count(3)
