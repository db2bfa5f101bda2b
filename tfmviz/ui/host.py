"""Denies every right to a page that frames Streamlit's.

By default, pages of `*.streamlit.app` and others may stop a script, change the address or clear the cache, and a
lost connection opens a dialog, which takes the focus from the box that a reader types in.
"""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from tfmviz.capacity import BEFORE_A_SESSION

CONFIG = {
    "allowedOrigins": [],
    "useExternalAuthToken": False,
    "enableCustomParentMessages": False,
    "enforceDownloadInNewTab": False,
    "metricsUrl": "",
    "blockErrorDialogs": True,  # `views/frame/view.ts` shows the reader a message
    "resourceCrossOriginMode": None,
}
"""Every setting in Streamlit's answer."""


@dataclass(frozen=True, slots=True)
class Nobody:
    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_asked = scope["type"] == "http" and scope["path"] == BEFORE_A_SESSION and scope["method"] in ("GET", "HEAD")
        app = JSONResponse(CONFIG, headers={"Cache-Control": "no-cache"}) if is_asked else self.app
        await app(scope, receive, send)
