"""Training runs that are broken off."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import tfmviz.training.__main__ as command
from tfmviz.training.loop import StepRecord, train


@contextmanager
def broken_off_after(step: int) -> Iterator[None]:
    """Whatever is trained inside is interrupted, as by Ctrl-C, after this step."""

    def interrupted(*args: Any, **kwargs: Any) -> Iterator[StepRecord]:
        for record in train(*args, **kwargs):
            yield record
            if record.step == step:
                raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "train", interrupted)
        with pytest.raises(KeyboardInterrupt):
            yield
