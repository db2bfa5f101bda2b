"""The first page: Streamlit's own, with what it is to know and to fetch at once."""

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from tfmviz import security
from tfmviz.ui import document, projector, scripts
from tfmviz.ui.document import STATIC, Document
from tfmviz.ui.router import PAGES

ORIGINAL = (STATIC / "index.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def client() -> TestClient:
    inner = Starlette(routes=[scripts.route(), Route("/{path:path}", lambda _: PlainTextResponse("inner"))])
    return TestClient(Document(inner, security.HERE))


def test_a_page_is_streamlits_and_all_that_it_names_besides_is_there_and_may_run(client: TestClient) -> None:
    for page in PAGES:
        answer = client.get("/" if page.name == "home" else f"/{page.name}")
        html = answer.text
        assert answer.headers["content-type"].startswith("text/html")
        assert html.startswith(ORIGINAL.split("</head>")[0]), page.name
        ours = html[len(ORIGINAL.split("</head>")[0]) :].replace(projector.STYLE + projector.WAITING, "")
        assert ours.endswith(ORIGINAL.split("</head>")[1]), page.name
        links = re.findall(r'modulepreload" crossorigin fetchpriority="low" href="\./([^"]+)"', html)
        assert len(links) == len(set(links)), page.name
        missing = [link for link in links if not (STATIC / link).exists()]
        assert missing, "our views are not named"
        assert [link for link in missing if client.get(f"/{link}").headers["content-type"][:4] != "text"] == []
        assert all(link.startswith("views/") for link in missing)
        inline = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
        allowed = [f"'sha256-{b64encode(sha256(line.encode()).digest()).decode()}'" for line in inline]
        assert all(one in security.policy("") for one in allowed), page.name


def test_streamlits_parts_come_with_all_that_they_import(client: TestClient) -> None:
    """One that is not named is asked for only when another has come."""
    links = set(re.findall(r'href="\./static/js/([^"]+)"', client.get("/explorer").text))
    links |= set(re.findall(r'src="\./static/js/([^"]+)"', ORIGINAL))
    assert any(name.startswith("BidiComponent.") for name in links)
    for name in links:
        code = (STATIC / "static" / "js" / name).read_text(encoding="utf-8")
        assert set(re.findall(r'(?:from|import)"\./([\w.-]+\.js)"', code)) <= links, name


def test_a_browser_that_has_the_page_is_told_so_and_all_else_is_the_apps(client: TestClient) -> None:
    first = client.get("/explorer")
    again = client.get("/explorer", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.head("/explorer").content == b""
    assert "private" in first.headers["cache-control"]
    for method, path in (("GET", "/nowhere"), ("GET", "/explorer/_stcore/health"), ("GET", "/favicon.png")):
        assert client.request(method, path).text == "inner"
    html = {"Accept": "text/html,*/*"}
    assert client.get("/nowhere", headers=html).text == client.get("/").text
    for path in ("/explorer/_stcore/health", "/favicon.png", "/views/none"):
        assert client.get(path, headers=html).text != client.get("/").text, path


def test_all_scripts_that_a_page_names_come_compressed_to_who_takes_that_once_there_was_time(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document, "_compressed", {})
    html = client.get("/explorer").text
    names = set(re.findall(r'(?:href|src)="\./((?:static|views)/[^"]+\.(?:js|css))"', html))
    assert len(names) > 50
    sizes = []
    paths = {name: STATIC / name if name.startswith("static/") else scripts.FILES / Path(name).name for name in names}
    for name, path in paths.items():
        early = client.get(f"/{name}", headers={"Accept-Encoding": "gzip"})
        assert early.content == path.read_bytes(), name
        assert "content-encoding" not in early.headers, name
        assert "immutable" in early.headers["cache-control"], name
    document.compress()
    for name, path in paths.items():
        answer = client.get(f"/{name}", headers={"Accept-Encoding": "gzip"})
        assert answer.headers["content-encoding"] == "gzip", name
        assert answer.content == path.read_bytes(), name
        sizes.append((int(answer.headers["content-length"]), path.stat().st_size))
        plain = client.get(f"/{name}", headers={"Accept-Encoding": "identity"})
        assert "content-encoding" not in plain.headers, name
    assert np.divide(*np.sum(sizes, axis=0)) < 0.4
