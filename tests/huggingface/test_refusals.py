"""What cannot be shown is refused with a sentence that says why, and nothing half-written stays."""

import io
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import torch
import transformers as hf

from tests.browser import ROOT
from tests.cases import each
from tests.huggingface.damages import REFUSED, Damage
from tests.huggingface.folders import llama_style
from tests.huggingface.models import LENGTH, LLAMA, MODELS, WINDOW, qwen2, sliding, tiny
from tests.huggingface.test_folders import run
from tfmviz import zoo
from tfmviz.huggingface import conversion
from tfmviz.huggingface.card import facts_of, summary_text
from tfmviz.huggingface.check import TIMES, Site
from tfmviz.huggingface.conversion import texts_of
from tfmviz.huggingface.families import FAMILIES, config_of, family_of, open_source
from tfmviz.huggingface.refusals import OF_TYPES, REASONS, not_converted
from tfmviz.huggingface.refusals import UNKNOWN as UNKNOWN_LAYERS
from tfmviz.huggingface.source import Memory, Refused, Shapes
from tfmviz.huggingface.tokens import tokenizer_of
from tfmviz.model.config import ModelConfig


@pytest.fixture(autouse=True)
def nothing_is_left(place: Path) -> Iterator[None]:
    """In the reader's folder of models."""
    yield
    assert not place.exists() or not list(place.iterdir())


def refused(checkpoint: Path, *options: str, code: int = 1) -> str:
    with redirect_stderr(io.StringIO()) as said:
        assert run(checkpoint, *options) == code
    return said.getvalue()


@each("what", REFUSED)
def test_what_cannot_be_shown_is_refused(written: Path, tmp_path: Path, what: tuple[Damage, str]) -> None:
    checkpoint, (damage, words) = shutil.copytree(written, tmp_path / "checkpoint"), what
    damage(checkpoint)
    said = refused(checkpoint, "--name", "damaged")
    assert re.search(words, said, re.DOTALL), said
    assert f"Cannot convert {checkpoint}: " in said  # transformers may have said before how far it is
    assert "Traceback" not in said
    assert "damaged" not in zoo.available()


@each(
    "options, words",
    [
        ("--name ../outside", "'../outside' is not a valid name"),
        ("--name .hidden", "is not a valid name"),
        ("--name tiny-english", "A shipped model is called tiny-english"),
        ("--name run-mine", "taken for a model that is being trained here"),
        ("--max-len 513", "513 is not between 2 and 512"),
        ("--max-len 1", "1 is not between 2 and 512"),
    ],
)
def test_choices_are_checked_before_anything_is_read(checkpoint: Path, options: str, words: str) -> None:
    assert words in refused(checkpoint, *options.split())


def test_a_model_is_never_overwritten(checkpoint: Path, place: Path) -> None:
    (place / "taken").mkdir(parents=True)
    assert "already. Remove it, or choose another name" in refused(checkpoint, "--name", "taken")
    assert not list((place / "taken").iterdir())
    (place / "taken").rmdir()
    assert "There is no folder" in refused(checkpoint / "not-here")


class NotConnected(Exception):
    """As the Hub's library passes it on from the library under it: no OSError."""


@each("error", [OSError("the network is not there"), NotConnected("name not known")])
def test_without_a_network_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    monkeypatch.setattr("huggingface_hub.snapshot_download", fails(error))
    monkeypatch.setattr("huggingface_hub.HfApi.model_info", fails(error))
    said = refused(Path("nobody/no-model"))
    assert f"no model of that name ({error})" in said
    assert "give the path of a folder" in said


def fails(error: BaseException) -> Callable[..., Any]:
    def fail(*_: Any, **__: Any) -> Any:
        raise error

    return fail


STOPS: list[tuple[BaseException, int, str]] = [
    (OSError(28, "No space left on device"), 1, "No space left on device"),
    (KeyboardInterrupt(), 130, "Stopped. Nothing was written"),
    (MemoryError(), 1, "not enough memory"),
    (KeyError("surprise"), 1, "did not expect (KeyError: 'surprise')"),  # what nobody foresaw is a sentence too
]


