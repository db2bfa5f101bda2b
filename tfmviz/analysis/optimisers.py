"""Gradient descent, plain and with momentum, and Adam (Kingma & Ba 2015), step by step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tfmviz.record.trace import Array

Gradient = Callable[[Array], Array]


@dataclass(frozen=True, kw_only=True, slots=True)
class AdamSettings:
    """Adam's settings; default β and ε are those of Vaswani et al. 2017, section 5.3.

    Attributes:
        corrected: divides m and v by 1 − βᵗ.
    """

    learning_rate: float
    beta1: float = 0.9
    beta2: float = 0.98
    epsilon: float = 1e-9
    corrected: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class AdamPath:
    """Adam's path; row t is the step from place t to place t + 1.

    Attributes:
        places: (step + 1, n).
        gradients, m, v: (step, n), the gradient and its two running means.
        m_hat, v_hat: (step, n), corrected.
    """

    places: Array
    gradients: Array
    m: Array
    v: Array
    m_hat: Array
    v_hat: Array


def adam(gradient: Gradient, start: Array, settings: AdamSettings, *, steps: int) -> AdamPath:
    """m ← β₁ m + (1 − β₁) g; v ← β₂ v + (1 − β₂) g²; x ← x − η m̂ / (√v̂ + ε)."""
    x, m, v = start.astype(float), np.zeros_like(start, dtype=float), np.zeros_like(start, dtype=float)
    rows = []
    places = [x]
    for t in range(1, steps + 1):
        g = gradient(x)
        m = settings.beta1 * m + (1 - settings.beta1) * g
        v = settings.beta2 * v + (1 - settings.beta2) * g**2
        m_hat = m / (1 - settings.beta1**t) if settings.corrected else m
        v_hat = v / (1 - settings.beta2**t) if settings.corrected else v
        x = x - settings.learning_rate * m_hat / (np.sqrt(v_hat) + settings.epsilon)
        rows.append((g, m, v, m_hat, v_hat))
        places.append(x)
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return AdamPath(np.array(places), *columns)


def descent(gradient: Gradient, start: Array, *, learning_rate: float, steps: int) -> Array:
    """The path of x ← x − η g: (step + 1, n)."""
    places = [start.astype(float)]
    for _ in range(steps):
        places.append(places[-1] - learning_rate * gradient(places[-1]))
    return np.array(places)


def momentum(gradient: Gradient, start: Array, *, learning_rate: float, beta: float, steps: int) -> Array:
    """The path of v ← β v + g; x ← x − η v, with v = 0 at first (Polyak 1964; as torch.optim.SGD): (step + 1, n)."""
    places, velocity = [start.astype(float)], np.zeros_like(start, dtype=float)
    for _ in range(steps):
        velocity = beta * velocity + gradient(places[-1])
        places.append(places[-1] - learning_rate * velocity)
    return np.array(places)


def valley(steepness: float) -> tuple[Callable[[Array], Array], Gradient]:
    """f(x, y) = ½ (x² + κ y²), κ times as steep across as along, and its gradient (x, κ y)."""
    scale = np.array([1.0, steepness])
    return (lambda place: 0.5 * (scale * place**2).sum(axis=-1)), (lambda place: scale * place)
