"""The accuracy of recurrent networks on labels of held-out tokens, by place in the text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch

from tfmviz.analysis.labelling import from_mean_of_states, share_by, since_change, until_change
from tfmviz.record.trace import Array
from tfmviz.text.mixed import Texts
from tfmviz.text.pairs import read_pairs, split_pairs
from tfmviz.training.data import Batch
from tfmviz.training.files import replacing
from tfmviz.training.labels import LabelBatches
from tfmviz.zoo import RecurrentLabeller

N_BATCHES, BATCH = 96, 64

LONGEST = {"position": 32, "after a change": 12, "before a change": 12}
"""Number of places that are measured one by one."""

SAID = {
    "position": "by position",
    "after a change": "by tokens after a change of language",
    "before a change": "by tokens before a change of language",
    "mean of the states": "by position, from the mean of the states",
}
"""Names of the curves on the card."""

SHOWN = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
"""Places that the card names."""


def measure(
    model: RecurrentLabeller, data: Sequence[str], *, texts: Texts, seed: int, by_position: Path | None
) -> dict[str, str]:
    """Facts for the card, and curves for the file `by_position`."""
    _, held_out = split_pairs([pair for source in data for pair in read_pairs(Path(source))])
    drawn = LabelBatches(
        pairs=held_out,
        tokenizer=model.tokenizer,
        texts=texts,
        batch_size=BATCH,
        longest=model.config.max_len,
        seed=seed + 1,  # not the texts that training looked at
    )
    answers = list(answered(model, [drawn.batch(step) for step in range(N_BATCHES)]))
    right, labels = [logits.argmax(axis=-1) == wanted for logits, wanted in answers], [wanted for _, wanted in answers]
    curves = shares(right, labels)
    facts = {
        "right labels": f"{np.concatenate([part.ravel() for part in right]).mean():.1%} of "
        f"{sum(part.size for part in right):,} tokens in {N_BATCHES * BATCH:,} {texts} texts of held-out sentences"
    }
    if texts == "single":
        by_mean = [from_mean_of_states(logits).argmax(axis=-1) == wanted for logits, wanted in answers]
        curves = {"position": curves["position"], "mean of the states": shares(by_mean, labels)["position"]}
    if by_position:
        write(by_position, model.name, texts, curves)
    return facts | {f"right, {SAID[name]}": said(curve) for name, curve in curves.items()}


@torch.inference_mode()
def answered(model: RecurrentLabeller, batches: Sequence[Batch]) -> Iterator[tuple[Array, Array]]:
    """The logits (text, len, label) and the right labels (text, len) of each batch."""
    for inputs, labels in batches:
        yield model.module(torch.from_numpy(inputs["ids"])).numpy(), labels


def shares(right: Sequence[Array], labels: Sequence[Array]) -> dict[str, Array]:
    """The share of right labels by position and by the distance from a change of language."""
    places = {
        "position": [np.broadcast_to(np.arange(1, wanted.shape[1] + 1), wanted.shape) for wanted in labels],
        "after a change": [since_change(wanted) for wanted in labels],
        "before a change": [until_change(wanted) for wanted in labels],
    }
    answers = np.concatenate([part.ravel() for part in right])
    return {
        name: share_by(answers, np.concatenate([part.ravel() for part in parts]), longest=LONGEST[name])
        for name, parts in places.items()
    }


def said(curve: Array) -> str:
    return ", ".join(f"{place}: {curve[place - 1]:.1%}" for place in SHOWN if place <= len(curve))


def write(path: Path, name: str, texts: Texts, curves: Mapping[str, Array]) -> None:
    rounded = {key: [round(float(share), 4) for share in curve] for key, curve in curves.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as (place,):
        place.write_text(json.dumps({"model": name, "texts": texts, **rounded}) + "\n", encoding="utf-8")
