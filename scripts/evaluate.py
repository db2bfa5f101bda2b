"""Measures a finished model on held-out text and writes the figures into its card.

    python -m scripts.evaluate assets/models/tiny-english --data runs/english/tatoeba.txt …

The kind of model decides what is measured:

- a language model: bits per byte, compared with a 5-gram model of the same training text; of a transformer also the
  heads that follow the simple patterns of `tfmviz.analysis.heads` best; with `--by-position FILE` also the loss at each
  position of windows eight times as long as those in training, as JSON;
- encoder-only: how often a masked token is among the first five guesses;
- encoder-decoder with pairs: BLEU of translations (sacreBLEU, with its signature), see `scripts.translating`;
- encoder-decoder with `--task`: exact matches;
- a recurrent labeller: right labels, by their place in the text, see `scripts.labelling`.

The text itself decides what was held out from training, so the same `--data` gives the same split. Everything is
computed in float32 from the weights in the folder.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import assert_never, get_args

import numpy as np

from scripts import labelling, translating
from tfmviz import zoo
from tfmviz.analysis import heads
from tfmviz.counting import kneser_ney
from tfmviz.model.build import Earlier
from tfmviz.model.transformer import DecoderOnly, EncoderDecoder, EncoderOnly
from tfmviz.text.mixed import Texts
from tfmviz.text.tasks import ANSWERS, questions
from tfmviz.text.tokenizer import Tokenizer
from tfmviz.training.courses import cut, parse_source
from tfmviz.training.data import load_split, pack, windows
from tfmviz.training.evaluation import bits_per_byte, exact_match, loss_by_position, masked_accuracy, translations
from tfmviz.training.files import replacing
from tfmviz.training.loop import evaluate
from tfmviz.zoo import EarlierModel, ZooModel

HEADING = "## Evaluated"

BEGINNING, N_BEGINNINGS = 24, 60
"""The length in tokens, and the number, of the held-out texts on which heads are measured."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="a folder with config.json, model.safetensors and tokenizer.json")
    parser.add_argument("--data", nargs="+", default=[], help="as in training; each source counts once here")
    parser.add_argument("--task", choices=tuple(ANSWERS))
    parser.add_argument("--size", type=int, default=12, help="the largest size of the task's questions")
    parser.add_argument("--by-position", type=Path, metavar="FILE", help="file for the curves by position, as JSON")
    parser.add_argument("--texts", choices=get_args(Texts), default="mixed", help="of a labeller, as in training")
    parser.add_argument("--seed", type=int, default=0, help="for the order of the texts, the masks and the questions")
    args = parser.parse_args()
    try:
        facts = measure(args)
        write_into_card(args.model / "CARD.md", facts)
    except (ValueError, OSError, zoo.ModelUnavailable) as error:
        parser.exit(1, f"Cannot evaluate: {error}\n")
    for name, value in facts.items():
        print(f"{name}: {value}")


def measure(args: argparse.Namespace) -> dict[str, str]:
    name, folder = args.model.name, args.model.parent
    if name in zoo.earlier(folder):
        earlier = zoo.load(name, folder=folder, kind=zoo.EarlierModel)
        return language_model(earlier, earlier.module, args)
    if name in zoo.translators(folder):
        translator = zoo.load(name, folder=folder, kind=zoo.RecurrentTranslator)
        return translating.measure_as_they_are(translator.module, translator.tokenizer, args.data)
    if name in zoo.labellers(folder):
        labeller = zoo.load(name, folder=folder, kind=zoo.RecurrentLabeller)
        return labelling.measure(labeller, args.data, texts=args.texts, seed=args.seed, by_position=args.by_position)
    model = zoo.load(name, folder=folder)
    match model.module:
        case DecoderOnly():
            return language_model(model, model.module, args)
        case EncoderOnly():
            return filling_in(model, model.module, args)
        case EncoderDecoder() if args.task:
            return task(model, model.module, args)
        case EncoderDecoder():
            return translating.measure(model, args.data)
        case _:
            assert_never(model.module)


def house(model: ZooModel | EarlierModel) -> Tokenizer:
    """The tokenizer of a model that was trained here; only such models have data to be measured on."""
    assert isinstance(model.tokenizer, Tokenizer)
    return model.tokenizer


