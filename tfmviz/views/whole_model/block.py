"""Every tensor of one block, named as lectures name them, its heads as small pictures."""

from __future__ import annotations

from typing import Any

from tfmviz.analysis import feed_forward
from tfmviz.analysis.attention_layer import input_sites, is_pre_norm
from tfmviz.analysis.block_tensors import LAYERS, Tensor, block_tensors
from tfmviz.analysis.residual import depth
from tfmviz.analysis.whole_model import numbers_in
from tfmviz.record.weights import ExpertsWeights, FeedForwardWeights
from tfmviz.views.whole_model.scene import Column, Sheet, WholeModel, attention_words, lane, norm_words

RESIDUAL_WORDS = "Residual connection: the layer's output is added to the stream."


def lanes(subject: WholeModel, sheet: Sheet, block: str, *, title: str = "") -> list[dict[str, Any]]:
    """The block, and what its cross-attention reads where there is some."""
    stack, layer = block.split(".")
    own = lane(
        subject,
        stack,
        _columns(subject, sheet, block),
        title=title or f"{stack.capitalize()}, layer {layer}",
        note=_kind_of_block(subject, block),
    )
    cross = f"{block}.cross_attn"
    if f"{cross}.out" not in subject.trace:
        return [own]
    memory: Column = {
        "id": "memory",
        "kind": "input",
        "title": "M",
        "lines": [],
        "words": "The memory: the encoder's output, which gives cross-attention its keys and values.",
        "links": [],
    } | sheet.strips(input_sites(subject.trace, cross)[1], name="memory")
    above = lane(subject, "encoder", [memory], title="Memory", note="the encoder's output")
    name = sheet.put(f"{cross}.mean", "mean", f"{cross}.pattern")
    return [own, above | {"marks": {"title": "read", "by": stack, "values": [name]}}]


def _kind_of_block(subject: WholeModel, block: str) -> str:
    if not is_pre_norm(subject.trace):
        return "a post-norm block, as in 2017"
    if f"{block}.mlp.reads" in subject.trace:
        return "a pre-norm block whose two layers read the same stream, X"
    attention = f"{block}.self_attn"
    if subject.weights.attention(attention).out_norm is not None:
        if subject.weights.stacks[block.split(".")[0]].norms[attention].kind == "none":
            return "a block whose layers end with a norm"
        return "a block with a norm before and after each layer"
    return "a pre-norm block"


def read_at(subject: WholeModel, block: str) -> dict[str, str]:
    stack = block.split(".")[0]
    found = {f"{block}.0": f"{block}.resid_pre"}
    for n, tensor in enumerate(_tensors(subject, block)):
        if n and _is_stream(subject, tensor):
            found[f"{block}.{n}"] = f"{block}.{LAYERS[tensor.layer.rsplit('.', 1)[1]][2]}"
    return found | {"end": f"{stack}.{depth(subject.trace, stack) - 1}.resid_post"}


def _tensors(subject: WholeModel, block: str) -> tuple[Tensor, ...]:
    return block_tensors(subject.trace, block, norm=subject.norm_name)


def _is_stream(subject: WholeModel, tensor: Tensor) -> bool:
    """The stream itself, not a copy or a layer's write."""
    return tensor.kind == ("add" if is_pre_norm(subject.trace) else "norm")


def _columns(subject: WholeModel, sheet: Sheet, block: str) -> list[Column]:
    columns: list[Column] = []
    tensors = _tensors(subject, block)
    is_read_out = (block.startswith("decoder") or not subject.crosses) and subject.weights.has_head
    for n, tensor in enumerate(tensors):
        if tensor.kind == "mlp":
            within = _router if _experts(subject, tensor.layer) else _hidden
            columns.append(within(subject, sheet, tensor, reads=tensors[n - 1].name))
        column: Column = {
            "id": f"{block}.{n}",
            "kind": tensor.kind,
            "title": tensor.name,
            "lines": [tensor.formula] if tensor.formula else [],
            "says": is_read_out and (n == 0 or _is_stream(subject, tensor)),
        }
        column |= sheet.strips(*tensor.sites, name=f"{block}.{n}") | _about(subject, sheet, tensor)
        if tensor.skips_from is not None:
            column["from"] = [f"{block}.{tensor.skips_from}"]
        columns.append(column)
    return columns


