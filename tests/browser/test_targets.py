"""What is to be hit with a finger or an unsteady hand measures 24 pixels at least each way (WCAG 2.5.8)."""

from __future__ import annotations

import pytest

from tests.browser import AT_REST, READY, Visit
from tfmviz.ui import router

pytestmark = pytest.mark.browser

SMALL = """() => {
    const kinds = `button, a[href], summary, input, select, textarea, [role=tab], [role=slider], [role=button],
        [role=option], [role=combobox]`;
    const all = (root) => [...root.querySelectorAll("*")]
        .flatMap((node) => [node, ...(node.shadowRoot ? all(node.shadowRoot) : [])]);
    const isInText = (node) => node.matches("a") && node.parentElement.textContent.trim() !== node.textContent.trim();
    return all(document.body).filter((node) => {
        if (!node.matches(kinds) || node.disabled || isInText(node)) return false;
        if (!node.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false;
        const whole = ".stCheckbox, .stMultiSelect, .stSlider [data-rac]:has(> div > input)";
        const hit = node.matches("input") && (node.closest(whole) ?? node.closest("label:has([type=checkbox])"));
        const { width, height, right } = (hit || node).getBoundingClientRect();
        const isClipped = width <= 1 || height <= 1 || right < 0;
        return !isClipped && (width < 23.9 || height < 23.9);
    }).map((node) => {
        const { width, height } = node.getBoundingClientRect();
        return `${Math.round(width)} x ${Math.round(height)}: ${node.outerHTML.slice(0, 140)}`;
    });
}"""
"""What is smaller. Links within a text are as high as its letters; a box is hit by its label, too."""


DRAWN = "canvas, svg.marks, table, li, .view button, [data-testid=stPageLink-NavLink] p"
"""A figure, or on a page without any its links."""


@pytest.mark.parametrize("name", [page.name for page in router.PAGES])
def test_every_target_can_be_hit(visit: Visit, name: str) -> None:
    page = visit.page
    for width, height in ((1280, 800), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        page.goto(visit.server.address + router.address(name).removeprefix("."))
        page.wait_for_selector(READY)
        page.wait_for_selector("h1")
        page.wait_for_selector(f"[data-testid=stMain] :is({DRAWN})", state="attached")
        page.wait_for_function(AT_REST)
        assert page.evaluate(SMALL) == [], (width, height)
