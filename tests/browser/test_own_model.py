"""A reader's own model, from the menu to the explorer, where the server was started with `--convert`."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser import AT_REST, READY, ROOT, Server, free_port, serve, violations
from tests.huggingface.folders import write

TOLD = re.compile(r"type: ([0-9a-f]{12})\n")


@pytest.fixture
def converts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Server, Path]]:
    write(tmp_path / "all" / "my-bert", "bert")
    (tmp_path / "all" / "my-bert" / "README.md").write_text("---\nlicense: apache-2.0\n---\n")
    (tmp_path / "all" / "bad").mkdir()
    (tmp_path / "all" / "bad" / "config.json").write_text('{"model_type": "<img src=x onerror=alert(1)>"}')
    monkeypatch.setenv("TFMVIZ_MODELS", str(tmp_path / "own"))
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    said = tmp_path / "said.txt"
    with (
        said.open("wb") as log,
        serve(ROOT / "app.py", free_port(), "--convert", str(tmp_path / "all"), log=log) as server,
    ):
        yield server, said


def choose(page: Page, folder: str) -> None:
    page.get_by_role("combobox", name=re.compile("^A folder in|Choose")).last.click()
    page.get_by_role("option", name=folder).click()
    page.get_by_role("button", name="Look", exact=True).click()


def test_from_the_menu_to_the_explorer_and_away_again(converts: tuple[Server, Path], context: BrowserContext) -> None:
    server, said = converts
    page = context.new_page()
    page.goto(f"{server.address}/explorer?own_admitted=true&own_folder=my-bert")
    page.wait_for_selector(READY, timeout=120_000)
    page.get_by_role("button", name="Model: Tiny English").click()
    page.get_by_role("option", name="Your own model…").click()
    token = page.get_by_label("Token from the terminal")
    token.fill("0" * 12)
    token.press("Enter")
    expect(page.get_by_text("Wrong token.")).to_be_visible()
    token.fill(TOLD.findall(said.read_text())[-1])
    token.press("Enter")
    choose(page, "bad")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Cannot convert")
    expect(dialog.locator("img")).to_have_count(0)
    page.get_by_role("button", name="Another model").click()
    choose(page, "my-bert")
    expect(dialog).to_contain_text(re.compile(r"licence apache-2\.0, [\d.]+ MB"))
    assert violations(page, "[role=dialog]") == []
    page.get_by_role("button", name="Convert it").click()
    page.get_by_role("button", name="Show it").click()
    expect(page.get_by_role("button", name="Model: my-bert")).to_be_visible()
    expect(dialog).to_be_hidden()
    expect(page).to_have_url(re.compile(r"model=my-bert"))
    assert len(TOLD.findall(said.read_text())) == 2  # one for the next reader
    page.get_by_role("button", name="Model: my-bert").click()
    page.get_by_role("option", name="Your own model…").click()
    page.get_by_text("Remove a model").click()
    page.wait_for_function(AT_REST)  # a list that opens while the box unfolds closes again
    page.get_by_role("combobox", name=re.compile("To remove")).click()
    page.get_by_role("option", name="my-bert").last.click()
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(page.get_by_text("Remove a model")).to_be_hidden()
    assert not (said.parent / "own" / "my-bert").exists()