def language_model(
    model: ZooModel | EarlierModel, module: DecoderOnly | Earlier, args: argparse.Namespace
) -> dict[str, str]:
    split = load_split((parse_source(source)[0], 1) for source in args.data)
    train, held_out = (pack(side, house(model), seed=args.seed) for side in (split.train, split.held_out))
    n_bytes = sum(len(document.encode()) for document in split.held_out)
    loss = evaluate(module, windows(held_out, length=model.config.max_len))
    counted = kneser_ney.fit(train, vocab_size=model.tokenizer.vocab_size).cross_entropy(held_out)
    bits, counted_bits = (bits_per_byte(nats, stream=held_out, n_bytes=n_bytes) for nats in (loss, counted))
    if args.by_position and isinstance(module, DecoderOnly):
        write_by_position(args.by_position, model.name, module, held_out)
    facts = {
        "held-out bits per byte": f"{bits:.3f} ({loss:.3f} nats per token, windows of {model.config.max_len})",
        "5-gram model, bits per byte": f"{counted_bits:.3f} ({counted:.3f} nats per token; modified Kneser-Ney on the "
        f"training text, each source once, {len(train):,} tokens)",
        "better than the 5-gram model by": f"{1 - bits / counted_bits:.1%}",
        "held-out text": f"{len(split.held_out):,} documents, {len(held_out):,} tokens, {n_bytes:,} bytes",
    }
    return facts | best_heads(model, split.held_out) if isinstance(model, ZooModel) else facts


def best_heads(model: ZooModel, documents: Sequence[str]) -> dict[str, str]:
    """The heads that follow the simple patterns best, on repeated random tokens and on the beginnings of texts."""
    random = heads.random_repeats(vocab_size=model.config.vocab_size, max_len=model.config.max_len)
    begun = (model.tokenizer.encode(document, max_len=BEGINNING).ids for document in documents)
    texts = list(islice((ids for ids in begun if len(ids) == BEGINNING), N_BEGINNINGS))
    return {
        f"best heads, {len(random) // 2} random tokens said twice": named_best(model, [random]),
        f"best heads, first {BEGINNING} tokens of {len(texts)} held-out texts": named_best(model, texts),
    }


def named_best(model: ZooModel, texts: Sequence[Sequence[int]]) -> str:
    """For each simple pattern, the head with the highest mean share of attention."""
    sites = ("*.self_attn.pattern", "*.self_attn.mask")
    measured = [heads.layer_scores(model.trace(ids, sites=sites)) for ids in texts]
    found = []
    for kind in heads.SELF_KINDS:
        every = np.array([[of_layer[kind] for of_layer in layers.values()] for layers in measured])
        if np.isnan(every).all():  # these texts cannot show it
            continue
        scores = np.nanmean(every, axis=0)  # (layer, head)
        layer, head = np.unravel_index(scores.argmax(), scores.shape)
        found.append(f"{kind} {scores[layer, head]:.2f} (layer {layer}, head {head})")
    return "; ".join(found)


def write_by_position(path: Path, name: str, module: DecoderOnly, held_out: np.ndarray) -> None:
    trained = module.config.max_len
    losses = loss_by_position(module, held_out, length=8 * trained)
    curve = {"model": name, "trained_length": trained, "loss": [round(float(loss), 4) for loss in losses]}
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as (place,):
        place.write_text(json.dumps(curve) + "\n", encoding="utf-8")


def filling_in(model: ZooModel, module: EncoderOnly, args: argparse.Namespace) -> dict[str, str]:
    split = load_split((parse_source(source)[0], 1) for source in args.data)
    pieces = cut(house(model).encode_batch(split.held_out), length=model.config.max_len)
    accuracy = masked_accuracy(module, pieces, seed=args.seed)
    return {
        "masked token among the first five guesses": f"{accuracy.top_5:.1%}",
        "masked token is the first guess": f"{accuracy.top_1:.1%}",
        "held-out text": f"{len(split.held_out):,} documents; {accuracy.n_masked:,} tokens masked, 15 % of each",
    }


def task(model: ZooModel, module: EncoderDecoder, args: argparse.Namespace) -> dict[str, str]:
    rng = np.random.default_rng(args.seed + 1)  # not the questions that training looked at
    asked = questions(args.task, rng, n=1000, size=args.size, held_out=True)
    right = exact_match(translations(module, house(model), asked), [ANSWERS[args.task](q) for q in asked])
    return {"exact match": f"{right:.1%} of {len(asked):,} held-out questions of size 1 to {args.size}"}


def write_into_card(card: Path, facts: dict[str, str]) -> None:
    """Writes the figures and the command that measured them at the end of the card, replacing earlier ones."""
    command = f"python -m scripts.evaluate {shlex.join(sys.argv[1:])}"
    rows = "\n".join(f"| {name} | {value} |" for name, value in facts.items())
    text = card.read_text(encoding="utf-8") if card.exists() else f"# {card.parent.name}\n"
    text = re.sub(rf"\n{HEADING}\n.*", "", text, flags=re.DOTALL).rstrip()
    section = f"{HEADING}\n\nBy `{command}`:\n\n| what | value |\n|---|---|\n{rows}\n"
    with replacing(card) as (place,):
        place.write_text(f"{text}\n\n{section}", encoding="utf-8")


if __name__ == "__main__":
    main()
