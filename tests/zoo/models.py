"""Small random models, one per architecture."""

import tfmviz
from tests.model.helpers import flat
from tfmviz import zoo
from tfmviz.model.earlier import (
    EarlierConfig,
    LabellerConfig,
    RecurrentConfig,
    Seq2SeqConfig,
    StateSpaceConfig,
    WindowConfig,
)
from tfmviz.model.transformer import EncoderDecoder
from tfmviz.record.edits import Edit

TEXT = "The cat sat on the 中 mat."
TARGET = "A dog <b>."

VOCAB_SIZE, MAX_LEN = 283, 37
SIZES = {"vocab_size": VOCAB_SIZE, "max_len": MAX_LEN, "n_layers": 2}
CONFIGS = {
    "decoder-only": flat(**SIZES, d_model=18, n_heads=3, n_kv_heads=3, d_ff=29),
    "encoder-only": flat(
        architecture="encoder-only",
        **SIZES | {"d_model": 21, "n_heads": 3, "n_kv_heads": 3, "d_ff": 31},
        **{"positions": "learned", "norm_position": "post", "feed_forward": "relu"},
    ),
    "encoder-decoder": flat(
        architecture="encoder-decoder",
        **SIZES | {"d_model": 20, "n_heads": 2, "n_kv_heads": 1, "d_ff": 23, "positions": "sinusoidal", "norm": "rms"},
        **{"feed_forward": "swiglu", "embeddings": "untied", "embedding_scale": "sqrt_d_model"},
    ),
}

EARLIER: dict[str, EarlierConfig | LabellerConfig | Seq2SeqConfig] = {
    "a-window": WindowConfig(vocab_size=VOCAB_SIZE, max_len=MAX_LEN, n_window=3, d_model=5, d_hidden=7),
    "rnn": RecurrentConfig(vocab_size=VOCAB_SIZE, max_len=MAX_LEN, d_model=11, n_layers=2),
    "ssm": StateSpaceConfig(vocab_size=VOCAB_SIZE, max_len=MAX_LEN, d_model=11, n_state=3, d_ff=13, n_layers=2),
    "label-both": LabellerConfig(
        directions="both", n_labels=3, vocab_size=VOCAB_SIZE, max_len=MAX_LEN, d_model=22, n_layers=2
    ),
    "seq2seq-additive": Seq2SeqConfig(attention="additive", vocab_size=VOCAB_SIZE, max_len=MAX_LEN, d_model=11),
    "seq2seq-none": Seq2SeqConfig(attention="none", vocab_size=VOCAB_SIZE, max_len=MAX_LEN, d_model=11),
}
"""Small models of the kinds from before the transformer."""


def traced(model: zoo.ZooModel, edits: tuple[Edit, ...] = ()) -> tfmviz.Trace:
    """The trace most tests read; an encoder-decoder gets a target of another length than its source."""
    return model.trace(TEXT, edits, target=TARGET if isinstance(model.module, EncoderDecoder) else None)
