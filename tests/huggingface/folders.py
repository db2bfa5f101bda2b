"""Checkpoints on disk as transformers writes them: tiny random models with tokenizers of every kind."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import tokenizers
import transformers as hf
from tokenizers import decoders, normalizers, pre_tokenizers, processors, trainers
from tokenizers.models import BPE, Unigram, WordPiece
from transformers.convert_slow_tokenizer import import_protobuf

from tests.huggingface.models import MODELS, NEWER, weighted

TEXT = ["The cat sat on the mat, and the dog ran away. A rose is a rose.", "Two people walked on the Moon in 1969."] * 9


def fast(**choices: Any) -> Any:
    return hf.PreTrainedTokenizerFast(**choices)


@cache
def byte_level() -> Any:
    """As GPT-2's: no marks."""
    backend = tokenizers.Tokenizer(BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=299, initial_alphabet=alphabet, show_progress=False)
    backend.train_from_iterator(TEXT, trainer)
    backend.add_special_tokens(["<|endoftext|>"])
    return fast(tokenizer_object=backend, eos_token="<|endoftext|>")


@cache
def word_piece() -> Any:
    """As BERT's: lower case, [CLS] and [SEP] around a text."""
    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    backend = tokenizers.Tokenizer(WordPiece(unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer()
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(vocab_size=97, special_tokens=marks, show_progress=False)
    backend.train_from_iterator(TEXT, trainer)
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(mark, backend.token_to_id(mark)) for mark in ("[CLS]", "[SEP]")],
    )
    return fast(tokenizer_object=backend, unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]")


@cache
def sentence_piece() -> Any:
    """As T5's: "▁" for spaces, </s> after a text."""
    backend = tokenizers.Tokenizer(Unigram())
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    backend.decoder = decoders.Metaspace()
    marks = ["<pad>", "</s>", "<unk>"]
    backend.train_from_iterator(
        TEXT, trainers.UnigramTrainer(vocab_size=89, special_tokens=marks, unk_token="<unk>", show_progress=False)
    )
    backend.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return fast(tokenizer_object=backend, eos_token="</s>", pad_token="<pad>", unk_token="<unk>")


@cache
def llama_style() -> Any:
    """As Llama 2's: BPE over "▁" with single bytes for the rest, <s> before a text."""
    marks = ["<unk>", "<s>", "</s>"]
    backend = tokenizers.Tokenizer(BPE(unk_token="<unk>", byte_fallback=True))
    backend.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    backend.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    byte_tokens = [f"<0x{byte:02X}>" for byte in range(256)]
    backend.train_from_iterator(
        TEXT, trainers.BpeTrainer(vocab_size=303, special_tokens=marks + byte_tokens, show_progress=False)
    )
    backend.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return fast(tokenizer_object=backend, bos_token="<s>", eos_token="</s>", unk_token="<unk>")


TOKENIZERS: dict[str, Callable[[], Any]] = {
    **dict.fromkeys(("gpt2", "gpt_neox", "qwen3"), byte_level),
    **dict.fromkeys(("llama", "llama 3", "mistral", "gemma", "gemma2"), llama_style),
    **dict.fromkeys(("bert", "bert headless"), word_piece),
    **dict.fromkeys(("bart", "t5 1.1"), sentence_piece),
}
"""Models that are written with the tokenizer of their kind."""

LATER = {
    **dict.fromkeys(("gpt_oss", "qwen2_moe"), llama_style),
    **dict.fromkeys(("albert", "albert headless"), word_piece),
    "umt5": sentence_piece,
}
"""Models of newer families, with tokenizers of the same kinds."""


def write(folder: Path, name: str, *, half: bool = False) -> Any:
    """Writes a model of `models.MODELS` or `models.NEWER` with a tokenizer, and returns it."""
    model = weighted((MODELS | NEWER)[name]())
    model = model.half() if half else model
    model.save_pretrained(folder)
    if name == "marian":
        write_marian(folder)
    else:
        (TOKENIZERS | LATER)[name]().save_pretrained(folder)
    return model


PIECES = ["▁", "▁the", "▁cat", "▁mat", "▁sat", "▁on", "▁dog", *"staeonThcm.,"]


def write_marian(folder: Path) -> None:
    """`source.spm`, `target.spm` and a vocabulary in another order than theirs."""
    message = import_protobuf()
    for name, longest in (("source.spm", "▁the▁cat"), ("target.spm", "▁cat▁sat")):
        proto = message.ModelProto()
        for piece, kind in (("<unk>", 2), ("<s>", 3), ("</s>", 3)):
            proto.pieces.add(piece=piece, score=0.0, type=kind)
        for n, piece in enumerate([longest, *PIECES]):
            proto.pieces.add(piece=piece, score=-float(n), type=1)
        (folder / name).write_bytes(proto.SerializeToString())
    entries = ["</s>", "<unk>", ">>fr<<", *reversed(PIECES), "▁the▁cat", "▁cat▁sat", "<pad>"]
    (folder / "vocab.json").write_text(json.dumps({entry: n for n, entry in enumerate(entries)}), encoding="utf-8")
