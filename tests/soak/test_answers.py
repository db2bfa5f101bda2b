"""No answer costs more than its budget: every tab with the worst texts, every setting at its ends."""

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from tests.hostile.texts import WORST
from tests.pages.tabs import Address, addresses
from tests.soak import answers
from tests.soak.costs import cost_of
from tfmviz.ui import router

pytestmark = pytest.mark.soak

Asking = Callable[[str, Address], Iterator[answers.Asked]]

EVERY_TAB = [
    pytest.param(page.name, tab, id=" ".join([page.name, *tab.values()]))
    for page in router.PAGES
    if page.name != "home"  # it leads a text on to the explorer
    for tab in addresses(page.name)
]


@pytest.mark.parametrize("asked", [answers.long_texts, partial(answers.settings, text=WORST["990 words"])])
@pytest.mark.parametrize(("page", "tab"), EVERY_TAB)
def test_no_answer_costs_more_than_the_budget(page: str, tab: Address, asked: Asking) -> None:
    costs = {name: cost_of(run) for name, run in asked(page, tab)}
    assert {name: cost for name, cost in costs.items() if cost.is_too_much} == {}
