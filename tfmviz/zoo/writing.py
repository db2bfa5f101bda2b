"""Texts that a model writes: continued or translated, token by token, by beam search, or several in parallel."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tfmviz.model.beam import beam_steps
from tfmviz.model.device import batch_for
from tfmviz.model.generate import reader_of, steps, translate_batch, with_room
from tfmviz.model.generate import samples as written_together
from tfmviz.model.readers import Reader
from tfmviz.model.transformer import EncoderDecoder
from tfmviz.record.decoding import BeamStep, Generation, Rules, Sample, Step
from tfmviz.record.edits import Edit, refuse_single_tokens
from tfmviz.record.model import AnyModel, Model
from tfmviz.record.tap import NO_TAP, Recorder
from tfmviz.zoo.model import LONGEST, RecurrentTranslator, ZooModel


def generate(
    model: Model,
    inputs: str | Sequence[int],
    *,
    max_new_tokens: int = LONGEST,
    temperature: float | None = None,
    rules: Rules | None = None,
    seed: int = 0,
    given: Sequence[int] = (),
    edits: tuple[Edit, ...] = (),
    at: int | None = None,
) -> Generation:
    """Continues or translates a text; see `model.generate.steps`.

    Args:
        temperature: 0, or None without rules, takes the most probable token.
        rules: instead of a temperature.
        edits: must treat all tokens equally, since the model reads them one by one: no masks, no single positions.
        at: of a translation, the only position at which the edits act. It is read alone, so a mask of one row is
            allowed.

    Raises:
        ValueError: the text holds no token, the model only fills in words, an edit is for some tokens only, or there is
            a temperature next to the rules.
        NotCaptured: the model computes no value at an edit's site.
    """
    if rules is not None and temperature is not None:
        raise ValueError(f"temperature = {temperature} stands beside rules, which have a temperature of their own.")
    ours, rules = ZooModel.behind(model), rules or Rules(temperature=temperature or 0.0)
    reader, text, recorder = _begun(ours, inputs, edits, at)
    ends = ours.tokenizer.marks.ends
    found = tuple(
        steps(reader, text, rules=rules, seed=seed, given=given, ends=ends, max_new_tokens=max_new_tokens),
    )
    if at is None or reader.n_cached > at:
        recorder.check()
    return _generation(ours, text, [step.token for step in found], found=found)


def search(
    model: Model,
    inputs: str | Sequence[int],
    *,
    width: int,
    length_penalty: float = 1.0,
    banned: Collection[int] = (),
    max_new_tokens: int = LONGEST,
    edits: tuple[Edit, ...] = (),
    at: int | None = None,
) -> Generation:
    """Continues or translates a text by beam search; see `model.beam.beam_steps`. Of a long text only the end is
    continued, as in `samples`.

    Args:
        edits, at: as in `generate`; at the position, the edits act on all texts of the search.

    Raises:
        ValueError: the text holds no token, the model only fills in words, or an edit is for some tokens only.
        NotCaptured: the model computes no value at an edit's site.
    """
    ours = ZooModel.behind(model)
    reader, text, recorder = _begun(ours, inputs, edits, at)
    found = tuple(
        beam_steps(
            reader,
            with_room(reader, text, max_new_tokens),
            width=width,
            ends=ours.tokenizer.marks.ends,
            length_penalty=length_penalty,
            banned=banned,
            max_new_tokens=max_new_tokens,
        )
    )
    if at is None or reader.n_cached > at:
        recorder.check()
    return _generation(ours, text, found[-1].complete[0].ids if found else (), beams=found)


def samples(
    model: Model,
    inputs: str | Sequence[int],
    *,
    rules: Sequence[Rules],
    seed: int = 0,
    max_new_tokens: int = LONGEST,
    edits: tuple[Edit, ...] = (),
) -> tuple[Sample, ...]:
    """Writes several texts in parallel, each by its rules; see `model.generate.samples`.

    Of a text that leaves no room for the new tokens in the context, only the end is continued.

    Args:
        edits: as in `generate`.

    Raises:
        ValueError: the text holds no token, or the model only fills in words.
    """
    ours = ZooModel.behind(model)
    reader, text, _ = _begun(ours, inputs, edits, None)
    ends, read = ours.tokenizer.marks.ends, with_room(reader, text, max_new_tokens)
    return written_together(reader, read, rules=rules, seed=seed, ends=ends, max_new_tokens=max_new_tokens)


def translations(
    model: AnyModel, texts: Sequence[str], *, max_new_tokens: int = LONGEST
) -> tuple[tuple[int, ...], ...]:
    """Greedy translations, one forward pass per token: for each text the `ids` of `generate`.

    Raises:
        ValueError: the model does not translate, or a text holds no token.
    """
    if isinstance(model, RecurrentTranslator):
        return model.greedy([model.read(text) for text in texts], max_new_tokens)
    ours = ZooModel.behind(model)
    ours.check_head()
    if not isinstance(ours.module, EncoderDecoder):
        raise ValueError(f"{ours.name} is {ours.config.architecture}: it does not translate.")
    src, lengths = batch_for(ours.module, [ours.read(text).ids for text in texts])
    begin, ends = ours.begin, ours.tokenizer.marks.ends
    new = translate_batch(ours.module, src, lengths, begin=begin, ends=ends, max_new_tokens=max_new_tokens)
    return tuple((*begin[1:], *ids) for ids in new)


def _begun(
    model: ZooModel, inputs: str | Sequence[int], edits: tuple[Edit, ...], at: int | None
) -> tuple[Reader, list[int], Recorder]:
    """A reader, the tokens with which it begins, and a recorder that applies the edits and keeps nothing."""
    if at is None:
        refuse_single_tokens(edits)
    model.check_head()
    recorder = Recorder(edits, sites=())
    tap = recorder if edits else NO_TAP
    reader, text = reader_of(model.module, model.read(inputs).ids, begin=model.begin, tap=tap, at=at)
    return reader, text, recorder


def _generation(
    model: ZooModel,
    text: Sequence[int],
    new: Sequence[int],
    *,
    found: tuple[Step, ...] = (),
    beams: tuple[BeamStep, ...] = (),
) -> Generation:
    before = text if model.config.architecture == "decoder-only" else text[1:]  # without the mark at the start
    ids = (*before, *(token for token in new if token not in model.tokenizer.marks.ends))
    return Generation(text=model.tokenizer.decode(ids), ids=ids, steps=found, beams=beams)
