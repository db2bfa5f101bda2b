"""Who may ask the server, and what every answer carries. The app behind the doors says yes to everything."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

import pytest
from starlette.types import Message, Receive, Scope, Send

from tests.cases import each
from tests.hostile.spellings import CLOSED
from tfmviz import security

HEADERS = security.headers("https://moodle.example.edu")


@dataclass
class Yes:
    """An app that says yes to everybody, and notes the kinds of requests that reach it."""

    reached: list[str] = field(default_factory=list)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.reached.append(scope["type"])
        if scope["type"] == "http":
            weaker = [(b"referrer-policy", b"unsafe-url")] * 2
            await send({"type": "http.response.start", "status": 200, "headers": weaker})
            await send({"type": "http.response.body", "body": b"yes"})
        elif scope["type"] == "websocket":
            await send({"type": "websocket.accept"})


@dataclass(frozen=True)
class Answer:
    """What came back, and whether the app was asked."""

    messages: list[Message]
    reached: list[str]

    @property
    def status(self) -> int:
        return int(self.messages[0]["status"])

    @property
    def said(self) -> str:
        return bytes(self.messages[1]["body"]).decode()


def ask(*headers: tuple[str, str], path: str = "/", kind: str = "http") -> Answer:
    app, messages = Yes(), []

    async def receive() -> Message:
        raise AssertionError("nothing is read from who may not ask")

    async def send(message: Message) -> None:
        messages.append(message)

    sent = [(name.encode(), value.encode()) for name, value in headers]
    shut = security.SecurityMiddleware(app, frozenset({"attention.uni.example"}), HEADERS)
    with ThreadPoolExecutor(1) as thread:  # Playwright keeps a loop in that of the tests
        thread.submit(asyncio.run, shut({"type": kind, "path": path, "headers": sent}, receive, send)).result()
    return Answer(messages, app.reached)


@pytest.fixture(autouse=True)
def laptop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security, "gethostname", lambda: "Laptop.lan")


HERE = (
    *("localhost", "localhost:8501", "LOCALHOST:80", "localhost.", "localhost.:8501", "127.0.0.1:8501", "[::1]:8501"),
    *(
        "[::ffff:192.168.1.5]",
        "192.168.1.5:8501",
    ),  # this machine in its network; a pod, as Kubernetes asks of its health
    *("0.0.0.0:8501", "laptop:8501", "laptop.local:8501", "laptop.lan"),
    *("attention.uni.example", "Attention.Uni.Example.:443"),
)


def test_names_of_this_machine_are_known_and_what_pages_need_is_open() -> None:
    assert {host: ask(("host", host)).status for host in HERE} == dict.fromkeys(HERE, 200)
    assert ask(path="/_stcore/health").status == 200  # a probe may leave the name out
    ours = ("/", "/masks", "/views/12.js", "/static/js/index.js", "/media/12.png", "/authors", "/a later route/ü")
    for path in (*ours, "/_stcore/health", "/_stcore/host-config"):
        assert ask(("host", "localhost"), path=path).status == 200, path


TRICKS = ("evil.example", "laptop.evil.example", "evil.local", "localhost.evil.example", "uni.example", "x.localhost")


@each("name", TRICKS)
def test_a_name_that_resolves_here_by_a_trick_is_refused_in_a_sentence_that_names_the_option(name: str) -> None:
    answer = ask(("host", f"{name}:8501"), ("origin", f"http://{name}:8501"))
    assert (answer.status, answer.reached) == (403, [])
    assert f"called {name}:" in answer.said
    assert f"--allowed-host {name} " in answer.said
    assert f"TFMVIZ_ALLOWED_HOSTS={name} " in answer.said


NO_NAMES = (
    *("", " ", ":8501", "a b", "user@localhost", "localhost/", "localhost:x", "localhost,evil.example", "a..b", "ı"),
    *("[::1", "::1", "[127.0.0.1]", "[::]]", "<script>", "localhost:123456", "a" * 5000),
)


def test_what_is_no_name_is_refused_and_not_repeated() -> None:
    twice = [ask(("host", "localhost"), ("host", other)) for other in ("evil.example", "localhost")]
    for answer in (*(ask(("host", host)) for host in NO_NAMES), *twice):
        assert (answer.status, answer.reached) == (400, [])
        assert answer.said == "The request does not say which server it is for."


OWN: tuple[tuple[str, list[str]], ...] = (
    *(("localhost:8501", []), ("localhost:8501", ["http://localhost:8501"])),
    *(("[::1]:8501", ["http://[::1]:8501"]), ("localhost.:8501", ["http://localhost.:8501"])),
    ("attention.uni.example", ["https://attention.uni.example"]),  # https ends at a proxy
)
FROM_ELSEWHERE = (
    *("http://localhost:9999", "http://localhost", "http://127.0.0.1:8501", "http://evil.example", "", "null"),
    *("http://localhost:8501.evil.example", "http://localhost:8501@evil.example", "http://LOCALHOST:8501", "file://"),
    *("chrome-extension://localhost:8501", "http://evil.example http://localhost:8501"),
    "http://localhost:8501 http://evil.example",
)
NOT_OWN = ((None, ["http://localhost:8501"]), *(("localhost:8501", said.split(" ")) for said in FROM_ELSEWHERE))


@each("kind, reached", [(kind, reached) for kind in ("http", "websocket") for reached in (True, False)])
def test_only_the_apps_own_pages_may_ask(kind: str, reached: bool, caplog: pytest.LogCaptureFixture) -> None:
    for host, origins in OWN if reached else NOT_OWN:
        caplog.clear()
        named = [] if host is None else [("host", host)]
        path = "/_stcore/stream" if kind == "websocket" else "/"
        answer = ask(*named, *(("origin", origin) for origin in origins), path=path, kind=kind)
        assert answer.reached == ([kind] if reached else []), (host, origins)
        if kind == "websocket":
            assert answer.messages[0]["type"] == ("websocket.accept" if reached else "websocket.close")
            assert bool(caplog.messages) is not reached  # a browser does not say why it has no session
        elif not reached:
            assert (answer.status, answer.said[:41]) == (403, "The request comes from another site's pag")


@each("spelling", CLOSED)
def test_what_is_for_the_owner_is_closed_however_it_is_spelled(spelling: str) -> None:
    path = unquote((urlsplit(spelling).path if spelling.startswith("http") else spelling).partition("?")[0])
    for kind in ("http", "websocket"):  # the path is that which a server has decoded
        assert ask(("host", "localhost"), path=path, kind=kind).reached == []


@each("asked", [{}, {"path": "/_stcore/metrics"}])
def test_every_answer_carries_each_header_once_whatever_the_app_says(asked: dict[str, str]) -> None:
    answer = ask(("host", "localhost"), **asked)
    names = [name.decode().lower() for name, _ in answer.messages[0]["headers"]]
    said = {name.decode().lower(): value.decode() for name, value in answer.messages[0]["headers"]}
    assert len(names) == len(set(names))
    assert {name: said[name.lower()] for name in HEADERS} == HEADERS


def test_the_policy_names_the_sites_that_may_frame_the_app() -> None:
    assert security.policy("").endswith("; frame-ancestors 'self'")
    framed = security.policy(" https://a.example\nhttps://b.example ")
    assert framed.endswith("frame-ancestors 'self' https://a.example https://b.example")
    assert "'unsafe-eval'" not in security.policy("")
