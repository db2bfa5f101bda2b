"""Finds the words on which each neuron of a model fires most, and keeps them next to the model.

    python -m scripts.find_neurons tiny-english             # one
    python -m scripts.find_neurons                          # all in assets/models/ and the reader's own

The texts are those of `assets/texts/`; each model gets those in its language unless `--texts` names others. The page
“Feed-forward” shows the results.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from tfmviz import zoo
from tfmviz.analysis import neurons
from tfmviz.record.trace import Trace
from tfmviz.training.files import replacing
from tfmviz.zoo import ZooModel

TEXTS = zoo.MODELS.parent / "texts"
OTHERS = {
    "french-english": "french.txt",
    "reverse": "words.txt",
    "chinese-none": "chinese.txt",
    "chinese-sinusoidal": "chinese.txt",
}
"""Models that do not read English."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="models that the app lists; none means all")
    parser.add_argument("--texts", metavar="FILE", help="a file in assets/texts/, one text a line")
    args = parser.parse_args()
    for name in args.names or zoo.available():
        find(name, texts=args.texts or OTHERS.get(name, "english.txt"))


def find(name: str, *, texts: str, folder: Path | None = None) -> None:
    """Writes the file of one model, unless it has no feed-forward layers, or mixtures of experts in their place."""
    model = zoo.load(name, folder=folder)
    layers = neurons.layers_of(model.weights)
    if not layers:
        print(f"{name} has no feed-forward layers, or only experts.")
        return
    peaks = neurons.find(traces(model, (TEXTS / texts).read_text(encoding="utf-8").splitlines()), layers)
    path = next(entry.folder for entry in zoo.catalogue(folder) if entry.name == name) / neurons.FILE
    with replacing(path) as (temporary,), temporary.open("wb") as file:
        neurons.save(file, peaks, texts=texts, weights=model.weights)
    print(f"{name}: {len(layers)} layers, {path.stat().st_size:,} bytes")


def traces(model: ZooModel, lines: list[str]) -> Iterator[Trace]:
    """The record of every line."""
    for line in lines:
        yield model.trace(line, sites=("*.mlp.post",))


if __name__ == "__main__":
    main()
