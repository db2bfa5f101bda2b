"""A reader without a browser: the browser's half of Streamlit's protocol, over a websocket.

It asks for a page, types sentences and reads what comes back, as Streamlit 1.67's front end does: it sends the address
and the messages it still holds with every run, and takes references to them in place of the messages. It draws nothing.
"""

import asyncio
import json
import time
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode
from urllib.request import urlopen

from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.TextArea_pb2 import TextArea
from websockets.asyncio.client import ClientConnection, connect

BOX = "Your sentence"
"""How the label of the sentence box begins."""

PATIENCE = 600.0
"""Seconds until an answer is given up."""

COMPLETE = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
"""How the script, or the fragment of a page, has run to its end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What one run of the script sent.

    Attributes:
        seconds: from asking (at the first visit: from connecting) to the last message.
        elements: everything the run drew, in its order.
        complete: the run reached its end.
        menus: the groups of each menu that was sent; Streamlit's own, of files in `pages/`, has none.
        expected: the text that the explorer is to show; None where there is no explorer, or no text was sent.
        begun: how often the script began anew.
    """

    seconds: float
    elements: tuple[Element, ...]
    complete: bool
    menus: tuple[list[str], ...]
    expected: str | None = None
    begun: int = 0

    @property
    def problems(self) -> list[str]:
        """Exceptions and errors on the screen, a run that broke off, an explorer that shows another text."""
        found = [] if self.complete else ["the script did not compile"]
        if not all(map(any, self.menus)):
            found.append("a page ran alone, under Streamlit's own menu")
        if self.expected is not None and self.explored != self.expected:
            found.append(f"the explorer shows {self.explored!r} in place of {self.expected!r}")
        for element in self.elements:
            if element.HasField("exception"):
                found.append(f"{element.exception.type}: {element.exception.message}")
            elif element.HasField("alert") and element.alert.format == Alert.ERROR:
                found.append(element.alert.body)
        return found

    @property
    def box(self) -> TextArea | None:
        boxes = (element.text_area for element in self.elements if element.HasField("text_area"))
        return next((box for box in boxes if box.label.startswith(BOX)), None)

    @property
    def explored(self) -> str | None:
        """The text whose attention the explorer got; None if it got none. `views.payload` describes its bytes."""
        for element in self.elements:
            data = element.bidi_component.bytes
            if data and element.bidi_component.component_name.endswith("explorer"):
                header = json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])
                return "".join(header["texts"]["target"]["tokens"])
        return None


