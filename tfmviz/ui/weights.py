"""The models that a browser computes itself, in parts that a proxy can cache; served by the command `tfmviz` only."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tfmviz.paths import PROJECT
from tfmviz.ui import scripts
from tfmviz.ui.scripts import FOREVER
from tfmviz.views.engine import KNOWN, package

PART = 4_000_000
"""Most bytes of a part; HAProxy keeps none of more than six million."""

HEADERS = FOREVER | {"Content-Encoding": "identity"}
"""Compression saves a tenth of these bytes, and would cost the server a third of a second for every reader."""

_served = False


def route() -> Route:
    """The server's route; from now on, `parcel` relies on it."""
    global _served
    _served = True
    return Route("/weights/{name:path}", _answer)


def parcel(model: str) -> dict[str, Any] | None:
    """A model's address, which changes with its files, its digest and the script that computes it; None for any other
    model.
    """
    if not _served or model not in KNOWN:
        return None
    data, digest = _package(model)
    name, size = f"{model}-{digest[:20]}", len(data)
    script = f"views/{scripts.name_of('engine')}"
    return {"at": f"weights/{name}", "parts": -(-size // PART), "bytes": size, "digest": digest, "script": script}


def _answer(request: Request) -> Response:
    """Reads files, so Starlette runs it in a thread. The request is compared with the existing files."""
    name, _, part = request.path_params["name"].rpartition("/")
    model, _, digest = name.rpartition("-")
    data, whole = _package(model) if model in KNOWN else (b"", "")
    if digest == whole[:20]:
        for n, at in enumerate(range(0, len(data), PART)):
            if part == str(n):  # `int` takes "٣" for a number, and fails at five thousand digits
                return Response(data[at : at + PART], media_type="application/octet-stream", headers=HEADERS)
    return Response("There are no such weights.", status_code=404, media_type="text/plain")


@cache
def _package(model: str) -> tuple[bytes, str]:
    """Data and digest, read once: the content of an address never changes."""
    data = package(PROJECT / "assets" / "models" / model)
    return data, sha256(data).hexdigest()
