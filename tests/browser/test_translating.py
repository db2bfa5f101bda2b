"""What only a browser shows of a translation: stepping, pointing, the address."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser import AT_REST, Visit, assert_fits, keys, press, violations

ADDRESS = "/translating?model=french-english&text=J%27ai+une+voiture+rouge."
DRAWN = ".translating .target button"
ROWS = ".translating .matrix tbody tr"


def test_words_are_written_one_by_one_and_in_the_address(visit: Visit) -> None:
    page = visit.open(ADDRESS, drawn=DRAWN)
    press(page, "Start again")
    expect(page.locator(DRAWN)).to_have_count(0)
    for n in (1, 2, 3):
        press(page, "Next word")
        expect(page.locator(DRAWN)).to_have_count(n)
        expect(page.locator(ROWS)).to_have_count(n)
    press(page, "Step back")
    expect(page.locator(DRAWN)).to_have_count(2)
    expect(page).to_have_url(re.compile(r"shown=2"))
    page.reload()
    expect(page.locator(DRAWN)).to_have_count(2)
    press(page, "To the end")
    expect(page).not_to_have_url(re.compile(r"shown="))
    expect(page.locator(DRAWN).last).to_contain_text("<END>")


TREE = ".st-key-tree .beams .grid button"


def test_the_tree_of_a_beam_search_is_walked_through_and_is_in_the_address(visit: Visit) -> None:
    """Step by step with the keyboard; more beams are another tree; each word says its probability."""
    page = visit.open(f"{ADDRESS}&translation=Beam+search", drawn=TREE)
    words = page.locator(TREE)
    expect(words.filter(has_text=re.compile("^<END>$")).first).to_be_visible()
    slider = page.get_by_role("slider", name="Up to step")
    slider.focus()
    for step, word in ((1, "I"), (2, "have")):
        slider.press("ArrowRight")
        expect(page).to_have_url(re.compile(rf"tree_steps={step}(&|$)"))
        expect(words.filter(has_text=re.compile(f"^{word}$")).first).to_be_visible()
    expect(words).to_have_count(12)
    shown = words.all_text_contents()
    page.reload()
    expect(words).to_have_text(shown)
    beams = page.get_by_role("slider", name="Beams")
    beams.focus()
    beams.press("ArrowRight")
    expect(page).to_have_url(re.compile("beams=4"))
    expect(words).not_to_have_count(len(shown))
    expect(words.first).to_have_attribute("aria-label", re.compile(r"“.+”: .+%, text −.+; "))


def test_a_hypothesis_is_chosen_by_pointer_or_keyboard_and_taken_apart(visit: Visit) -> None:
    page = visit.open(f"{ADDRESS}&translation=Beam+search", drawn=TREE)
    words, table = page.locator(TREE), page.locator(".st-key-hypothesis_words table, .counts table")
    dropped = page.locator(f"{TREE}.dropped").first
    dropped.click()
    expect(page).to_have_url(re.compile("hypothesis="))
    expect(page.get_by_text("was dropped at step 1")).to_be_visible()
    expect(table).to_contain_text(dropped.text_content() or "?")
    dropped.click()  # takes the choice back
    expect(page).not_to_have_url(re.compile("hypothesis="))
    expect(table).to_have_count(0)
    words.first.focus()
    keys(page, "ArrowDown", "ArrowUp", "ArrowRight", "Enter")
    expect(page.get_by_text("It is how the winner begins.")).to_be_visible()
    page.reload()
    expect(page.locator(f"{TREE}[aria-pressed=true]")).to_have_text("have")
    expect(table).to_be_visible()
    assert violations(page) == []


def test_two_trees_are_whole_and_follow_a_chosen_word(visit: Visit) -> None:
    before, after = (f".st-key-{key} .beams .grid button" for key in ("tree_before", "tree_after"))
    page = visit.open(f"{ADDRESS}&translation=Two+trees", drawn=after)
    becomes = page.get_by_role("textbox", name="becomes")
    becomes.fill("neuve.")
    becomes.press("Enter")
    expect(page.locator(after).filter(has_text="new").first).to_be_visible()
    expect(page.locator(before).filter(has_text="new")).to_have_count(0)
    expect(page).to_have_url(re.compile("becomes=neuve"))
    trees = page.locator(".st-key-trees .scroller")
    expect(trees).to_have_count(2)
    for width in (1280, 1024):
        page.set_viewport_size({"width": width, "height": 844})
        page.wait_for_function(AT_REST)
        for tree in trees.all():
            page.wait_for_function("(node) => node.scrollWidth <= node.clientWidth", arg=tree.element_handle())


@pytest.mark.soak
@pytest.mark.parametrize("width", [390])
def test_a_long_translation_fits_and_shuts_nobody_out(visit: Visit) -> None:
    page = visit.open(f"/translating?text={'voiture+' * 60}", drawn=DRAWN)
    for width in (390, 1280):
        assert_fits(page, width)
        assert violations(page) == []
