"""Texts, edits and small models for a comparison of the engine with Python, and what has to agree."""

import random
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.torch import save_file

from tests.browser import ROOT
from tests.engine import MODELS, Engine
from tests.model.helpers import flat, lively
from tfmviz.model.transformer import build
from tfmviz.record.edits import Edit, Scale, SetMask
from tfmviz.record.trace import Array, Trace
from tfmviz.zoo import load
from tfmviz.zoo.files import read_tokenizer
from tfmviz.zoo.model import ZooModel

EXACT = 1e-4
"""The largest difference, as a share of a site's largest value."""

TIED = 1e-3
"""Logits nearer to one another than this may come in either order."""

LINES = tuple((ROOT / "assets" / "texts" / "english.txt").read_text(encoding="utf-8").splitlines())
PIECES = (
    *LINES,
    *(ROOT / "assets" / "texts" / "chinese.txt").read_text(encoding="utf-8").splitlines()[:40],
    "___ é 😀",
)


def texts(model: ZooModel, count: int, *, seed: int) -> list[str]:
    """From one token up to what the model reads at most, or 128."""
    rng, longest = random.Random(seed), min(model.config.max_len, 128)
    lengths = [1, longest, *(rng.randint(2, longest) for _ in range(count))][:count]
    return [cut(model, " ".join(rng.choices(PIECES, k=40)), length) for length in lengths]


def cut(model: ZooModel, text: str, length: int) -> str:
    """The text up to the end of its token of this number."""
    return text[: model.encode(text).offsets[length - 1][1]]


def edits(trace: Trace, *, seed: int) -> tuple[Edit, ...]:
    """A few of the kinds that the engine carries out, for a model with this record."""
    rng = random.Random(seed)
    return tuple(edit(trace, rng) for _ in range(rng.randint(1, 4)))


def edit(trace: Trace, rng: random.Random) -> Edit:
    layer, length = rng.choice(trace.layers), len(trace.target)
    heads = len(trace[f"{layer}.z"])
    vectors = [site for site in trace if site.endswith((".out", ".resid_mid", "norm", ".pre", ".post", "embed"))]
    mask = tuple(tuple(i == j or rng.random() < 0.5 for j in range(length)) for i in range(length))
    some = tuple(rng.random() < 0.5 for _ in range(heads))
    possible: list[Edit] = [
        SetMask(layer=layer, mask=mask, heads=rng.choice([None, some])),
        Scale(site=f"{layer}.z", factor=rng.uniform(0, 2), head=rng.choice([None, rng.randrange(heads)])),
        Scale(site=rng.choice(vectors), factor=rng.choice([0.0, rng.uniform(-1, 2)])),
        Scale(site="logits", factor=0.5),
    ]
    return rng.choice(possible)


def check_model(engine: Engine, name: str, count: int) -> None:
    """Compares a shipped model in so many texts, half of them with edits too."""
    model = load(name)
    engine.load(name, MODELS / name)
    for n, text in enumerate(texts(model, count, seed=count)):
        check(engine, model, text)
        if n % 2:
            check(engine, model, text, edits(model.trace(text), seed=n))


def check(engine: Engine, model: ZooModel, text: str, changes: Sequence[Edit] = ()) -> float:
    """Compares every site. Returns the largest difference, as a share of its site's largest value."""
    trace = model.trace(text, tuple(changes))
    facts, arrays = engine.trace(model.name, text, changes)
    assert facts["ids"] == list(trace.target.ids)
    assert tuple(arrays) == trace.sites
    worst = max(difference(site, arrays[site], trace[site]) for site in trace)
    if "logits" in trace:
        same_order(arrays["logits"], trace["logits"])
    return worst


def difference(site: str, ours: Array, theirs: Array) -> float:
    """A share of the site's largest value. Raises: AssertionError, if it is too large."""
    assert ours.shape == theirs.shape, site
    finite = np.isfinite(theirs)
    assert (np.isfinite(ours) == finite).all(), site
    apart = np.abs(ours[finite] - theirs[finite].astype(np.float64)).max()
    largest = np.abs(theirs[finite].astype(np.float64)).max()
    assert apart <= EXACT * largest, f"{site} differs by {apart:.3g}; its largest value is {largest:.3g}"
    return float(apart / largest) if largest else 0.0


def same_order(ours: Array, theirs: Array) -> None:
    """No token comes before another that Python puts clearly above it."""
    ranked = np.take_along_axis(theirs, np.argsort(-ours, axis=-1, kind="stable"), axis=-1)
    assert (np.maximum.accumulate(ranked[:, ::-1], axis=-1)[:, ::-1] - ranked).max() <= TIED


Case = dict[str, Any]

NORMS: list[Case] = [{"norm_position": "post"}, {"norm_position": "pre", "embedding_scale": "sqrt_d_model"}]
ATTENTION: list[Case] = [{}, {"n_kv_heads": 2}, {"window": 5}, {"n_kv_heads": 1, "norm_eps": 1e-3}]
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
