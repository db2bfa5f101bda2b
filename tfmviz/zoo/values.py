"""What a recorder kept, as the arrays of a trace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from tfmviz.record.edits import Edit
from tfmviz.record.trace import Array

if TYPE_CHECKING:
    from torch import nn

    from tfmviz.record.tap import Recorder


def recorded(
    module: nn.Module, ids: Sequence[int], edits: tuple[Edit, ...], sites: Iterable[str] | None
) -> Mapping[str, Array]:
    """What a model that reads one text computes on it.

    Raises:
        NotCaptured: it computes nothing that a wanted site or an edit's site fits.
    """
    import torch

    from tfmviz.model.device import ids_for
    from tfmviz.record.tap import Recorder

    recorder = Recorder(edits, sites)
    with torch.inference_mode():
        module(ids_for(module, [ids]), tap=recorder)
    recorder.check()
    return to_numpy(recorder)


def to_numpy(recorder: Recorder) -> Mapping[str, Array]:
    """The recorded values without the batch axis, which masks lack. The arrays are read-only views of the tensors."""
    from tfmviz.model.device import to_array

    values = {}
    for site, tensor in recorder.values.items():
        array = to_array(tensor) if site.endswith(".mask") else to_array(tensor)[0]
        array.flags.writeable = False
        values[site] = array
    return MappingProxyType(values)
