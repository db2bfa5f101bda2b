"""How labellers are measured: with answers that are known."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from scripts import labelling
from tests.training.toys import BYTES
from tfmviz.text.mixed import Texts
from tfmviz.text.pairs import read_pairs, split_pairs
from tfmviz.training.labels import LabelBatches


def answers_second_from(place: int) -> Any:
    """A model that says the first label, and from that place on the second."""

    def module(ids: Tensor) -> Tensor:
        second = torch.where(torch.arange(1, ids.shape[1] + 1) >= place, 1.0, -1.0)
        return torch.stack((torch.zeros_like(second), second), dim=-1).expand(len(ids), -1, -1)

    return SimpleNamespace(name="toy", tokenizer=BYTES, module=module, config=SimpleNamespace(max_len=9))


@pytest.mark.parametrize("texts", ["mixed", "single"])
def test_shares_are_of_all_drawn(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: Texts) -> None:
    monkeypatch.setattr(labelling, "N_BATCHES", 17)
    path, data = tmp_path / "curves.json", [str(corpus / "pairs.tsv")]
    facts = labelling.measure(answers_second_from(4), data, texts=texts, seed=0, by_position=path)
    curves = json.loads(path.read_text(encoding="utf-8"))
    held_out = split_pairs(list(read_pairs(corpus / "pairs.tsv")))[1]
    drawn = LabelBatches(pairs=held_out, tokenizer=BYTES, texts=texts, batch_size=64, longest=9, seed=1)
    rows = [row for step in range(17) for row in drawn.batch(step)[1].tolist()]
    hits: dict[str, list[list[bool]]] = {name: [[] for _ in range(33)] for name in ("position", "after", "before")}
    for row in rows:
        changes = [t for t in range(1, len(row)) if row[t] != row[t - 1]]
        for t, label in enumerate(row):
            right = label == int(t >= 3)
            hits["position"][t + 1].append(right)
            if past := [change for change in changes if change <= t]:
                hits["after"][t - past[-1] + 1].append(right)
            if future := [change for change in changes if change > t]:
                hits["before"][future[0] - t].append(right)
    expected = {n: np.array([np.mean(part) if part else np.nan for part in parts[1:10]]) for n, parts in hits.items()}
    np.testing.assert_allclose(curves["position"][:9], expected["position"], atol=1e-4)
    assert np.isnan(curves["position"][9:]).all()
    every = [right for part in hits["position"] for right in part]
    assert facts["right labels"].startswith(f"{np.mean(every):.1%} of {len(every):,} tokens")
    if texts == "mixed":
        for name in ("after", "before"):
            np.testing.assert_allclose(curves[f"{name} a change"][:9], expected[name], atol=1e-4)
    else:  # the mean of −1, −1, −1, 1, 1, 1, 1 … is first positive at the seventh token
        by_mean = np.array([np.mean([row[t] == int(t >= 6) for row in rows if len(row) > t]) for t in range(9)])
        assert not np.allclose(by_mean, expected["position"])
        np.testing.assert_allclose(curves["mean of the states"][:9], by_mean, atol=1e-4)
