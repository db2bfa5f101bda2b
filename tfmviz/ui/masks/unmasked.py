"""What becomes of a model that is trained without a mask: the twin that was, on the reader's sentence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfmviz import zoo
from tfmviz.analysis.mask_effect import next_token_losses
from tfmviz.record.edits import SetMask
from tfmviz.record.model import Model
from tfmviz.ui import models
from tfmviz.ui.cache import shared

UNMASKED, MASKED = "twins-unmasked", "twins-rope"
"""Two models that differ in nothing but the mask in training."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Losses:
    """Mean loss at the next word, in nats.

    Attributes:
        copying: of the model trained without a mask where it sees everything, as in training.
        writing: of the same model where it sees only the past, as a writer does.
        masked: of its twin that was trained with the mask, where it sees only the past.
    """

    copying: float
    writing: float
    masked: float


def losses(text: str) -> Losses | None:
    """Of the two twins on a text; None if one of them is not in the zoo, or the text has no next word."""
    if not {UNMASKED, MASKED} <= set(zoo.available()):
        return None
    return _losses(models.load(UNMASKED), models.load(MASKED), text)


@shared
def _losses(unmasked: Model, masked: Model, text: str) -> Losses | None:
    length = len(unmasked.encode(text))
    if length < 2:
        return None
    everything = ((True,) * length,) * length
    sees_all = tuple(SetMask(layer=layer, mask=everything) for layer in unmasked.config.layers)
    return Losses(copying=_mean(unmasked, text, sees_all), writing=_mean(unmasked, text), masked=_mean(masked, text))


def _mean(model: Model, text: str, edits: tuple[SetMask, ...] = ()) -> float:
    trace = model.trace(text, edits, sites=("logits",))
    return float(np.mean(next_token_losses(trace["logits"], trace.target.ids)))
