"""Small random models, one per architecture."""

from __future__ import annotations

import numpy as np
import tokenizers
import torch

import tfmviz
from tests.model.helpers import flat
from tfmviz import zoo
from tfmviz.model.transformer import EncoderDecoder, Transformer
from tfmviz.record.edits import Edit
from tfmviz.text.tokenizer import END

TEXT = "The cat sat on the 中 mat."
TARGET = "A dog <b>."


VOCAB_SIZE, MAX_LEN = 283, 37
CONFIGS = {
    "decoder-only": flat(
        vocab_size=VOCAB_SIZE, max_len=MAX_LEN, d_model=18, n_layers=2, n_heads=3, n_kv_heads=3, d_ff=29
    ),
    "encoder-only": flat(
        architecture="encoder-only",
        vocab_size=VOCAB_SIZE,
        max_len=MAX_LEN,
        d_model=21,
        n_layers=2,
        n_heads=3,
        n_kv_heads=3,
        d_ff=31,
        positions="learned",
        norm_position="post",
        feed_forward="relu",
    ),
    "encoder-decoder": flat(
        architecture="encoder-decoder",
        vocab_size=VOCAB_SIZE,
        max_len=MAX_LEN,
        d_model=20,
        n_layers=2,
        n_heads=2,
        n_kv_heads=1,
        d_ff=23,
        positions="sinusoidal",
        norm="rms",
        feed_forward="swiglu",
        embeddings="untied",
        embedding_scale="sqrt_d_model",
    ),
}


def traced(model: zoo.ZooModel, edits: tuple[Edit, ...] = ()) -> tfmviz.Trace:
    """The trace most tests read; an encoder-decoder gets a target of another length than its source."""
    return model.trace(TEXT, edits, target=TARGET if isinstance(model.module, EncoderDecoder) else None)


def plain_logits(module: Transformer, library: tokenizers.Tokenizer) -> np.ndarray:
    """The same as `traced`, from the bare module and the bare tokenizer."""
    source = torch.tensor([library.encode(TEXT).ids])
    target = torch.tensor([[END, *library.encode(TARGET).ids]])
    with torch.no_grad():
        return (module(source, target) if isinstance(module, EncoderDecoder) else module(source))[0].numpy()
