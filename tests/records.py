"""Records of small random models, for the tests that read one."""

from collections.abc import Sequence
from typing import Any

from tests.model.helpers import inputs_of, lively_model, record
from tfmviz.model.transformer import Transformer
from tfmviz.record.facts import Architecture
from tfmviz.record.trace import Encoding, Trace


def encoding(ids: Sequence[int]) -> Encoding:
    tokens = tuple(f"t{index}" for index in ids)
    ends = [sum(map(len, tokens[: i + 1])) for i in range(len(tokens))]
    offsets = tuple(zip([0, *ends], ends, strict=False))
    return Encoding(text="".join(tokens), ids=tuple(ids), tokens=tokens, offsets=offsets)


def traced(architecture: Architecture = "decoder-only", **changes: Any) -> Trace:
    return trace_of(lively_model(architecture=architecture, **changes))


def trace_of(module: Transformer) -> Trace:
    inputs = inputs_of(module.config.architecture, batch=1)
    values = record(module, *inputs)
    read = [encoding(ids[0].tolist()) for ids in inputs]
    arrays = {site: (value if site.endswith(".mask") else value[0]).numpy() for site, value in values.items()}
    return Trace(target=read[-1], source=read[0] if len(read) == 2 else None, values=arrays)


def without(trace: Trace, *sites: str) -> Trace:
    assert set(sites) <= set(trace)
    left = {site: trace[site] for site in trace if site not in sites}
    return Trace(target=trace.target, source=trace.source, values=left)
