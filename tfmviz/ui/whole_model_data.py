from __future__ import annotations

from typing import Any, get_args

from tfmviz.analysis import lens
from tfmviz.positions.schemes import SCHEMES
from tfmviz.record.model import Model
from tfmviz.record.trace import Trace
from tfmviz.views import whole_model as view
from tfmviz.views.whole_model.scene import WholeModel, Zoom
from tfmviz.words.labels import visible

ZOOMS: tuple[Zoom, ...] = get_args(Zoom)


def zoom_of(asked: str) -> Zoom:
    """The zoom of that name; by default the whole model."""
    return next((zoom for zoom in ZOOMS if zoom == asked), "model")


def place(zoom: Zoom, layer: str, head: int) -> tuple[str, int]:
    """The layer and head in a picture: at the zoom "model" the same for all of a stack."""
    where = layer if zoom != "model" else f"{layer.split('.')[0]}.0.self_attn"
    return where, head if zoom == "head" else 0


def subject(model: Model, trace: Trace) -> WholeModel:
    return WholeModel(
        title=model.name,
        trace=trace,
        weights=model.weights,
        scheme=SCHEMES[model.config.positions.kind],
        vocabulary=model.vocabulary,
    )


def summary_text(model: Model, about: WholeModel, zoom: Zoom, layer: str, token: int) -> dict[str, list[Any]]:
    """Top prediction at each column of the picture, its probability, and the answer's rank.

    Empty where nothing can be read out: at one head, and in an encoder that feeds a decoder.
    """
    sites = view.read_at(about, zoom, layer)
    if not sites:
        return {}
    readout = about.weights.stacks[model.writes_from].readout
    found = lens.read_token(about.trace, list(sites.values()), readout, token)
    return {
        column: [
            visible(model.vocabulary[found.top[stage, 0]]),
            float(found.top_probability[stage, 0]),
            int(found.answer_rank[stage, 0]),
        ]
        for stage, column in enumerate(sites)
    }
