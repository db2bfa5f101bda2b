"""Our small transformers in the reader's browser: the same sites, edits and tokens as in Python, without a server.

`engine.ts` computes; `fetching.ts` gets a model in parts. A model travels as one package: framed bytes (see `shared`)
whose header is {"config": …, "tokenizer": bytes of the tokenizer's file}, then that file, then the weights' file.
"""

from __future__ import annotations

import json
from pathlib import Path

from tfmviz.views.shared import framed

KNOWN = (
    *("tiny-english", "fill-in", "induction", "chinese-none", "chinese-sinusoidal"),
    *("twins-alibi", "twins-attention-only", "twins-gqa", "twins-learned", "twins-none", "twins-postnorm"),
    *("twins-rope", "twins-shaw", "twins-sinusoidal", "twins-t5", "twins-unmasked", "twins-window"),
)
"""The shipped models that the engine computes; no other gets to a browser."""


def package(folder: Path) -> bytes:
    """The package of a model of the zoo. Raises: OSError, ValueError: its files cannot be read."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    tokenizer = (folder / "tokenizer.json").read_bytes()
    weights = (folder / "model.safetensors").read_bytes()
    return framed({"config": config, "tokenizer": len(tokenizer)}, [tokenizer, weights])
