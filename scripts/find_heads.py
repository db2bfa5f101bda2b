"""Writes the biography of every head of a model next to the model: its behaviour on many texts, and the claims that
hold.

    python -m scripts.find_heads tiny-english --corpora runs/zoo/data     # one
    python -m scripts.find_heads --corpora runs/zoo/data                  # all in assets/models/

Claims are made on a file of `assets/texts/` and tested on sentences of the corpora that no model was trained on. Where
there are no such sentences, or without `--corpora`, they are made on every second line and tested on the others.
Repeated random tokens show what no ordinary text does. The pages show the results.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from scripts.find_neurons import OTHERS, TEXTS
from scripts.without_heads import REPEATS, Lost, answer, damages, repeats
from tfmviz import zoo
from tfmviz.analysis import forming
from tfmviz.analysis.biography.birth import FIFTH, FIFTIETH, Birth, Head, composition_of, strongest
from tfmviz.analysis.biography.claims import DRAWS, Claim, Sums, claims, interval, proportion
from tfmviz.analysis.biography.file import FILE, HeadCatalog, HeadProfile, save
from tfmviz.analysis.biography.kinds import KINDS, ON_REPEATS, Frequencies, cells, cells_on_repeats
from tfmviz.analysis.biography.measure import FAR, KEPT, Tally, tally
from tfmviz.analysis.heads import allowed, layer_scores, random_repeats
from tfmviz.analysis.mask_effect import next_token_losses
from tfmviz.analysis.why.copying import eigenvalue_scores
from tfmviz.record.trace import Array, Trace
from tfmviz.text.corpora import is_held_out, read_documents
from tfmviz.text.pairs import read_pairs, split_pairs
from tfmviz.training.files import replacing
from tfmviz.zoo import ZooModel

SITES = ("*_attn.pattern", "*_attn.mask")

SOURCES = ("tatoeba.txt", "common_voice.txt", "storybooks.txt", "tinystories.txt", "books.txt")
"""Files of `scripts.prepare_english`."""

LONGEST = 200
"""The most characters of a sentence to test claims on."""

FEWEST = 100
"""The fewest sentences of the corpora on which claims are tested."""

WINDOW_EVERY = 16
"""Tokens from one window of text to the next, on which the loss of the 5th and the 50th token is measured."""

WORST = 5
"""Number of tokens kept whose loss rises most without a head."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="models that the app lists; none means all")
    parser.add_argument("--corpora", type=Path, help="the texts that `scripts.train_zoo` prepares")
    parser.add_argument("--texts", metavar="FILE", help="a file in assets/texts/, one text a line")
    parser.add_argument("--sentences", type=int, default=2000, help="held-out ones that claims are tested on, at most")
    parser.add_argument("--without", type=int, default=100, help="texts that are read without each head")
    args = parser.parse_args()
    torch.set_num_threads(1)  # for sentences several threads would wait for one another
    for name in args.names or zoo.available():
        texts = args.texts or OTHERS.get(name, "english.txt")
        lines = (TEXTS / texts).read_text(encoding="utf-8").splitlines()
        unseen = held_out(args.corpora, texts, n=args.sentences) if args.corpora else []
        find(name, lines, unseen, texts=texts, without=args.without, stories=stories(args.corpora))


def held_out(data: Path, texts: str, *, n: int) -> list[str]:
    """Sentences in the language of a file of `assets/texts/` on which no model was trained, and which it lacks."""
    match texts:
        case "english.txt":
            documents = (d for source in SOURCES for d in read_documents(data / "english" / source) if is_held_out(d))
        case "french.txt":
            documents = (source for source, _ in split_pairs(list(read_pairs(data / "fra-eng.tsv")))[1])
        case _:
            return []
    known = set((TEXTS / texts).read_text(encoding="utf-8").splitlines())
    sentences = dict.fromkeys(s.strip() for d in documents for s in re.split(r"(?<=[.!?”\"])\s+", d))
    fit = [s for s in sentences if s not in known and len(s.split()) > 3 and len(s) <= LONGEST]
    chosen = np.random.default_rng(0).permutation(len(fit))[:n]
    return [fit[index] for index in sorted(chosen.tolist())]


def stories(data: Path | None) -> list[str]:
    """Whole stories on which no model was trained; none without the corpora."""
    if data is None:
        return []
    return [story for story in read_documents(data / "english" / "tinystories.txt") if is_held_out(story)]


