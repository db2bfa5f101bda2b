"""The whole model as one picture, in the browser: the model, one of its blocks, or one head.

Only what is drawn travels: strips of at most 64 numbers a vector, amounts, mean attention. `scene.py` lists what a
column of the picture holds. Only tokens, arrays and best words depend on the text, and `made` says what the arrays are
made of, so that a browser with its own record can draw another text (`from_record.ts`).
"""

from __future__ import annotations

from typing import Any

from tfmviz.constants import VECTOR_NUMBERS
from tfmviz.views.shared import pack
from tfmviz.views.whole_model import block, head, model
from tfmviz.views.whole_model.scene import Sheet, WholeModel, Zoom


def payload(subject: WholeModel, zoom: Zoom, layer: str, number: int, *, beside: str = "") -> bytes:
    """The data of the view; see `shared.pack`.

    Args:
        layer: path of an attention layer; at the zoom "block" its block is shown.
        number: of a head, at the zoom "head".
        beside: name of a block that stands next to another one; nothing opens from there.

    Raises:
        ValueError: a number is not finite.
        NotCaptured: the trace lacks what is drawn.
    """
    header, sheet = _drawn(subject, zoom, layer, number, beside)
    return pack(header, sheet.arrays)


def described(subject: WholeModel, zoom: Zoom, layer: str, number: int) -> dict[str, Any]:
    """A picture without its numbers, for a browser with another text's. Its links are the app's pages."""
    header, _ = _drawn(subject, zoom, layer, number, "")
    for lane in header["lanes"]:
        lane["columns"] = [column | {"links": []} for column in lane["columns"]]
    return header


def _drawn(subject: WholeModel, zoom: Zoom, layer: str, number: int, beside: str) -> tuple[dict[str, Any], Sheet]:
    sheet = Sheet(subject)
    match zoom:
        case "model":
            lanes = model.lanes(subject, sheet)
        case "block":
            lanes = block.lanes(subject, sheet, layer.rsplit(".", 1)[0], title=beside)
        case "head":
            lanes = head.lanes(subject, sheet, layer, number)
    header = {
        "title": subject.title,
        "zoom": zoom,
        "beside": bool(beside),
        "layer": layer,
        "head": number,
        "lanes": lanes,
        "made": sheet.made,
        "said": read_at(subject, zoom, layer),
        "total": subject.weights.n_parameters,
        "numbers": min(VECTOR_NUMBERS, subject.weights.W_E.shape[1]),
        "width": subject.weights.W_E.shape[1],
    }
    return header, sheet


def read_at(subject: WholeModel, zoom: Zoom, layer: str) -> dict[str, str]:
    """The sites at which the model's words can be read, by column; the last is the end of the stack."""
    stack = layer.split(".")[0]
    if zoom == "head" or (subject.crosses and stack == "encoder") or not subject.weights.has_head:
        return {}
    return model.read_at(subject, stack) if zoom == "model" else block.read_at(subject, layer.rsplit(".", 1)[0])
