"""Odd texts on every tab of every page: nothing raises, says "nan", or becomes HTML."""

from __future__ import annotations

import pytest

from tests.app import open_page, words
from tests.pages.tabs import addresses
from tests.pages.test_useless_weights import without_number
from tfmviz.ui import icons, router

ODD = ("a", "<img src=x onerror=alert(1)> $x$ **b** 👩‍👩‍👧 says 😀 老王 <|endoftext|>", "word " * 1000)


@pytest.mark.parametrize("page", [page.name for page in router.PAGES if page.group])
def test_an_odd_text_breaks_no_tab(page: str) -> None:
    complaints = []
    for n, tab in enumerate(addresses(page)):
        for text in ODD:
            app = open_page(page, text=text, **tab)
            said = [one.value for one in app.error] + ["<img"] * ("<img" in words(app))
            said += [one for one in without_number(app) if not one.endswith(": nan")]  # of a bar that is not drawn
            if n == 0:
                said += [one.value for one in app.warning]
                cut = any(note.icon == icons.CUT for note in app.info)
                said += ["cut"] * (text != ODD[1] and cut != (text == ODD[2]))  # some models cut the second as well
            complaints += [(tab, text[:9], one) for one in said]
    assert not complaints
    assert ["Type a sentence" in warning.value for warning in open_page(page, text="").warning] == [True]
