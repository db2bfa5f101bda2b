"""The parts of the site besides its heads: their numbers against Python, their addresses, their scripts."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.site import PARTS, Visitor, traced
from tests.views.standalone import as_strip
from tfmviz import zoo
from tfmviz.record.edits import SetMask
from tfmviz.record.trace import Array
from tfmviz.views import masks
from tfmviz.words.labels import visible

pytestmark = pytest.mark.browser

VALUES = "(node) => JSON.stringify(globalThis.tfmvizSite.parts[node].views[0].values())"
"""The numbers of a part's figure."""


def values(page: Page, part: str) -> list[list[Any]]:
    found: list[list[Any]] = json.loads(page.evaluate(VALUES, part))["rows"]
    return found


def test_the_whole_model_a_block_and_a_head_follow_each_key_and_stand_in_the_address(visitor: Visitor) -> None:
    page = visitor.open("?page=whole_model&text=The+cat&layer=1&head=2", drawn=".whole .hits button")
    page.get_by_label("Your sentence").fill("The dog sat")
    trace = traced("The dog sat")
    best = zoo.load("twins-rope").vocabulary[int(trace["logits"][-1].argmax())]
    expect(page.locator(".whole .tip")).to_contain_text(f"“sat” → “{visible(best)}”")
    page.locator(".whole .zooms").get_by_role("button", name="Head 2").click()
    page.wait_for_function("() => location.search.includes('zoom=head')")
    shown = page.evaluate("[...globalThis.tfmvizSite.parts.whole_model.views[0].arrays.pattern.values]")
    assert shown == pytest.approx(trace["decoder.1.self_attn.pattern"][2].ravel().tolist(), abs=1e-5)
    page.get_by_label("Head", exact=True).select_option("3")
    page.wait_for_function("() => location.search.includes('head=3')")
    page.reload()
    expect(page.locator(".whole .hits button").first).to_be_attached()
    shown = page.evaluate("[...globalThis.tfmvizSite.parts.whole_model.views[0].arrays.pattern.values]")
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
    page.get_by_label("In layer").select_option("0")
    page.get_by_label("In head").select_option("2")
    page.wait_for_function("() => location.search.includes('in_layers=0&in_heads=2')")
    page.reload()
    expect(page.locator(".lab .count")).to_contain_text(f"{drawn.sum()} of ")
    assert_runs_with(page, text, drawn, layers=[0], heads=tuple(head == 2 for head in range(4)))


def assert_runs_with(
    page: Page, text: str, mask: Array, *, layers: Sequence[int] = range(4), heads: tuple[bool, ...] | None = None
) -> None:
    """The heads beside the board, in layer 1, are those of a run with the mask in these layers."""
    rows = tuple(map(tuple, mask.tolist()))
    edits = tuple(SetMask(layer=f"decoder.{layer}.self_attn", mask=rows, heads=heads) for layer in layers)
    pattern = zoo.load("twins-rope").trace(text, edits=edits)["decoder.1.self_attn.pattern"][0, -1]
    seen = mask[-1] if 1 in layers else [True] * len(mask)
    shares = [share if one else "–" for share, one in zip(as_strip(pattern.tolist()), seen, strict=True)]
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
    page.get_by_role("link", name="Masks").click()
    page.wait_for_function("() => document.querySelectorAll('script[type=module]').length > 2")
    assert page.evaluate("globalThis.changed") is None
    assert any("Content Security Policy" in complaint for complaint in visitor.complaints)
    visitor.complaints.clear()


def test_a_part_whose_script_cannot_be_had_says_so_and_is_asked_for_again(visitor: Visitor, folder: Path) -> None:
    page = visitor.open("?text=The+cat")
    (path,) = folder.glob("masks-*.js")
    visitor.gone = {f"/{path.name}"}
    page.get_by_role("link", name="Masks").click()
    expect(page.locator(".note")).to_contain_text("This part cannot be shown: ")
    page.get_by_role("link", name="Heads").click()
    page.get_by_label("Your sentence").fill("The cats")
    expect(page.locator(".strip").first.locator("button")).to_have_count(len(traced("The cats").target))
    visitor.gone = set()
    page.get_by_role("link", name="Masks").click()
    expect(page.locator(".lab .gallery canvas").first).to_be_visible()
    visitor.complaints.clear()  # the browser's, of the first try


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.soak)])
def test_every_part_can_be_read_by_everybody_on_every_screen(
    browser: Browser, folder: Path, scheme: Literal["light", "dark"]
) -> None:
    context = browser.new_context(color_scheme=scheme, bypass_csp=True)
    visitor = Visitor(context, folder)
    page = visitor.open()
    for name, shown in PARTS.items():
        page.get_by_role("link", name=name).click()
        expect(page.locator(shown).first).to_be_visible()
        for other, of_other in PARTS.items():
            expect(page.locator(of_other).first).to_be_visible(visible=other == name)
        assert Axe().run(page).response["violations"] == []
        for width in (1024, 390, 1280):  # the last has room for the names of all parts
            page.set_viewport_size({"width": width, "height": 800})
            page.wait_for_function("(width) => document.documentElement.scrollWidth <= width", arg=width)
    assert visitor.complaints == []
    context.close()
