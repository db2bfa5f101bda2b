"""The whole model: tokens, embedding, positions, every block, last norm, logits, softmax."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfmviz.analysis.attention_layer import is_pre_norm
from tfmviz.analysis.residual import depth
from tfmviz.analysis.whole_model import below, best_words, scale_of_embedding
from tfmviz.views.whole_model.scene import Column, Sheet, WholeModel, lane, norm_words
from tfmviz.words.labels import START, visible

PARTS = {"self_attn": ("attention", "attention"), "cross_attn": ("cross", "cross-attn"), "mlp": ("mlp", "MLP")}
"""Per layer of a block the colour of its box and its short name."""


def lanes(subject: WholeModel, sheet: Sheet) -> list[dict[str, Any]]:
    found = [_lane(subject, sheet, stack) for stack in subject.weights.stacks]
    if subject.crosses:
        layers = [layer for layer in subject.trace.layers if layer.endswith("cross_attn")]
        names = [sheet.put(f"{layer}.mean", "mean", f"{layer}.pattern") for layer in layers]
        found[0]["marks"] = {"title": "read by decoder layer", "by": "decoder", "values": names}
    return found


def read_at(subject: WholeModel, stack: str) -> dict[str, str]:
    begin = "sum" if f"{stack}.pos_embed" in subject.trace else "embed"
    for last in ("embed_norm", "widened"):
        begin = last if f"{stack}.{last}" in subject.trace else begin
    blocks = {f"{stack}.{n}": f"{stack}.{n}.resid_post" for n in range(depth(subject.trace, stack))}
    return {f"{stack}.{begin}": f"{stack}.0.resid_pre"} | blocks


def _lane(subject: WholeModel, sheet: Sheet, stack: str) -> dict[str, Any]:
    is_read_out = stack == "decoder" or not subject.crosses
    columns = [*_entrance(subject, sheet, stack)]
    columns += [_block(subject, sheet, f"{stack}.{n}") for n in range(depth(subject.trace, stack))]
    if f"{stack}.norm" in subject.trace:
        columns.append(_last_norm(subject, sheet, stack, is_memory=not is_read_out))
    if is_read_out and subject.weights.has_head:
        columns.append(_readout(subject, sheet, stack))
        says = read_at(subject, stack)
        for column in columns:
            column["says"] = column["id"] in says
    note = f"{subject.scheme.name}. {subject.scheme.idea}"
    n_positions = subject.counts[f"{stack}.positions"]
    if n_positions and f"{stack}.pos_embed" not in subject.trace:
        note += f" ({n_positions:,} parameters)"
    if subject.crosses and stack == "decoder":
        mark = f"{START} (here the token {subject.trace.tokens[0]})"
        note = f"reads its own answer shifted right: {mark} comes first. {note}"
    made = lane(subject, stack, columns, title=stack.capitalize(), note=note)
    return made | {"oneHot": {"ids": list(subject.text(stack).ids), "size": len(subject.weights.W_E)}}


def _entrance(subject: WholeModel, sheet: Sheet, stack: str) -> list[Column]:
    trace, W_E = subject.trace, subject.weights.W_E
    site = _embedding(subject, stack)
    ids = np.array(subject.text(stack).ids)
    factor = scale_of_embedding(trace[site] - subject.weights.segments(ids), W_E[ids])
    times = "" if np.isclose(factor, 1) else f" · {factor:.2f}"
    is_shared = stack == "decoder" and subject.crosses
    embed: Column = {
        "id": f"{stack}.embed",
        "kind": "embed",
        "title": f"× W_E{times}",
        "lines": ["the same"] if is_shared else [],
        "parameters": 0 if is_shared else subject.counts["embed"],
        "words": f"One-hot times W_E ({len(W_E):,} × {W_E.shape[1]}): it picks one row of the table for each token"
        + (f", times √d = {factor:.2f}." if times else ".")
        + ("" if subject.weights.segment is None else " One more vector says which text it belongs to."),
        "links": [["residual_stream", {"stream": "Logit lens"}]],
    } | sheet.strips(site, name=f"{stack}.embed")
    columns = [embed]
    if f"{stack}.pos_embed" in trace:
        columns += _added_positions(subject, sheet, stack)
    if f"{stack}.embed_norm" in trace:
        columns.append(_first_norm(subject, sheet, stack))
    if f"{stack}.widened" in trace:
        columns.append(_widening(subject, sheet, stack))
    return columns


def _first_norm(subject: WholeModel, sheet: Sheet, stack: str) -> Column:
    return {
        "id": f"{stack}.embed_norm",
        "kind": "norm",
        "title": "norm",
        "lines": [],
        "parameters": subject.counts[f"{stack}.embed.norm"],
        "words": norm_words(subject),
        "links": [["normalisation", {}]],
    } | sheet.strips(f"{stack}.embed_norm")


def _widening(subject: WholeModel, sheet: Sheet, stack: str) -> Column:
    return {
        "id": f"{stack}.widened",
        "kind": "embed",
        "title": "× W",
        "lines": [],
        "parameters": subject.counts[f"{stack}.widening"],
        "words": f"{subject.weights.W_E.shape[1]} → {subject.trace[f'{stack}.widened'].shape[1]}",
        "links": [],
    } | sheet.strips(f"{stack}.widened")


def _embedding(subject: WholeModel, stack: str) -> str:
    return "embed" if "embed" in subject.trace else f"{stack}.embed"


def _added_positions(subject: WholeModel, sheet: Sheet, stack: str) -> list[Column]:
    scheme = subject.scheme
    links = [list(scheme.tab)] if scheme.tab else []
    added: Column = {
        "id": f"{stack}.pos_embed",
        "kind": "position",
        "title": "P",
        "lines": [scheme.name],
        "parameters": subject.counts[f"{stack}.positions"],
        "words": f"One vector for each position. {scheme.idea}",
        "links": links,
        "apart": True,
    } | sheet.strips(f"{stack}.pos_embed")
    summed: Column = {
        "id": f"{stack}.sum",
        "kind": "add",
        "title": "+",
        "lines": [],
        "words": "Token vector plus position vector.",
        "from": [f"{stack}.embed"],
        "links": links,
    } | sheet.strips(_embedding(subject, stack), f"{stack}.pos_embed", name=f"{stack}.sum")
    return [added, summed]


def _block(subject: WholeModel, sheet: Sheet, block: str) -> Column:
    trace = subject.trace
    pre = is_pre_norm(trace)
    parts: list[dict[str, Any]] = []
    bars = []
    for part, (kind, name) in PARTS.items():
        layer = f"{block}.{part}"
        if f"{layer}.out" not in trace:
            continue
        n_heads = len(trace[f"{layer}.pattern"]) if f"{layer}.pattern" in trace else 0
        made = {"kind": kind, "lines": [name, f"{n_heads} heads"] if n_heads else [name]}
        norm, add = {"kind": "norm", "lines": ["norm"], "onStream": not pre}, {"kind": "add", "lines": ["+"]}
        is_plain = subject.weights.stacks[block.split(".")[0]].norms[layer].kind == "none"
        parts += [made, add] if is_plain else [norm, made, add] if pre else [made, add, norm]
        values = sheet.put(f"{layer}.adds", "lengths", f"{layer}.out")
        bars.append({"kind": kind, "label": f"{name} adds", "values": values})
    return {
        "id": block,
        "kind": "block",
        "title": f"layer {block.split('.')[1]}",
        "lines": [],
        "parameters": below(dict(subject.counts), block),
        "parts": parts,
        "bars": bars,
        "crosses": f"{block}.cross_attn.out" in trace,
        "reads": sheet.put(f"{block}.self_attn.mean", "mean", f"{block}.self_attn.pattern"),
        "words": "One block. Click to open it: "
        + ("every layer reads a normalised copy of the stream and adds to it." if pre else "a norm follows every sum.")
        + (" Attention and MLP read the same copy." if f"{block}.mlp.reads" in trace else ""),
        "links": [["step_by_step", {"layer": f"{block}.self_attn"}], ["switch_off", {"layer": f"{block}.self_attn"}]],
        "opens": {"zoom": "block", "layer": f"{block}.self_attn"},
    } | sheet.strips(f"{block}.resid_post", name=block)


def _last_norm(subject: WholeModel, sheet: Sheet, stack: str, *, is_memory: bool) -> Column:
    words = norm_words(subject, last=True)
    return {
        "id": f"{stack}.norm",
        "kind": "norm",
        "title": "norm",
        "lines": ["memory M"] if is_memory else [],
        "parameters": subject.counts[f"{stack}.norm"],
        "words": words + (" The decoder's cross-attention reads the result." if is_memory else ""),
        "links": [["normalisation", {}]],
    } | sheet.strips(f"{stack}.norm")


def _readout(subject: WholeModel, sheet: Sheet, stack: str) -> Column:
    logits = subject.trace["logits"]
    best, _ = best_words(logits)
    tied = subject.weights.W_U is subject.weights.W_E
    last = [{"kind": "readout", "lines": ["× W_U", "= W_Eᵀ"] if tied else ["× W_U"]}]
    if subject.weights.stacks[stack].readout.transform is not None:
        last.insert(0, {"kind": "readout", "lines": ["Norm(f(x W))"]})
    return {
        "id": "readout",
        "kind": "readout",
        "title": "logits",
        "lines": [],
        "parameters": subject.counts["unembed"] + subject.counts.get("head", 0),
        "parts": [*last, {"kind": "readout", "lines": ["softmax"]}],
        "words": "One logit for each word of the vocabulary; softmax turns them into probabilities. "
        + ("W_U is W_E transposed, so it counts once." if tied else ""),
        "links": [["residual_stream", {"stream": "Logit lens"}], ["residual_stream", {"stream": "Who made the word"}]],
        "image": "words",
        "matrix": sheet.put("readout", "best", "logits"),
        "logits": sheet.put("readout.logit", "largest", "logits"),
        "labels": [visible(subject.vocabulary[index]) for index in best],
        "shape": list(logits.shape),
    }
