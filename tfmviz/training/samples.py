"""Sample outputs, during training and on the card."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from tfmviz.constants import MASK
from tfmviz.model.build import Model
from tfmviz.model.generate import continue_ids, translate_ids
from tfmviz.model.labeller import Labeller
from tfmviz.model.seq2seq import Seq2Seq
from tfmviz.model.transformer import EncoderDecoder, EncoderOnly
from tfmviz.text.tokenizer import END, SPANS, Tokenizer


def continuation(model: Model, tokenizer: Tokenizer, prompt: str) -> str:
    assert not isinstance(model, EncoderOnly | EncoderDecoder | Seq2Seq | Labeller)
    ids = torch.tensor(tokenizer.encode_batch([prompt])[0], device=next(model.parameters()).device)
    return tokenizer.decode(continue_ids(model.eval(), ids, ends=(END,), max_new_tokens=40).tolist())


@torch.inference_mode()
def labelled(model: Model, tokenizer: Tokenizer, text: str) -> str:
    """Each token after its best label, from 1."""
    assert isinstance(model, Labeller)
    ids = tokenizer.ids(text)[: model.config.max_len]
    labels = model.eval()(torch.tensor([ids], device=next(model.parameters()).device))[0].argmax(dim=-1)
    return " ".join(
        f"{label + 1}:{tokenizer.vocabulary[i].strip()}" for label, i in zip(labels.tolist(), ids, strict=True)
    )


@torch.inference_mode()
def fill_in(model: Model, tokenizer: Tokenizer, text: str) -> list[str]:
    """The five best tokens for the gap {} in the text, which includes the space before it."""
    before, _, after = text.partition("{}")
    left, right = tokenizer.encode_batch([before.rstrip(), after])
    left = left[-(model.config.max_len // 2) :]
    ids = torch.tensor([[*left, MASK, *right][: model.config.max_len]], device=next(model.parameters()).device)
    best = model.eval()(ids)[0, len(left)].topk(5).indices
    return [tokenizer.vocabulary[index].strip() for index in best.tolist()]


def three_with_gaps(texts: Sequence[str]) -> list[str]:
    """At most three of the texts, evenly spaced, each with a gap {} for its middle character."""
    some = texts[:: max(1, len(texts) // 3)][:3]
    return [f"{text[: len(text) // 2]}{{}}{text[len(text) // 2 + 1 :]}" for text in some]


@torch.inference_mode()
def left_out_here(model: Model, tokenizer: Tokenizer, text: str, n_marks: int) -> str:
    """A span model's output for the gap {}, which includes the space before it."""
    assert isinstance(model, EncoderDecoder)
    before, _, after = text.partition("{}")
    left, right = tokenizer.encode_batch([before.rstrip(), after])
    ids = torch.tensor([*left, SPANS, *right][: model.config.max_len], device=next(model.parameters()).device)
    written = translate_ids(model.eval(), ids, start=END, ends=(END,), max_new_tokens=model.config.max_len)
    return tokenizer.decode(index for index in written.tolist() if not SPANS <= index < SPANS + n_marks).strip()
