"""No answer costs more than its budget: every tab with the worst texts, every setting at its ends."""

from __future__ import annotations

import pytest

from tests.hostile.texts import WORST
from tests.pages.tabs import Address, addresses
from tests.soak import answers
from tests.soak.costs import cost_of
from tfmviz.ui import router

pytestmark = pytest.mark.soak

EVERY_TAB = [
    pytest.param(page.name, tab, id=" ".join([page.name, *tab.values()]))
    for page in router.PAGES
    if page.name != "home"  # it leads a text on to the explorer
    for tab in addresses(page.name)
]


@pytest.mark.parametrize(("page", "tab"), EVERY_TAB)
def test_the_worst_texts_stay_within_the_budget(page: str, tab: Address) -> None:
    costs = {name: cost_of(run) for name, run in answers.long_texts(page, tab)}
    assert {name: cost for name, cost in costs.items() if cost.is_too_much} == {}


@pytest.mark.parametrize(("page", "tab"), EVERY_TAB)
def test_every_setting_at_its_ends_stays_within_the_budget(page: str, tab: Address) -> None:
    costs = {name: cost_of(run) for name, run in answers.settings(page, tab, WORST["990 words"])}
    assert {name: cost for name, cost in costs.items() if cost.is_too_much} == {}
