"""A small text for tests: sentences that random habits have written."""

import numpy as np

from tfmviz.counting.smoothing import Smoothing

WORDS = ("the", "cat", "saw", "a", "dog", "and", "ran")

SMOOTHINGS = (
    Smoothing("none"),
    Smoothing("add-δ", delta=0.03),
    Smoothing("back-off"),
    Smoothing("interpolation", share=0.7),
    Smoothing("Kneser–Ney"),
)


def sentences(count: int, *, seed: int) -> list[str]:
    """Each word prefers a few successors, so that contexts repeat and others never occur."""
    rng = np.random.default_rng(seed)
    habits = np.random.default_rng(1).dirichlet(np.full(len(WORDS), 0.3), size=len(WORDS))
    lines = []
    for _ in range(count):
        words = [int(rng.integers(len(WORDS)))]
        for _ in range(int(rng.integers(1, 9))):
            words.append(int(rng.choice(len(WORDS), p=habits[words[-1]])))
        lines.append(" ".join(WORDS[w] for w in words) + ".")
    return lines
