"""The kernel and what is computed around it, against numpy, the definition, and a fresh build."""

import base64
import json
import math
import re
from itertools import product
from pathlib import Path

import numpy as np
import torch

from tests.browser import ROOT
from tests.node import VIEWS, call, node
from tfmviz.positions.t5 import buckets

BYTES = VIEWS / "engine" / "kernel.json"


def test_the_kernel_is_what_its_source_compiles_to_small_and_for_every_browser(tmp_path: Path) -> None:
    built = node(str(ROOT / "scripts" / "build_kernel.mjs"), str(tmp_path / "built.json"))
    assert built.returncode == 0, built.stderr
    assert (tmp_path / "built.json").read_text() == BYTES.read_text()
    program = base64.b64decode("".join(json.loads(BYTES.read_text())))
    assert program.startswith(b"\0asm")
    assert len(program) < 2048
    relaxed = re.compile(rb"\xfd[\x80-\x94]\x02")  # opcodes 0x100 to 0x114
    assert not relaxed.search(program)
    assert relaxed.search(b"\xfd\x85\x02"), "f32x4.relaxed_madd"


MULTIPLY = """given.map(({ a, b, bias, shape: [m, k, n] }) => {
    const memory = new module.Memory();
    const left = memory.of(a, [m, k]);
    const panels = memory.panels({ data: b }, { inner: k, columns: n, down: n, across: 1 });
    const wide = memory.of(bias ?? [], [8 * Math.ceil(n / 8)]);
    const guard = memory.of([7, 7, 7, 7], [4]);
    const made = memory.product(left, panels, bias ? { bias: wide.at } : {});
    const after = memory.of([7, 7, 7, 7], [4]);
    return [[...made.data], [...guard.data, ...after.data], made.shape];
})"""


def test_products_of_all_odd_shapes_and_nothing_beside_them() -> None:
    rng, given, expected = np.random.default_rng(0), [], []
    for m, k, n in product((1, 2, 3, 4, 5, 8, 11), (1, 3, 32), (1, 4, 7, 8, 9, 23)):
        a, b, bias = rng.normal(size=(m, k)), rng.normal(size=(k, n)), rng.normal(size=n)
        for add in (None, bias):
            padded = None if add is None else np.pad(add, (0, -n % 8)).tolist()
            given.append({"a": a.ravel().tolist(), "b": b.ravel().tolist(), "bias": padded, "shape": [m, k, n]})
            expected.append(a @ b + (0 if add is None else add))
    for (ours, beside, shape), theirs in zip(call("engine/tensors.ts", MULTIPLY, given), expected, strict=True):
        assert shape == list(theirs.shape)
        assert beside == [7] * 8
        np.testing.assert_allclose(np.reshape(ours, shape), theirs, atol=1e-5)


def test_a_row_is_the_same_alone_and_among_others() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(7, 61)), rng.normal(size=(61, 13))
    flat = b.ravel().tolist()
    whole = {"a": a.ravel().tolist(), "b": flat, "shape": [7, 61, 13]}
    rows = [{"a": row.tolist(), "b": flat, "shape": [1, 61, 13]} for row in a]
    (together, *_), *alone = call("engine/tensors.ts", MULTIPLY, [whole, *rows])
    assert together == [number for row, *_ in alone for number in row]


def test_tensors_survive_the_growth_of_the_memory() -> None:
    shown = """(() => {
        const memory = new module.Memory();
        const first = memory.of([1, 2, 3], [3]);
        const transposed = memory.panels(memory.of([5, 6], [2]), { inner: 2, columns: 1, down: 1, across: 2 });
        const { free } = memory;
        const kept = memory.keeping(() => { memory.tensor(3e6); return memory.of([4], [1]); });
        const panels = memory.panels(first, { inner: 1, columns: 3e6 - 5, down: 3, across: 0 });
        const added = memory.product(memory.of([1, 1], [1, 2]), transposed);
        return [...first.data, ...added.data, ...kept.data, kept.at - free];
    })()"""
    assert call("engine/tensors.ts", shown, None) == [1, 2, 3, 11, 4, 0]


def test_the_error_function_is_that_of_the_library() -> None:
    points = np.concatenate([np.linspace(-6, 6, 4001), [0.0, 1e-20, -1e-7, 40.0, -40.0]])
    ours = call("engine/layers.ts", "given.map(module.erf)", points.tolist())
    np.testing.assert_allclose(ours, [math.erf(x) for x in points], atol=2e-7)


def test_the_buckets_of_t5_are_those_of_python_up_to_the_longest_text() -> None:
    distances = list(range(-3000, 3001))
    ours = call("engine/positions.ts", "given.map(module.bucketOf)", distances)
    assert ours == buckets(torch.tensor(distances), bidirectional=False).tolist()
