"""Predict, then reveal: the figure hides, the question shows, nothing is computed, and the controls stay."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser import AT_REST, Visit, box_of, open_tab, project, sent_to
from tfmviz import zoo
from tfmviz.ui import lecture_steps

QUESTION = "After which layer does it first say its final answer?"
SHARE = re.compile(r"\b[01]\.\d\d")
LENS = "/residual_stream?stream=Logit+lens&text=the+cat+sat+down"


def figure(page: Page) -> Locator:
    return page.locator(".lens table, .lens canvas, .lens").first


def guess(page: Page) -> Locator:
    return page.locator(".st-key-guess button")


def press_g(page: Page) -> None:
    page.wait_for_selector(".st-key-guess button", state="attached")
    page.keyboard.press("g")


def test_the_figure_hides_until_the_room_has_guessed(visit: Visit) -> None:
    page = visit.open(LENS, drawn=".lens")
    expect_hidden_until_guessed(page)
    project(page)
    expect_hidden_until_guessed(page)


def expect_hidden_until_guessed(page: Page) -> None:
    expect(figure(page)).to_be_visible()
    expect(page.get_by_text(QUESTION)).to_be_hidden()
    guess(page).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text(QUESTION)).to_be_visible()
    expect(figure(page)).to_be_hidden()
    expect(page.get_by_text("rank of the answer")).to_be_visible()
    expect(guess(page)).to_have_text("Show")
    press_g(page)
    expect(figure(page)).to_be_visible()
    expect(page.get_by_text(QUESTION)).to_be_hidden()


def picture(page: Page) -> str:
    """All pixels that the explorer and the pictures of cells have drawn within what is hidden."""
    page.wait_for_function("() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    found: str = page.locator("[class*=st-key-hidden-] canvas").evaluate_all(
        "(canvases) => canvases.filter((one) => getComputedStyle(one).visibility === 'visible')"
        ".map((one) => one.toDataURL()).join()"
    )
    return found


def said(page: Page) -> str:
    """What a screen reader finds within what is hidden."""
    return "\n".join(part.aria_snapshot() for part in page.locator("[class*=st-key-hidden-]").all())


def test_the_explorer_keeps_its_tokens_and_a_click_on_one_is_the_guess(visit: Visit) -> None:
    frames = sent_to(visit.page, "/")
    page = visit.open("/explorer?text=the+cat+sat+down&layer=1&head=2")
    assert frames, "the page's websocket is watched"
    shown = picture(page)
    assert SHARE.search(said(page))
    frames.clear()
    page.locator(".matrix-picture").focus()
    press_g(page)
    expect(page.get_by_text("Layer 1, head 2: which token does “down” look at most?")).to_be_visible()
    expect(page.locator(".explorer .strip .label").filter(has_text="cat")).to_be_visible()
    expect(page.locator(".explorer .spoken")).to_be_hidden()
    expect(page.get_by_text("Most probable next tokens")).to_be_hidden()
    assert not SHARE.search(said(page)), said(page)
    assert picture(page) != shown
    page.locator(".explorer .strip button").filter(has_text="cat").click()
    expect(page.get_by_text("Guessed: “cat”.")).to_be_visible()
    guess(page).click()
    row = zoo.load("tiny-english").trace("the cat sat down")["decoder.1.self_attn.pattern"][2, 3]
    tokens = ["the", "cat", "sat", "down"]
    answer = f"The model: “{tokens[int(row.argmax())]}”, {row.max():.2f}."
    expect(page.get_by_text(f"Guessed: “cat”. {answer}")).to_be_visible()
    assert picture(page) == shown
    assert frames == [], "a guess stays in the browser, and pins nothing"
    press_g(page)
    visit.enter("a big dog ran home")
    expect(page.get_by_text("which token does “home” look at most?")).to_be_visible()
    expect(page.get_by_text("Guessed")).to_be_hidden()
    assert not SHARE.search(said(page))


def test_what_is_drawn_while_a_class_guesses_depends_on_no_value(visit: Visit) -> None:
    for address in ("/explorer?layer=1", "/masks?effect=Attention&layer=1"):
        hidden = set()
        for head in (2, 3):
            asked = f"{address}&head={head}&text=the+cat+sat+down&guess=1"
            page = visit.open(asked, drawn="[data-veiled=true] canvas")
            page.wait_for_function(AT_REST)
            assert not SHARE.search(said(page)), said(page)
            hidden.add(picture(page))
        assert len(hidden) == 1
        assert hidden != {""}


def test_a_chart_keeps_its_axes_and_where_there_is_nothing_to_guess_there_is_no_button(visit: Visit) -> None:
    page = visit.open("/residual_stream?guess=1", drawn=".stVegaLiteChart svg")
    expect(page.locator(".stVegaLiteChart .role-axis-title").first).to_be_visible()
    expect(page.locator(".stVegaLiteChart .role-mark path").first).to_be_hidden()
    for address in ("/masks?effect=Which+mask+is+which", "/normalisation?about=%CE%B3+and+%CE%B2"):
        page = visit.open(address, drawn="[role=tab]")
        expect(guess(page)).to_be_hidden()
        open_tab(page, page.get_by_role("tab").first.inner_text())
        expect(guess(page)).to_be_visible()


def test_on_a_projector_the_question_is_in_sight_though_words_follow_the_figure(visit: Visit) -> None:
    for address in ("/masks?effect=Attention", "/positions_rope?scheme=ALiBi"):
        page = visit.open(f"{address}&projector=1", drawn="[role=tabpanel] canvas")
        press_g(page)
        expect(page.locator("[class*=st-key-question-]")).to_be_visible()
        page.wait_for_function(
            """() => {
                const { top, bottom } = document.querySelector('[class*=st-key-question-]').getBoundingClientRect();
                return top < innerHeight * 0.4 && bottom < innerHeight * 0.6;
            }"""
        )


def test_a_question_covers_no_figure_and_no_help_moves_one(visit: Visit) -> None:
    for address, figure in (("/explorer", ".matrix-picture"), ("/why", ".cells canvas")):
        page = visit.open(address, drawn=figure)
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 844})
            page.wait_for_function(AT_REST)
            expect_free(page, page.locator(figure).first)


def expect_free(page: Page, figure: Locator) -> None:
    before, question = box_of(figure), page.locator("[class*=st-key-question-]").first
    page.locator("body").press("g")
    expect(question).to_be_visible()
    page.wait_for_function(AT_REST)
    asked = box_of(question)
    assert 0 <= asked["y"] < asked["y"] + asked["height"] <= box_of(figure)["y"]
    page.locator("body").press("g")
    expect(question).to_be_visible()  # with the answer
    before["y"] = box_of(figure)["y"]
    assert box_of(figure) == before
    page.locator("body").press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    assert box_of(figure) == before
    page.keyboard.press("Escape")
    assert box_of(figure) == before


def test_a_step_of_a_lecture_may_arrive_hidden_its_line_waits_for_the_guess_and_the_next_is_seen(visit: Visit) -> None:
    page = visit.open("/" + lecture_steps.walks()[0]["L3"].address(1).removeprefix("./") + "&guess=1", drawn="nav.walk")
    question, spoken = page.get_by_text("look at most?"), page.locator(".explorer .spoken")
    telling = (page.locator(".walk .say"), page.locator(".ring"), spoken)
    expect(question).to_be_visible()
    for one in telling:
        expect(one).to_be_hidden()
    expect(page.get_by_role("link", name="Next step")).to_be_visible()
    press_g(page)
    for one in telling:
        expect(one).to_be_visible()
    press_g(page)
    expect(telling[0]).to_be_hidden()
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("step=store"))
    expect(spoken).to_be_visible()
    expect(question).to_be_hidden()