class Session:
    """One tab. `opened` makes it; it is used by one task at a time, and closed with `close`."""

    def __init__(self, socket: ClientConnection, query: str) -> None:
        self._socket = socket
        self._query = query
        self._page = ""
        self._box: TextArea | None = None
        self._below = ""
        self._explores = False
        self._held: dict[str, tuple[ForwardMsg, int]] = {}
        self._menus: list[list[str]] = []
        self._runs = self._begun = 0
        self._kept_runs = 0

    @property
    def has_box(self) -> bool:
        """Whether a sentence can be typed: the list of all pages has no box for one."""
        return self._box is not None

    async def enter(self, text: str, *, due: float | None = None) -> Answer:
        """Types a sentence into the box and presses Enter.

        Args:
            due: when that should have happened, on `time.perf_counter`; the answer's seconds count from then.
        """
        began = time.perf_counter() if due is None else due
        await self._type(text)
        return await self.answer(text if self._explores else None, began=began)

    async def hurry(self, text: str, then: str) -> Answer:
        """Types two sentences into the explorer's box, the second before the end of the first's run has been read.

        Returns:
            The answer to the second.
        """
        await self._type(text)
        while (message := await self._message()).WhichOneof("type") != "script_finished":
            self._take(message, [])
        began = time.perf_counter()
        await self._type(then)
        self._take(message, [])
        return await self.answer(then, began=began)

    async def ask(self, asked: BackMsg) -> None:
        """Asks for a run of the script, on this page and with the messages that are here."""
        asked.rerun_script.query_string = self._query
        asked.rerun_script.page_script_hash = self._page
        asked.rerun_script.cached_message_hashes.extend(self._held)
        await self._socket.send(asked.SerializeToString())

    async def answer(self, expected: str | None = None, *, began: float) -> Answer:
        """Waits for the real end of what was asked for: a run may end early because another one follows.

        Args:
            expected: text that the explorer is to show.
            began: when the waiting began, on `time.perf_counter`.

        Raises:
            TimeoutError: the end did not come within `PATIENCE`.
        """
        elements: list[Element] = []
        self._begun = 0
        self._menus.clear()
        async with asyncio.timeout(PATIENCE):
            while (end := self._take(await self._message(), elements)) is None:
                pass
        answer = Answer(
            seconds=time.perf_counter() - began,
            elements=tuple(elements),
            complete=end in COMPLETE,
            menus=tuple(self._menus),
            expected=expected,
            begun=self._begun,
        )
        self._box = answer.box or self._box
        self._explores = self._explores or answer.explored is not None
        return answer

    async def close(self) -> None:
        await self._socket.close()

    async def _type(self, text: str) -> None:
        if self._box is None:
            raise RuntimeError("The page has drawn no sentence box.")
        asked = BackMsg()
        asked.rerun_script.widget_states.widgets.add(id=self._box.id, string_value=text)
        asked.rerun_script.fragment_id = self._below
        if key := self._box.query_param_key:
            self._query = urlencode(dict(parse_qsl(self._query)) | {key: text})
        await self.ask(asked)

    async def _message(self) -> ForwardMsg:
        """The next message, in full: one that the server knows to be here comes as a reference."""
        message = ForwardMsg.FromString(bytes(await self._socket.recv(decode=False)))
        if message.WhichOneof("type") == "ref_hash":
            message, _ = self._held[message.ref_hash]
        if message.metadata.cacheable:
            self._held[message.hash] = message, self._runs
        return message

    def _take(self, message: ForwardMsg, elements: list[Element]) -> int | None:
        """Notes what a message says; returns how the run has ended, None while it goes on."""
        match message.WhichOneof("type"):
            case "new_session":
                self._begun += 1
                self._page = message.new_session.page_script_hash
                self._kept_runs = message.new_session.config.max_cached_message_age or self._kept_runs
                elements.clear()  # what an abandoned run has drawn is drawn again
            case "navigation":
                self._page = message.navigation.page_script_hash
                self._menus.append([*message.navigation.sections])
            case "delta" if message.delta.WhichOneof("type") == "new_element":
                elements.append(message.delta.new_element)
                if message.delta.new_element.HasField("text_area"):
                    self._below = message.delta.fragment_id
            case "page_info_changed":
                self._query = message.page_info_changed.query_string
            case "script_finished" if message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                self._runs += 1
                oldest = self._runs - self._kept_runs
                self._held = {key: held for key, held in self._held.items() if held[1] >= oldest}
                return message.script_finished
        return None


def cookie_from(address: str) -> str:
    """What a browser that has no cookie is given before its first session; empty if nothing is."""
    with urlopen(f"{address}/_stcore/host-config", timeout=PATIENCE) as answer:
        given = answer.headers.get_all("Set-Cookie") or []
    return next((one.partition(";")[0] for one in given if one.startswith("tfmviz_reader=")), "")


async def opened(
    address: str, page: str = "explorer", query: str = "", *, cookie: str | None = None
) -> tuple[Session, Answer]:
    """Goes to a page of the app at an address such as "http://127.0.0.1:8501"; home has no name.

    Args:
        cookie: of the browser whose tab this is; empty if it keeps none, None for a browser of its own.
    """
    if cookie is None:
        cookie = await asyncio.to_thread(cookie_from, address)
    began = time.perf_counter()
    socket = await connect(
        f"{address.replace('http', 'ws', 1)}/_stcore/stream",
        subprotocols=["streamlit"],  # type: ignore[list-item]
        additional_headers={"Cookie": cookie} if cookie else {},
        compression=None,
        max_size=None,
        open_timeout=PATIENCE,
        ping_interval=None,  # a busy server answers late
    )
    session = Session(socket, query)
    asked = BackMsg()
    asked.rerun_script.page_name = page
    await session.ask(asked)
    return session, await session.answer(began=began)