@each("step", ["compare", "write_weights", "read_module"])
@each("error, code, words", STOPS)
def test_what_stops_it_leaves_nothing_behind(
    checkpoint: Path, place: Path, step: str, error: BaseException, code: int, words: str
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conversion, step, fails(error))
        assert words in refused(checkpoint, code=code)
    assert not place.exists() or not list(place.iterdir())


def test_what_the_app_would_refuse_is_not_written(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zoo, "load", fails(zoo.ModelUnavailable("it is odd")))
    assert "The app would not show the result: it is odd" in refused(checkpoint)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**9, 10**9, 1000))
    assert "has room for 0 MB" in refused(checkpoint)


def test_a_folder_that_is_still_being_written_is_not_listed(place: Path) -> None:
    (place / ".half.x1").mkdir(parents=True)
    assert zoo.catalogue() == zoo.catalogue(zoo.MODELS)
    (place / ".half.x1").rmdir()


UNKNOWN: dict[str, tuple[Callable[[], Any], str]] = {
    "bart with two sizes of heads": (
        lambda: hf.BartConfig(encoder_attention_heads=4, decoder_attention_heads=8),
        "differ in attention_heads: 4 and 8",
    ),
    "t5 with other buckets": (lambda: hf.T5Config(relative_attention_num_buckets=16), "16 buckets"),
    "a t5 without its decoder": (lambda: hf.T5Config(), "only the encoder of a T5.*source=source_tokens"),
    "marian with two vocabularies": (
        lambda: hf.MarianConfig(share_encoder_decoder_embeddings=False),
        "vocabularies of their own",
    ),
    "opt of an old draft": (lambda: hf.OPTConfig(_remove_final_layer_norm=True), "draft of OPT"),
    "bloom with normed streams": (lambda: hf.BloomConfig(apply_residual_connection_post_layernorm=True), "stream"),
    "gpt2 with cross-attention": (lambda: hf.GPT2Config(add_cross_attention=True), "cross-attention"),
    "bert as a decoder": (lambda: hf.BertConfig(is_decoder=True), "used as a decoder"),
    "mixture of experts": (lambda: hf.PhimoeConfig(), "phimoe is not converted: there is no recipe for its mixtures"),
    "smaller keys": (lambda: hf.DeepseekV3Config(), "its keys and values come from a smaller vector"),
    "layers without experts": (lambda: hf.Qwen3MoeConfig(decoder_sparse_step=2), "12 of its 24 layers have no experts"),
    "layers in groups": (lambda: hf.AlbertConfig(num_hidden_groups=2), "12 layers share weights in 2 groups of 1"),
    "falcon with ALiBi": (lambda: hf.FalconConfig(alibi=True), "alibi = True"),
    "stablelm with norms of queries": (lambda: hf.StableLmConfig(qk_layernorm=True), "qk_layernorm = True"),
    "olmo with a limit": (lambda: hf.OlmoConfig(clip_qkv=8.0), r"clip_qkv = 8\.0"),
    "mpt with another slope": (lambda: hf.MptConfig(attn_config={"alibi_bias_max": 4}), "alibi_bias_max = 4"),
    "layers in chunks": (
        lambda: hf.MinistralConfig(**LLAMA, sliding_window=9, layer_types=["chunked_attention"] * 3),
        "'chunked_attention'",
    ),
    "a type by itself": (lambda: hf.DiffLlamaConfig(), "lambda_q1"),
    "too large": (
        lambda: hf.LlamaConfig(vocab_size=100_000, hidden_size=8192, intermediate_size=8192, num_attention_heads=64),
        "parameters; 2,000,000,000 are allowed",
    ),
}


def shape_of(theirs: Any, tensors: Mapping[str, torch.Tensor] = MappingProxyType({})) -> ModelConfig:
    family = family_of(theirs)
    return config_of(theirs, open_source(Memory(tensors), family), family)


@each("what", list(UNKNOWN))
def test_models_of_an_unknown_kind_are_refused_by_their_configuration(what: str) -> None:
    make, words = UNKNOWN[what]
    with pytest.raises(Refused, match=words):
        shape_of(make())


