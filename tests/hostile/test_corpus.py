"""Every page meets what once hurt: no exception, and no answer that the fuse has to end."""

from collections.abc import Iterator
from itertools import cycle, islice

import pytest

from tests.app import opened, title
from tests.hostile.addresses import NUMBERS, ONCE_HURT, WORDS, parameters
from tests.hostile.texts import ODD
from tests.pages.tabs import Address, addresses
from tfmviz.ui import router
from tfmviz.ui.run_queue import TOO_MUCH

AT_ONCE = 3
"""Senseless values that an address holds: its parameters take them in turn."""


def senseless() -> Iterator[tuple[str, Address]]:
    """All numbers and words, spread over all tabs of all pages."""
    values, texts = [*NUMBERS, *WORDS], cycle(ODD)
    tabs = [(page.name, tab) for page in router.PAGES for tab in addresses(page.name)]
    step = len(tabs) // (len(values) // AT_ONCE)
    for first, (page, tab) in zip(range(0, len(values), AT_ONCE), islice(tabs, 0, None, step), strict=False):
        given = cycle(values[first : first + AT_ONCE])
        yield page, {name: next(given) for name in parameters(page)} | {"text": next(texts)} | tab


@pytest.mark.parametrize(("page", "address"), [*ONCE_HURT, *senseless()])
def test_a_hostile_address_is_answered(page: str, address: Address) -> None:
    app = opened(page, address).run()
    assert [one.message for one in app.exception] == []
    assert TOO_MUCH not in [one.value for one in app.error]
    assert title(app)
