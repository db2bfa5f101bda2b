"""A loaded model from before the transformer, with its tokenizer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfmviz.model.earlier import EarlierConfig
from tfmviz.record.edits import Edit
from tfmviz.record.trace import Array, Encoding, Trace
from tfmviz.record.weights import RecurrentWeights
from tfmviz.text.foreign import ForeignTokenizer
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.zoo.values import recorded

if TYPE_CHECKING:
    from tfmviz.model.build import Earlier


@dataclass(frozen=True, kw_only=True, eq=False)
class EarlierModel:
    """A language model from before the transformer. Like `ZooModel` it keeps no state of a run.

    It has no attention and no stacks, so it answers with records alone.
    """

    name: str
    config: EarlierConfig
    tokenizer: Tokenizer | ForeignTokenizer
    module: Earlier

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """One readable string per entry of the vocabulary, in the order of the columns of `logits`."""
        return self.tokenizer.vocabulary

    def trace(
        self, inputs: str | Sequence[int], edits: tuple[Edit, ...] = (), sites: Iterable[str] | None = None
    ) -> Trace:
        """Runs the model and keeps the values it computes; see `Traceable.trace`."""
        text = self.encode(inputs)
        if not text.ids:
            raise ValueError("There is no text to run the model on. Type at least one character.")
        return Trace(target=text, edits=edits, values=recorded(self.module, text.ids, edits, sites))

    def values_at(self, site: str, texts: Sequence[Sequence[int]] | Array) -> Array:
        """One site's value on several texts of the same length, in one forward pass: (text, …)."""
        import torch

        from tfmviz.record.tap import Recorder

        recorder = Recorder(sites=(site,))
        with torch.inference_mode():
            self.module(torch.tensor(texts), tap=recorder)
        recorder.check()
        return recorder.values[site].numpy()

    def logits_after(self, texts: Sequence[Sequence[int]]) -> Array:
        """Logits of the token that comes next, after several texts of the same length: (text, vocab)."""
        import torch

        with torch.inference_mode():
            return self.module.after(torch.tensor(texts)).numpy()

    def pull(self, ids: Sequence[int]) -> Array:
        """How strongly each token's vector moves the prediction after the text; see `model.connectivity`."""
        from tfmviz.model.connectivity import pull

        return pull(self.module, ids)

    def recurrent_weights(self, layer: int) -> RecurrentWeights:
        """What carries the state of a recurrent layer from step to step.

        Raises:
            ValueError: the model has no such layer.
        """
        from tfmviz.model.recurrent import RecurrentModel, weights_of

        if not isinstance(self.module, RecurrentModel) or not 0 <= layer < len(self.module.rnn):
            raise ValueError(f"{self.name} has no recurrent layer {layer}.")
        return weights_of(self.module, layer)

    def encode(self, inputs: str | Sequence[int]) -> Encoding:
        """The tokens that the model reads."""
        if isinstance(inputs, str):
            return self.tokenizer.encode(inputs, max_len=self.config.max_len)
        return self.tokenizer.encoding_of(inputs, max_len=self.config.max_len)
