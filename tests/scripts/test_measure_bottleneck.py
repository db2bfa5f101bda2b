"""What figures are measured with: the bottleneck's, those of long dependencies, and of the page on ladders."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from sacrebleu.metrics.bleu import BLEU

from scripts import make_ladder
from scripts import measure_bottleneck as script
from scripts import measure_dependencies as measured
from tests.model.helpers import lively
from tests.pages.test_ladder import ids_of
from tfmviz.analysis import dependencies
from tfmviz.analysis.reach import Predict
from tfmviz.model.earlier import Seq2SeqConfig
from tfmviz.model.seq2seq import Seq2Seq
from tfmviz.paths import PROJECT
from tfmviz.record.trace import Array
from tfmviz.text.tokenizer import END, Tokenizer

WRITTEN = ["The cat sat on a mat.", "I am here now.", "", "She said it was not so good, was it?", "Yes."]
TARGETS = ["The cat sat on the mat.", "I am here.", "No.", "She said that it was not so good.", "Yes."]


def test_bleu_is_that_of_the_corpus_intervals_hold_95_per_cent_and_first_words_have_no_marks() -> None:
    counts = script.bleu_counts(WRITTEN, TARGETS)
    assert script.bleu_of(counts) == pytest.approx(BLEU().corpus_score(WRITTEN, [TARGETS]).score, abs=1e-9)
    some = [3, 0, 3]
    drawn = BLEU().corpus_score([WRITTEN[i] for i in some], [[TARGETS[i] for i in some]]).score
    assert script.resampled(counts, np.array([some])) == pytest.approx([drawn], abs=1e-9)
    draws = np.random.default_rng(0).permutation(np.arange(1001.0))
    assert script.interval(np.array([3.0, *draws])) == [3.0, 25.0, 975.0]
    words = {"J'ai faim.": "j'", "Où est-il ?": "où", "« Non ! »": "non", "Aujourd'hui": "aujourd'", "…": ""}
    assert {source: script.first_word(source) for source in words} == words


def toy() -> tuple[Seq2Seq, Tokenizer]:
    tokenizer = Tokenizer.train(["a b c d"], vocab_size=257)
    config = Seq2SeqConfig(attention="none", vocab_size=tokenizer.vocab_size, max_len=40, d_model=16)
    return lively(Seq2Seq(config)), tokenizer


def test_the_probe_reads_what_the_state_holds_and_no_more() -> None:
    """The word "b", "c" or "d" is the whole text, or is followed by so much that nothing of it is left."""
    words = ["b", "c", "d"]
    near = [(word, "") for word in words for _ in range(9)]
    far = [(word + " a" * 19, "") for word in words for _ in range(9)]
    model = toy()
    with torch.no_grad():  # the gate z is shut, so every state forgets the one before it
        model[0].encoder.gru.get_parameter("bias_ih_l0")[16:32] = -50.0
    wanted = np.repeat(np.arange(3), 9)
    for texts, right in ((near, 1.0), (far, 1 / 3)):
        head = script.fit(model, texts, words, seed=0)
        assert float((script.predicted(model, head, texts) == wanted).mean()) == pytest.approx(right)


def test_a_trial_writes_the_file_that_the_page_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"Je dors dans la maison {i} fois.\tI sleep in the house {i} times." for i in range(900)]
    (tmp_path / "pairs.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    out = tmp_path / "found.json"
    monkeypatch.setattr(script, "DRAWS", 40)
    monkeypatch.setattr(script, "LENGTHS", (0, 10))
    monkeypatch.setattr(script, "N_LEARNED", 60)
    words = ["--data", str(tmp_path / "pairs.tsv"), "--out", str(out), "--pairs", "3", "--seed", "5"]
    monkeypatch.setattr(sys, "argv", ["measure", *words])
    script.main()
    found = json.loads(out.read_text(encoding="utf-8"))
    assert found["command"].endswith("--seed 5")
    assert [row["texts"] for row in found["lengths"]] == [3, 3]
    assert set(found["weights"]) == set(script.RECURRENT)
    for row in found["lengths"]:
        assert len(row["differences"]) == 6
        assert all(low <= high for _, low, high in row["bleu"].values())
    assert found["probe"]["words"] == ["je"]
    assert found["probe"]["lengths"][0]["right"]["always the commonest"] == [1.0, 1.0, 1.0]


def test_both_measures_are_counted_from_the_probabilities() -> None:
    pairs = dependencies.pairs(dependencies.AGREEMENT, 1, 12, seed=4)
    models = measured.predictors()
    for name in ("ladder-window", "ladder-rnn"):
        odds = []
        for text in (text for pair in pairs for text in pair.texts):
            (p,) = models[name](np.array([ids_of(text)]))
            one, many = (
                sum(p[ids_of(token)[0]] for token in tokens) for tokens in ((" is", " was"), (" are", " were"))
            )
            odds.append(np.log(one / many))
        found = measured.points_of(models[name], pairs)
        first, second = np.array(odds).reshape(-1, 2).T
        sure = np.abs(first - second) > 1e-4
        assert sure.any()
        assert (found["leans"][sure] == (first > second)[sure]).all()
        assert found["prefers"].tolist() == (((first > 0) * 1 + (second < 0)) / 2).tolist()


def test_a_trial_writes_what_the_page_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "found.json"
    monkeypatch.setattr(measured, "PHRASES", (0, 1))
    monkeypatch.setattr(measured, "DRAWS", 20)
    monkeypatch.setattr(sys, "argv", ["measure", "--pairs", "3", "--out", str(out)])
    measured.main()
    found = json.loads(out.read_text(encoding="utf-8"))
    shipped = json.loads((PROJECT / "assets" / "ladder" / "dependencies.json").read_text(encoding="utf-8"))
    assert found.keys() == shipped.keys()
    assert found["sentences"] == 6
    for rows in found["kinds"].values():
        for row in rows:
            assert row.keys() == {"n", "example", "leans", "prefers"}
            assert all(0 <= low <= share <= high <= 1 for share, low, high in row["leans"].values())


V = 11


def looking_back(place: int) -> Predict:
    """A predictor that expects, with 0.9, the token that stands this many places back."""

    def predict(texts: Array) -> Array:
        return 0.1 / V + 0.9 * np.eye(V)[texts[:, -place] if texts.shape[1] >= place else 0 * texts[:, -1]]

    return predict


def test_passages_lie_within_documents_and_the_answer_follows_each() -> None:
    rng = np.random.default_rng(0)
    stream = np.concatenate([[*rng.integers(END + 1, V, size=n), END] for n in (40, 200, 63, 64, 90)])
    texts, answers = make_ladder.texts_of(stream)
    assert texts.shape == (len(answers), make_ladder.LENGTH)
    assert len(answers) > 10
    joined = " ".join(map(str, stream))
    for text, answer in zip(texts, answers, strict=True):
        assert END not in text
        assert " ".join(map(str, [*text, answer])) in joined


def test_losses_rise_only_where_the_model_looks() -> None:
    rng = np.random.default_rng(1)
    texts = rng.integers(1, V, size=(40, make_ladder.LENGTH))
    answers = texts[:, -5]
    found = make_ladder.further_back(looking_back(5), texts, answers, (0, 7, 9))
    assert found["loss"] == pytest.approx(-np.log(0.9 + 0.1 / V), abs=1e-4)
    assert [k for k, share in enumerate(found["changed"], start=1) if share] == [5]
    kept = np.array(make_ladder.KEPT)
    for name in ("cut", "shuffled", "thinned"):
        rises = np.array(found[name])
        assert (rises[kept >= 5] == 0).all(), name
        assert (rises[kept < 5] > 0.2).all(), name
