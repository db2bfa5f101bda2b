"""Power laws fitted to losses, with a bootstrap.

The method of Hoffmann et al. 2022, section 3.3 and appendix D.3: minimise the Huber loss of log L̂ − log L from a grid
of starts.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from tfmviz import deadline
from tfmviz.analysis.scaling_laws import CONSTANTS, AdditiveLaw, Number
from tfmviz.record.trace import Array

HUBER = 1e-3
"""Residual at which the loss turns from quadratic to linear (Hoffmann et al. 2022, section 3.3)."""

STEPS = 600
"""Most steps of a search. Resamples whose E goes to 0 take the most."""

SHORTEST = 1e6
"""The damping of the shortest step."""

STARTS = ((0.15, 0.4, 0.8), (0.15, 0.4, 0.8), (0.2, 0.6, 0.9))
"""Starts of both exponents, and of the constant as a share of the smallest loss."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Terms:
    """Sums of terms exp(c − p x), one per search.

    Attributes:
        c, p: (search, term).
    """

    c: Array
    p: Array

    def logs(self, x: Array) -> Array:
        """Logarithm of every term at every run, (search, term, run), for x of (term, run)."""
        return self.c[..., None] - self.p[..., None] * x


def fit_sum(x: Array, log_loss: Array, starts: Terms, weights: Array) -> tuple[Terms, Array]:
    """Fits sums of terms to losses by Levenberg and Marquardt's method.

    Each step weights a residual r by min(1, δ / |r|), so that it descends on the Huber loss (iteratively reweighted
    least squares; Huber & Ronchetti 2009, section 7.8).

    Args:
        x: (term, run), logarithms of the variable of each term; 0 for a constant.
        weights: (search, run).

    Returns:
        The sums, and their Huber losses: (search,).
    """
    found, value = Terms(c=starts.c.copy(), p=starts.p.copy()), objective(starts, x, log_loss, weights)
    going, damping = np.arange(len(starts.c)), np.full(len(starts.c), 1e-2)
    for _ in range(STEPS):
        deadline.check()
        now = Terms(c=found.c[going], p=found.p[going])
        step = _step(now, x, log_loss, weights[going], damping[going])
        tried = Terms(c=now.c - step[:, : len(x)], p=now.p - step[:, len(x) :])
        reached = objective(tried, x, log_loss, weights[going])
        better = reached < value[going]
        taken = going[better]
        found.c[taken], found.p[taken], value[taken] = tried.c[better], tried.p[better], reached[better]
        ended = ~better & (damping[going] == SHORTEST)
        damping[going] = np.clip(np.where(better, damping[going] / 3, damping[going] * 4), 1e-12, SHORTEST)
        going = going[~ended]
    return found, value


def objective(terms: Terms, x: Array, log_loss: Array, weights: Array) -> Array:
    """Huber loss of the residuals of every search: (search,)."""
    size = np.abs(_log_sum(terms.logs(x)) - log_loss)
    return (weights * np.where(size < HUBER, size**2 / 2, HUBER * (size - HUBER / 2))).sum(axis=-1)


def _log_sum(logs: Array) -> Array:
    top = logs.max(axis=1)
    return top + np.log(np.exp(logs - top[:, None]).sum(axis=1))


def _step(now: Terms, x: Array, log_loss: Array, weights: Array, damping: Array) -> Array:
    """The step of c and p: (search, 2 · term)."""
    logs = now.logs(x)
    total = _log_sum(logs)
    shares = np.exp(logs - total[:, None])  # of each term in the sum, which is ∂ log L̂ / ∂c
    slopes = np.concatenate([shares, -shares * x], axis=1)  # (search, 2 · term, run)
    residual = total - log_loss
    counted = weights * np.minimum(1, HUBER / np.maximum(np.abs(residual), 1e-12))
    weighted = slopes * counted[:, None]
    normal = weighted @ slopes.swapaxes(1, 2)
    scale = 1e-9 + normal.trace(axis1=1, axis2=2) / normal.shape[1]
    normal = normal + (damping * scale)[:, None, None] * np.eye(normal.shape[1])
    return np.linalg.solve(normal, (weighted @ residual[..., None]))[..., 0]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Fit:
    """The best fit, and the constants of fits of resamples as columns."""

    law: AdditiveLaw
    draws: AdditiveLaw


def fit_additive(n: Array, d: Array, loss: Array, *, draws: int = 0) -> Fit:
    """Fits E + A / N^α + B / D^β to runs and to `draws` resamples of them (Efron 1979).

    Args:
        n, d, loss: (run,), parameters, tokens and nats per token; at least five runs.
    """
    order = np.lexsort((loss, d, n))  # so that the order of the runs changes nothing
    logs, y = np.log([n, d])[:, order], np.log(loss)[order]
    middle = logs.mean(axis=1, keepdims=True)
    x = np.concatenate([logs - middle, np.zeros((1, len(y)))])
    starts = _starts(float(y.mean()), float(y.min()))
    found, value = fit_sum(x, y, starts, np.ones((len(starts.c), len(y))))
    best = Terms(c=found.c[[value.argmin()]], p=found.p[[value.argmin()]])
    again = Terms(c=best.c.repeat(draws, axis=0), p=best.p.repeat(draws, axis=0))
    resampled, _ = fit_sum(x, y, again, _counts(len(y), draws))
    law = _law(best, middle)
    return Fit(law=AdditiveLaw(*(float(getattr(law, name)[0]) for name in CONSTANTS)), draws=_law(resampled, middle))


def _starts(mean: float, least: float) -> Terms:
    """A grid of sums that have the mean loss in the middle of the runs."""
    grid = [(alpha, beta, share * np.exp(least)) for alpha, beta, share in product(*STARTS)]
    halves = [np.log((np.exp(mean) - constant) / 2) for _, _, constant in grid]
    c = np.array([(half, half, np.log(constant)) for half, (_, _, constant) in zip(halves, grid, strict=True)])
    return Terms(c=c, p=np.array([(alpha, beta, 0.0) for alpha, beta, _ in grid]))


def _counts(n_runs: int, draws: int) -> Array:
    """Occurrences of each run in each resample: (draw, run)."""
    return np.random.default_rng(0).multinomial(n_runs, np.full(n_runs, 1 / n_runs), size=draws)


def _law(terms: Terms, middle: Array) -> AdditiveLaw:
    """The constants, as columns: (search,)."""
    alpha, beta, _ = terms.p.T
    log_A, log_B, log_E = terms.c.T
    return AdditiveLaw(
        E=np.exp(log_E),
        A=np.exp(log_A + alpha * middle[0]),
        alpha=alpha,
        B=np.exp(log_B + beta * middle[1]),
        beta=beta,
    )


def fit_power(x: Array, loss: Array, *, draws: int = 0) -> tuple[float, Array]:
    """The exponent α of (x_c / x)^α fitted to runs, and those of resamples: (draw,)."""
    order = np.lexsort((loss, x))
    logs, y = np.log(x)[order], np.log(loss)[order]
    weights = np.concatenate([np.ones((1, len(y))), _counts(len(y), draws)])
    starts = Terms(c=np.full((len(weights), 1), y.mean()), p=np.full((len(weights), 1), 0.1))
    found, _ = fit_sum((logs - logs.mean())[None], y, starts, weights)
    return float(found.p[0, 0]), found.p[1:, 0]


def interval(draws: Number) -> tuple[float, float]:
    """The 2.5th and 97.5th percentiles."""
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(low), float(high)
