"""HAProxy before two servers that only note what they are asked: who is asked, and how often."""

import http.client
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from deploy import serve
from deploy.serve import Proxy, Replica
from tests.asking import wait_until
from tests.deploy.serving import free_ports
from tests.hostile.spellings import CLOSED


@dataclass
class Noting:
    """A server that notes what it is asked, and then answers, or hangs up without a word."""

    name: str
    answers: bool = True
    has_room: bool = True
    asked: list[str] = field(default_factory=list)

    @contextmanager
    def listening(self) -> Iterator[int]:
        """Within this block it listens on the port that is yielded."""
        noting = self

        class Handler(BaseHTTPRequestHandler):
            def handle_any(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if not (is_check := self.path in ("/_stcore/health", "/room")):
                    noting.asked.append(self.command)
                if is_check or noting.answers:
                    self.send_response(200 if noting.has_room or self.path != "/room" else 503)
                    self.end_headers()
                    self.wfile.write(noting.name.encode())

            do_GET = do_PUT = handle_any  # noqa: N815  (names that the class looks up)

            def log_message(self, format: str, *args: object) -> None:
                """Says nothing."""

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            try:
                yield server.server_address[1]
            finally:
                server.shutdown()
                thread.join()


@dataclass(frozen=True)
class Shared:
    """Two such servers behind HAProxy."""

    port: int
    proxy: Proxy
    servers: list[Noting]
    replicas: list[Replica]

    def ask(self, method: str = "GET", path: str = "/", cookie: str = "") -> tuple[int, str]:
        """Status and text of the answer to a reader, whom nobody has seen yet if there is no cookie."""
        return self.ask_for_cookie(method, path, cookie)[:2]

    def ask_for_cookie(self, method: str = "GET", path: str = "/", cookie: str = "") -> tuple[int, str, str]:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            headers = {"Cookie": cookie} if cookie else {}
            connection.request(method, path, body=b"a file" if method == "PUT" else None, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode(), answer.headers.get("Set-Cookie", "").partition(";")[0]


@pytest.fixture
def shared(haproxy: None) -> Iterator[Shared]:
    servers = [Noting("one"), Noting("two")]
    with ExitStack() as stack:
        ports = [stack.enter_context(server.listening()) for server in servers]
        replicas = [Replica(server.name, port, frozenset()) for server, port in zip(servers, ports, strict=True)]
        port = free_ports(1)
        yield Shared(port, stack.enter_context(serve.proxy(f"127.0.0.1:{port}", replicas)), servers, replicas)


def test_a_server_that_is_not_ready_gets_no_readers_until_it_is(shared: Shared) -> None:
    one, two = shared.replicas
    for path in ("/", "/static/one.js"):
        assert {shared.ask(path=f"{path}?{n}") for n in range(4)} == {(200, "one"), (200, "two")}
        shared.proxy.send_readers_to(one, ready=False)
        assert {shared.ask(path=f"{path}?{n}") for n in range(4, 8)} == {(200, "two")}
        shared.proxy.send_readers_to(one, ready=True)
        shared.proxy.send_readers_to(two, ready=False)
        assert {shared.ask(path=f"{path}?{n}") for n in range(8, 12)} == {(200, "one")}
        shared.proxy.send_readers_to(two, ready=True)


def test_a_full_server_keeps_its_readers_and_gets_no_new_ones(shared: Shared) -> None:
    cookies = {name: cookie for _, name, cookie in (shared.ask_for_cookie() for _ in range(4))}
    shared.servers[0].has_room = False
    wait_until(lambda: {shared.ask()[1] for _ in range(4)} == {"two"}, "HAProxy's question")
    assert {shared.ask() for _ in range(4)} == {(200, "two")}
    assert {(name, *shared.ask(cookie=cookies[name])) for name in cookies} == {("one", 200, "one"), ("two", 200, "two")}
    assert {shared.ask(path=f"/static/{n}.js") for n in range(4)} == {(200, "one"), (200, "two")}
    shared.servers[1].has_room = False
    wait_until(lambda: shared.ask()[0] == 503, "HAProxy's question")
    assert shared.ask()[0] == 503
    assert shared.ask(cookie=cookies["two"]) == (200, "two")


def test_a_page_is_asked_for_again_elsewhere_and_what_changes_something_is_sent_once(shared: Shared) -> None:
    shared.servers[0].answers = False
    assert {shared.ask() for _ in range(4)} == {(200, "two")}
    assert "GET" in shared.servers[0].asked
    shared.servers[1].answers = False
    assert shared.ask("PUT")[0] == 502
    assert [*shared.servers[0].asked, *shared.servers[1].asked].count("PUT") == 1


def test_what_is_for_the_owner_reaches_no_server_however_it_is_spelled(shared: Shared) -> None:
    got = {spelling: shared.ask(path=spelling)[0] for spelling in CLOSED}
    assert {spelling: status for spelling, status in got.items() if status not in (400, 404)} == {}
    assert [server.asked for server in shared.servers] == [[], []]
