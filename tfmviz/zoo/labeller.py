"""A loaded recurrent network that labels every token, with its tokenizer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfmviz.model.earlier import LabellerConfig
from tfmviz.record.edits import Edit
from tfmviz.record.trace import Encoding, Trace
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.zoo.values import recorded

if TYPE_CHECKING:
    from tfmviz.model.labeller import Labeller


@dataclass(frozen=True, kw_only=True, eq=False)
class RecurrentLabeller:
    """A network that labels tokens. Like `ZooModel` it keeps no state of a run, and is a key of a cache."""

    name: str
    config: LabellerConfig
    tokenizer: Tokenizer
    module: Labeller

    def encode(self, inputs: str | Sequence[int]) -> Encoding:
        """The tokens that the model reads."""
        if isinstance(inputs, str):
            return self.tokenizer.encode(inputs, max_len=self.config.max_len)
        return self.tokenizer.encoding_of(inputs, max_len=self.config.max_len)

    def trace(
        self, inputs: str | Sequence[int], edits: tuple[Edit, ...] = (), sites: Iterable[str] | None = None
    ) -> Trace:
        """Runs the model and keeps the values it computes; see `Traceable.trace`."""
        text = self.encode(inputs)
        if not text.ids:
            raise ValueError("There is no text to label. Type at least one character.")
        return Trace(target=text, edits=edits, values=recorded(self.module, text.ids, edits, sites))
