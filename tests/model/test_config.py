"""The configuration: what it refuses and why, what it derives, and that it survives JSON."""

import json
from dataclasses import fields, replace
from typing import Any, Literal, get_origin, get_type_hints

import pytest
import torch

from tests.cases import each
from tests.model.helpers import config, flat
from tests.model.sizes import ARCHITECTURES, SCHEMES
from tfmviz import zoo
from tfmviz.model.config import MAX_LEN, MAX_PARAMETERS, MAX_VOCAB, ModelConfig
from tfmviz.model.earlier import read_config
from tfmviz.model.transformer import build
from tfmviz.paths import PROJECT
from tfmviz.positions import schemes
from tfmviz.record.facts import MAX_EXPERTS, Architecture
from tfmviz.record.part import Part

every_architecture = each("architecture", ARCHITECTURES)

COUNTS = ("vocab_size", "max_len", "d_model", "n_layers", "n_heads", "n_kv_heads", "d_ff", "n_experts")
FIELDS = {
    one.metadata.get("name", one.name): (part, one.name, get_type_hints(kind)[one.name])
    for part, kind in [("", ModelConfig), *get_type_hints(ModelConfig).items()]
    if isinstance(kind, type) and issubclass(kind, Part)
    for one in fields(kind)
}
"""Of each entry of a file where it is kept: the part, the name there and the type."""

FLAGS = [name for name, (_, _, hint) in FIELDS.items() if hint is bool]
CHOICES = [name for name, (_, _, hint) in FIELDS.items() if get_origin(hint) is Literal]


@each("name", COUNTS)
@each("value", [0, -3, 2.0, "7", True, None])
def test_counts_are_whole_numbers_of_at_least_1(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"^{name} must be a whole number .* {value!r}\.$"):
        config(**{name: value})


@each("name", [*CHOICES, "positions", *FLAGS])
@each("value", ["no such", None, 1, ["pre"]])
def test_an_unknown_choice_is_named(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"^{name} must be one of \w.*, but is ") as refused:
        config(**{name: value})
    assert repr(value) in str(refused.value)


@each("name", FLAGS)
def test_a_flag_is_a_word_in_a_file_and_true_or_false_in_python(name: str) -> None:
    with pytest.raises(ValueError, match=rf"^{name} must be one of \w+, \w+, but is True"):
        config(**{name: True})
    part, field, _ = FIELDS[name]
    right = config()
    where = getattr(right, part, right)
    with pytest.raises(ValueError, match=rf"^{name} must be True or False, but is 'absent'"):
        replace(where, **{field: "absent"})


@each("name", ["d_model", "n_heads", "norm_eps", "score_cap", "dropout", "max_len"])
def test_a_number_that_no_float_can_hold_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        config(**{name: 10**400})


THETA = (0.5, 0.01, 0.0, 0.0, 2.0)

MISFITS: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    ({"positions": "rotary"}, (", ".join(SCHEMES),)),
    *(({"dropout": value}, ("dropout must be",)) for value in ("high", None, [0.1])),
    ({"d_model": 31, "n_heads": 3, "n_kv_heads": 3}, ("d_model = 31", "n_heads = 3")),
    ({"n_heads": 3, "n_kv_heads": 2}, ("n_heads = 3", "n_kv_heads = 2")),
    ({"n_heads": 3, "n_kv_heads": 6}, ("n_heads = 3", "n_kv_heads = 6")),
    ({"d_model": 33, "n_heads": 3, "positions": "rope"}, ("d_head = 33 / 3",)),
    ({"d_model": 33, "n_heads": 3, "positions": "sinusoidal"}, ("d_model = 33",)),
    ({"training_mask": "none", "architecture": "encoder-only"}, ("training_mask = 'none'", "encoder-only")),
    *(({"dropout": value}, ("[0, 1)", str(value))) for value in (1.0, -0.1, float("nan"))),
    ({"max_len": 10**6, "positions": "none"}, ("max_len = 1,000,000", f"{MAX_LEN:,}")),
    ({"n_experts": 3, "feed_forward": "none"}, ("n_experts = 3", "feed_forward = 'none'")),
    ({"n_experts": 3, "norm_position": "both"}, ("n_experts = 3", "both")),
    ({"n_experts": 3, "n_chosen": 4}, ("n_chosen = 4", "n_experts = 3")),
    ({"d_shared": 9}, ("d_shared", "n_experts = 1")),
    *(
        ({"n_experts": 3, "feed_forward": kind, "limits": limits}, ("limits", str(limits[-1])))
        for kind, limits in (("gelu", [1.0, 2.0, 3.0]), ("swiglu", [1.0, 3.0, 2.0]), ("swiglu", [-1.0, 2.0, 3.0]))
    ),
    ({"embedding_width": 13}, ("embedding_width = 13", "head = 'linear'")),
    ({"positions": "rope", "position_numbers": "own"}, ("positions = 'rope'",)),
    ({"n_experts": 10**6}, ("n_experts = 1,000,000", f"{MAX_EXPERTS:,}")),
    ({"d_ff": 10**9}, ("0,000,0", f"{MAX_PARAMETERS:,}")),
    ({"vocab_size": MAX_VOCAB + 1}, ("1,000,001", f"{MAX_VOCAB:,}")),
    # What other people's models do differently.
    ({"norm_eps": 0}, ("norm_eps must be a positive number",)),
    ({"norm_eps": float("nan")}, ("norm_eps must be a positive number",)),
    ({"score_cap": -1.0}, ("score_cap must be a positive number",)),
    ({"head_width": 0}, ("head_width must be a whole number",)),
    ({"head_width": 7}, ("d_head = 7 is odd",)),
    ({"rope_theta": (1.0, 0.1)}, ("rope_theta has 2 numbers, but d_head = 10",)),
    ({"rope_theta": (1.0, -0.1, 0, 0, 0)}, ("rope_theta must hold numbers",)),
    ({"rope_theta": "12345"}, ("rope_theta must hold numbers",)),
    ({"rope_theta": THETA, "positions": "none"}, ("rope_theta is for a scheme that turns, but positions = 'none'",)),
    ({"n_decoder_layers": 2}, ("n_decoder_layers is for an encoder-decoder",)),
    ({"residual": "parallel", "norm_position": "post"}, ("post-norm",)),
    ({"residual": "parallel", "architecture": "encoder-decoder"}, ("encoder-decoder",)),
    ({"attention": "linear", "positions": "rope"}, ("positions = 'rope'",)),
    ({"attention": "linear", "positions": "alibi"}, ("positions = 'alibi'",)),
    ({"attention": "linear", "positions": "none", "score_cap": 2.0}, ("score_cap",)),
    ({"attention": "linear", "positions": "none", "sink": "present"}, ("sink = 'present'",)),
    ({"sink": "yes"}, ("sink must be one of absent, present",)),
    ({"window": 3, "architecture": "encoder-decoder"}, ("A window needs one stack",)),
    ({"global_layers": (1,)}, ("global_layers are those without the window",)),
    ({"window": 3, "global_layers": ("1",)}, ("global_layers must hold numbers of layers",)),
    ({"other_theta": (0.5,) * 7}, ("other_theta and other_layers go together",)),
    ({"first_norm": "absent", "norm_position": "post"}, ("first_norm = 'absent' is for a pre-norm model",)),
    ({"window": 3, "training_mask": "none"}, ("A window needs",)),
    ({"window": 0}, ("window must be a whole number",)),
    ({"n_decoder_layers": 10**7, "architecture": "encoder-decoder", "d_model": 6}, ("n_decoder_layers = 10,000,000",)),
    # Tables that follow from a formula take memory as weights do, and so does every block, however narrow.
    *(({"max_len": 10**9, "positions": scheme}, (f"{MAX_LEN:,}",)) for scheme in ("learned", "sinusoidal", "rope")),
    ({"n_layers": 10**7, "n_heads": 1, "d_model": 1, "d_ff": 1, "positions": "none"}, ("10,000,000",)),
]


