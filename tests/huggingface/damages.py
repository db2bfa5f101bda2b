"""Ways to damage a checkpoint, and what the command then says."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers as hf
from safetensors.torch import load_file, save_file

from tests.text.panics import WAYS

Damage = Callable[[Path], Any]


def config(**changes: Any) -> Damage:
    def change(folder: Path) -> None:
        path = folder / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    return change


def weights(change: Callable[[dict[str, torch.Tensor]], Any]) -> Damage:
    def damage(folder: Path) -> None:
        tensors = load_file(folder / "model.safetensors")
        change(tensors)
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})

    return damage


def lying_header(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes().replace(b'"shape":[307,42]', b'"shape":[999,42]', 1))


def weight(name: str, value: torch.Tensor) -> Damage:
    """Another tensor, or one more."""
    return weights(lambda tensors: tensors.update({name: value}))


def index(**names: str) -> Damage:
    """The weights as two shards with this index."""

    def damage(folder: Path) -> None:
        tensors = load_file(folder / "model.safetensors")
        (folder / "model.safetensors").unlink()
        half = len(tensors) // 2
        save_file(dict(list(tensors.items())[: half + 1]), folder / "a.safetensors", metadata={"format": "pt"})
        save_file(dict(list(tensors.items())[half:]), folder / "b.safetensors", metadata={"format": "pt"})
        (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": names}))

    return damage


def larger(folder: Path) -> None:
    tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    tokenizer.add_tokens([f"<{n}>" for n in range(9)])
    tokenizer.save_pretrained(folder)


def no_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").unlink()


def text(name: str, content: str) -> Damage:
    return lambda folder: (folder / name).write_text(content)


def instead(name: str, make: Callable[[Path], Any]) -> Damage:
    """Something else in the place of a file."""

    def damage(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        make(folder / name)

    return damage


def zeros(path: Path) -> None:
    path.symlink_to("/dev/zero")


def empty_tensors(path: Path, n: int) -> None:
    """A header of 600,000 of them took 35 seconds to read."""
    header = json.dumps({f"t{i}": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for i in range(n)}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header)


def many_shards(folder: Path) -> None:
    """Each of them has a header of half of what is allowed."""
    names = ["a.safetensors", "b.safetensors", "c.safetensors"]
    for name in names:
        empty_tensors(folder / name, 30_000)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {name: name for name in names}}))


def many_values(path: Path) -> None:
    path.write_text("[" + "[]," * 4_000_000 + "[]]")


def enormous(name: str) -> Damage:
    """A tensor of three gigabytes that takes no room on the disk. It was read, and copied, before its shape was."""

    def damage(folder: Path) -> None:
        path = folder / "model.safetensors"
        tensors = load_file(path)
        tensors[name] = torch.ones(1)
        save_file(tensors, path, metadata={"format": "pt"})
        data, n_bytes = path.read_bytes(), 3_000_000_000
        end = 8 + int.from_bytes(data[:8], "little")
        header = json.loads(data[8:end])
        first = len(data) - end
        header |= {name: {"dtype": "F32", "shape": [n_bytes // 4], "data_offsets": [first, first + n_bytes]}}
        header |= {
            "rest": {"dtype": "F32", "shape": [1], "data_offsets": json.loads(data[8:end])[name]["data_offsets"]}
        }
        text = json.dumps(header).encode()
        path.write_bytes(len(text).to_bytes(8, "little") + text + data[end:])
        os.truncate(path, 8 + len(text) + first + n_bytes)

    return damage


def tokenizer(change: Callable[[dict[str, Any]], Any]) -> Damage:
    def damage(folder: Path) -> None:
        path = folder / "tokenizer.json"
        file = json.loads(path.read_text())
        change(file)
        path.write_text(json.dumps(file))

    return damage


def multiplying(file: dict[str, Any]) -> None:
    """Twelve rules, each of which writes four letters for one: the process was ended by the tokenizer's library."""
    rules = [{"type": "Replace", "pattern": {"String": "a"}, "content": "aaaa"}] * 12
    file["normalizer"] = {"type": "Sequence", "normalizers": rules}


def too_many_ways(file: dict[str, Any]) -> None:
    file["pre_tokenizer"] = {"type": "Split", "pattern": {"Regex": WAYS}, "behavior": "Isolated", "invert": False}


def marks_without_end(file: dict[str, Any]) -> None:
    """Five megabytes that put a hundred million tokens before every text."""
    file["post_processor"]["special_tokens"]["<s>"] |= {"ids": [1] * 1000, "tokens": ["<s>"] * 1000}
    file["post_processor"]["single"] *= 100_000


