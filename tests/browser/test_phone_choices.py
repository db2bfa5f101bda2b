"""On a phone every choice of a segmented control is in sight."""

import pytest

from tests.browser import Visit
from tests.cases import each


@pytest.mark.parametrize("width", [390])
@each("address", ["/normalisation", "/recipe?recipe=Adam", "/residual_stream?stream=Logit+lens"])
def test_no_choice_lies_beyond_the_edge(visit: Visit, address: str) -> None:
    page = visit.open(address, drawn=".stButtonGroup")
    rights = page.locator(".stButtonGroup button").evaluate_all(
        "all => all.map((node) => node.getBoundingClientRect().right)"
    )
    assert max(rights) <= 390
