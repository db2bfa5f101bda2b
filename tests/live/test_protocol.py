"""What a browser that asks at every key gets: what Enter would give, in order, or a sentence."""

import asyncio
import itertools
import json
import threading
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import uvicorn
from starlette.applications import Starlette
from websockets.asyncio.client import ClientConnection, connect

from tests.app import open_page, sent, views
from tests.asking import wait_until
from tests.browser import free_port
from tests.classroom.crowd import together
from tests.hostile.texts import ODD, WORST
from tests.text.panics import TEXT, panic
from tests.traces import read_arrays
from tfmviz import security
from tfmviz.text import tokenizer
from tfmviz.ui import cache, live, models, run_queue, session_cookie

Talk = Callable[[Callable[[ClientConnection], Coroutine[Any, Any, Any]]], Any]
"""Opens a connection, does something with it, and gives what came of that."""


@pytest.fixture(scope="session")
def host() -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live, "_served", False)  # pages in this process go on as without a server
        app = Starlette(routes=[live.route()])
    port = free_port()
    config = uvicorn.Config(
        security.SecurityMiddleware(app, frozenset(), {}), port=port, ws="websockets-sansio", log_level="error"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    yield f"127.0.0.1:{port}"
    server.should_exit = True
    thread.join()


@pytest.fixture
def talk(host: str) -> Talk:
    def do(doing: Callable[[ClientConnection], Coroutine[Any, Any, Any]]) -> Any:
        async def opened() -> Any:
            for _ in range(100):  # until the server listens
                try:
                    socket = await connect(f"ws://{host}/live", origin=f"http://{host}", max_size=None)  # type: ignore[arg-type]
                    break
                except ConnectionRefusedError:
                    await asyncio.sleep(0.05)
            async with socket:
                return await doing(socket)

        return together(opened())

    return do


def question(text: str | None = "The cat sat.", **other: Any) -> str:
    page = {"model": "tiny-english", "layer": "decoder.4.self_attn", "head": 3, "zoom": "", "token": None}
    page |= {key: other.pop(key) for key in page & other.keys()}
    return json.dumps({"n": 1, "text": text, "views": "explorer", "page": page} | other)


def parts(answer: str | bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """An answer taken apart: its header, and the data of each view. One in JSON has no data."""
    if isinstance(answer, str):
        return json.loads(answer), {}
    end = 4 + int.from_bytes(answer[:4], "little")
    header, found = json.loads(answer[4:end]), {}
    for name, length in header["views"].items():
        found[name] = answer[end : end + length]
        end += length
    assert end == len(answer)
    return header, found


NOT_DRAWN = "The picture of this text cannot be drawn."

LONG = "Die Donaudampfschifffahrt ist lang. " * 60
"""More than a model with 128 positions reads."""


def asking(*messages: str | bytes) -> Any:
    """Sends messages one after the other, each after the answer to the one before; gives the answers."""

    async def ask(socket: ClientConnection) -> list[tuple[dict[str, Any], dict[str, bytes]]]:
        found = []
        for message in messages:
            await socket.send(message)
            found.append(parts(await socket.recv()))
        return found

    return ask


def test_a_key_gets_what_a_page_gets_at_enter(talk: Talk) -> None:
    for model, layer, text in (
        ("tiny-english", "decoder.4.self_attn", "The cat sat on the mat."),
        ("tiny-english", "decoder.0.self_attn", " two\nlines\r\nand a space "),
        ("fill-in", "encoder.0.self_attn", LONG),
        ("fill-in", "encoder.0.self_attn", "The cat ___ on the mat."),
        ("french-english", "decoder.1.cross_attn", "Le chat dort."),
        ("twins-linear", "decoder.0.self_attn", "👩‍👩‍👧 <img onerror=alert(1)> שלום"),
    ):
        asked = question(text, model=model, layer=layer, views="explorer predictions")
        ((header, data),) = talk(asking(asked))
        app = open_page("explorer", model=model, text=text, kind=_named(layer), layer=layer.split(".")[1])
        on_page = views(app)
        assert data["explorer"] == on_page["explorer"].bytes, (model, text)
        assert json.loads(data["predictions"]) == json.loads(on_page["predictions"].json), (model, text)
        assert header["n"] == 1
        assert header["typed"]["first"] == json.loads(on_page["explorer_selection"].json)["first"], (model, text)


def test_the_whole_model_and_its_words_are_those_of_enter(talk: Talk) -> None:
    heads = (("tiny-english", "decoder.2.self_attn", 5), ("french-english", "encoder.1.self_attn", 1))
    for zoom, (model, layer, head) in itertools.product(("", "block", "head"), heads):
        about = {"model": model, "layer": layer, "head": head, "zoom": zoom, "token": 1}
        ((header, data),) = talk(asking(question("Le chat dort.", views="whole_model", **about)))
        app = open_page("whole_model", text="Le chat dort.", kind=_named(layer), **_choices(about), zoom=zoom)
        selection = sent(app, "whole_model_selection")
        assert data["whole_model"] == views(app)["whole_model"].bytes, about
        assert header["typed"] == {"first": selection["token"], "says": selection["says"]}, about


def test_the_steps_of_a_head_are_those_of_enter(talk: Talk) -> None:
    for model, layer, head in (
        ("twins-rope", "decoder.1.self_attn", 2),
        ("twins-t5", "decoder.0.self_attn", 0),
        ("french-english", "decoder.1.cross_attn", 1),
    ):
        about = {"model": model, "layer": layer, "head": head, "zoom": "", "token": None}
        ((header, data),) = talk(asking(question("Le chat dort.", views="steps", **about)))
        app = open_page("step_by_step", text="Le chat dort.", kind=_named(layer), **_choices(about))
        ours, pages = (read_arrays(found) for found in (data["steps"], views(app)["steps"].bytes))
        assert pages[1].keys() - ours[1].keys() == {f"{kind}_{of}" for kind in "Wb" for of in "QKVO"}, model
        assert ours[0] | {"arrays": None} == pages[0] | {"arrays": None}, model
        assert all(np.array_equal(array, pages[1][name]) for name, array in ours[1].items()), model
        assert header["typed"]["first"] == sent(app, "steps_selection")["token"], model


def _choices(about: dict[str, Any]) -> dict[str, str]:
    """What the address says of them."""
    chosen = {"model": about["model"], "layer": about["layer"].split(".")[1], "head": str(about["head"])}
    return chosen | ({} if about["token"] is None else {"token": str(about["token"])})


def _named(layer: str) -> str:
    return "cross-attention" if "cross" in layer else layer.split(".")[0]


def test_arrows_that_turn_get_what_their_page_gets_at_enter(talk: Talk) -> None:
    other = question("The cat sat.", model="twins-none", layer="decoder.1.self_attn", views="turning")
    for model in ("tiny-english", "twins-rope"):
        asked = question("The cat sat.", model=model, layer="decoder.1.self_attn", head=2, views="turning")
        (_, data), (header, nothing) = talk(asking(asked, other))
        app = open_page("positions_rope", model=model, text="The cat sat.", layer="1", head="2")
        assert data["turning"] == views(app)["turning"].bytes
        assert nothing == {}
        assert header["error"] == NOT_DRAWN


def test_odd_texts_end_in_a_picture_or_a_sentence_and_halves_of_a_character_in_a_page_s(talk: Talk) -> None:
    """A browser turns halves into U+FFFD when it sends a text to Streamlit."""
    texts = [*ODD, *WORST.values()]
    answers = talk(asking(*(question(text, n=n) for n, text in enumerate(texts))))
    assert [header["n"] for header, _ in answers] == list(range(len(texts)))
    assert all(data or header["error"] in (live.NOT_READ, live.TOO_LONG) for header, data in answers)
    whole, lone = question("a \U0001f600 b \ufffd"), question("a \ud83d\ude00 b \udc00")
    (_, expected), (_, found) = talk(asking(whole, lone))
    assert found == expected != {}


REFUSED: dict[str, list[str | bytes]] = {
    "This message is no JSON.": ["", "no JSON", "[" * 30_000, b"\x00\xff"],
    "This is no question about a text.": [
        *("[]", "{}", question(n=True), question(n=1.5), question(n=2**60), question(token=-1), question(token="0")),
        *(question(views=""), question(views="passwords"), question(views=["explorer"]), question(None)),
        *(question(head=-1), question(page={})),
    ],
    live.TOO_LONG: [question("a" * 5001)],
    "This message is too long.": [question("a" * 80_000)],
    live.NOT_READ: [question("")],
    "There is no such model here.": [question(model="no-model"), question(model="../tiny-english")],
    "This model is not available. Press Enter.": [question(model="run-" + "0" * 16)],
    "This model has no such head.": [question(layer="decoder.6.self_attn"), question(head=8)],
}


def test_what_is_no_question_gets_a_sentence_and_the_next_one_its_picture(talk: Talk) -> None:
    for sentence, messages in REFUSED.items():
        answers = talk(asking(*(one for message in messages for one in (message, question(n=7)))))
        for message, refused, (header, data) in zip(messages, answers[::2], answers[1::2], strict=True):
            assert refused[1] == {}, message[:80]
            assert refused[0]["error"] == sentence, message[:80]
            assert header["n"] == 7
            assert data["explorer"]
    ((_, known),) = talk(asking(question(views="explorer passwords __class__")))
    assert list(known) == ["explorer"]


def test_a_text_on_which_the_tokenizers_library_gives_up_gets_a_sentence_and_the_next_one_its_picture(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts_of = tokenizer.parts_of
    monkeypatch.setattr(tokenizer, "parts_of", lambda text, *rest: panic() if text == TEXT else parts_of(text, *rest))
    (refused, _), (header, data) = talk(asking(question(TEXT), question(n=7)))
    assert refused["error"] == NOT_DRAWN
    assert header["n"] == 7
    assert data["explorer"]


@dataclass
class Slow:
    """Pictures that are begun and end when they may."""

    begun: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    made, compute = Slow(), live.pictures

    def slowly(asked: live.Request) -> Any:
        made.begun.set()
        made.go_on.wait(60)
        return compute(asked)

    monkeypatch.setattr(live, "pictures", slowly)
    return made


def test_the_newest_of_several_questions_is_answered_and_the_others_are_not(talk: Talk, slow: Slow) -> None:
    async def hurry(socket: ClientConnection) -> list[int]:
        await socket.send(question("one", n=1))
        await asyncio.to_thread(slow.begun.wait, 60)
        for n in (2, 3, 4):
            await socket.send(question(f"number {n}", n=n))
        await (await socket.ping())  # the server has read all of them
        slow.go_on.set()
        return [parts(await socket.recv())[0]["n"] for _ in range(2)]

    assert talk(hurry) == [1, 4]


def test_a_key_waits_for_a_page_and_then_finds_the_server_busy(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "PATIENCE", 0.01)
    runs = {run_queue.Ticket(f"{n}") for n in range(max(2, run_queue.PROCESSORS))}
    keys = Counter({f"{n}": 1 for n in range(live.AT_ONCE * (1 + live.WAITING))})
    for module, name, many in ((run_queue, "_running", runs), (live, "_asked_for", keys)):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, many)
            assert talk(asking(question(n=3))) == [({"n": 3, "busy": True}, {})], name
    assert talk(asking(question()))[0][1]


def test_sixty_connections_of_one_reader_make_nobody_else_busy(host: str, talk: Talk, slow: Slow) -> None:
    def of(secret: str) -> Any:
        cookie = f"{session_cookie.COOKIE}={session_cookie.signed(secret * 32)}"
        return connect(f"ws://{host}/live", additional_headers={"Cookie": cookie}, max_size=None)

    async def flood() -> tuple[list[dict[str, Any]], dict[str, bytes]]:
        async with AsyncExitStack() as stack:
            many = [await stack.enter_async_context(of("a")) for _ in range(60)]
            other = await stack.enter_async_context(of("b"))
            await many[0].send(question())
            await asyncio.to_thread(slow.begun.wait, 60)
            for one in many[1:]:
                await one.send(question())
            said = [parts(await one.recv())[0] for one in many[1:]]
            await other.send(question())
            await (await other.ping())  # the server has read it
            slow.go_on.set()
            return said, parts(await other.recv())[1]

    assert talk(asking(question(n=None)))  # the server listens
    said, data = together(flood())
    assert said == [{"n": 1, "busy": True}] * 59
    assert data["explorer"]


def test_a_pass_that_takes_too_long_and_a_text_whose_heads_do_not_travel_at_once_end_with_a_sentence(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("tfmviz.views.travels_whole", lambda trace: False)
        assert talk(asking(question()))[0][0]["error"] == live.TOO_LONG
    monkeypatch.setattr(live, "LONGEST", -1.0)
    (slow, _), *_ = talk(asking(question("Le chat dort.", model="french-english", layer="encoder.0.self_attn")))
    assert slow == {"n": 1, "error": live.TOO_SLOW}


def test_nothing_of_what_is_typed_is_kept(talk: Talk) -> None:
    """What other readers have entered would have to go for it."""
    models.scores_on_repeats(models.found("french-english"))
    before = set(cache._results)
    talk(asking(question("Le chat dort sur la table.", model="french-english", layer="decoder.0.cross_attn")))
    assert set(cache._results) == before


def test_who_leaves_in_the_middle_of_an_answer_harms_nobody(talk: Talk) -> None:
    async def leave(socket: ClientConnection) -> None:
        await socket.send(question("I am gone"))

    for _ in range(10):
        talk(leave)
    wait_until(lambda: not live._asked_for, "what nobody waits for was answered")
    assert talk(asking(question()))[0][1]
    assert not live._asked_for


def test_a_page_says_what_it_is_before_its_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a late answer to a key could cover what has been entered."""
    monkeypatch.setattr(live, "_served", True)
    app = open_page("explorer", text="The cat sat.", layer="2", head="1", token="1")
    drawn = list(views(app))
    assert drawn.index("live") < drawn.index("explorer")
    said = sent(app, "live")
    page = {"model": "tiny-english", "layer": "decoder.2.self_attn", "head": 1, "zoom": "", "token": 1}
    opening = said.pop("opening")
    views_that_follow = {"views": "explorer predictions", "change": "", "at": "live", "parcel": None}
    assert said == {"page": page, "text": "The cat sat.", **views_that_follow}
    assert opening["The animal didn't cross the street because it was too tired."] == "it"


def test_without_the_route_and_beside_another_head_typing_waits_for_enter(monkeypatch: pytest.MonkeyPatch) -> None:
    for served, choices in ((False, {}), (True, {"with": "another head"})):
        monkeypatch.setattr(live, "_served", served)
        assert "live" not in views(open_page("explorer", **choices))