UP, DOWN = "model.layers.1.mlp.up_proj.weight", "model.layers.1.mlp.down_proj.weight"
REFUSED: dict[str, tuple[Damage, str]] = {
    "only .bin": (
        lambda folder: (folder / "model.safetensors").rename(folder / "pytorch_model.bin"),
        r"\.bin files only.*save_pretrained",
    ),
    "no weights": (lambda folder: (folder / "model.safetensors").unlink(), "holds no weights"),
    "cut off": (
        lambda folder: os.truncate(path := folder / "model.safetensors", path.stat().st_size - 100),
        "damaged or cut off",
    ),
    "a header that lies": (lying_header, "damaged or cut off"),
    "a shard outside the folder": (index(x="../a.safetensors"), r"'\.\./a\.safetensors', which is not"),
    "a shard of another kind": (index(x="pytorch_model.bin"), "which is not a safetensors file"),
    "a shard that is missing": (index(x="a.safetensors", y="c.safetensors"), r"c\.safetensors is missing"),
    "a tensor in two shards": (index(x="a.safetensors", y="b.safetensors"), "Two files of the checkpoint hold model"),
    "an index that is none": (text("model.safetensors.index.json", "[]"), "index.json is damaged"),
    "a missing tensor": (
        weights(lambda tensors: tensors.pop("model.layers.2.self_attn.q_proj.weight")),
        r"lacks layers\.2\.self_attn\.q_proj",
    ),
    "a tensor too many": (
        weight("model.layers.0.adapter.weight", torch.ones(3)),
        r"1 tensors that no model of this type has, first layers\.0\.adapter",
    ),
    "another shape": (weight("model.norm.weight", torch.ones(43)), r"decoder\.norm\.weight would be \(43,\)"),
    "not a number": (
        weights(lambda tensors: tensors[UP][3, 5].fill_(torch.nan)),
        r"layers\.1\.mlp\.up_proj\.weight are finite",
    ),
    "whole numbers": (
        weight("model.norm.weight", torch.ones(42, dtype=torch.int8)),
        "int8 numbers, so the weights are quantised",
    ),
    "an unknown type": (config(model_type="mamba"), "mamba is not converted: its layers hold no attention"),
    "no type": (config(model_type=None), "model_type is None"),
    "remote code": (
        config(model_type="my_model", auto_map={"AutoConfig": "evil.Config"}),
        "Code in its folder is not run",
    ),
    "quantised": (
        config(quantization_config={"quant_method": "bitsandbytes", "load_in_8bit": True}),
        r"are quantised.*tfmviz\.show\(model\(",
    ),
    "no configuration": (lambda folder: (folder / "config.json").unlink(), r"no config\.json"),
    "a damaged configuration": (text("config.json", "{"), r"config\.json is damaged"),
    "a function nobody knows": (config(hidden_act="tanh"), "'tanh', which is not known here"),
    "a stretching that changes": (
        config(rope_parameters={"rope_type": "proportional", "rope_theta": 777.0, "factor": 2.0}),
        "stretched by 'proportional', which is not known here",
    ),
    "heads that turn in part": (
        config(rope_parameters={"rope_type": "default", "rope_theta": 777.0, "partial_rotary_factor": 0.5}),
        "turns .* coordinates .partial_rotary_factor.; models of the type .* turn all",
    ),
    "heads that do not divide": (config(num_key_value_heads=4), "n_heads = 6 cannot share n_kv_heads = 4"),
    "a vocabulary larger than the embedding": (larger, "entries, but its embedding only 307 rows"),
    "no tokenizer": (no_tokenizer, r"holds no tokenizer: no tokenizer\.json"),
    "a damaged tokenizer": (text("tokenizer.json", "{}"), "tokenizer cannot be read"),
    "brackets within brackets": (text("config.json", "[" * 100_000), r"config\.json is damaged \(maximum recursion"),
    "brackets in other settings": (
        text("generation_config.json", "[" * 100_000),
        r"generation_config\.json is damaged",
    ),
    "a list of types": (config(model_type=["llama"]), r"model_type is \['llama'\]"),
    "a base without turns": (config(rope_parameters={"rope_type": "default", "rope_theta": 0}), "base must be larger"),
    "a base in words": (config(rope_parameters={"rope_type": "default", "rope_theta": "a"}), "does not describe"),
    "settings as a pipe": (instead("config.json", os.mkfifo), r"config\.json is no regular file"),
    "weights as a device": (instead("model.safetensors", zeros), r"model\.safetensors is no regular file"),
    "a tokenizer as a device": (instead("tokenizer.json", zeros), r"tokenizer\.json is no regular file"),
    "a card as a pipe": (instead("README.md", os.mkfifo), r"README\.md is no regular file"),
    "too many tensors": (
        lambda folder: empty_tensors(folder / "model.safetensors", 80_000),
        "lists its tensors in 5 MB",
    ),
    "too many tensors in several files": (many_shards, "lists its tensors in 6 MB"),
    "more values than a vocabulary has": (instead("tokenizer.json", many_values), r"holds 8,\d+,\d+ values"),
    "a norm as long as a film": (enormous("model.norm.weight"), r"decoder\.norm\.weight would be \(750000000,\)"),
    "a vocabulary as long as a film": (enormous("model.embed_tokens.weight"), r"W_E would be \(750000000,\)"),
    "layers without end": (config(num_hidden_layers=10**9), r"num_hidden_layers = 1,000,000,000 in config\.json"),
    "labels without end": (config(num_labels=10**9), r"num_labels = 1,000,000,000 in config\.json"),
    "entries without end": (config(vocab_size=10**9), r"vocab_size = 1,000,000,000 is more than the 1,000,000"),
    "marks by number": (
        text("tokenizer_config.json", '{"extra_ids": 1000000000}'),
        r"extra_ids = 1,000,000,000 in tokenizer_config\.json",
    ),
    "weights that overflow": (
        weights(lambda tensors: tensors[DOWN].fill_(1e38)),
        r"not finite at decoder\.1\.resid_post\. Its weights are finite",
    ),
    "settings as long as a book": (config(more="x" * 2_000_000), r"config\.json has 2 MB"),
    "rules that try too many ways": (tokenizer(too_many_ways), "break down on long texts, such as 5,001 characters"),
    "marks without end": (tokenizer(marks_without_end), "adds 100,000,000 marks to every text"),
    "rules that multiply a text": (
        tokenizer(multiplying),
        r"normalizer of its tokenizer can make a text 2e\+07 times as long",
    ),
}