def find(
    name: str,
    lines: Sequence[str],
    unseen: Sequence[str],
    *,
    texts: str,
    without: int,
    stories: Sequence[str] = (),
    folder: Path | None = None,
) -> HeadCatalog:
    """Writes the file of one model and prints how many claims held."""
    model = zoo.load(name, folder=folder)
    place = next(entry.folder for entry in zoo.catalogue(folder) if entry.name == name)
    made, tested = (range(len(lines)), unseen) if len(unseen) >= FEWEST else (range(0, len(lines), 2), lines[1::2])
    frequencies = Frequencies.of(model.encode(lines[index]) for index in made)
    found = gather(model, [lines[index] for index in made], frequencies)
    other = gather(model, tested, frequencies)
    made_of = {
        layer: claims(found[layer].sums, other[layer].sums, KINDS, across=layer.endswith("cross_attn"))
        for layer in found
    }
    lost = damages(model, [(n, lines[n]) for n in made][:: max(1, len(made) // without)], made_of, frequencies)
    twice = gather_twice(model)
    heads = {}
    for layer in found:
        evidence = Evidence(found[layer], other[layer], made_of[layer], twice.get(layer))
        heads[layer] = biographies(model, layer, evidence, lost, made)
    book = HeadCatalog(
        texts=texts,
        found_on=len(made),
        tested_on=len(tested),
        damaged_on=lost.n_texts,
        twice_on=REPEATS if twice else 0,
        heads=heads,
        **birth_of(model, place, stories or ["\n".join(lines)]),
    )
    with replacing(path := place / FILE) as (temporary,):
        save(temporary, book, model.weights)
    print(f"{name}: {said(book)}; {path.stat().st_size:,} bytes", flush=True)
    return book


def said(book: HeadCatalog) -> str:
    """Coverage and precision, with their 95% intervals."""
    words = []
    for what, (n, of) in (("heads have a claim that held", book.coverage), ("claims held", book.precision)):
        low, high = proportion(n, of)
        words.append(f"{n} of {of} {what} ({low:.0%} to {high:.0%})")
    return f"{', '.join(words)}; tested on {book.tested_on} texts"


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Gathered:
    """One layer on many texts: the tallies of those that give its queries a choice, and their indices."""

    tallies: tuple[Tally, ...]
    texts: tuple[int, ...]

    @property
    def sums(self) -> Sums:
        return Sums.of(self.tallies)


def traces(model: ZooModel, texts: Sequence[str]) -> Iterator[Trace]:
    """The record of each text; a translator reads what it writes."""
    for text in texts:
        yield model.trace(text, sites=SITES, target=answer(model, text))


def gather(model: ZooModel, texts: Sequence[str], frequencies: Frequencies) -> dict[str, Gathered]:
    """The tallies of all layers on some texts."""
    kept: dict[str, list[tuple[int, Tally]]] = {}
    for index, trace in enumerate(traces(model, texts)):
        known: dict[tuple[int, int, bytes], Array] = {}
        for layer in trace.layers:
            queries, keys = trace.axes(layer)
            mask = np.broadcast_to(allowed(trace, layer), trace[f"{layer}.pattern"].shape[1:])
            key = (id(queries), id(keys), mask.tobytes())
            if key not in known:
                known[key] = cells(queries, keys, mask, frequencies)
            if (found := tally(trace[f"{layer}.pattern"], mask, known[key])) is not None:
                kept.setdefault(layer, []).append((index, found))
    return {
        layer: Gathered(tallies=tuple(t for _, t in rows), texts=tuple(n for n, _ in rows))
        for layer, rows in kept.items()
    }


def gather_twice(model: ZooModel) -> dict[str, tuple[Sums, Sums]]:
    """Sums on repeated random tokens, for making claims and for testing them; none for a translator."""
    if model.config.architecture == "encoder-decoder":
        return {}
    kept: dict[str, list[Tally]] = {}
    for ids in repeats(model):
        trace = model.trace(ids, sites=SITES)
        second = np.arange(len(ids)) >= len(ids) // 2
        for layer in trace.layers:
            mask = np.broadcast_to(allowed(trace, layer), trace[f"{layer}.pattern"].shape[1:])
            found = tally(trace[f"{layer}.pattern"], mask, cells_on_repeats(trace.target, mask), chosen=second)
            if found is not None:
                kept.setdefault(layer, []).append(found)
    return {layer: (Sums.of(rows[:REPEATS]), Sums.of(rows[REPEATS:])) for layer, rows in kept.items()}


def birth_of(model: ZooModel, folder: Path, texts: Sequence[str]) -> dict[str, Any]:
    """How the two heads that compose most came to do so; nothing without weights that were kept on the way."""
    steps = zoo.snapshots.steps(folder)
    if not steps:
        return {}
    pair = strongest(model.weights.stacks["decoder"])
    return {
        "pair": pair,
        "birth": tuple(at_step(zoo.snapshots.load(folder, step), step, pair, texts) for step in steps),
    }


def windows_of(model: ZooModel, texts: Sequence[str]) -> list[tuple[int, ...]]:
    """Pieces of the texts, as long as the model reads."""
    length = model.config.max_len
    tokens = [model.tokenizer.encode(text, max_len=10**9).ids for text in texts]
    return [ids[start : start + length] for ids in tokens for start in range(0, len(ids) - length + 1, WINDOW_EVERY)]


def at_step(model: ZooModel, step: int, pair: tuple[Head, Head], texts: Sequence[str]) -> Birth:
    """The measurements at one step."""
    windows = windows_of(model, texts)
    losses = np.mean(
        [
            forming.loss_at(zoo.experiments.values_at(model, "logits", some), np.array(some))
            for some in (windows[n : n + 32] for n in range(0, len(windows) // 32 * 32, 32))
        ],
        axis=0,
    )
    ids = random_repeats(vocab_size=model.config.vocab_size, max_len=model.config.max_len)
    trace, half = model.trace(ids, sites=(*SITES, "logits")), len(ids) // 2
    scores, twice = layer_scores(trace), next_token_losses(trace["logits"], ids)
    (earlier, first), (later, second) = pair
    return Birth(
        step=step,
        composition=composition_of(model.weights.stacks["decoder"], pair),
        previous=float(scores[earlier]["previous token"][first]),
        induction=float(scores[later]["induction"][second]),
        fifth=float(losses[FIFTH]),
        fiftieth=float(losses[FIFTIETH]),
        first=float(twice[: half - 1].mean()),
        again=float(twice[half:].mean()),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """The measurements of one layer on both sets of texts, the claims, and its sums on repeated tokens."""

    found: Gathered
    other: Gathered
    made: list[Claim | None]
    twice: tuple[Sums, Sums] | None


def biographies(
    model: ZooModel, layer: str, evidence: Evidence, lost: Lost, made: Sequence[int]
) -> tuple[HeadProfile, ...]:
    """Those of all heads of a layer; `made` has the line of each text on which claims were made."""
    again = [None] * len(evidence.made)
    if evidence.twice is not None:
        again = claims(*evidence.twice, ON_REPEATS, evenly=False)  # type: ignore[assignment]
    copying = eigenvalue_scores(model.weights, layer)
    found = (_biography(layer, n, evidence, lost, again[n], float(copying[n])) for n in range(len(copying)))
    return tuple(replace(one, examples=_in_file(one, made)) for one in found)


def _biography(
    layer: str, head: int, evidence: Evidence, lost: Lost, again: Claim | None, copying: float
) -> HeadProfile:
    tallies, sums = evidence.other.tallies, evidence.other.sums
    first, rest, sharp, shared = (
        float(sum(getattr(one, name)[head] for one in tallies)) for name in ("first", "rest", "sharp", "shared")
    )
    rest = max(rest, 1e-30)
    distances = np.sum([one.distances[head] for one in tallies], axis=0) / rest
    within = not layer.endswith("cross_attn")
    shares, chances = sums.shares()[head], sums.chances()[head]
    rises, where = lost.rises[layer][head], lost.where[layer][head]
    worst = np.argsort(-rises, kind="stable")[:WORST].tolist()
    rows = zip(evidence.found.tallies, evidence.found.texts, strict=True)
    best = sorted(rows, key=lambda row: -row[0].best[head])[:KEPT]
    return HeadProfile(
        first=first / sum(one.queries for one in tallies),
        sharp=sharp / rest,
        evenness=shared / rest,
        distance=float(distances @ np.abs(np.arange(-FAR - 1, FAR + 2))) if within else float("nan"),
        distances=tuple(distances.tolist()) if within else (),
        kinds={
            kind: (float(share), float(chance))
            for kind, share, chance in zip(KINDS, shares, chances, strict=True)
            if np.isfinite(share)
        },
        copying=copying,
        damage=_damage(rises, lost.text),
        there=float(rises[where].mean()) if where.any() else float("nan"),
        elsewhere=float(rises[~where].mean()) if where.any() and not where.all() else float("nan"),
        worst=tuple((int(lost.text[n]), int(lost.place[n]), float(rises[n])) for n in worst),
        examples=tuple((text, int(one.query[head]), int(one.key[head]), float(one.best[head])) for one, text in best),
        claim=evidence.made[head],
        twice=again,
        damage_twice=float(lost.twice[layer][head]) if layer in lost.twice else float("nan"),
    )


def _in_file(found: HeadProfile, made: Sequence[int]) -> tuple[tuple[int, int, int, float], ...]:
    """Its examples with the lines of the file in place of their numbers among the texts that were read."""
    return tuple((made[text], query, key, share) for text, query, key, share in found.examples)


def _damage(rises: Array, text: Array) -> tuple[float, float, float]:
    """The mean rise with its bootstrap interval over texts."""
    names = np.unique(text)
    sums = np.array([rises[text == name].sum() for name in names])
    counts = np.array([(text == name).sum() for name in names], dtype=np.float64)
    drawn = np.random.default_rng(0).multinomial(len(names), np.full(len(names), 1 / len(names)), size=DRAWS)
    return interval(sums, counts, drawn.astype(np.float64))


if __name__ == "__main__":
    main()
