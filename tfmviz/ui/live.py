"""Live pictures: they follow each key without a run of the page; Python learns of the text only at Enter.

A browser sends one question at a time over a separate websocket, and gets the data that the page's views would get at
Enter. A question is JSON: a number `n`, the `text`, the names of the `views`, and the selection on the `page`
(`Request`). The answer is framed bytes (`views.shared.framed`): `n`, further data for the views (`typed`: the default
token, and the predictions layer by layer), and the length of the data of each view. A question without an answer comes
back as JSON: `n`, and `error`, a sentence for the reader, or `busy`.

Enter comes first: a key waits while every processor computes a page, and soon finds the server busy, as it does when
too many readers' keys wait, or another of the same reader's.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from tfmviz import deadline, views, zoo
from tfmviz.analysis.predictions import top_predictions
from tfmviz.constants import FOLLOWED_SITES, MOST_FOLLOWED, MOST_TYPED, NEXT_WORDS
from tfmviz.record.model import Model
from tfmviz.record.trace import NotCaptured, Trace
from tfmviz.ui import controls, models, run_queue, session_cookie, trained, url, whole_model_data
from tfmviz.ui.figures import show_plain_view
from tfmviz.ui.lesson import PageContext, gap_in, positions_in
from tfmviz.ui.sentences import examples_for, in_one_line, nearest
from tfmviz.ui.weights import parcel
from tfmviz.views import steps, turning, whole_model
from tfmviz.views.bars import Bars
from tfmviz.views.shared import framed
from tfmviz.words.labels import visible

AT_ONCE = max(1, run_queue.PROCESSORS // 2)
"""Keys answered at the same time: half of the processors remain for those who press Enter."""

WAITING = 4
"""Keys that may wait for each of these, each another reader's; a further one finds the server busy."""

LONGEST = 1.0
"""Seconds of a processor per key."""

PATIENCE = 0.2
"""Seconds that a key waits while every processor computes a page."""

LARGEST = 70_000
"""Characters of a message; the longest text takes 60,000 if each of its characters is spelled out."""

PAIRED = ("side_a", "side_b", "side_difference", "side_heads", "stream_change", "next_words")
"""Views of an original and a changed run that follow each touch."""

NOT_READ = "Type at least one visible character."
TOO_LONG = "This text is too long to follow each key. Press Enter."
TOO_SLOW = "This model is too slow to follow each key. Press Enter."

_served = False
_threads = ThreadPoolExecutor(AT_ONCE, "live")
_asked_for: Counter[str] = Counter()
"""By reader, the keys that are being answered or wait; only the server's loop counts them."""


class Refused(Exception):
    """The message is a sentence for the reader."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """The page's state while the reader types.

    Attributes:
        layer, head: path of the chosen attention layer, and the head.
        zoom: of the picture of the whole model, by its name in the address.
        token: chosen by the reader; None without a choice.
        views: names of those on the page, of `FOLLOWED_SITES`.
    """

    model: str
    text: str
    layer: str
    head: int
    zoom: str
    token: int | None
    views: tuple[str, ...]


def follow_changes(ctx: PageContext, by: str, change: str, *names: str, **how: object) -> None:
    """Lets views follow each touch where a pass or its result is changed, if a browser computes the model.

    Draw this before those views.

    Args:
        by: key of the view where it is changed; "b", the box of B's sentence, is Streamlit's.
        change: its current value on the page.
        names: of the views, such as `PAIRED`.
        how: see `Edited` in `views/live/comparison_source.ts`.
    """
    if parcel(ctx.model.name):
        follow(ctx, *names, edited={"by": by} | how, change=change)


def follow(ctx: PageContext, *names: str, edited: dict[str, object] | None = None, change: str = "") -> None:
    """Lets views follow each key. Draw this before them, so that the text is known when their data arrive.

    Args:
        names: of the page's views; see `FOLLOWED_SITES` and `PAIRED`.
        edited, change: see `follow_changes`.
    """
    if _served:
        page = {"model": ctx.model.name, "layer": ctx.choice.layer, "head": ctx.choice.head}
        page |= {"zoom": url.text("zoom"), "token": controls.pinned()}
        page |= {"edited": edited} if edited else {}
        data: dict[str, Any] = {"page": page, "text": ctx.text, "at": "live", "views": " ".join(names)}
        data |= {"parcel": parcel(ctx.model.name), "change": change}
        data["opening"] = {one.text: one.word for one in examples_for(ctx.model.name) if one.word}
        show_plain_view("live", data=data)


def route() -> WebSocketRoute:
    """The server's route; without it, pages wait for Enter."""
    global _served
    _served = True
    return WebSocketRoute("/live", _talk)


