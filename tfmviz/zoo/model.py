"""Loaded models with their tokenizers. They keep no state of a run, so any number of threads may trace concurrently."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Generic, Self, TypeVar

import torch
from torch import Tensor, nn

from tfmviz.constants import NO_TEXT
from tfmviz.model.attention import Attention
from tfmviz.model.build import Config, Earlier
from tfmviz.model.config import ModelConfig
from tfmviz.model.device import batch_for, device_of, ids_for, to_array
from tfmviz.model.earlier import EarlierConfig, LabellerConfig, Seq2SeqConfig
from tfmviz.model.generate import reader_of, steps, without
from tfmviz.model.labeller import Labeller
from tfmviz.model.reading_out import stream_of
from tfmviz.model.seq2seq import Seq2Seq, translate_batch
from tfmviz.model.transformer import DecoderOnly, Transformer
from tfmviz.model.weights import effects_of, stacks_of, weights_of
from tfmviz.record.edits import Edit
from tfmviz.record.model import AnyModel
from tfmviz.record.tap import NO_TAP, Recorder
from tfmviz.record.trace import Array, Encoding, Later, NotCaptured, Trace
from tfmviz.record.weights import ModelWeights, PositionEffects
from tfmviz.text.foreign import ForeignTokenizer
from tfmviz.text.tokenizer import END, Tokenizer
from tfmviz.zoo.forwards import read_out_later

C = TypeVar("C", bound=Config)
N = TypeVar("N", bound=nn.Module)

LONGEST = 40
"""Default limit, in tokens, of a text that a model writes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Loaded(Generic[C, N]):
    """A loaded model of any kind, equal only to itself: a cheap key of a cache."""

    name: str
    config: C
    tokenizer: Tokenizer | ForeignTokenizer
    module: N

    @classmethod
    def behind(cls, model: AnyModel) -> Self:
        """The loaded model behind a page's model.

        Raises:
            ValueError: the model is of another kind.
        """
        if not isinstance(model, cls):
            raise ValueError(f"{model.name} was not loaded as a {cls.__name__}.")
        return model

    @property
    def vocabulary(self) -> tuple[str, ...]:
        return self.tokenizer.vocabulary

    @property
    def device(self) -> str:
        return str(device_of(self.module))

    def encode(self, inputs: str | Sequence[int]) -> Encoding:
        return self._cut(inputs, self.config.max_len)

    def trace(
        self,
        inputs: str | Sequence[int],
        edits: tuple[Edit, ...] = (),
        sites: Iterable[str] | None = None,
        *,
        target: str | Sequence[int] | None = None,
    ) -> Trace:
        """See `AnyModel.trace`."""
        texts = self.texts(inputs, target)
        recorder = Recorder(edits, sites)
        with torch.inference_mode():
            later = self._run([ids_for(self.module, [text.ids]) for text in texts], recorder)
        recorder.check()
        source = texts[0] if len(texts) == 2 else None
        return Trace(target=texts[-1], source=source, edits=edits, values=_arrays(recorder), later=later)

    def texts(self, inputs: str | Sequence[int], target: str | Sequence[int] | None = None) -> tuple[Encoding, ...]:
        """The texts that the module reads: one, or source and target for a translator.

        Raises:
            ValueError: there is no token in `inputs`, or a target for a model that has none.
        """
        if target is not None:
            raise ValueError(f"{self.name} is {self.config.architecture}: it has no target text.")
        return (self.read(inputs),)

    def read(self, inputs: str | Sequence[int]) -> Encoding:
        """The tokens that the model reads. Raises: ValueError, if there are none."""
        encoding = self.encode(inputs)
        if not encoding.ids:
            raise ValueError(NO_TEXT)
        return encoding

    def _run(self, ids: Sequence[Tensor], recorder: Recorder) -> Mapping[str, Later]:
        """A forward pass; returns the values that are computed on demand."""
        self.module(*ids, tap=recorder)
        return {}

    def _cut(self, inputs: str | Sequence[int], max_len: int) -> Encoding:
        if isinstance(inputs, str):
            return self.tokenizer.encode(inputs, max_len=max_len)
        return self.tokenizer.encoding_of(inputs, max_len=max_len)


class EarlierModel(Loaded[EarlierConfig, Earlier]):
    """An earlier language model."""


class RecurrentLabeller(Loaded[LabellerConfig, Labeller]):
    """A recurrent network that labels every token."""

    tokenizer: Tokenizer


