"""Small models with everything that the engine knows, and their comparison with Python."""

from itertools import product
from pathlib import Path
from typing import Any

from safetensors.torch import save_file

from tests.engine import Engine
from tests.engine.parity import check, edits
from tests.model.helpers import flat, lively
from tfmviz.model.transformer import build
from tfmviz.zoo.files import read_tokenizer
from tfmviz.zoo.model import ZooModel

Case = dict[str, Any]

NORMS: list[Case] = [
    {"norm_position": "post"},
    {"norm_position": "pre", "embedding_scale": "sqrt_d_model"},
]
ATTENTION: list[Case] = [
    {},
    {"n_kv_heads": 2},
    {"window": 5},
    {"n_kv_heads": 1, "norm_eps": 1e-3},
]
POSITIONS = ("none", "learned", "sinusoidal", "rope", "alibi", "shaw", "t5")
CASES: list[Case] = [
    {"architecture": architecture, "positions": scheme, "feed_forward": feed_forward} | norms | attention
    for scheme, architecture, norms, feed_forward, attention in product(
        POSITIONS, ("decoder-only", "encoder-only"), NORMS, ("gelu", "none"), ATTENTION
    )
    if architecture == "decoder-only" or not ("window" in attention or scheme == "t5")
]


def check_case(engine: Engine, folder: Path, case: Case) -> None:
    """Compares a model of this case in texts of several lengths, with edits and without.

    Args:
        folder: holds the tokenizer of `induction`, and gets the weights.
    """
    seed = CASES.index(case)
    model = random_model(folder, seed=seed, **case)
    engine.load(model.name, folder, model.config.to_dict())
    for length in (1, 2, 29):
        text = "AbcDefGhi jKl, mnO pqRs! tUvwXyz 0123 ?"[:length]
        check(engine, model, text)
        check(engine, model, text, edits(model.trace(text), seed=seed))


def random_model(folder: Path, *, seed: int, **entries: Any) -> ZooModel:
    """A model with lively weights, whose file lies in a folder. Its sizes differ and are odd where that is possible."""
    sizes = {"vocab_size": 1024, "max_len": 31, "d_model": 26, "n_layers": 2, "n_heads": 4, "n_kv_heads": 4}
    config = flat(**sizes | {"d_ff": 37, "head_width": 10} | entries)
    module = lively(build(config), seed=seed).requires_grad_(False)
    save_file({name: value.contiguous() for name, value in module.state_dict().items()}, folder / "model.safetensors")
    return ZooModel(name="random", config=config, tokenizer=read_tokenizer(folder, config), module=module)