async def _talk(socket: WebSocket) -> None:
    """Answers one reader: always the newest question, and at most half of the time."""
    await socket.accept()
    reader = session_cookie.who(socket.cookies, socket.client.host if socket.client else "")
    newest: asyncio.Queue[str | None] = asyncio.Queue(1)
    hearing = asyncio.create_task(_hear(socket, newest))
    try:
        while (message := await newest.get()) is not None:
            began = time.monotonic()
            answer = await _answer(message, reader)
            with suppress(WebSocketDisconnect, RuntimeError):  # they left before it arrived
                await (socket.send_text(answer) if isinstance(answer, str) else socket.send_bytes(answer))
            await asyncio.sleep(min(time.monotonic() - began, LONGEST))
    finally:
        hearing.cancel()


async def _hear(socket: WebSocket, newest: asyncio.Queue[str | None]) -> None:
    message = {"type": ""}
    while message["type"] != "websocket.disconnect":
        message = dict(await socket.receive())
        if newest.full():
            newest.get_nowait()
        newest.put_nowait(None if message["type"] == "websocket.disconnect" else message.get("text") or "")


async def _answer(message: str, reader: str) -> bytes | str:
    n = None
    try:
        n, asked = understood(message)
        if not _has_place(reader):
            return json.dumps({"n": n, "busy": True})
        _asked_for[reader] += 1
        try:
            if not await _is_quiet(reader):
                return json.dumps({"n": n, "busy": True})
            typed, parts = await asyncio.get_running_loop().run_in_executor(_threads, pictures, asked)
        finally:
            _asked_for[reader] -= 1
            if not _asked_for[reader]:
                del _asked_for[reader]
    except Refused as refused:
        return json.dumps({"n": n, "error": str(refused)})
    lengths = {name: len(data) for name, data in parts.items()}
    return framed({"n": n, "typed": typed, "views": lengths}, list(parts.values()))


def _has_place(reader: str) -> bool:
    """Keys reach the threads in order, so readers take turns."""
    is_full = _asked_for.total() >= AT_ONCE * (1 + WAITING)
    return not is_full and _asked_for[reader] < session_cookie.share(reader, run_queue.PROCESSORS)


async def _is_quiet(reader: str) -> bool:
    """Waits until a processor is free of pages; False if that takes too long."""
    end = time.monotonic() + PATIENCE
    while (taken := run_queue.are_taken(reader)) and time.monotonic() < end:
        await asyncio.sleep(0.004)
    return not taken


def understood(message: str) -> tuple[int, Request]:
    """The number and the content of a question. Raises: Refused."""
    if len(message) > LARGEST:
        raise Refused("This message is too long.")
    try:
        match json.loads(message):
            case {
                "n": int(n),
                "text": str(text),
                "views": str(names),
                "page": {
                    "model": str(model),
                    "layer": str(layer),
                    "head": int(head),
                    "zoom": str(zoom),
                    "token": int() | None as token,
                },
            } if all(_counts(number) for number in (n, head, token or 0)) and set(names.split()) & set(FOLLOWED_SITES):
                text = re.sub("[\ud800-\udfff]", "\ufffd", text)  # halves of a character, as the page would get them
                known = tuple(name for name in FOLLOWED_SITES if name in names.split())
                asked = Request(
                    model=model, text=in_one_line(text), layer=layer, head=head, zoom=zoom, token=token, views=known
                )
            case _:
                raise Refused("This is no question about a text.")
    except (ValueError, RecursionError) as error:
        raise Refused("This message is no JSON.") from error
    if len(asked.text) > MOST_TYPED:
        raise Refused(TOO_LONG)
    return n, asked


