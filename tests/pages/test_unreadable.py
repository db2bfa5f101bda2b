"""A text on which the library of tokenizers gives up: a sentence takes the place of a page that would never come."""

from __future__ import annotations

import pytest

from tests.app import open_page
from tests.text.panics import TEXT, panic
from tfmviz.text import tokenizer
from tfmviz.ui import router


def test_every_page_says_that_the_text_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages that read no text of the reader's show what they always show."""
    parts_of = tokenizer.parts_of
    monkeypatch.setattr(tokenizer, "parts_of", lambda text, *rest: panic() if text == TEXT else parts_of(text, *rest))
    app, silent = open_page("explorer", text=TEXT), []
    for page in (page.name for page in router.PAGES):
        app.switch_page(f"pages/{page}.py").run()
        assert not app.exception, page
        if not any("Change the text, or choose another model." in one.value for one in app.warning):
            silent.append(page)
    assert set(silent) == {"home", "contents", "lectures"}
