"""The whole model as one picture, in the browser: the model, one of its blocks, or one head.

What travels is what is drawn: strips of at most 64 numbers a vector, amounts, mean attention. `scene.py` lists what a
column of the picture holds. Nothing but tokens, arrays and best words depends on the text, and `made` says what the
arrays are made of: so a browser with a record of its own can draw another text (`of_sites.ts`).
"""

from __future__ import annotations

from typing import Any

from tfmviz.constants import VECTOR_NUMBERS
from tfmviz.views.shared import pack, script, style
from tfmviz.views.whole_model import block, head, model
from tfmviz.views.whole_model.scene import Sheet, Subject, Zoom

JS = script("whole_model/view.ts")
CSS = style("whole_model")


def payload(subject: Subject, zoom: Zoom, layer: str, number: int, *, beside: str = "") -> bytes:
    """What the view gets, see `shared.pack`.

    Args:
        layer: path of an attention layer; at the zoom "block" the block it is in is shown.
        number: of a head, at the zoom "head".
        beside: what a block is called that stands beside another one; nothing is opened from there.

    Raises:
        ValueError: there are numbers that are not finite.
        NotCaptured: the trace lacks what is drawn.
    """
    header, sheet = _drawn(subject, zoom, layer, number, beside)
    return pack(header, sheet.arrays)


def described(subject: Subject, zoom: Zoom, layer: str, number: int) -> dict[str, Any]:
    """What a picture consists of, for a browser that has the numbers of another text. Its links are the app's pages."""
    header, _ = _drawn(subject, zoom, layer, number, "")
    for lane in header["lanes"]:
        lane["columns"] = [column | {"links": []} for column in lane["columns"]]
    return header


def _drawn(subject: Subject, zoom: Zoom, layer: str, number: int, beside: str) -> tuple[dict[str, Any], Sheet]:
    """What travels as words, and the arrays."""
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


def read_at(subject: Subject, zoom: Zoom, layer: str) -> dict[str, str]:
    """Where the model's words can be read: per column the site of the stream; the last is the end of the stack."""
    stack = layer.split(".")[0]
    if zoom == "head" or (subject.crosses and stack == "encoder") or not subject.weights.has_head:
        return {}
    return model.read_at(subject, stack) if zoom == "model" else block.read_at(subject, layer.rsplit(".", 1)[0])
