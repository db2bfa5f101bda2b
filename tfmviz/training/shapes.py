"""The model described by the options of a training command."""

from __future__ import annotations

import argparse
from typing import Any, Literal, assert_never

from tfmviz.model.build import Config
from tfmviz.model.config import ModelConfig
from tfmviz.model.earlier import LabellerConfig, RecurrentConfig, Seq2SeqConfig, StateSpaceConfig, WindowConfig
from tfmviz.record.facts import (
    Architecture,
    AttentionFacts,
    EmbeddingFacts,
    FeedForwardFacts,
    NormFacts,
    PositionFacts,
)

CourseName = Literal["lm", "mlm", "spans", "translate", "task", "label"]
LanguageModel = Literal["transformer", "window", "rnn", "ssm"]
Translator = Literal["transformer", "seq2seq"]
Labeller = Literal["labeller"]

BYTES = 257
"""Entries of the smallest vocabulary: the end-of-text token and the 256 bytes."""


def wanted_vocab_size(args: argparse.Namespace) -> int:
    """The size asked for, for tasks `BYTES`."""
    return getattr(args, "vocab_size", BYTES)


def architecture_of(args: argparse.Namespace) -> Architecture:
    course: CourseName = args.course
    match course:
        case "lm":
            return "decoder-only"
        case "mlm":
            return "encoder-only"
        case "spans" | "translate":
            return "encoder-decoder"
        case "task":
            return "decoder-only" if args.name == "induction" else "encoder-decoder"
        case "label":
            raise ValueError("Labels are given by recurrent networks, which are no transformers.")
        case _:
            assert_never(course)


def shape(args: argparse.Namespace, *, vocab_size: int) -> Config:
    """Raises ValueError if two options contradict each other."""
    kind: LanguageModel | Translator | Labeller = getattr(args, "architecture", "transformer")  # some lack the option
    masked = getattr(args, "training_mask", "causal") != "causal"  # only `lm` has the option
    if kind in ("window", "rnn", "ssm", "labeller") and (args.dropout or masked):
        raise ValueError(f"Dropout and a training mask are for transformers; the architecture {kind} has neither.")
    common: dict[str, Any] = {"vocab_size": vocab_size, "max_len": args.context, "d_model": args.width}
    match kind:
        case "transformer":
            return transformer(args, vocab_size=vocab_size)
        case "window":
            return WindowConfig(**common, n_window=args.window, d_hidden=2 * args.width)
        case "rnn":
            return RecurrentConfig(**common, n_layers=args.layers)
        case "ssm":
            return StateSpaceConfig(**common, n_state=args.state, d_ff=4 * args.width, n_layers=args.layers)
        case "seq2seq":
            return Seq2SeqConfig(**common, attention=args.attention)
        case "labeller":
            return LabellerConfig(**common, directions=args.directions, n_labels=2, n_layers=args.layers)
        case _:
            assert_never(kind)


def transformer(args: argparse.Namespace, *, vocab_size: int) -> ModelConfig:
    return ModelConfig(
        architecture=architecture_of(args),
        vocab_size=vocab_size,
        max_len=args.context,
        d_model=args.width,
        n_layers=args.layers,
        shared_layers=args.shared_layers == "present",
        attention=AttentionFacts(
            kind=getattr(args, "attention_kind", "softmax"),  # only `lm` has this option and the next two
            sink=getattr(args, "sink", "absent") == "present",
            window=getattr(args, "attention_window", None),
            n_heads=args.heads,
            n_kv_heads=args.kv_heads or args.heads,
        ),
        feed_forward=FeedForwardFacts(
            kind=args.feed_forward, d_ff=4 * args.width, n_experts=getattr(args, "experts", 1)
        ),
        norm=NormFacts(position=args.norm_position),
        residual=args.residual,
        positions=PositionFacts(kind=args.positions),
        embeddings=EmbeddingFacts(scaled=args.embedding_scale == "sqrt_d_model"),
        dropout=args.dropout,
        training_mask=getattr(args, "training_mask", "causal"),  # only `lm` has the option
    )
