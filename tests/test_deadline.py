"""The last fuse: a turn that takes too long ends with a sentence, one whose reader has left ends at once."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequests
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState
from streamlit.testing.v1 import AppTest

from tests.app import forget, open_page
from tfmviz import deadline, zoo
from tfmviz.model.block import Block
from tfmviz.model.earlier import RecurrentConfig
from tfmviz.model.linear import AT_ONCE, product
from tfmviz.ui import run_queue, waiting

TEXT = "The cat sat on the mat"


@pytest.fixture(autouse=True)
def _fresh_caches() -> Iterator[None]:
    forget()
    yield
    forget()


def test_within_a_block_and_a_thread_every_check_asks() -> None:
    asked: list[int] = []
    with deadline.watched(lambda done, of: asked.append(1)):
        deadline.check()
        with deadline.watched(lambda done, of: asked.append(2)):
            deadline.check()
        thread = threading.Thread(target=deadline.check)
        thread.start()
        thread.join()
        deadline.check()
    deadline.check()
    assert asked == [1, 2, 1]


def test_a_transformer_asks_at_every_layer_and_a_recurrent_network_at_every_token() -> None:
    asked: list[tuple[int, int]] = []
    transformer, recurrent = zoo.load("tiny-english"), zoo.load("ladder-rnn", kind=zoo.EarlierModel)
    assert isinstance(recurrent.config, RecurrentConfig)
    n = transformer.config.n_layers
    with deadline.watched(lambda done, of: asked.append((done, of))):
        transformer.trace(TEXT)
        assert asked == [(done, n) for done in range(n + 1)]
        n_tokens = len(recurrent.trace(TEXT).target.ids)
    assert len(asked) == n + 1 + recurrent.config.n_layers * n_tokens


def test_a_large_matrix_asks_at_every_part_so_that_a_layer_can_be_stopped() -> None:
    W = torch.zeros(3, AT_ONCE, dtype=torch.bfloat16)
    asked: list[int] = []
    with deadline.watched(lambda done, of: asked.append(of)):
        product(torch.ones(1, AT_ONCE), W)
    assert asked == [0] * 3


def test_a_slow_pass_says_how_far_it_is_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    def page() -> None:
        import streamlit as st

        from tfmviz import deadline
        from tfmviz.ui import run_queue

        with run_queue.slot():
            run_queue.take("model", st.session_state.get("typed", "text"))
            for _ in range(2):
                for done in range(4 + st.session_state.get("ends", 0)):
                    deadline.check(done, 4)
            st.write("drawn")

    def said() -> list[str]:
        return [str(element.value) for element in (*app.markdown, *app.info)]

    monkeypatch.setattr(waiting, "AFTER", 0.0)
    app = AppTest.from_function(page, default_timeout=60).run()
    assert [one.proto.text for one in app.get("progress")] == ["3 of 4 layers"]
    app.button[0].click().run()
    assert said() == ["Stopped."]
    app.run()
    assert said() == ["Stopped."]
    app.session_state["typed"] = "another text"
    app.run()
    assert said() == ["drawn"]
    app.button[0].click().run()
    app.session_state["ends"] = 1
    app.button(key="unstop").click().run()
    assert said() == ["drawn"]
    assert not app.get("progress")
    assert not app.button
    assert not run_queue._running


def test_a_turn_that_takes_too_long_says_so_and_gives_itself_back(monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_page("residual_stream", text="Short.")
    monkeypatch.setattr(run_queue, "LONGEST", 0.0)
    app.text_area(key="text").set_value(TEXT).run()
    assert not app.exception
    assert [error.value for error in app.error] == [run_queue.TOO_MUCH]
    assert not run_queue._running
    monkeypatch.undo()
    app.run()
    assert not app.error


def test_before_the_turn_nothing_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model is loaded before it, for all readers."""
    monkeypatch.setattr(run_queue, "LONGEST", 0.0)
    with run_queue.slot():
        deadline.check()


def in_the_second_layer(monkeypatch: pytest.MonkeyPatch, happens: Callable[[ScriptRequests], object]) -> list[Block]:
    """The layers that are computed, one after the other; something happens in the second."""
    layers: list[Block] = []
    forward = Block.forward

    def noted(self: Block, *args: Any, **kwargs: Any) -> Any:
        layers.append(self)
        if len(layers) == 2:
            run = get_script_run_ctx()
            assert run is not None
            assert run.script_requests is not None
            happens(run.script_requests)
        return forward(self, *args, **kwargs)

    monkeypatch.setattr(Block, "forward", noted)
    return layers


def test_the_work_of_a_reader_who_leaves_or_asks_anew_ends_between_two_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit asks a run to stop when its session is closed, and would let a fragment end before it runs it again."""

    def leave(requests: ScriptRequests) -> None:
        requests.request_stop()

    def ask_anew(requests: ScriptRequests) -> None:
        requests.request_rerun(RerunData(fragment_id=ThreadState.get().fragment_id))

    for does in (leave, ask_anew):
        app = open_page("residual_stream", text="Short.")
        with monkeypatch.context() as patch:
            layers = in_the_second_layer(patch, does)
            app.text_area(key="text").set_value(f"{TEXT}, {does.__name__}").run()
        assert len(layers) == 2 if does is leave else layers[2] is layers[0]
        assert not app.exception
        assert not run_queue._running