@each("changes, numbers", MISFITS)
def test_what_does_not_go_together_is_named_by_both_numbers(changes: dict[str, Any], numbers: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"\.$") as refused:
        config(**changes)
    assert [number for number in numbers if number not in str(refused.value)] == []


def test_the_limit_itself_is_allowed() -> None:
    narrow = {"n_layers": 1, "n_heads": 1, "d_model": 1, "d_ff": MAX_PARAMETERS // 2 - 1_000, "positions": "none"}
    rest = config(**narrow, vocab_size=1).n_parameters - 1
    assert config(**narrow, vocab_size=MAX_PARAMETERS - rest).n_parameters == MAX_PARAMETERS
    with pytest.raises(ValueError, match=f"{MAX_PARAMETERS + 1:,}.*{MAX_PARAMETERS:,}"):
        config(**narrow, vocab_size=MAX_PARAMETERS - rest + 1)


def test_every_file_we_ship_says_after_reading_what_it_said() -> None:
    files = sorted((PROJECT / "assets").rglob("config.json"))
    assert {file.parent.name for file in files} > {entry.name for entry in zoo.everything(zoo.MODELS)}
    for file in files:
        said = json.loads(file.read_text(encoding="utf-8"))
        found = read_config(said)
        again = json.loads(json.dumps(found.to_dict()))
        assert {name: again[name] for name in said} == said, file
        assert read_config(again) == found


def test_unknown_and_missing_entries_are_named_and_odd_widths_are_fine() -> None:
    entries = config().to_dict()
    with pytest.raises(ValueError, match="d_modle, n_layer"):
        ModelConfig.from_dict(entries | {"n_layer": 2, "d_modle": 30})
    with pytest.raises(ValueError, match="'d_ff'"):
        ModelConfig.from_dict({name: value for name, value in entries.items() if name != "d_ff"})
    for scheme in (name for name, scheme in schemes.SCHEMES.items() if scheme.pairs is None):
        assert config(d_model=33, n_heads=3, positions=scheme).d_head == 11
    assert config(d_model=34, n_heads=2, positions="sinusoidal").d_head == 17  # an even width, but not even heads


REALISTIC = flat(
    vocab_size=4096, max_len=256, d_model=256, n_layers=4, n_heads=8, n_kv_heads=8, d_ff=1024, positions="rope"
)


@every_architecture
@each(
    "changes",
    [
        {},
        {"feed_forward": "swiglu", "d_ff": 683, "norm": "rms"},
        {"embeddings": "untied"},
        {"n_kv_heads": 2},
        {"norm_position": "post"},
        {"n_experts": 3},
        {"shared_layers": "present"},
        *({"positions": scheme} for scheme in SCHEMES),
        {"embeddings": "untied", "feed_forward": "swiglu", "n_kv_heads": 1, "positions": "learned", "max_len": 1024},
    ],
)
def test_n_parameters_is_within_1_percent(architecture: Architecture, changes: dict[str, Any]) -> None:
    realistic = flat(**REALISTIC.to_dict() | {"architecture": architecture} | changes)
    with torch.device("meta"):
        model = build(realistic)
    real = sum(weight.numel() for weight in model.parameters())
    assert 0.99 * real <= realistic.n_parameters <= real
    matrices = sum(weight.numel() for weight in model.parameters() if weight.dim() > 1)
    biases = sum(weight.numel() for name, weight in model.named_parameters() if "positions" in name)
    assert realistic.n_parameters == matrices - (biases if realistic.positions.kind in ("t5", "shaw") else 0)