def _about(subject: WholeModel, sheet: Sheet, tensor: Tensor) -> Column:
    match tensor.kind:
        case "input":
            words = "The block's input: the stream, one vector per token."
            return {"words": words, "links": [["residual_stream", {"stream": "Lengths"}]]}
        case "norm":
            count = subject.counts[f"{tensor.layer}.norm"]
            return {"words": norm_words(subject), "parameters": count, "links": [["normalisation", {}]]}
        case "add":
            return {"words": RESIDUAL_WORDS, "links": [["residual_stream", {"stream": "The river"}]]}
        case "mlp" if mixture := _experts(subject, tensor.layer):
            words = f"Each token passes through {mixture.n_chosen} of {len(mixture.experts)} FFNs, weighted by p."
            lines = ["pᵢ · FFNᵢ, i = argmax p"] if mixture.n_chosen == 1 else [f"Σ wᵢ · FFNᵢ, top {mixture.n_chosen} p"]
            count = numbers_in(mixture) - mixture.W_R.size - mixture.b_R.size
            return {"words": words, "parameters": count, "lines": lines} | _mlp_links()
        case "mlp":
            weights = _feed_forward(subject, tensor.layer)
            words = f"FFN: from {len(weights.W_out):,} values back to {weights.W_out.shape[1]}, a W₂ + b₂."
            count = weights.W_out.size + weights.b_out.size
            return {"words": words, "parameters": count, "lines": [tensor.formula, "= a W₂ + b₂"]} | _mlp_links()
    return _attention(subject, sheet, tensor)


def _attention(subject: WholeModel, sheet: Sheet, tensor: Tensor) -> Column:
    layer = tensor.layer
    count = len(subject.trace[f"{layer}.pattern"])
    heads = {
        "layer": layer,
        "count": count,
        "thumbs": sheet.put(f"{layer}.thumbs", "thumbs", f"{layer}.pattern"),
        "writes": sheet.put(f"{layer}.writes", "writes", f"{layer}.z"),
    }
    column: Column = {
        "parameters": subject.counts[layer],
        "heads": heads,
        "words": attention_words(subject, layer, count),
        "links": [["step_by_step", {"layer": layer}], ["explorer", {"layer": layer}], ["masks", {"layer": layer}]],
    }
    if tensor.kind == "attention":
        column["reads"] = sheet.put(f"{layer}.mean", "mean", f"{layer}.pattern")
    return column


def _hidden(subject: WholeModel, sheet: Sheet, tensor: Tensor, *, reads: str) -> Column:
    weights = _feed_forward(subject, tensor.layer)
    function, gated = feed_forward.name_of(weights), weights.W_gate is not None
    formula = f"{function}({reads} W_g) ⊙ {reads} W₁" if gated else f"{function}({reads} W₁ + b₁)"
    after = sheet.strips(f"{tensor.layer}.post")
    return (
        {
            "id": f"{tensor.layer}.post",
            "kind": "mlp",
            "title": "a",
            "lines": formula_lines(formula),
            "parameters": numbers_in(weights) - weights.W_out.size - weights.b_out.size,
            "words": f"Its {weights.W_in.shape[1]:,} neurons: {formula}, the same for every token.",
        }
        | after
        | _mlp_links()
    )


def _router(subject: WholeModel, sheet: Sheet, tensor: Tensor, *, reads: str) -> Column:
    mixture = _experts(subject, tensor.layer)
    assert mixture is not None
    return (
        {
            "id": f"{tensor.layer}.router",
            "kind": "mlp",
            "title": "p",
            "lines": [f"softmax({reads} W_R + b_R)"],
            "parameters": mixture.W_R.size + mixture.b_R.size,
            "words": f"The router: a probability for each of {len(mixture.experts)} experts.",
        }
        | sheet.strips(f"{tensor.layer}.router")
        | _mlp_links()
    )


def _experts(subject: WholeModel, layer: str) -> ExpertsWeights | None:
    return subject.weights.stacks[layer.split(".")[0]].experts.get(layer)


def _feed_forward(subject: WholeModel, layer: str) -> FeedForwardWeights:
    return subject.weights.stacks[layer.split(".")[0]].feed_forward[layer]


def _mlp_links() -> Column:
    return {"links": [["feed_forward", {}], ["switch_off", {}], ["residual_stream", {"stream": "The river"}]]}


def formula_lines(formula: str) -> list[str]:
    head, _, tail = formula.partition(" ⊙ ")
    if tail:
        return [head, f"⊙ {tail}"]
    head, _, tail = formula.partition(" + ")
    return [head, f"+ {tail}"] if tail else [head]
