"""The last fuse: a turn that takes too long ends with a sentence, one whose reader has left ends at once."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.runtime.scriptrunner import get_script_run_ctx

from tests.app import forget, open_page
from tfmviz import fuse, zoo
from tfmviz.model.block import Block
from tfmviz.model.earlier import RecurrentConfig
from tfmviz.ui import turns

TEXT = "The cat sat on the mat"


@pytest.fixture(autouse=True)
def _fresh_caches() -> Iterator[None]:
    forget()
    yield
    forget()


def test_within_a_block_and_a_thread_every_check_asks() -> None:
    asked: list[int] = []
    with fuse.watched(lambda: asked.append(1)):
        fuse.check()
        with fuse.watched(lambda: asked.append(2)):
            fuse.check()
        thread = threading.Thread(target=fuse.check)
        thread.start()
        thread.join()
        fuse.check()
    fuse.check()
    assert asked == [1, 2, 1]


def test_a_transformer_asks_at_every_layer_and_a_recurrent_network_at_every_token() -> None:
    asked: list[int] = []
    transformer, recurrent = zoo.load("tiny-english"), zoo.load("ladder-rnn", kind=zoo.EarlierModel)
    assert isinstance(recurrent.config, RecurrentConfig)
    with fuse.watched(lambda: asked.append(1)):
        transformer.trace(TEXT)
        assert len(asked) == transformer.config.n_layers
        n_tokens = len(recurrent.trace(TEXT).target.ids)
    assert len(asked) == transformer.config.n_layers + recurrent.config.n_layers * n_tokens


def test_a_turn_that_takes_too_long_says_so_and_gives_itself_back(monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_page("residual_stream", text="Short.")
    monkeypatch.setattr(turns, "LONGEST", 0.0)
    app.text_area(key="text").set_value(TEXT).run()
    assert not app.exception
    assert [error.value for error in app.error] == [turns.TOO_MUCH]
    assert not turns._running
    monkeypatch.undo()
    app.run()
    assert not app.error


def test_before_the_turn_nothing_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model is loaded before it, for all readers."""
    monkeypatch.setattr(turns, "LONGEST", 0.0)
    with turns.taken():
        fuse.check()


def test_the_work_of_a_reader_who_leaves_ends_between_two_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit asks a run to stop when its session is closed; without the fuse it would read all layers first."""
    layers: list[int] = []
    forward = Block.forward

    def left_in_the_second_layer(self: Block, *args: Any, **kwargs: Any) -> Any:
        layers.append(1)
        if len(layers) == 2:
            run = get_script_run_ctx()
            assert run is not None
            assert run.script_requests is not None
            run.script_requests.request_stop()
        return forward(self, *args, **kwargs)

    app = open_page("residual_stream", text="Short.")
    monkeypatch.setattr(Block, "forward", left_in_the_second_layer)
    app.text_area(key="text").set_value(TEXT).run()
    assert len(layers) == 2
    assert not turns._running
