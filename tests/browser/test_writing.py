"""What only a browser shows of the page on writing: stepping, playing, branching, the address, the keyboard."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser import AT_REST, HAS_ENGINE, Visit, box_of, press

DESK = "/writing?text=The+students+opened+their&chosen_by=greedy"
DRAWN = ".writing .rivals button"
WORDS = ".writing .text button"
KEYBOARD = "/writing?behind=Keyboard&text=She+saw+a+big+d"
OFFERS = ".offers button"


def write(page: Page, n_words: int) -> Locator:
    """The first words of the greedy text, one by one; returns where the text stands."""
    for n in range(1, n_words + 1):
        press(page, "Next word")
        expect(page.locator(WORDS)).to_have_count(n)
    return page.locator(".writing .text")


def test_words_are_written_undone_and_in_the_address_and_another_word_makes_a_branch(visit: Visit) -> None:
    page = visit.open(DESK, drawn=DRAWN)
    written = write(page, 3)
    press(page, "Step back")
    expect(page.locator(WORDS)).to_have_count(2)
    expect(page).to_have_url(re.compile(r"path=0\.2"))
    text = str(written.text_content())
    page.reload()
    expect(page.locator(WORDS)).to_have_count(2)
    expect(written).to_have_text(text)
    press(page, "Next word")
    expect(page.locator(WORDS)).to_have_count(3)
    second = page.locator(WORDS).nth(1)
    before = str(written.text_content())
    second.click()
    expect(second).to_have_attribute("aria-pressed", "true")
    rival = page.locator(f"{DRAWN}[aria-pressed=false]:enabled").first
    other = rival.inner_text()
    rival.click()
    expect(page.locator(WORDS)).to_have_count(2)
    expect(second).to_have_text(other)
    branches = page.locator(".writing .branches button")
    expect(branches).to_have_count(2)
    expect(page).to_have_url(re.compile(r"path=1\.2"))
    expect(page.locator(".writing .branches [aria-pressed=true]")).to_have_text(str(branches.last.text_content()))
    branches.first.click()
    expect(page.locator(WORDS)).to_have_count(3)
    expect(written).to_have_text(before)


def test_a_typed_edit_is_undone_with_all_that_was_written(visit: Visit) -> None:
    page = visit.open(DESK, drawn=DRAWN)
    written, path = write(page, 2), re.compile("path=")
    expect(page).to_have_url(re.compile(r"path=0\.2"))
    before = str(written.text_content())
    visit.enter("Once upon a time")
    expect(page.locator(WORDS)).to_have_count(0)
    expect(page).not_to_have_url(path)
    press(page, "Undo edit")
    expect(written).to_have_text(before)
    expect(page.get_by_label("Your sentence")).to_have_value("The students opened their")
    press(page, "Redo edit")
    expect(written).to_have_text("Once upon a time")
    expect(page).not_to_have_url(path)
    page.wait_for_function(AT_REST)
    page.go_back()  # the text that was typed, still with the other one's tree in the address
    expect(page).to_have_url(path)
    expect(written).to_have_text("Once upon a time")
    page.wait_for_function(AT_REST)
    page.go_back()
    expect(written).to_have_text(before)


def test_playing_writes_on_past_what_was_sent_and_pause_stops_it(visit: Visit) -> None:
    page = visit.open(DESK, drawn=DRAWN)
    press(page, "To the end")
    expect(page.locator(WORDS)).to_have_count(80)
    expect(page.get_by_text("The limit is 80 words")).to_be_visible()
    press(page, "Start again")
    expect(page.locator(WORDS)).to_have_count(0)
    press(page, "Play")
    expect(page.locator(WORDS).nth(2)).to_be_visible()
    press(page, "Pause")
    written = page.locator(WORDS).count()
    expect(page).to_have_url(re.compile(rf"path=0\.{written}~"))
    expect(page.locator(WORDS)).to_have_count(written)


def test_words_follow_each_key_and_a_tap_takes_one(visit: Visit) -> None:
    page = visit.open(KEYBOARD, drawn=OFFERS)
    box = page.get_by_label("Your sentence")
    box.focus()
    page.keyboard.press("End")
    expect(page.locator(OFFERS).filter(has_not_text=re.compile("^d"))).to_have_count(0)
    page.keyboard.type("o")  # the first key asks for the engine
    page.wait_for_function(HAS_ENGINE, timeout=60_000)
    page.wait_for_function(AT_REST)
    page.keyboard.type("o")
    expect(page.locator(OFFERS).first).to_have_text(re.compile("^doo"))
    page.keyboard.type("r ")
    expect(page.locator(OFFERS).first).not_to_have_text(re.compile("^d"))
    expect(page).not_to_have_url(re.compile("door"))  # Python has not heard of it
    word = page.locator(OFFERS).first.inner_text()
    page.locator(OFFERS).first.click()
    expect(box).to_have_value(f"She saw a big door {word} ", timeout=20_000)
    expect(page).to_have_url(re.compile("door"))


def test_an_open_tab_is_in_the_window_and_its_settings_take_a_line_only_once_they_are_opened(visit: Visit) -> None:
    page = visit.open("/writing?behind=Temperature&projector=1", drawn=".st-key-heat canvas, [role=tabpanel] canvas")
    page.wait_for_function(AT_REST)
    assert box_of(page.locator("[role=tabpanel] canvas").first)["y"] < 700
    settings, way = page.locator(".st-key-settings"), page.locator(".st-key-chosen_by")
    assert box_of(settings)["width"] < 600
    page.get_by_text("Settings", exact=True).click()
    expect(settings.locator("input").first).to_be_visible()
    page.wait_for_function(AT_REST)
    assert box_of(settings)["y"] > box_of(way)["y"] + 20
    assert box_of(settings)["width"] > 1000
