"""Measures the figures of the page "The bottleneck", and writes them to a file.

    python -m scripts.measure_bottleneck --data runs/zoo/data/fra-eng.tsv

BLEU against the length of the source (Bahdanau et al. 2015, figure 2): the held-out pairs are translated alone, and
then joined to texts of up to 10, 20, 30 and 40 words. Every pair occurs once at each length, so all lengths have the
same sentences. Intervals are bootstrap intervals over the texts of a length; differences between two models are taken
on the same resampled texts (Koehn 2004).

The probe: a linear classifier reads the first word of the source from the encoder's last state. It learns on texts that
the model was trained on and is measured on held-out ones, for the commonest first words.

The file holds the command, the seed and a hash of each model's weights; the page shows it for these weights only.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import shlex
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sacrebleu.metrics.bleu import BLEU
from torch import Tensor, nn

from tfmviz import zoo
from tfmviz.model.seq2seq import Seq2Seq
from tfmviz.record.trace import Array
from tfmviz.text.pairs import Pair, joined, read_pairs, split_pairs
from tfmviz.text.tokenizer import END, Tokenizer
from tfmviz.training.evaluation import translations
from tfmviz.training.files import replacing
from tfmviz.training.sequences import lengths_of, padded

OUT = Path("assets/training/bottleneck.json")

RECURRENT = ("seq2seq-none", "seq2seq-dot", "seq2seq-bilinear", "seq2seq-additive")

LENGTHS = (0, 10, 20, 30, 40)
"""The most words of a joined source; 0: every pair alone."""

DRAWS = 1000
"""Resamples of a bootstrap. Its intervals hold 95% of them."""

N_WORDS, N_LEARNED = 50, 12_000
"""The commonest first words, which the probe tells apart, and the most texts that it learns from."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the pairs that the models were trained on")
    parser.add_argument("--models", type=Path, default=Path("assets/models"))
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--pairs", type=int, help="measure on so many of the held-out pairs (for a trial)")
    parser.add_argument("--seed", type=int, default=0, help="of the joining, the resampling and the probe")
    args = parser.parse_args()
    train, held_out = split_pairs(list(read_pairs(args.data)))
    held_out = held_out[: args.pairs]
    modules = load(args.models)
    found = {
        "command": f"python -m scripts.measure_bottleneck {shlex.join(sys.argv[1:])}",
        "seed": args.seed,
        "draws": DRAWS,
        "bleu": signature(),
        "weights": {name: zoo.weights_hash(name, args.models) for name in modules},
        "lengths": [of_length(modules, texts_of(held_out, most, args.seed), most, args.seed) for most in LENGTHS],
        "probe": probe(modules, train, held_out, seed=args.seed),
    }
    with replacing(args.out) as (place,):
        place.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


Modules = Mapping[str, tuple[Seq2Seq, Tokenizer]]


def load(folder: Path) -> Modules:
    translators = {name: zoo.load(name, folder, kind=zoo.RecurrentTranslator) for name in RECURRENT}
    return {name: (translator.module, translator.tokenizer) for name, translator in translators.items()}


def texts_of(pairs: Sequence[Pair], most: int, seed: int) -> list[Pair]:
    return joined(pairs, most_words=most, least_room=most, seed=seed) if most else list(pairs)


def of_length(modules: Modules, texts: Sequence[Pair], most: int, seed: int) -> dict[str, Any]:
    """BLEU of all models on texts of one length, with intervals, and the differences between every two."""
    sources, targets = [source for source, _ in texts], [target for _, target in texts]
    n_words = [len(source.split()) for source in sources]
    draws = np.random.default_rng((seed, most)).integers(len(texts), size=(DRAWS, len(texts)))
    scores = {}
    for name, (module, tokenizer) in modules.items():
        counts = bleu_counts(translations(module, tokenizer, sources), targets)
        scores[name] = np.array([bleu_of(counts), *resampled(counts, draws)])
        print(f"{most or 'alone'}: {name} {scores[name][0]:.1f}", flush=True)
    return {
        "most": most,
        "texts": len(texts),
        "words": float(np.mean(n_words)),
        "bleu": {name: interval(score) for name, score in scores.items()},
        "differences": {
            f"{one} − {other}": interval(scores[one] - scores[other])
            for one, other in itertools.combinations(scores, 2)
        },
    }


def signature() -> str:
    """sacreBLEU's description of the metric."""
    scorer = BLEU()
    scorer.corpus_score(["a"], [["a"]])
    return str(scorer.get_signature())


