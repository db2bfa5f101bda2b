"""Models without weights: only names and shapes, until weights are loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode


@contextmanager
def unfilled() -> Iterator[None]:
    """Modules built within have parameters on torch's "meta" device, which take no memory; nothing is drawn."""
    with torch.device("meta"), _NothingIsDrawn():
        yield


class _NothingIsDrawn(TorchFunctionMode):
    """Skips random initialisation: drawing on "meta" would make torch import its compiler, which takes 0.9 s."""

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        named = kwargs or {}
        if function in (nn.init.normal_, Tensor.normal_):
            return named["tensor"] if "tensor" in named else args[0]
        return function(*args, **named)
