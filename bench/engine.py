"""The cost of a keystroke where the browser computes: the engine in node, without drawing.

    python -m bench.engine

Each line is a kind of change, with patterns and masks kept and the next word's probabilities computed, as a live view
needs them. "anew" differs in the first token, so that nothing can be used again. The three kinds run in turn.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np

from tests.engine import MODELS, Engine

STORY = (
    "Once upon a time there was a little girl who lived in a house near the old forest and every day she went out to "
    "find flowers for her mother and her father who were very fond of them and of her too so that they would often say "
    "how happy they were with what they had and how little they needed more than that"
)
"""64 words; each is one token of tiny-english."""

WISHES = {"sites": ["*.pattern", "*.mask"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=["tiny-english", "twins-rope"])
    parser.add_argument("--rounds", type=int, default=60)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine(Path(folder))
        for model in args.models:
            engine.load(model, MODELS / model)
            for length in (12, 24, 64):
                print(f"{model}, T = {length}: {'; '.join(measured(engine, model, length, args.rounds))}")
        engine.end()


def measured(engine: Engine, model: str, length: int, rounds: int) -> list[str]:
    """Median and 95th percentile of each kind of change."""
    words, middle = STORY.split()[:length], length // 2
    texts = []
    for n in range(rounds + 10):
        other = ("cat", "dog", "tree")[n % 3]
        texts += [" ".join([other.capitalize(), *words[1:]]), " ".join(words[:-1]), " ".join(words)]
        texts.append(" ".join([*words[:middle], other, *words[middle + 1 :]]))
    times = np.reshape(engine.ask("times", name=model, texts=texts, wishes=WISHES), (-1, 4))[10:]
    kinds = {"anew": times[:, 0], "a token appended": times[:, 2], "a word in the middle changed": times[:, 3]}
    return [f"{name} {np.median(of):.1f} ms (p95 {np.percentile(of, 95):.1f})" for name, of in kinds.items()]


if __name__ == "__main__":
    main()
