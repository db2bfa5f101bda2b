"""Two servers behind HAProxy for the tests of this folder."""

import os
from collections.abc import Iterator

import pytest

from tests.browser import Server
from tests.deploy.serving import Serving, has_haproxy, serving


@pytest.fixture(scope="session")
def haproxy() -> None:
    """Asks for HAProxy; without it a test is skipped, under CI it fails."""
    if not has_haproxy():
        message = "No HAProxy found: the tests of `deploy/` did not run. `make test` says how it looks for one."
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)


@pytest.fixture(scope="session")
def served(haproxy: None) -> Iterator[Serving]:
    with serving(2) as running:
        yield running


@pytest.fixture
def server(served: Serving) -> Server:
    """In place of a server of its own, `visit` goes through HAProxy."""
    assert served.replicas[0].process
    return Server(served.address, served.replicas[0].process)
