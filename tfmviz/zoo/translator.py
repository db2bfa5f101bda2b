"""A loaded recurrent encoder-decoder with its tokenizer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfmviz.model.earlier import Seq2SeqConfig
from tfmviz.record.edits import Edit
from tfmviz.record.trace import Encoding, Trace
from tfmviz.text.tokenizer import END, Tokenizer
from tfmviz.zoo.values import to_numpy

if TYPE_CHECKING:
    from tfmviz.model.seq2seq import Seq2Seq


@dataclass(frozen=True, kw_only=True, eq=False)
class RecurrentTranslator:
    """A translator from before the transformer. Like `ZooModel` it keeps no state of a run, and is a key of a cache."""

    name: str
    config: Seq2SeqConfig
    tokenizer: Tokenizer
    module: Seq2Seq

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """One readable string per entry of the vocabulary, in the order of the columns of `logits`."""
        return self.tokenizer.vocabulary

    def encode(self, text: str) -> Encoding:
        """The tokens that the encoder reads."""
        return self.tokenizer.encode(text, max_len=self.config.max_len)

    def trace(
        self,
        inputs: str | Sequence[int],
        edits: tuple[Edit, ...] = (),
        sites: Iterable[str] | None = None,
        *,
        target: Sequence[int] | None = None,
    ) -> Trace:
        """Runs the model and keeps the values it computes; see `Traceable.trace`.

        Args:
            target: what the decoder reads after the mark; None takes the model's own greedy translation.
        """
        import torch

        from tfmviz.record.tap import Recorder

        source = self._source(inputs)
        read = (END, *(self.translate(source.ids) if target is None else target))
        recorder = Recorder(edits, sites)
        with torch.inference_mode():
            self.module(torch.tensor([source.ids]), torch.tensor([read[: self.config.max_len]]), tap=recorder)
        recorder.check()
        written = self.tokenizer.encoding_of(read, max_len=self.config.max_len)
        return Trace(target=written, source=source, edits=edits, values=to_numpy(recorder))

    def translate(self, inputs: str | Sequence[int]) -> tuple[int, ...]:
        """The greedy translation, without the mark at its end."""
        return self.translations([inputs])[0]

    def translations(self, texts: Sequence[str | Sequence[int]]) -> tuple[tuple[int, ...], ...]:
        """The greedy translations of several texts, at once."""
        from tfmviz.model.device import batch_for
        from tfmviz.model.seq2seq import translate_batch

        src, lengths = batch_for(self.module, [self._source(text).ids for text in texts])
        return tuple(
            map(tuple, translate_batch(self.module, src, lengths, mark=END, max_new_tokens=self.config.max_len - 1))
        )

    def _source(self, inputs: str | Sequence[int]) -> Encoding:
        """Raises: ValueError, when there is no token in `inputs`."""
        if isinstance(inputs, str):
            encoding = self.encode(inputs)
        else:
            encoding = self.tokenizer.encoding_of(inputs, max_len=self.config.max_len)
        if not encoding.ids:
            raise ValueError("There is no text to translate. Type at least one character.")
        return encoding
