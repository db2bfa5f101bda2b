"""A text of one token: what a page counts is written as one then."""

from __future__ import annotations

import re

import pytest

from tests.app import open_page, words
from tests.pages.tabs import addresses
from tfmviz.ui import router

ONE = re.compile(r"(?<![\d.,])(?<!of )(?<!the )(?<!− )1 ([a-z]+s)\b|\b1 of (?:the )?\d+ [a-z]+s are\b")
"""“1 tokens”, “1 of the 8 heads are”."""

OTHERS = {"is", "was", "has", "does", "times", "less", "plus", "minus", "nats", "ms", "replaces"}
"""Words after a 1 that are no plurals of what is counted."""


@pytest.mark.parametrize("page", [page.name for page in router.PAGES if page.group])
def test_one_is_not_written_as_several(page: str) -> None:
    for tab in addresses(page):
        app = open_page(page, text="Hi", **tab)
        said = words(app) + "\n".join(str(caption.value) for caption in app.caption)
        assert [match[0] for match in ONE.finditer(said) if match[1] not in OTHERS] == [], tab