def bleu_counts(written: Sequence[str], targets: Sequence[str]) -> Array:
    """(text, 10): for each text its matching n-grams, all n-grams (n = 1 … 4), its length and that of its target."""
    scorer = BLEU(effective_order=True)
    rows = []
    for text, target in zip(written, targets, strict=True):
        score = scorer.corpus_score([text], [[target]])
        rows.append([*score.counts, *score.totals, score.sys_len, score.ref_len])
    return np.array(rows)


def bleu_of(counts: Array) -> float:
    """BLEU of a corpus, from the sums over its texts."""
    total = counts.sum(axis=0).astype(int).tolist()
    score = BLEU.compute_bleu(
        correct=total[:4], total=total[4:8], sys_len=total[8], ref_len=total[9], smooth_method="exp"
    )
    return float(score.score)


def resampled(counts: Array, draws: Array) -> list[float]:
    return [bleu_of(counts[draw]) for draw in draws]


def interval(values: Array) -> list[float]:
    """The measured value, which comes first, and the ends of its 95% interval."""
    low, high = np.percentile(values[1:], (2.5, 97.5))
    return [round(float(value), 3) for value in (values[0], low, high)]


def probe(modules: Modules, train: Sequence[Pair], held_out: Sequence[Pair], *, seed: int) -> dict[str, Any]:
    """The accuracy of reading the first word from the last state, by length."""
    learned = texts_of_all_lengths(train, seed)
    commonest = [word for word, _ in Counter(first_word(source) for source, _ in learned).most_common(N_WORDS)]
    learned = [pair for pair in learned if first_word(pair[0]) in commonest][:N_LEARNED]
    tests = [[p for p in texts_of(held_out, most, seed) if first_word(p[0]) in commonest] for most in LENGTHS]
    rows = []
    heads = {name: fit(modules[name], learned, commonest, seed) for name in RECURRENT}
    for most, texts in zip(LENGTHS, tests, strict=True):
        wanted = np.array([commonest.index(first_word(source)) for source, _ in texts])
        rng = np.random.default_rng((seed, most))
        draws = rng.integers(len(texts), size=(DRAWS, len(texts)))
        right = {name: predicted(modules[name], heads[name], texts) == wanted for name in RECURRENT}
        right["always the commonest"] = wanted == np.bincount(wanted).argmax()
        rows.append(
            {
                "most": most,
                "texts": len(texts),
                "words": float(np.mean([len(source.split()) for source, _ in texts])),
                "right": {name: interval(np.array([r.mean(), *r[draws].mean(axis=1)])) for name, r in right.items()},
            }
        )
    return {"words": commonest, "learned": len(learned), "lengths": rows}


def texts_of_all_lengths(train: Sequence[Pair], seed: int) -> list[Pair]:
    """Training pairs alone and joined, in a random order, as many as the probe can need."""
    rng = np.random.default_rng(seed)
    some = [train[i] for i in rng.permutation(len(train))[: 8 * N_LEARNED]]
    texts = [*some[:N_LEARNED], *joined(some, most_words=max(LENGTHS), seed=seed)]
    return [texts[i] for i in rng.permutation(len(texts))]


def first_word(source: str) -> str:
    """ "J'ai faim." begins with "j'"."""
    found = re.match(r"\W*(\w+'?)", source.casefold())
    return found[1] if found else ""


@torch.inference_mode()
def last_states(of: tuple[Seq2Seq, Tokenizer], texts: Sequence[Pair]) -> Tensor:
    """h_n of each source: (text, d_model)."""
    module, tokenizer = of
    rows = [ids[: module.config.max_len] for ids in tokenizer.encode_batch([source for source, _ in texts])]
    parts = [rows[first : first + 256] for first in range(0, len(rows), 256)]
    states = [
        module.encode(torch.from_numpy(padded(p, fill=END)), src_lengths=torch.from_numpy(lengths_of(p))).last
        for p in parts
    ]
    return torch.cat(states)


def fit(of: tuple[Seq2Seq, Tokenizer], texts: Sequence[Pair], words: Sequence[str], seed: int) -> nn.Linear:
    """A softmax classifier of the states, with a little weight decay, by L-BFGS."""
    x = last_states(of, texts).clone()
    y = torch.tensor([words.index(first_word(source)) for source, _ in texts])
    torch.manual_seed(seed)
    head = nn.Linear(x.shape[1], len(words))
    optimizer = torch.optim.LBFGS(head.parameters(), max_iter=150, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        value = nn.functional.cross_entropy(head(x), y) + 1e-4 * head.weight.square().sum()
        value.backward()
        return value

    optimizer.step(loss)
    return head


@torch.inference_mode()
def predicted(of: tuple[Seq2Seq, Tokenizer], head: nn.Linear, texts: Sequence[Pair]) -> Array:
    return head(last_states(of, texts)).argmax(dim=-1).numpy()


if __name__ == "__main__":
    main()
