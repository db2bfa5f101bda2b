"""The doors, from in front of HAProxy and from in front of a server without it."""

import itertools
import re

import pytest

from deploy.serve import TEMPLATE
from tests.asking import asked, handshake
from tests.deploy.serving import Serving
from tests.deploy.test_haproxy import get, largest_script
from tests.hostile.spellings import CLOSED
from tfmviz import doors

CLOSE = {"Host": "localhost", "Connection": "close"}


@pytest.fixture(params=["HAProxy", "a server"])
def door(request: pytest.FixtureRequest, served: Serving) -> str:
    """IP address and port of what is asked."""
    if request.param == "HAProxy":
        return served.address.removeprefix("http://")
    return f"127.0.0.1:{served.replicas[0].port}"


def test_what_is_for_the_owner_is_closed_however_it_is_spelled(door: str) -> None:
    got = {spelling: asked(door, spelling, CLOSE)[0] for spelling in CLOSED}
    assert {spelling: status for spelling, status in got.items() if status not in (400, 403, 404)} == {}


def test_another_sites_page_opens_no_session_however_it_spells_the_address(door: str) -> None:
    targets = {spelling.replace("metrics", "stream").replace("%6detrics", "%73tream") for spelling in CLOSED}
    got = {one: handshake(door, host="localhost", origin="http://evil.example", target=one) for one in targets}
    assert {target: status for target, status in got.items() if status not in (400, 403, 404)} == {}


def test_haproxy_opens_what_the_servers_open_and_sets_none_of_their_headers_again() -> None:
    rules = TEMPLATE.read_text(encoding="utf-8")
    assert f"path_reg ^{doors.OPEN}$" in rules
    assert not re.findall("|".join(doors.headers("")), rules, re.IGNORECASE)


def test_only_the_apps_own_pages_open_a_session(door: str) -> None:
    own = (None, "http://localhost:8501", "https://localhost:8501")
    others = ("http://localhost:9999", "http://evil.example", "http://localhost:8501.evil", "null")
    for origin, target in itertools.product((*own, *others), ("/_stcore/stream", "/live")):
        status = handshake(door, host="localhost:8501", origin=origin, target=target)
        assert status == (101 if origin in own else 403), (origin, target)


def test_a_site_whose_name_resolves_here_is_refused_in_a_sentence(door: str) -> None:
    assert handshake(door, host="evil.example", origin="http://evil.example") == 403
    for target in ("/", "/masks", "/_stcore/health", "/a-later-route"):
        status, answer = asked(door, target, CLOSE | {"Host": "evil.example"})
        assert status == 403
        assert "--allowed-host evil.example" in answer


def test_probes_pass(door: str) -> None:
    """HAProxy's names no host; that of Kubernetes names the address of a pod."""
    assert asked(door, "/_stcore/health", {}, version="1.0")[0] == 200
    assert asked(door, "/_stcore/health", CLOSE | {"Host": "10.1.2.3:8501"})[0] == 200


def test_every_answer_carries_each_header_once(served: Serving, door: str) -> None:
    script = largest_script(served).removeprefix(served.address)
    for target in ("/", "/masks", script, "/media/none"):
        _, headers, _ = get(f"http://{door}{target}")
        for name, value in doors.headers("").items():
            assert headers.get_all(name) == [value], target
