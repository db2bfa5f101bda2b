"""Home: alive at once, and every way out of it; addresses that were the explorer's."""

import re

from playwright.sync_api import FloatRect, Locator, Page, expect

from tests.browser import AT_REST, Visit, box_of, menu

WORDS = ".stage .words span"
ARCS = "(arcs) => arcs.filter((arc) => Number(arc.style.opacity)).length"
ODD = ("🙂 ran. It", "老王批评老李", "Où est la gare ?", "<img src=x onerror=alert(1)> 100%", "word " * 400)


def at_home(visit: Visit, address: str = "/") -> tuple[Page, Locator, Locator]:
    """The page, its sentence, and what is said of it."""
    page = visit.open(address, drawn=WORDS)
    return page, page.get_by_label("Your sentence"), page.locator(".stage .said")


def test_a_word_shows_where_the_head_looks_by_pointer_and_keys(visit: Visit) -> None:
    page, sentence, said = at_home(visit)
    expect(said).to_have_text("“it” gives 89% of its attention to “animal”.")
    assert page.locator(".stage path").evaluate_all(ARCS) > 1
    first = page.locator(WORDS).first.bounding_box()
    assert first
    for by in (1, 2):  # a pointer that has not moved previews nothing
        page.mouse.move(first["x"] + first["width"] / 2 + by, first["y"] + first["height"] / 2)
    expect(said).to_have_text("“The” gives 100% of its attention to itself.")
    assert page.locator(".stage path").evaluate_all(ARCS) == 0
    page.mouse.move(5, 700)
    expect(said).to_contain_text("“it”")
    for _ in " it":
        sentence.press("ArrowLeft")
    expect(said).to_contain_text("“because”")
    expect(page.get_by_role("button", name="SVG")).to_have_count(0)


BY_HAND = """(() => {
  const [set, clear, acts] = [setInterval, clearInterval, new Map()];
  globalThis.setInterval = (act, ms) => {
    const id = set(ms === 5000 ? () => {} : act, ms);
    if (ms === 5000) acts.set(id, act);
    return id;
  };
  globalThis.clearInterval = (id) => (acts.delete(id), clear(id));
  globalThis.turnNow = () => acts.forEach((act) => act());
})()"""
"""What happens every five seconds happens when `turnNow` is called."""


def test_the_heads_take_turns_until_the_first_key_and_never_where_nothing_may_move(visit: Visit) -> None:
    with visit.page.add_init_script(BY_HAND):
        page, _, said = at_home(visit)
    heads = page.get_by_role("group", name="Heads", exact=True).get_by_role("button")
    page.evaluate("turnNow()")
    expect(said).to_contain_text("“animal”")
    page.emulate_media(reduced_motion="no-preference")
    page.evaluate("turnNow()")
    expect(said).to_contain_text("“because”")
    heads.first.press("Enter")
    expect(said).to_contain_text("“animal”")
    page.evaluate("turnNow()")
    expect(heads.first).to_have_attribute("aria-pressed", "true")


def test_the_boxes_follow_each_key_escape_gives_the_sentence_back_and_enter_keeps_it(visit: Visit) -> None:
    page, sentence, said = at_home(visit)
    before = sentence.input_value()
    for text in ODD:
        sentence.fill(text)
        expect(page.locator(WORDS).first).to_have_text(re.compile(re.escape(text[0])))
        expect(said).to_contain_text("of its attention to", timeout=20_000)
        words = "".join(page.locator(WORDS).all_text_contents())
        assert "".join(text.split()).startswith("".join(words.split())), text
        assert len(words) > 3, text
    sentence.fill(" ")
    expect(said).to_have_text("Type at least one character.")
    sentence.press("Escape")
    expect(sentence).to_have_value(before)
    expect(said).to_contain_text("“it”")
    sentence.fill("My dog ran because it")
    sentence.press("Enter")
    expect(page.locator(".doors")).to_contain_text("“it”")
    expect(page.get_by_role("group", name="Heads", exact=True)).to_contain_text("links “it” to “ran”")
    expect(page).to_have_url(re.compile(r"text=My\+dog"))
    page.go_back()
    expect(said).to_contain_text("“animal”")


def test_both_rows_of_doors_are_in_the_window_each_picture_in_its_door_and_their_words_have_room(visit: Visit) -> None:
    page, _, _ = at_home(visit)

    def boxes(found: str, width: int, height: int) -> list[FloatRect]:
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_function(AT_REST)
        return [box_of(one) for one in page.locator(found).all()]

    for width, height in ((1280, 800), (1920, 1080), (1024, 768)):
        *_, last = doors = boxes(".doors a", width, height)
        assert len(doors) == 6
        assert 0.75 * height < last["y"] + last["height"] <= height, width
        lens = page.locator(".doors a", has_text="The logit lens")
        door, bars = box_of(lens), box_of(lens.locator("table"))
        assert bars["y"] + bars["height"] <= door["y"] + door["height"], width
    for width in (390, 768):
        assert min(box["width"] for box in boxes(".doors a > div + div", width, 1400)) > 150, width


def test_the_name_of_the_app_leads_home_with_the_sentence_and_a_door_away_with_what_is_typed(visit: Visit) -> None:
    page = visit.open("/explorer?text=My+dog+ran.")
    menu(page).get_by_role("link", name="tfmviz").click()
    page.wait_for_selector(WORDS)
    sentence = page.get_by_label("Your sentence")
    expect(sentence).to_have_value("My dog ran.")
    sentence.fill("My <b>cat</b> ran.")
    page.get_by_role("link", name="All heads").click()
    page.wait_for_selector(".tiles button")
    expect(page.locator("textarea")).to_have_value("My <b>cat</b> ran.")


def test_who_asks_for_a_page_that_there_is_not_is_told_so(visit: Visit) -> None:
    said = visit.open("/no-such-page", drawn="h1").get_by_text("There is no page at this address.")
    expect(said).to_be_visible()
    header = visit.page.locator(".st-key-header")
    top = box_of(header)["y"]
    visit.open("/masks", drawn="h1")
    expect(said).to_have_count(0)
    assert box_of(header)["y"] == top, "it has the layout of every page"
