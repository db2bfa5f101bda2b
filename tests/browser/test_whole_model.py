"""What only a browser shows of the whole model: zooming, following, playing, links, widths, files, access."""

import re

from playwright.sync_api import Page, expect

from tests.browser import AT_REST, Visit, box_of, keys, tool

PAGE = "/whole_model?text=The+cat+sat+on+the+mat.&model=tiny-english"
DRAWN = ".st-key-whole_model .hits button"


def part(page: Page, name: str) -> None:
    page.get_by_role("button", name=re.compile(f"^{re.escape(name)} ")).first.click()


def says(page: Page, label: str, *, so: bool = True) -> None:
    """Waits until the picture says so, or no longer, to those who cannot see it."""
    picture = expect(page.locator(".whole canvas[role=img]"))
    (picture.to_have_attribute if so else picture.not_to_have_attribute)("aria-label", re.compile(label))


def row(page: Page, tokens: int, number: int) -> dict[str, float]:
    """Where to click on a token's vector: the last of the picture's rows end at its lower edge."""
    box = box_of(page.locator(".st-key-whole_model .stage"))
    return {"x": box["width"] / 2, "y": box["height"] - 14 - 24 * (tokens - number) + 12}


def test_a_click_on_a_row_follows_it_one_on_a_layer_opens_it_and_one_on_a_head_opens_that(visit: Visit) -> None:
    page = visit.open(PAGE, drawn=DRAWN)
    page.locator(".whole .stage").click(position=row(page, 7, 1))  # type: ignore[arg-type]
    expect(page).to_have_url(re.compile(r"token=1(&|$)"))
    expect(page.get_by_label("Follow")).to_have_value("decoder.1")
    page.wait_for_function(AT_REST)  # the answer has come
    tool(page, "Values").click()
    table = page.locator("dialog.values table")
    expect(table.locator("caption")).to_have_text("Decoder, token 1 cat")
    expect(table.get_by_role("row", name=re.compile(r"layer 0 .* 0\.\d+$"))).to_be_visible()
    page.keyboard.press("Escape")
    part(page, "layer 2")
    expect(page).to_have_url(re.compile(r"zoom=block"))
    says(page, "Decoder, layer 2")
    page.get_by_role("button", name="Open head 5").click()
    expect(page).to_have_url(re.compile(r"zoom=head"))
    says(page, "layer 2, head 5")
    expect(page.locator(".st-key-whole_model .zooms [aria-pressed=true]")).to_have_text("Head 5")
    page.reload()
    page.wait_for_selector(DRAWN, state="attached")
    says(page, "layer 2, head 5")
    page.get_by_role("button", name="Whole model").click()
    expect(page).not_to_have_url(re.compile("zoom"))
    expect(page.get_by_role("button", name=re.compile("^layer 5 "))).to_be_attached()
    visit.enter("<b>One</b> two")
    expect(page.get_by_label("Follow").locator("option").nth(1)).to_contain_text("b")
    expect(page.locator(".whole b")).to_have_count(0)
    says(page, "7 tokens", so=False)


def test_pointing_says_what_is_there_and_moves_nothing_and_keys_steps_and_play_go_on(visit: Visit) -> None:
    page = visit.open(f"{PAGE}&token=3", drawn=DRAWN)
    tip, legend = page.locator(".whole .tip"), page.locator(".whole .legend")
    place = box_of(legend)
    page.locator(".whole .stage").hover(position=row(page, 7, 2))  # type: ignore[arg-type]
    expect(tip).to_contain_text("“sat”")
    page.get_by_role("button", name=re.compile("^norm ")).hover()
    expect(tip).to_contain_text("512 parameters")
    expect(page.locator(".whole .followed")).to_have_css("background-color", "rgba(0, 0, 0, 0)")  # the model is below
    assert box_of(legend) == place
    page.locator(DRAWN).first.focus()
    page.keyboard.press("ArrowRight")
    expect(tip).to_contain_text("1,572,864 parameters")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("Follow")).to_have_value("decoder.4")
    keys(page, "ArrowRight", "Enter")
    expect(page).to_have_url(re.compile("zoom=block"))
    says(page, "layer 0")
    page = visit.open(f"{PAGE}&token=1", drawn=DRAWN)
    live = page.locator(".whole [role=status]")
    for _ in range(3):
        page.get_by_role("button", name="Next →").click()
    expect(tip).to_contain_text("“cat”, layer 0: attention adds")
    expect(live).to_have_text(tip.locator("span").inner_text())
    page.get_by_role("button", name="← Back").click()
    expect(tip).to_contain_text("“cat”, × W_E")
    page.get_by_role("button", name="▶ Play").click()
    expect(tip).to_contain_text(re.compile("“cat”, layer [1-5]:"))
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="▶ Play")).to_be_visible()


def test_a_part_links_to_its_page_with_everything_set(visit: Visit) -> None:
    """The link stays while the page's answer comes: replaced between press and release, it would swallow the click."""
    page = visit.open(f"{PAGE}&zoom=head&layer=4&head=6&token=2", drawn=DRAWN)
    part(page, "q")
    link = page.locator(".whole .tip a", has_text="Step by step")
    node = link.element_handle()
    page.evaluate("() => { const { view, selection } = tfmvizViews.whole_model; view.select({ ...selection }); }")
    assert node.evaluate("node => node.isConnected")
    link.click()
    expect(page.locator("h1")).to_have_text("Step by step")
    expect(page.get_by_label("Your sentence")).to_have_value("The cat sat on the mat.")
    for choice in ("layer=4", "head=6", "token=2", "stage=qkv"):
        expect(page).to_have_url(re.compile(rf"[?&]{choice}(&|$)"))


def test_a_token_of_either_text_of_a_translator_can_be_followed(visit: Visit) -> None:
    page = visit.open("/whole_model?model=french-english&text=Je+suis+%C3%A9tudiant.", drawn=DRAWN)
    page.get_by_label("Follow").select_option("encoder.1")
    expect(page).to_have_url(re.compile("kind=encoder"))
    expect(page.locator(".whole .tip")).to_contain_text("“suis”")
    page.get_by_label("Follow").select_option("decoder.0")
    expect(page).not_to_have_url(re.compile("kind=encoder"))
    expect(page.locator(".whole .tip")).to_contain_text("“<START>” →")


def test_the_followed_row_is_in_the_window_of_a_projector(visit: Visit) -> None:
    page = visit.open("/whole_model?projector=1", drawn=DRAWN)
    page.wait_for_function(AT_REST)
    row = "tfmvizViews.whole_model.view.locate('it')"
    bottom = page.evaluate(f"() => {{ const {{ top, height }} = {row}; return top + height; }}")
    assert bottom <= 800
