"""The subcommands of `python -m tfmviz.training`: their data, models and measurements."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, assert_never

import numpy as np

from tfmviz.model.build import Config, Model, parameter_shapes
from tfmviz.model.labeller import Labeller
from tfmviz.model.seq2seq import Seq2Seq
from tfmviz.model.transformer import EncoderDecoder, EncoderOnly
from tfmviz.text.corpora import CorpusError
from tfmviz.text.corruption import n_spans
from tfmviz.text.pairs import Pair, joined, read_pairs, split_pairs
from tfmviz.text.spelling import one_spelling, one_spelling_and_case
from tfmviz.text.tasks import ANSWERS, questions
from tfmviz.text.tokenizer import SPANS, Tokenizer
from tfmviz.text.variants import with_variants
from tfmviz.training.data import Batch, Batches, TextBatches, load_split, pack, windows
from tfmviz.training.evaluation import (
    bits_per_byte,
    exact_match,
    label_accuracy,
    masked_accuracy,
    translations,
    unigram_cross_entropy,
)
from tfmviz.training.labels import LabelBatches
from tfmviz.training.loop import evaluate
from tfmviz.training.losses import IGNORED
from tfmviz.training.samples import continuation, fill_in, labelled, left_out_here, three_with_gaps
from tfmviz.training.sequences import (
    ChangedTexts,
    MaskedBatches,
    PairBatches,
    RepeatedBatches,
    SpanBatches,
    TaskBatches,
    answered,
    leave_out_spans,
    mask_words,
    pair_batch,
)
from tfmviz.training.shapes import CourseName, shape, wanted_vocab_size

PROMPTS = ("Once upon a", "The cat sat on the", "I want to go to the")
TO_LABEL = ("Je pense que the weather is nice.", "I would like un café, please.", "On dort ici.", "On Monday.")
TO_FILL_IN = ("The cat {} on the mat.", "She drinks a cup of {}.", "I {} to go home.")
PRINTABLE = 95
"""The end-of-text token and ASCII's 94 visible characters, first in every byte-level vocabulary."""
MAX_DIGITS = 18
"""More digits do not fit into 64 bits."""
MAX_BATCH_TOKENS = 2**24
"""Larger batches need tens of gigabytes even in the smallest model."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Course:
    """The data, model and measurements of a subcommand.

    Attributes:
        held_out: the first few are used during training.
        facts: about the training data, for the card.
        samples: the model's answers to some texts.
        measure: measurements of the finished model, for the card.
    """

    config: Config
    tokenizer: Tokenizer
    batches: Batches
    held_out: Sequence[Batch]
    facts: Mapping[str, str]
    samples: Callable[[Model], Mapping[str, str]]
    measure: Callable[[Model], Mapping[str, str]]


def prepare_course(args: argparse.Namespace) -> Course:
    """Reads the data of a run.

    Raises:
        CorpusError: a source cannot be read, or has too little text.
        ValueError: two options contradict each other.
    """
    course: CourseName = args.course
    match course:
        case "lm":
            return language_model(args)
        case "mlm":
            return masked_language_model(args)
        case "spans":
            return span_model(args)
        case "translate":
            return translator(args)
        case "task":
            return task(args)
        case "label":
            return labeller(args)
        case _:
            assert_never(course)


def check_options(args: argparse.Namespace) -> None:
    """Raises ValueError if the options describe no model, or a batch too large for memory."""
    parameter_shapes(shape(args, vocab_size=wanted_vocab_size(args)))  # builds it without weights
    tokens = args.batch_tokens if "batch_tokens" in args else args.batch_size * args.context
    if tokens > MAX_BATCH_TOKENS:
        raise ValueError(f"A step would read {tokens:,} tokens; {MAX_BATCH_TOKENS:,} are allowed.")
    if args.course == "lm" and args.repeated >= args.batch_size:
        raise ValueError(f"{args.repeated} of {args.batch_size} rows cannot be random: at least one must be text.")


def language_model(args: argparse.Namespace) -> Course:
    split = load_split(parse_source(source) for source in args.data)
    tokenizer = get_tokenizer(args, split.train)
    stream, held_out = (pack(side, tokenizer, seed=args.seed) for side in (split.train, split.held_out))
    n_bytes = sum(len(document.encode()) for document in split.held_out)
    test = windows(held_out, length=args.context)
    batches = TextBatches(
        stream=stream,
        batch_size=args.batch_size,
        length=args.context,
        vocab_size=tokenizer.vocab_size,
        n_repeated=args.repeated,
        seed=args.seed,
    )

    def measure(model: Model) -> dict[str, str]:
        loss = evaluate(model, test)
        unigram = unigram_cross_entropy(stream, held_out, vocab_size=tokenizer.vocab_size)
        bits = bits_per_byte(loss, stream=held_out, n_bytes=n_bytes)
        return {
            "held-out loss": f"{loss:.3f} nats per token ({len(held_out):,} tokens, windows of {args.context})",
            "held-out bits per byte": f"{bits:.3f} (UTF-8; a mark between documents is one byte)",
            "unigram cross-entropy on the same text": f"{unigram:.3f} nats per token",
        }

    epochs = args.steps / batches.steps_per_epoch
    return Course(
        config=shape(args, vocab_size=tokenizer.vocab_size),
        tokenizer=tokenizer,
        batches=batches,
        held_out=test,
        facts={
            "training text": f"{len(stream):,} tokens, {epochs:.2f} epochs",
            "batch": f"{args.batch_size} × {args.context} tokens, {args.repeated} of {args.batch_size} rows repeated "
            "random tokens",
        },
        samples=lambda model: {prompt: continuation(model, tokenizer, prompt) for prompt in PROMPTS},
        measure=measure,
    )


def masked_language_model(args: argparse.Namespace) -> Course:
    split = load_split(parse_source(source) for source in args.data)
    texts = chain.from_iterable(split.train) if args.characters else split.train
    tokenizer = get_tokenizer(args, texts, with_mask=True)
    pieces, held_out = (
        cut(tokenizer.encode_batch(side), length=args.context) for side in (split.train, split.held_out)
    )
    rng = np.random.default_rng(args.seed)
    to_fill_in = three_with_gaps(split.held_out) if args.characters else TO_FILL_IN
    test = [mask_words(held_out[i : i + 16], rng, vocab_size=tokenizer.vocab_size) for i in range(0, len(held_out), 16)]
    batches = MaskedBatches(pieces=pieces, budget=args.batch_tokens, vocab_size=tokenizer.vocab_size, seed=args.seed)

    def measure(model: Model) -> dict[str, str]:
        assert isinstance(model, EncoderOnly)
        accuracy = masked_accuracy(model, held_out)
        return {
            "top-5 accuracy on masked tokens": f"{accuracy.top_5:.1%} ({accuracy.n_masked:,} held-out tokens)",
            "top-1 accuracy on masked tokens": f"{accuracy.top_1:.1%}",
            "held-out loss": f"{evaluate(model, test):.3f} nats per token asked for, masked as in training",
        }

    def samples(model: Model) -> dict[str, str]:
        return {text.replace("{}", "___"): ", ".join(fill_in(model, tokenizer, text)) for text in to_fill_in}

    return of_changed_texts(args, tokenizer, batches, test, samples=samples, measure=measure)


def span_model(args: argparse.Namespace) -> Course:
    if args.context < 2:
        raise ValueError("A text of one token has no part that could be left out: a context has at least 2.")
    split = load_split(parse_source(source) for source in args.data)
    n_marks = n_spans(args.context) + 1
    tokenizer = get_tokenizer(args, split.train, n_spans=n_marks)
    pieces, held_out = (
        [piece for piece in cut(tokenizer.encode_batch(side), length=args.context) if len(piece) > 1]
        for side in (split.train, split.held_out)
    )
    rng = np.random.default_rng(args.seed)
    test = [leave_out_spans(held_out[i : i + 16], rng) for i in range(0, len(held_out), 16)]
    batches = SpanBatches(pieces=pieces, budget=args.batch_tokens, seed=args.seed)

    def measure(model: Model) -> dict[str, str]:
        words = [(inputs, np.where(targets < SPANS + n_marks, IGNORED, targets)) for inputs, targets in test]
        asked = np.concatenate([targets[targets != IGNORED] for _, targets in words])
        unigram = unigram_cross_entropy(np.concatenate(pieces), asked, vocab_size=tokenizer.vocab_size)
        return {
            "held-out loss": f"{evaluate(model, test):.3f} nats per token that it writes, marks included",
            "held-out loss on what was left out": f"{evaluate(model, words):.3f} nats ({len(asked):,} tokens)",
            "unigram cross-entropy on the same tokens": f"{unigram:.3f} nats per token",
        }

    def samples(model: Model) -> dict[str, str]:
        return {text.format("___"): left_out_here(model, tokenizer, text, n_marks) for text in TO_FILL_IN}

    return of_changed_texts(args, tokenizer, batches, test, samples=samples, measure=measure)


def of_changed_texts(
    args: argparse.Namespace,
    tokenizer: Tokenizer,
    batches: ChangedTexts,
    held_out: Sequence[Batch],
    *,
    samples: Callable[[Model], Mapping[str, str]],
    measure: Callable[[Model], Mapping[str, str]],
) -> Course:
    n_tokens, epochs = sum(map(len, batches.pieces)), args.steps / batches.steps_per_epoch
    return Course(
        config=shape(args, vocab_size=tokenizer.vocab_size),
        tokenizer=tokenizer,
        batches=batches,
        held_out=held_out,
        facts={"training text": f"{n_tokens:,} tokens in {len(batches.pieces):,} texts, {epochs:.2f} epochs"},
        samples=samples,
        measure=measure,
    )


def translator(args: argparse.Namespace) -> Course:
    train, held_out = split_pairs([pair for source in args.data for pair in read_pairs(Path(source))])
    texts = (text for pair in train for text in pair)
    tokenizer = get_tokenizer(args, texts, spelling=one_spelling_and_case())
    if args.joined:
        train = [*train, *joined(train, most_words=args.joined, seed=args.seed)]
    if args.variants:
        train = with_variants(train, seed=args.seed, unseen=held_out, often=args.variants == "often")
    for path, weight in map(parse_source, args.words):
        train = [*train, *list(read_pairs(path)) * weight]
    encoded, test = (encode_pairs(side, tokenizer, max_len=args.context) for side in (train, held_out))
    batches = PairBatches(pairs=encoded, budget=args.batch_tokens, seed=args.seed)
    shown = [source for source, _ in held_out[:: max(1, len(held_out) // 5)]][:5]

    def measure(model: Model) -> dict[str, str]:
        loss = evaluate(model, in_batches(test))
        return {"held-out loss": f"{loss:.3f} nats per token of the target ({len(test):,} pairs)"}

    def samples(model: Model) -> dict[str, str]:
        assert isinstance(model, EncoderDecoder | Seq2Seq)
        return dict(zip(shown, translations(model, tokenizer, shown), strict=True))

    epochs = args.steps / batches.steps_per_epoch
    return Course(
        config=shape(args, vocab_size=tokenizer.vocab_size),
        tokenizer=tokenizer,
        batches=batches,
        held_out=in_batches(test),
        facts={
            "training text": f"{len(encoded):,} {'pairs and texts joined from them' if args.joined else 'pairs'}, "
            f"{epochs:.2f} epochs; {len(train) - len(encoded):,} longer ones left out"
        },
        samples=samples,
        measure=measure,
    )


def task(args: argparse.Namespace) -> Course:
    tokenizer = get_tokenizer(args, ())
    if args.name == "induction":
        return induction(args, tokenizer)
    size = args.size or (3 if args.name == "add" else 12)
    longest = 2 * size + 1 if args.name == "add" else size
    if longest + 1 > args.context:
        raise ValueError(f"Questions of {longest} characters and a mark do not fit a context of {args.context}.")
    if args.name == "add" and size > MAX_DIGITS:
        raise ValueError(f"Numbers of {size} digits are asked for; {MAX_DIGITS} are allowed.")
    rng = np.random.default_rng(args.seed)
    asked = questions(args.name, rng, n=500, size=size, held_out=True)
    wanted = [ANSWERS[args.name](question) for question in asked]

    def measure(model: Model) -> dict[str, str]:
        assert isinstance(model, EncoderDecoder)
        right = exact_match(translations(model, tokenizer, asked), wanted)
        return {"exact match": f"{right:.1%} of {len(asked)} held-out questions"}

    def samples(model: Model) -> dict[str, str]:
        assert isinstance(model, EncoderDecoder)
        return dict(zip(asked[:5], translations(model, tokenizer, asked[:5]), strict=True))

    return Course(
        config=shape(args, vocab_size=tokenizer.vocab_size),
        tokenizer=tokenizer,
        batches=TaskBatches(task=args.name, tokenizer=tokenizer, size=size, batch_size=args.batch_size, seed=args.seed),
        held_out=in_batches(answered(args.name, asked, tokenizer)),
        facts={"training data": f"{args.name}, size 1 to {size}; a tenth of all questions held out"},
        samples=samples,
        measure=measure,
    )


def induction(args: argparse.Namespace, tokenizer: Tokenizer) -> Course:
    batches = RepeatedBatches(batch_size=args.batch_size, length=args.context, vocab_size=PRINTABLE, seed=args.seed)
    test = [RepeatedBatches(batch_size=64, length=args.context, vocab_size=PRINTABLE, seed=args.seed + 1).batch(0)]
    return Course(
        config=shape(args, vocab_size=tokenizer.vocab_size),
        tokenizer=tokenizer,
        batches=batches,
        held_out=test,
        facts={"training data": f"{args.batch_size} × {args.context} characters a step, a random string repeated"},
        samples=lambda model: {text: continuation(model, tokenizer, text) for text in ("abcde" * 4, "q7#R" * 4)},
        measure=lambda model: {"held-out loss": f"{evaluate(model, test):.3f} nats per token"},
    )


def labeller(args: argparse.Namespace) -> Course:
    train, held_out = split_pairs([pair for source in args.data for pair in read_pairs(Path(source))])
    both_orders = (
        f"{pair[side]} {pair[1 - side]}" for pair in train for side in (0, 1)
    )  # so that capitals follow a space too
    tokenizer = get_tokenizer(args, both_orders, spelling=one_spelling())
    batches, drawn = (
        LabelBatches(
            pairs=side,
            tokenizer=tokenizer,
            texts=args.texts,
            batch_size=args.batch_size,
            longest=args.context,
            seed=args.seed,
        )
        for side in (train, held_out)
    )
    test = [drawn.batch(step) for step in range(32)]

    def measure(model: Model) -> dict[str, str]:
        assert isinstance(model, Labeller)
        n_tokens = sum(targets.size for _, targets in test)
        return {
            "held-out loss": f"{evaluate(model, test):.3f} nats per token",
            "right labels": f"{label_accuracy(model, test):.1%} of {n_tokens:,} tokens of held-out sentences",
        }

    return Course(
        config=shape(args, vocab_size=tokenizer.vocab_size),
        tokenizer=tokenizer,
        batches=batches,
        held_out=test,
        facts={"training text": f"drawn anew at every step from {len(train):,} pairs, texts: {args.texts}"},
        samples=lambda model: {text: labelled(model, tokenizer, text) for text in TO_LABEL},
        measure=measure,
    )


def get_tokenizer(args: argparse.Namespace, texts: Iterable[str], **how: Any) -> Tokenizer:
    """The run's tokenizer: its own on resuming, else that of the model it starts from, else a learned one."""
    if (path := args.out / "tokenizer.json").exists():
        return Tokenizer.load(path)
    if args.start_from:
        return Tokenizer.load(args.start_from / "tokenizer.json")
    return Tokenizer.train(texts, vocab_size=wanted_vocab_size(args), **how)


def encode_pairs(pairs: Sequence[Pair], tokenizer: Tokenizer, *, max_len: int) -> list[tuple[list[int], list[int]]]:
    """The tokens of both sides of each pair, without pairs too long for the model.

    Raises:
        CorpusError: no pair fits.
    """
    sides = [tokenizer.encode_batch([pair[side] for pair in pairs]) for side in (0, 1)]
    fitting = [(src, tgt) for src, tgt in zip(*sides, strict=True) if len(src) <= max_len and len(tgt) < max_len]
    if not fitting:
        raise CorpusError(f"None of {len(pairs)} pairs fits a context of {max_len} tokens.")
    return fitting


def in_batches(pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> list[Batch]:
    return [pair_batch(pairs[first : first + 16]) for first in range(0, len(pairs), 16)]


def cut(texts: Iterable[Sequence[int]], *, length: int) -> list[Sequence[int]]:
    return [text[first : first + length] for text in texts for first in range(0, len(text), length)]


def parse_source(source: str) -> tuple[Path, int]:
    """Path and weight: "stories.txt:2" is the file stories.txt, twice."""
    path, colon, weight = source.rpartition(":")
    return (Path(path), int(weight)) if colon and weight.isdecimal() else (Path(source), 1)
