"""Other people's tokenizers: each token says which of the reader's characters it stands for, whatever cut the text."""

import re
from collections.abc import Callable

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from tests.cases import each
from tests.text.texts import bytes_of
from tfmviz.record.marks import Marks
from tfmviz.text.foreign import ForeignTokenizer

LETTERS = "abcdefghijklmnopqrstuvwxyz"
SINGLE_BYTES = [f"<0x{byte:02X}>" for byte in range(256)]

TEXTS = {
    "Chinese": "in 他們 we",
    "an emoji": "so 😀!",
    "joined emoji": "a 👩\u200d🚀 b",
    "a combining accent": "ve\u0301lo éa",
    "many": "a 他 é e\u0301 😀👩\u200d🚀文 zz",
}


def byte_level(*, prefix: bool = False, normalizer: normalizers.Normalizer | None = None) -> Tokenizer:
    """As GPT-2's, with a few merges, of which one joins a space to a letter and one two bytes of 他."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("Ġ", "a"), ("ä", "»"), ("z", "z")]
    vocabulary = {entry: n for n, entry in enumerate([*alphabet, *map("".join, merges)])}
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    backend.decoder = decoders.ByteLevel()
    backend.post_processor = processors.ByteLevel(trim_offsets=True)
    if normalizer:
        backend.normalizer = normalizer
    return backend


def qwen() -> Tokenizer:
    """Byte-level with a rule of its own for what a word is."""
    backend = byte_level()
    words = pre_tokenizers.Split(Regex(r" ?\p{L}+| ?[^\s\p{L}]+|\s+"), "isolated")
    in_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    backend.pre_tokenizer = pre_tokenizers.Sequence([words, in_bytes])
    return backend


def llama() -> Tokenizer:
    """BPE of SentencePiece: a letter that it lacks becomes its bytes."""
    entries = {entry: n for n, entry in enumerate(["<unk>", *SINGLE_BYTES, "▁", *LETTERS, "▁a"])}
    merges = [("▁", "a")]
    backend = Tokenizer(models.BPE(vocab=entries, merges=merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    backend.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    spaces, strip = decoders.Replace("▁", " "), decoders.Strip(" ", 1, 0)
    backend.decoder = decoders.Sequence([spaces, decoders.ByteFallback(), decoders.Fuse(), strip])
    return backend


def unigram(*, fallback: bool = True) -> Tokenizer:
    entries = ["<unk>", *(SINGLE_BYTES if fallback else ("他", "們", "é", "e\u0301", "文")), "▁", *LETTERS, "!"]
    backend = Tokenizer(models.Unigram([(entry, -1.0) for entry in entries], unk_id=0, byte_fallback=fallback))
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    backend.decoder = decoders.Metaspace()
    return backend


def wordpiece() -> Tokenizer:
    entries = ["[UNK]", *LETTERS, *(f"##{letter}" for letter in LETTERS), "他", "們", "文", "!"]
    backend = Tokenizer(models.WordPiece({entry: n for n, entry in enumerate(entries)}, unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer()
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    return backend


IN_BYTES: dict[str, Callable[[], Tokenizer]] = {
    "byte-level": byte_level,
    "byte-level after a space": lambda: byte_level(prefix=True),
    "byte-level, other words": qwen,
    "byte-level, NFC": lambda: byte_level(normalizer=normalizers.NFC()),
    "BPE with single bytes": llama,
    "Unigram with single bytes": unigram,
}

WITHOUT_BYTES: dict[str, Callable[[], Tokenizer]] = {"Unigram": lambda: unigram(fallback=False), "WordPiece": wordpiece}


def foreign(backend: Tokenizer) -> ForeignTokenizer:
    return ForeignTokenizer(backend, marks=Marks(), vocab_size=backend.get_vocab_size())


@each("kind", list(IN_BYTES))
def test_pieces_of_a_character_say_which_they_are_and_no_two_alike(kind: str) -> None:
    tokenizer = foreign(IN_BYTES[kind]())
    for text in TEXTS.values():
        read = tokenizer.encode(text, max_len=999)
        assert not [token for token in read.tokens if "[byte" in token or "<0x" in token]
        assert (
            b"".join(map(bytes_of, read.tokens)).decode().strip() == tokenizer.spelled(text).replace("▁", " ").strip()
        )
        assert tokenizer.pieces(text) == tokenizer.encode_target(text, max_len=999).tokens == read.tokens
        assert tokenizer.encoding_of(read.ids, max_len=999).tokens == read.tokens
    read = foreign(IN_BYTES[kind]()).encode("x他們é😀👩\u200d🚀文y", max_len=999)
    assert len(set(read.tokens)) == len(read.tokens)


def test_the_pieces_of_a_character_are_counted_as_by_our_own_tokenizer() -> None:
    for kind, make in IN_BYTES.items():
        tokens = [token for token in foreign(make()).encode("文", max_len=9).tokens if token.strip()]
        assert [token.strip() for token in tokens] == ["文 1/3", "文 2/3", "文 3/3"], kind
    assert foreign(byte_level()).encode("他", max_len=9).tokens == ("他 1–2/3", "他 3/3")


@each("kind", [*IN_BYTES, *WITHOUT_BYTES])
def test_spans_cover_the_text_and_each_says_what_its_token_is(kind: str) -> None:
    tokenizer = foreign((IN_BYTES | WITHOUT_BYTES)[kind]())
    for text in TEXTS.values():
        read = tokenizer.encode(text, max_len=999)
        covered = {n for start, end in read.offsets for n in range(start, end)}
        assert [text[n] for n in range(len(text)) if n not in covered and not text[n].isspace()] == []
        for token, (start, end) in zip(read.tokens, read.offsets, strict=True):
            if part := re.fullmatch(r" ?(.) \d(–\d)?/\d", token, re.DOTALL):
                assert text[start:end].strip() in (part[1], "e\u0301"), (kind, token)  # é, which NFC joins


def test_a_cut_within_a_character_leaves_the_labels_as_they_are() -> None:
    for kind, make in IN_BYTES.items():
        tokenizer, text = foreign(make()), TEXTS["many"]
        whole = tokenizer.encode(text, max_len=999)
        for most in range(1, len(whole)):
            cut = tokenizer.encode(text, max_len=most)
            assert (cut.tokens, cut.offsets) == (whole.tokens[:most], whole.offsets[:most]), kind
