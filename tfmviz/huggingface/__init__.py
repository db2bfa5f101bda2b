"""Checkpoints of transformers as our own: `python -m tfmviz.huggingface FOLDER`, or `convert` in a notebook.

Only this room imports `transformers`, and the app never imports it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfmviz.zoo import ZooModel

__all__ = ["convert"]


def convert(hf_model: Any, hf_tokenizer: Any, **choices: Any) -> ZooModel:
    """A model of transformers in memory as a `Model`; see `conversion.convert`."""
    from tfmviz.huggingface import conversion

    return conversion.convert(hf_model, hf_tokenizer, **choices)