class RecurrentTranslator(Loaded[Seq2SeqConfig, Seq2Seq]):
    tokenizer: Tokenizer

    def texts(self, inputs: str | Sequence[int], target: str | Sequence[int] | None = None) -> tuple[Encoding, ...]:
        source, longest = self.read(inputs), self.config.max_len
        if target is None:
            target = self.greedy([source], longest)[0]
        written = self.tokenizer.ids(target) if isinstance(target, str) else target
        return source, self.tokenizer.encoding_of((END, *written), max_len=longest)

    def greedy(self, sources: Sequence[Encoding], max_new_tokens: int) -> tuple[tuple[int, ...], ...]:
        """Greedy translations in one batch, without the end tokens."""
        src, lengths = batch_for(self.module, [source.ids for source in sources])
        longest = min(max_new_tokens, self.config.max_len - 1)
        return tuple(map(tuple, translate_batch(self.module, src, lengths, mark=END, max_new_tokens=longest)))


@dataclass(frozen=True, kw_only=True, eq=False)  # no slots: `weights` is made once and kept
class ZooModel(Loaded[ModelConfig, Transformer]):
    """A transformer: the in-house `Model`."""

    @cached_property
    def weights(self) -> ModelWeights:
        """The model's matrices, which share its memory unless it is on a GPU."""
        return weights_of(self.module)

    @property
    def writes_from(self) -> str:
        return self.config.stacks[-1]

    def position_effects(self, layer: str, length: int) -> PositionEffects:
        stack, _, rest = layer.partition(".")
        number = int(rest.partition(".")[0] or 0)
        scheme, device = stacks_of(self.module)[stack].positions_in(number), device_of(self.module)
        return effects_of(scheme, length, d_model=self.config.d_embed, device=device)

    def texts(self, inputs: str | Sequence[int], target: str | Sequence[int] | None = None) -> tuple[Encoding, ...]:
        if self.config.architecture != "encoder-decoder":
            return super().texts(inputs, target)
        source = self.read(inputs)
        return source, self._shifted_right(self._greedy(source) if target is None else target)

    @property
    def begin(self) -> tuple[int, ...]:
        """The tokens with which a translation begins; none in other models."""
        if self.config.architecture != "encoder-decoder":
            return ()
        if self.tokenizer.marks.start is None:
            raise ValueError(f"{self.name} has no mark with which a target begins.")
        return self.tokenizer.marks.before_target

    @property
    def language_model(self) -> DecoderOnly:
        """The module of a model that predicts next tokens. Raises: ValueError, for another."""
        self.check_head()
        if not isinstance(self.module, DecoderOnly):
            raise ValueError(f"{self.name} is {self.config.architecture}, not a language model.")
        return self.module

    def check_head(self) -> None:
        """Raises: NotCaptured, for a model without logits."""
        if self.config.head == "none":
            raise NotCaptured("logits", ("streams and patterns",))

    def _run(self, ids: Sequence[Tensor], recorder: Recorder) -> Mapping[str, Later]:
        return read_out_later(self.module, stream_of(self.module, ids, tap=recorder), recorder)

    def _greedy(self, source: Encoding) -> tuple[int, ...]:
        self.check_head()
        reader, text = reader_of(self.module, source.ids, begin=self.begin, tap=NO_TAP)
        ends = self.tokenizer.marks.ends
        return (*text[1:], *without(ends, steps(reader, text, ends=ends, max_new_tokens=LONGEST)))

    def _shifted_right(self, target: str | Sequence[int]) -> Encoding:
        """The decoder's input for writing `target`: the start token first."""
        if isinstance(target, str):
            return self.tokenizer.encode_target(target, max_len=self.config.max_len)
        start, encoding = self.begin[0], self._cut(target, self.config.max_len - 1)
        return replace(
            encoding,
            ids=(start, *encoding.ids),
            tokens=(self.vocabulary[start], *encoding.tokens),
            offsets=((0, 0), *encoding.offsets),
        )


def attention_code() -> tuple[Callable[..., Any], ...]:
    """The functions that compute a head's pattern, for a page that shows their source."""
    return Attention.forward, Attention.attend_stepwise


def _arrays(recorder: Recorder) -> Mapping[str, Array]:
    """The record without the batch axis, as read-only views."""
    values = {}
    for site, tensor in recorder.values.items():
        array = to_array(tensor) if site.endswith(".mask") else to_array(tensor)[0]
        array.flags.writeable = False
        values[site] = array
    return MappingProxyType(values)
