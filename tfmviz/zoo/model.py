"""A loaded model with its tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tfmviz.model.config import ModelConfig
from tfmviz.record.decoding import Generation, Rules, Sample
from tfmviz.record.edits import Edit, refuse_single_tokens
from tfmviz.record.trace import Array, Encoding, NotCaptured, Trace
from tfmviz.record.weights import ModelWeights, PositionEffects
from tfmviz.text.foreign import ForeignTokenizer
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.zoo.values import to_numpy

if TYPE_CHECKING:
    from tfmviz.model.transformer import DecoderOnly, Transformer


@dataclass(frozen=True, kw_only=True, eq=False)  # no slots: `weights` is made once and kept
class ZooModel:
    """A loaded model with its tokenizer: the in-house `Traceable`.

    It keeps no state of a run, so any number of threads may trace at the same time. Two models are equal only if they
    are the same object, so a model is a cheap key of a cache.
    """

    name: str
    config: ModelConfig
    tokenizer: Tokenizer | ForeignTokenizer
    module: Transformer

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """One readable string per entry of the vocabulary, in the order of the columns of `logits`."""
        return self.tokenizer.vocabulary

    def trace(
        self,
        inputs: str | Sequence[int],
        edits: tuple[Edit, ...] = (),
        sites: Iterable[str] | None = None,
        *,
        target: str | Sequence[int] | None = None,
    ) -> Trace:
        """Runs the model and keeps the values it computes; see `Traceable.trace`.

        Args:
            target: for an encoder-decoder, the text that the decoder reads after the mark at its start; None takes
                the model's own greedy output. Other architectures have no target.
        """
        import torch

        from tfmviz.model.device import ids_for
        from tfmviz.model.reading_out import stream_of
        from tfmviz.record.tap import Recorder
        from tfmviz.zoo.forwards import read_out_later

        texts = self._texts(inputs, target)
        recorder = Recorder(edits, sites)
        with torch.inference_mode():
            x = stream_of(self.module, [ids_for(self.module, [text.ids]) for text in texts], tap=recorder)
            later = read_out_later(self.module, x, recorder)
        recorder.check()
        source = texts[0] if len(texts) == 2 else None
        return Trace(target=texts[-1], source=source, edits=edits, values=to_numpy(recorder), later=later)

    def values_at(self, site: str, texts: Sequence[Sequence[int]], edits: tuple[Edit, ...] = ()) -> Array:
        """One site's value on several texts of the same length, in one forward pass: (text, …)."""
        import torch

        from tfmviz.model.device import ids_for, to_array
        from tfmviz.record.tap import Recorder

        recorder = Recorder(edits, sites=(site,))
        with torch.inference_mode():
            self.module(ids_for(self.module, texts), tap=recorder)
        recorder.check()
        return to_array(recorder.values[site])

    def logits_under(
        self,
        inputs: str | Sequence[int],
        variants: Sequence[Sequence[Edit]],
        positions: Sequence[int] | None = None,
        *,
        target: str | Sequence[int] | None = None,
    ) -> Array:
        """Logits under each of several sets of edits, in as few forward passes as fit the memory; see `tap.Fork`.

        Args:
            variants: at least one set of edits; each holds at least one edit.
            positions: tokens whose logits are needed; None: all. The others of a long vocabulary are not computed.
            target: see `trace`.

        Returns:
            (variant, position, vocab).
        """
        self._check_head()
        from tfmviz.zoo.forwards import fork_in_parts

        texts = [text.ids for text in self._texts(inputs, target)]
        return fork_in_parts(self.module, texts, variants, slice(None) if positions is None else positions)

    def generate(
        self,
        inputs: str | Sequence[int],
        *,
        max_new_tokens: int = 40,
        temperature: float = 0.0,
        rules: Rules | None = None,
        seed: int = 0,
        given: Sequence[int] = (),
        edits: tuple[Edit, ...] = (),
        at: int | None = None,
    ) -> Generation:
        """Continues or translates a text; see `model.generate.steps`.

        Args:
            rules: all rules of choice at once; None takes the temperature alone.
            edits: must treat all tokens alike, since the model reads them one by one: no masks, no single positions.
            at: of a translation, the only position at which the edits act; None: all of them. It is read alone, so a
                mask of one row is allowed.

        Raises:
            ValueError: the text holds no token, the model only fills in words, or an edit is for some tokens only.
            NotCaptured: the model computes no value at an edit's site.
        """
        if at is None:
            refuse_single_tokens(edits)
        self._check_head()
        from tfmviz.model.generate import reader_of, steps
        from tfmviz.record.tap import NO_TAP, Recorder

        recorder = Recorder(edits, sites=())  # applies them and keeps nothing
        tap = recorder if edits else NO_TAP
        reader, text = reader_of(self.module, self._encode(inputs).ids, begin=self._begin, tap=tap, at=at)
        how: dict[str, Any] = {"rules": rules or Rules(temperature=temperature), "seed": seed, "given": given}
        found = tuple(steps(reader, text, ends=self.tokenizer.marks.ends, max_new_tokens=max_new_tokens, **how))
        if at is None or reader.n_cached > at:
            recorder.check()
        return self._generation(text, [step.token for step in found], steps=found)

    def translations(self, texts: Sequence[str], *, max_new_tokens: int = 40) -> tuple[tuple[int, ...], ...]:
        """Greedy translations of several texts, in one forward pass a token: for each what `generate` gives as `ids`.

        Raises:
            ValueError: the model does not translate, or a text holds no token.
        """
        self._check_head()
        from tfmviz.model.device import batch_for
        from tfmviz.model.generate import translate_batch
        from tfmviz.model.transformer import EncoderDecoder

        if not isinstance(self.module, EncoderDecoder):
            raise ValueError(f"{self.name} is {self.config.architecture}: it does not translate.")
        src, lengths = batch_for(self.module, [self._encode(text).ids for text in texts])
        ends = self.tokenizer.marks.ends
        new = translate_batch(self.module, src, lengths, begin=self._begin, ends=ends, max_new_tokens=max_new_tokens)
        return tuple((*self._begin[1:], *ids) for ids in new)

    def search(
        self,
        inputs: str | Sequence[int],
        *,
        width: int,
        length_penalty: float = 1.0,
        banned: Collection[int] = (),
        max_new_tokens: int = 40,
        edits: tuple[Edit, ...] = (),
        at: int | None = None,
    ) -> Generation:
        """Continues or translates a text by beam search; see `model.beam.beam_steps`. Of a long text, as `samples`.

        Args:
            edits, at: as in `generate`; at the position, the edits act on all texts of the search.

        Raises:
            ValueError: the text holds no token, the model only fills in words, or an edit is for some tokens only.
            NotCaptured: the model computes no value at an edit's site.
        """
        if at is None:
            refuse_single_tokens(edits)
        self._check_head()
        from tfmviz.model.beam import beam_steps
        from tfmviz.model.generate import reader_of, with_room
        from tfmviz.record.tap import NO_TAP, Recorder

        recorder = Recorder(edits, sites=())  # applies them and keeps nothing
        tap = recorder if edits else NO_TAP
        reader, text = reader_of(self.module, self._encode(inputs).ids, begin=self._begin, tap=tap, at=at)
        how: dict[str, Any] = {"length_penalty": length_penalty, "banned": banned, "max_new_tokens": max_new_tokens}
        read = with_room(reader, text, max_new_tokens)
        found = tuple(beam_steps(reader, read, width=width, ends=self.tokenizer.marks.ends, **how))
        if at is None or reader.n_cached > at:
            recorder.check()
        return self._generation(text, found[-1].complete[0].ids if found else (), beams=found)

    def samples(
        self, inputs: str | Sequence[int], *, rules: Sequence[Rules], seed: int = 0, max_new_tokens: int = 40
    ) -> tuple[Sample, ...]:
        """Writes several texts at once, each by rules of its own; see `model.generate.samples`.

        Of a text that leaves no room for the new tokens in what the model reads at a time, only the end is continued.

        Raises:
            ValueError: the text holds no token, or the model only fills in words.
        """
        from tfmviz.model.generate import reader_of, samples, with_room
        from tfmviz.record.tap import NO_TAP

        reader, text = reader_of(self.module, self._encode(inputs).ids, begin=self._begin, tap=NO_TAP)
        ends, read = self.tokenizer.marks.ends, with_room(reader, text, max_new_tokens)
        return samples(reader, read, rules=rules, seed=seed, ends=ends, max_new_tokens=max_new_tokens)

    def _generation(self, text: Sequence[int], new: Sequence[int], **record: Any) -> Generation:
        before = text if self.config.architecture == "decoder-only" else text[1:]  # without the mark at the start
        ids = (*before, *(token for token in new if token not in self.tokenizer.marks.ends))
        return Generation(text=self.tokenizer.decode(ids), ids=ids, **record)

    @property
    def _begin(self) -> tuple[int, ...]:
        """The marks with which a translation begins."""
        if self.config.architecture != "encoder-decoder":
            return ()
        return (self._start, *self.tokenizer.marks.before_target[1:])

    @property
    def device(self) -> str:
        """Where the model computes: "cpu", or the name of a GPU such as "cuda:0"."""
        from tfmviz.model.device import device_of

        return str(device_of(self.module))

    @cached_property
    def weights(self) -> ModelWeights:
        """The model's matrices, which share its memory unless it is on a GPU."""
        from tfmviz.model.weights import weights_of

        return weights_of(self.module)

    @property
    def writes_from(self) -> str:
        """The stack whose stream ends in the logits."""
        return "encoder" if self.config.architecture == "encoder-only" else "decoder"

    def position_effects(self, stack: str, length: int) -> PositionEffects:
        """See `Traceable.position_effects`."""
        from tfmviz.model.device import device_of
        from tfmviz.model.weights import effects_of, stacks_of

        scheme, device = stacks_of(self.module)[stack].positions, device_of(self.module)
        return effects_of(scheme, length, d_model=self.config.d_model, device=device)

    def logits(self, ids: Sequence[int], *, cached: int = 0) -> Array:
        """Logits of a language model on a text of any length its position scheme reaches, past `max_len` too.

        Args:
            cached: how many of the first tokens are read in a pass of their own, which leaves keys and values behind.

        Returns:
            (len - cached, vocab), those of the tokens after the cached ones.

        Raises:
            ValueError: a learned table ends before the text.
        """
        import torch

        from tfmviz.model.cache import Cache
        from tfmviz.model.device import ids_for, to_array
        from tfmviz.record.tap import NO_TAP

        tap = Cache() if cached else NO_TAP
        text = ids_for(self.module, [ids])
        with torch.inference_mode():
            if cached:
                self._language_model(text[:, :cached], tap)
            return to_array(self._language_model(text[:, cached:], tap, past=cached)[0])

    def logits_after(self, texts: Sequence[Sequence[int]]) -> Array:
        """Logits of the token that comes next, after several texts of the same length: (text, vocab)."""
        from tfmviz.zoo.forwards import logits_after

        return logits_after(self._language_model, texts)

    def pull(self, ids: Sequence[int]) -> Array:
        """How strongly each token's vector moves the prediction after the text; see `model.connectivity`."""
        from tfmviz.model.connectivity import pull

        return pull(self._language_model, ids)

    def step_times(self, lengths: Sequence[int], *, rounds: int) -> tuple[list[float], list[float]]:
        """Milliseconds of a language model's step without the cache and with it; see `model.timing.step_times`."""
        from tfmviz.model.timing import step_times

        return step_times(self._language_model, lengths, rounds=rounds)

    def losses_with_dropout(
        self, inputs: str | Sequence[int], *, dropout: float, runs: int, seed: int = 0
    ) -> tuple[Encoding, Array]:
        """−ln P of each next token in several runs in training mode; see `model.in_training.losses_with_dropout`.

        Returns:
            The text that the model predicts on, and (run, len - 1).
        """
        self._check_head()
        from tfmviz.model.device import to_array
        from tfmviz.model.in_training import losses_with_dropout

        texts = self._texts(inputs, None)
        ids = [text.ids for text in texts]
        return texts[-1], to_array(losses_with_dropout(self.module, ids, dropout=dropout, runs=runs, seed=seed))

    def gradient_lengths(self, inputs: str | Sequence[int], *, untrained: int | None = None) -> dict[str, float]:
        """Length of the gradient in every layer for the loss on one text; see `model.in_training.gradient_lengths`.

        Args:
            untrained: seed of random weights that take the place of the trained ones; None: the trained ones.
        """
        self._check_head()
        from tfmviz.model import in_training

        module = self.module if untrained is None else in_training.untrained(self.config, seed=untrained)
        return in_training.gradient_lengths(module, [text.ids for text in self._texts(inputs, None)])

    def scores_from(self, ids: Sequence[int], *, first: int) -> Array:
        """Scores of a language model, (layer, head, len, len), when the text begins at position `first`.

        Raises:
            ValueError: a learned table ends before the text.
        """
        from tfmviz.model.device import ids_for, to_array
        from tfmviz.model.later import scores_from

        return to_array(scores_from(self._language_model, ids_for(self.module, ids), first=first))

    def _check_head(self) -> None:
        """Raises: NotCaptured, for a model without logits."""
        if self.config.head == "none":
            raise NotCaptured("logits", ("streams and patterns",))

    @property
    def _language_model(self) -> DecoderOnly:
        self._check_head()
        from tfmviz.model.transformer import DecoderOnly

        if not isinstance(self.module, DecoderOnly):
            raise ValueError(f"{self.name} is {self.config.architecture}, not a language model.")
        return self.module

    def _texts(self, inputs: str | Sequence[int], target: str | Sequence[int] | None) -> tuple[Encoding, ...]:
        """The texts that the module reads: one, or source and target for an encoder-decoder."""
        source = self._encode(inputs)
        if self.config.architecture == "encoder-decoder":
            return source, self._shifted_right(self.generate(inputs).ids if target is None else target)
        if target is not None:
            raise ValueError(f"{self.name} is {self.config.architecture}: it has no target text.")
        return (source,)

    def _encode(self, inputs: str | Sequence[int]) -> Encoding:
        encoding = self._encode_up_to(inputs, self.config.max_len)
        if not encoding.ids:
            raise ValueError("There is no text to run the model on. Type at least one character.")
        return encoding

    def _shifted_right(self, target: str | Sequence[int]) -> Encoding:
        """The decoder's input for writing `target`: the mark first, so that each position predicts the next token."""
        if isinstance(target, str):
            return self.tokenizer.encode_target(target, max_len=self.config.max_len)
        encoding = self._encode_up_to(target, self.config.max_len - 1)
        return replace(
            encoding,
            ids=(self._start, *encoding.ids),
            tokens=(self.vocabulary[self._start], *encoding.tokens),
            offsets=((0, 0), *encoding.offsets),
        )

    @property
    def _start(self) -> int:
        """The mark that an encoder-decoder's decoder reads first."""
        start = self.tokenizer.marks.start
        if start is None:
            raise ValueError(f"{self.name} has no mark with which a target begins.")
        return start

    def _encode_up_to(self, inputs: str | Sequence[int], max_len: int) -> Encoding:
        if isinstance(inputs, str):
            return self.tokenizer.encode(inputs, max_len=max_len)
        return self.tokenizer.encoding_of(inputs, max_len=max_len)


def attention_code() -> tuple[Callable[..., Any], ...]:
    """The functions that compute a head's pattern, for a page that shows their source. Imports torch."""
    from tfmviz.model.attention import Attention

    return Attention.forward, Attention.attend_stepwise
