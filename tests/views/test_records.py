"""A view takes a record and does not know who computed it: packed by Python or made by hand, it draws the same.

What the explorer computes of it is what numpy computes.
"""

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.node import call
from tests.records import traced
from tests.traces import causal, decoder, pattern, translation
from tfmviz import views
from tfmviz.analysis.rollout import rollout
from tfmviz.record.trace import Array, Trace
from tfmviz.views import turning
from tfmviz.views.shared import pack

BYTES = "Uint8Array.from(atob(given.bytes), (c) => c.charCodeAt(0))"


def packed(data: bytes) -> str:
    return base64.b64encode(data).decode()


def plain(arrays: Mapping[str, Array], **facts: Any) -> dict[str, Any]:
    """A record as anybody may make it."""
    sites = {name: {"shape": one.shape, "data": one.astype(float).ravel().tolist()} for name, one in arrays.items()}
    return {"facts": facts, "sites": sites}


def texts(trace: Trace) -> dict[str, Any]:
    read = {"target": trace.target} | ({"source": trace.source} if trace.source else {})
    return {name: {"labels": text.tokens, "tokens": text.tokens} for name, text in read.items()}


def shows_the_same(trace: Trace) -> None:
    sites = {f"{layer}.{part}": trace[f"{layer}.{part}"] for layer in trace.layers for part in ("pattern", "mask")}
    shown = f"""[module.attentionOf({BYTES}), module.attentionOf(given.plain)].map((attention) =>
        Object.fromEntries(attention.kinds.map(({{ name, layers, heads }}, kind) => [name, layers.map((layer, l) =>
            [layer.name, ...Array.from({{ length: heads }}, (_, h) => ({{
                weights: [...attention.matrix(kind, l, h).weights],
                mask: [...attention.mask(kind, l).allowed],
                tile: [...attention.tile(kind, l, h, 3).values],
                keys: attention.keys(kind).tokens.length,
            }}))])])))"""
    given = {"bytes": packed(views.payload(trace)), "plain": plain(sites, title="m", texts=texts(trace))}
    ours, theirs = call("explorer/payload.ts", shown, given)
    assert ours.keys() == theirs.keys() >= {"decoder.self_attn"}
    for kind, layers in ours.items():
        for (name, *heads), (other, *others) in zip(layers, theirs[kind], strict=True):
            assert name == other
            for n, (head, same) in enumerate(zip(heads, others, strict=True)):
                assert (head["mask"], head["keys"]) == (same["mask"], same["keys"])
                np.testing.assert_allclose(same["weights"], trace[f"{name}.pattern"][n].ravel(), atol=1e-6)
                np.testing.assert_allclose(head["weights"], same["weights"], atol=3e-3)  # packed in 10 bits
                largest, again = (np.square(np.array(tile) / 254) for tile in (head["tile"], same["tile"]))
                np.testing.assert_allclose(largest, again, atol=0.012)  # 8 of 10 bits, then a byte of a root


def test_the_arrows_turn_the_same_vectors_of_both() -> None:
    trace, theta = traced(positions="rope", n_kv_heads=1), np.array([1.0, 0.1])
    layer, head = "decoder.1.self_attn", 1
    sites = {f"{layer}.{name}": trace[f"{layer}.{name}"] for name in ("q", "k", "rot_q", "rot_k")}
    assert len(sites[f"{layer}.q"]) > len(sites[f"{layer}.k"]), "heads share keys"
    facts = {"layer": layer, "head": head, "tokens": list(trace.target.tokens), "theta": theta.tolist(), "last": 15}
    shown = f"""[module.vectorsOf({BYTES}), module.vectorsOf(given.plain)].map(({{ tokens, theta, ...matrices }}) =>
        [tokens, theta, ...["q", "k", "rot_q", "rot_k"].map((name) => [...matrices[name].values])])"""
    data = turning.payload(trace, layer, head, theta, max_len=16)
    ours, theirs = call("turning/view.ts", shown, {"bytes": packed(data), "plain": plain(sites, **facts)})
    assert ours == theirs
    np.testing.assert_allclose(ours[2], trace[f"{layer}.q"][head].ravel(), rtol=1e-6)


def test_step_by_step_reads_one_head_of_a_whole_record() -> None:
    trace = traced()
    layer, head = "decoder.1.self_attn", 1
    names = ("q", "k", "v", "pattern", "z", "out")
    whole = {f"{layer}.{name}": trace[f"{layer}.{name}"] for name in names}
    x = np.arange(len(trace.target) * 5.0).reshape(-1, 5)
    z = whole[f"{layer}.z"]
    facts = {"layer": layer, "head": head, "heads": len(z), "queries": [], "keys": []}
    one = {name: whole[f"{layer}.{name}"][head] for name in names[:-1]} | {"out": whole[f"{layer}.out"], "x": x}
    one["concat"] = z.transpose(1, 0, 2).reshape(len(x), -1)
    shown = f"""[module.headOf({BYTES}), module.headOf(given.plain)].map(({{ arrays, counts }}) => [counts,
        Object.fromEntries(Object.entries(arrays).sort().map(([name, {{ rows, columns, values }}]) =>
            [name, [rows, columns, ...values]]))])"""
    given = {"bytes": packed(pack(facts, one)), "plain": plain(whole | {f"{layer}.x": x}, **facts)}
    ours, theirs = call("steps/head.ts", shown, given)
    assert ours == theirs


def test_the_explorer_shows_the_same_attention_of_both_and_names_what_is_missing() -> None:
    shown = """(() => {
        try { module.recordOf(given).matrix("decoder.0.mlp.out"); } catch ({ message }) { return message; }
    })()"""
    said = call("shared/record.ts", shown, plain({"embed": np.ones((2, 3))}))
    assert said == "decoder.0.mlp.out was not captured; there are embed."
    shows_the_same(decoder(("a", "b", "a", "c", "d")))
    shows_the_same(translation(("x", "y", "z"), ("a", "b", "c", "d", "e")))


def test_rollout_reaches_through_a_narrow_mask() -> None:
    """Each token may look at itself and the one before: after three layers it has heard of the three before it."""
    length = 7
    band = causal(length) & ~np.tri(length, k=-2, dtype=bool)
    layers = [pattern(1, band, seed=seed)[0] for seed in range(3)]
    given = [{"mask": {"allowed": band.ravel().tolist()}, "weights": layer.ravel().tolist()} for layer in layers]
    asked = f"((found) => [[...found.weights], [...found.reached]])(module.rollout(given, {length}))"
    weights, reached = call("explorer/weights.ts", asked, given)
    mixed, expected = rollout([layer[None] for layer in layers], [band] * 3)
    np.testing.assert_allclose(weights, mixed.ravel(), atol=1e-6)
    np.testing.assert_array_equal(np.array(reached, bool), expected.ravel())
    np.testing.assert_array_equal(expected, causal(length) & ~np.tri(length, k=-4, dtype=bool))
