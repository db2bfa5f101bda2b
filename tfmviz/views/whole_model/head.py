"""One head: q, k, v, the pattern, z and what it adds to the stream."""

from __future__ import annotations

from typing import Any

from tfmviz.analysis.attention_layer import input_sites, is_pre_norm
from tfmviz.views.whole_model.scene import Column, Sheet, WholeModel, labels, lane, pattern_of
from tfmviz.words.labels import of_queries


def lanes(subject: WholeModel, sheet: Sheet, layer: str, head: int) -> list[dict[str, Any]]:
    """One lane, or in cross-attention one for each of the two texts."""
    stack, index, part = layer.split(".")
    x, x_kv = input_sites(subject.trace, layer)
    crosses = part == "cross_attn"
    source = "Norm(stream)" if is_pre_norm(subject.trace) else "stream"
    reads = _input("x", x, sheet, f"Input of the queries: the {source}.", [source])
    keys = [_projected(subject, sheet, layer, head, letter, source="M" if crosses else "x") for letter in "kv"]
    query = _projected(subject, sheet, layer, head, "q", source="x")
    rest = [_pattern(subject, sheet, layer, head), *_results(subject, sheet, layer, head)]
    if not crosses:
        keys[0]["from"] = keys[1]["from"] = ["x"]
        rest[0]["from"] = ["q", "k"]
        rest[1]["from"] = ["v"]
    title = f"{'Cross-attention' if crosses else stack.capitalize()}, layer {index}, head {head}"
    if not crosses:
        return [lane(subject, stack, [reads, query, *keys, *rest], title=title)]
    memory = _input("memory", x_kv, sheet, "The encoder's output.", ["memory"]) | {"title": "M"}
    marks = {"title": "read", "by": stack, "values": ["pattern"]}
    keys[0]["apart"] = False
    keys[1]["from"] = ["memory"]
    above = lane(subject, "encoder", [memory, *keys], title="Encoder's output", note="gives keys and values")
    looking = lane(subject, stack, [reads, query, *rest], title=title) | {"tokens": of_queries(subject.trace, layer)}
    return [above | {"marks": marks}, looking]


def _input(name: str, site: str, sheet: Sheet, words: str, lines: list[str]) -> Column:
    link: list[Any] = ["residual_stream", {"stream": "Lengths"}]
    column: Column = {"id": name, "kind": "input", "title": name, "lines": lines, "words": words, "links": [link]}
    return column | sheet.strips(site, name=name)


def _projected(subject: WholeModel, sheet: Sheet, layer: str, head: int, letter: str, *, source: str) -> Column:
    name = {"q": "W_Q", "k": "W_K", "v": "W_V"}[letter]
    weights = subject.weights.attention(layer)
    shared = len(weights.W_Q) // len(weights.W_K) if letter != "q" else 1
    matrix, bias = getattr(weights, name), getattr(weights, name.replace("W", "b"))
    formula = f"{source} {name} + {name.replace('W', 'b')}"
    if letter in "qk" and weights.q_norm is not None:
        formula = f"RMSNorm({formula})"
    words = f"{letter} = {formula}, with {matrix.shape[1]} × {matrix.shape[2]} numbers"
    words += f", which {shared} heads share." if shared > 1 else " of this head."
    return {
        "id": letter,
        "kind": letter,
        "title": letter,
        "lines": [formula],
        "parameters": matrix[0].size + bias[0].size,
        "words": words,
        "links": [["step_by_step", {"layer": layer, "stage": "qkv"}]],
        "apart": letter != "q",
    } | sheet.strips(f"{layer}.{letter}", name=letter, head=head, how="head")


def _pattern(subject: WholeModel, sheet: Sheet, layer: str, head: int) -> Column:
    shape = subject.trace[f"{layer}.pattern"].shape[1:]
    within = "self" in layer
    scheme = subject.scheme
    acts = {"rotate": f"q, k turned by {scheme.name}", "bias": f"+ {scheme.name}", "relate": f"+ {scheme.name}"}
    placed = acts.get(scheme.acts or "") if within else None
    links: list[Any] = [["step_by_step", {"layer": layer, "stage": "share"}], ["masks", {"layer": layer}]]
    if placed and scheme.tab:
        page, address = scheme.tab
        links.append([page, {**address, "layer": layer}])
    sums_to = "1" if subject.weights.attention(layer).sink is None else "less than 1 with its sink s"
    return {
        "id": "pattern",
        "kind": "pattern",
        "title": "A",
        "lines": [pattern_of(subject, layer), *([placed] if placed else [])],
        "words": f"The attention pattern: each row is a query and sums to {sums_to}. Click to see every step.",
        "links": links,
        "image": "pattern",
        "apart": within,
        "labels": labels(subject, "decoder" if within and layer.startswith("decoder") else "encoder"),
        "matrix": sheet.put("pattern", "pattern", f"{layer}.pattern", head=head),
        "allowed": sheet.put("allowed", "allowed", f"{layer}.mask", f"{layer}.pattern", head=head),
        "shape": list(shape),
    }


def _results(subject: WholeModel, sheet: Sheet, layer: str, head: int) -> list[Column]:
    weights = subject.weights.attention(layer)
    W_O = weights.W_O[head]
    mixed: Column = {
        "id": "z",
        "kind": "z",
        "title": "z",
        "lines": ["A v"],
        "words": "For each token, the values of all tokens weighted by its row of A.",
        "links": [["step_by_step", {"layer": layer, "stage": "z"}]],
    } | sheet.strips(f"{layer}.z", name="z", head=head, how="head")
    write: Column = {
        "id": "write",
        "kind": "attention",
        "title": "adds",
        "lines": ["z W_O"] if weights.out_norm is None else ["Norm(z W_O)"],
        "parameters": W_O.size,
        "words": "This head's part of the layer's output: all heads' parts and b_O add up to it.",
        "links": [["step_by_step", {"layer": layer, "stage": "out"}], ["switch_off", {"layer": layer}]],
    } | sheet.strips(f"{layer}.z", name="write", head=head, how="write")
    return [mixed, write]
