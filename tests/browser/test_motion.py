"""What becomes something else does so in 200 ms, on top of what is already there."""

from playwright.sync_api import BrowserContext, expect

from tests.browser import AT_REST, Server, Visit

COUNTING = """
    globalThis.moved = 0;
    const animate = Element.prototype.animate;
    Element.prototype.animate = function (...how) { globalThis.moved += 1; return animate.apply(this, how); };
"""


def test_a_hidden_word_moves_cells_but_not_on_load_nor_for_those_who_want_none(
    context: BrowserContext, server: Server
) -> None:
    page = context.new_page()
    page.add_init_script(COUNTING)
    visit = Visit(page, server)
    for wish in ("no-preference", "reduce"):
        page.emulate_media(reduced_motion=wish)
        visit.open("/masks?text=The+cat+sat+on+the+mat.&start=causal", drawn=".lab .count")
        assert page.evaluate("moved") == 0, wish
        page.locator(".lab .sentence button", has_text="cat").click()
        expect(page.locator(".lab .count")).to_contain_text("22 of 7 × 7")
        page.wait_for_function(AT_REST)
        assert (page.evaluate("moved") > 0) == (wish == "no-preference"), wish
        expect(page.locator(".board canvas")).to_have_count(1)  # nothing is left of the old picture
