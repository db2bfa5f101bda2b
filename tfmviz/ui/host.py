"""What the page around Streamlit's page may do: nothing. The app is nobody's part, even in a frame.

Streamlit's own answer lets pages of `*.streamlit.app` and others stop a script, change the address or clear the cache.
And its page shows a dialog when the connection is lost, which takes the keys from the box that somebody types in.
"""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

ADDRESS = "/_stcore/host-config"

CONFIG = {
    "allowedOrigins": [],
    "useExternalAuthToken": False,
    "enableCustomParentMessages": False,
    "enforceDownloadInNewTab": False,
    "metricsUrl": "",
    "blockErrorDialogs": True,  # `views/frame/away.ts` says what a reader needs to know
    "resourceCrossOriginMode": None,
}
"""Every setting that Streamlit's own answer has."""


@dataclass(frozen=True, slots=True)
class Nobody:
    """An ASGI application around another, which answers in its place who steers its pages from outside."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_asked = scope["type"] == "http" and scope["path"] == ADDRESS and scope["method"] in ("GET", "HEAD")
        app = JSONResponse(CONFIG, headers={"Cache-Control": "no-cache"}) if is_asked else self.app
        await app(scope, receive, send)
