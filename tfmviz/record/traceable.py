"""The seam between models and pages: what a house model and a foreign one both answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from tfmviz.record.edits import Edit
from tfmviz.record.trace import Trace
from tfmviz.record.weights import ModelWeights, PositionEffects


class Traceable(Protocol):
    """What every page needs of a model: its name, its vocabulary, its weights and a way to run it on a text."""

    @property
    def name(self) -> str: ...

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """One readable string per column of `logits`."""
        ...

    def trace(
        self, inputs: str | Sequence[int], edits: tuple[Edit, ...] = (), sites: Iterable[str] | None = None
    ) -> Trace:
        """Runs the model once.

        Args:
            inputs: what the reader typed, or vocabulary indices; cut at the model's context
                (`Trace.target.n_dropped` says by how much).
            edits: interventions to apply on the way.
            sites: names to keep, `*` standing for anything; None keeps everything.

        Raises:
            ValueError: there is no token in `inputs`, or an edit does not fit the model.
            NotCaptured: a name in `sites` fits nothing the model computes.
        """
        ...

    @property
    def weights(self) -> ModelWeights:
        """The model's matrices."""
        ...

    def position_effects(self, stack: str, length: int) -> PositionEffects:
        """What the position scheme of "encoder" or "decoder" does to a text of `length` tokens.

        Raises:
            ValueError: a learned table has fewer positions.
        """
        ...