def _counts(number: int) -> bool:
    return not isinstance(number, bool) and 0 <= number < 2**53


def pictures(asked: Request) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Further data for the views, and the data of each, from one run. Raises: Refused."""
    model, began = _model(asked.model), time.thread_time()

    def look(done: int, of: int) -> None:
        if time.thread_time() - began > LONGEST:
            raise Refused(TOO_SLOW)

    if asked.layer not in model.config.layers or asked.head >= model.config.attention.n_heads:
        raise Refused("This model has no such head.")
    names = [name for name in asked.views if name != "predictions" or model.config.head != "none"]
    sites = {site for name in ("explorer", *names) for site in FOLLOWED_SITES[name]}
    try:
        if not model.encode(asked.text).ids:
            raise Refused(NOT_READ)
        with deadline.watched(look):
            trace = models.run_unshared(model, asked.text, None if "*" in sites else sorted(sites))
            return _drawn(model, asked, trace, names)
    except (ValueError, NotCaptured) as error:  # the page reports the error at Enter
        raise Refused("The picture of this text cannot be drawn.") from error


def _drawn(model: Model, asked: Request, trace: Trace, names: Sequence[str]) -> tuple[dict[str, Any], dict[str, bytes]]:
    whole = all(len(text) <= MOST_FOLLOWED for text in (trace.target, trace.source) if text)
    if not (views.travels_whole(trace) if "explorer" in names else whole):
        raise Refused(TOO_LONG)
    data: dict[str, bytes] = {}
    typed: dict[str, Any] = {"first": _first(model, asked, trace.axes(asked.layer)[0].tokens, trace)}
    for name in names:
        match name:
            case "explorer":
                data[name] = models.payload_of(model, trace)
            case "predictions":
                best = top_predictions(trace.row("logits", _first(model, asked, trace.tokens, trace)), NEXT_WORDS)
                words = [visible(model.vocabulary[p.index]) for p in best]
                data[name] = json.dumps(Bars(labels=words, shares=[[p.probability for p in best]]).payload()).encode()
            case "steps":  # without the layer's matrices: they are nine tenths, and do not change with the text
                how = model.weights.attention(asked.layer), positions_in(model, trace, asked.layer)
                data[name] = steps.payload(trace, asked.layer, asked.head, *how, title=model.name, with_weights=False)
            case "turning":
                from tfmviz.positions.rope import own_frequencies

                theta = own_frequencies(model.config, asked.layer).numpy()
                shown = asked.layer, asked.head
                data[name] = turning.payload(trace, *shown, theta, max_len=model.config.max_len)
            case "whole_model":
                zoom, about = whole_model_data.zoom_of(asked.zoom), whole_model_data.subject(model, trace)
                where, head = whole_model_data.place(zoom, asked.layer, asked.head)
                data[name] = whole_model.payload(about, zoom, where, head)
                typed["says"] = whole_model_data.summary_text(model, about, zoom, where, typed["first"])
    return typed, data


def _model(name: str) -> Model:
    try:
        if not trained.is_one(name) and name not in zoo.available():
            raise Refused("There is no such model here.")
        return models.found(name)
    except zoo.ModelUnavailable as error:
        raise Refused("This model is not available. Press Enter.") from error


def _first(model: Model, asked: Request, tokens: tuple[str, ...], trace: Trace) -> int:
    return nearest(tokens, asked.token, model=model.name, text=asked.text, first=gap_in(model, trace))
