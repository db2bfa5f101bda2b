from __future__ import annotations

import csv
import io
import re

import numpy as np

from tfmviz.constants import FORMULA
from tfmviz.record.trace import Trace

_FORMULA = re.compile(FORMULA)


def csv_of(trace: Trace, layer: str) -> str:
    """A line for every head, query and key of a layer that the mask allows: positions, tokens, weight.

    Raises:
        NotCaptured: the trace has no such layer.
    """
    pattern, mask = trace[f"{layer}.pattern"], trace[f"{layer}.mask"]
    queries, keys = trace.axes(layer)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["layer", "head", "query", "query token", "key", "key token", "weight"])
    for head, q, k in np.argwhere(np.broadcast_to(mask, pattern.shape)).tolist():
        names = text_field(queries.tokens[q]), text_field(keys.tokens[k])
        writer.writerow([layer.split(".")[1], head, q, names[0], k, names[1], f"{pattern[head, q, k]:.6g}"])
    return text.getvalue()


def text_field(text: str) -> str:
    """A text as a field of a table, as in `shared/table.ts`.

    One that a spreadsheet would take for a formula gets an apostrophe before it: the signs that OWASP lists as CSV
    injection, the wide ones of Chinese and Japanese keyboards too, after any spaces.
    """
    return f"'{text}" if _FORMULA.match(text) else text


def npz_of(trace: Trace) -> bytes:
    """For `numpy.load`: `<layer>.pattern` and `<layer>.mask` of every layer, `target.tokens` and `target.ids`, and
    those of `source` where there is one. Holds no Python objects.
    """
    texts = {"target": trace.target} | ({"source": trace.source} if trace.source else {})
    arrays = {f"{layer}.{site}": trace[f"{layer}.{site}"] for layer in trace.layers for site in ("pattern", "mask")}
    for name, encoding in texts.items():
        arrays |= {f"{name}.tokens": np.array(encoding.tokens), f"{name}.ids": np.array(encoding.ids)}
    data = io.BytesIO()
    np.savez_compressed(data, allow_pickle=False, **arrays)
    return data.getvalue()