def test_a_refusal_names_a_reason_that_the_docs_list_a_family_that_there_is_and_a_way_out() -> None:
    documented = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    assert not [
        reason for reason in (*REASONS, *OF_TYPES.values(), UNKNOWN_LAYERS) if f"| {reason} |" not in documented
    ]
    relatives = {"gemma9_text": "gemma", "my_gpt": "gpt2", "xlm-roberta-xl": "xlm-roberta", "qwen9_moe": "qwen"}
    settings = {"rms_norm_eps": "llama", "type_vocab_size": "bert", "rotary_dim": "gpt_neox"}
    cases: list[tuple[dict[str, Any], str]] = [({"model_type": kind}, family) for kind, family in relatives.items()]
    cases += [({"model_type": "new", setting: 1}, family) for setting, family in settings.items()]
    cases += [({"model_type": f"{kind}9", "is_encoder_decoder": True}, kind) for kind in ("t5", "bart")]
    for config, family in cases:
        sentences = not_converted(config, FAMILIES)
        (found,) = re.findall(r"Nearest: ([\w-]+)\.", sentences)
        assert found in FAMILIES, config
        assert found.startswith(family), config
        assert "tfmviz.show(model(" in sentences
    assert "tfmviz.show" not in not_converted({"model_type": "mamba2"}, FAMILIES)


def test_a_card_says_by_which_rule_a_difference_has_passed() -> None:
    found = [summary_text({"patterns": Site(kind="patterns", name="a", difference=size)})[0] for size in (4e-6, 1.2e-5)]
    assert "allowed: 5e-06" in found[0]
    assert "allowed" not in found[1]
    assert f"at most {TIMES} times" in found[1]


SOME = hf.Qwen2Config(**qwen2(), **sliding(from_layer=1))


@each(
    "theirs, window, said",
    [
        (MODELS["mistral"]().config, WINDOW, ", of which each token sees the last 13"),
        (hf.MistralConfig(**LLAMA, sliding_window=None), None, ""),
        (MODELS["qwen2"]().config, None, ""),
        (MODELS["qwen2 window"]().config, WINDOW, ", of which each token sees the last 13"),
        (SOME, WINDOW, ", of which each token sees the last 13 in 2 of 3 layers"),
        (MODELS["gemma2"]().config, 59, ", of which each token sees the last 59 in 2 of 3 layers"),
        (MODELS["llama"]().config, None, ""),
    ],
)
def test_a_window_shortens_no_context_and_is_said(theirs: Any, window: int | None, said: str) -> None:
    shape = shape_of(theirs)
    assert (shape.attention.window, shape.max_len, shape.trained_on) == (window, LENGTH, LENGTH)
    facts = facts_of(shape, kind="", n_parameters=1, tokenizer="", licence="")
    assert facts["context"] == f"61 tokens here{said}"


def test_the_comparison_reads_a_text_that_is_longer_than_the_window() -> None:
    theirs = hf.MistralConfig(**LLAMA, sliding_window=50)
    config = shape_of(theirs)
    tokenizer = tokenizer_of(llama_style(), theirs, None, config)
    everywhere = replace(config, attention=replace(config.attention, window=None, global_layers=None))
    longest = [max(text.shape[1] for (text,) in texts_of(tokenizer, one)) for one in (config, everywhere)]
    assert longest[0] > 50 > longest[1]


def test_a_stack_of_more_experts_than_there_can_be_is_not_taken_apart() -> None:
    """A header of a few bytes may say that a tensor without numbers has a billion rows."""
    name = "model.layers.0.mlp.experts.down_proj"
    for shape, is_stack in (((3, 42, 37), True), ((10**9, 0), False), ((), False)):
        source = open_source(Shapes({name: shape}), FAMILIES["mixtral"])
        assert ("layers.0.mlp.experts.down_proj.0.weight" in source) == is_stack, shape


def test_tied_weights_that_were_stored_twice_but_differ_are_not_tied() -> None:
    model = tiny("gpt2")
    tensors = dict(model.state_dict()) | {"lm_head.weight": torch.ones(307, 42)}
    assert not shape_of(model.config, tensors).embeddings.tied
