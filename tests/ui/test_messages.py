"""What of a session's messages reaches Streamlit."""

from starlette.types import Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg

from tests.classroom.crowd import together
from tfmviz.ui.messages import OfPages

STEERS = ("clear_cache", "load_git_info", "set_run_on_save", "debug_disconnect_websocket", "debug_shutdown_runtime")


def heard(*frames: Message, path: str) -> list[Message]:
    """What reaches an app behind the messages' door, up to the reader's leaving."""
    waiting = [*frames, {"type": "websocket.disconnect"}]
    found: list[Message] = []

    async def app(_scope: Scope, receive: Receive, _send: Send) -> None:
        while (message := await receive())["type"] != "websocket.disconnect":
            found.append(message)

    async def receive() -> Message:
        return waiting.pop(0)

    async def send(_: Message) -> None:
        raise AssertionError("nothing is said")

    together(OfPages(app)({"type": "websocket", "path": path}, receive, send))
    return found


def test_a_session_hears_nothing_that_steers_the_server_and_other_websockets_hear_all() -> None:
    said = [BackMsg(**{kind: True}).SerializeToString() for kind in STEERS]  # type: ignore[arg-type]
    run = BackMsg()
    run.rerun_script.query_string = "text=é"
    said.insert(2, run.SerializeToString())
    frames: list[Message] = [{"type": "websocket.receive", "bytes": one} for one in said]
    assert heard(*frames, path="/_stcore/stream") == [frames[2]]
    frame = {"type": "websocket.receive", "text": "{}"}
    assert heard(frame, path="/live") == [frame]
    assert heard(frame, path="/_stcore/stream") == []
