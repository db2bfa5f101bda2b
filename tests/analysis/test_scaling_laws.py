"""Scaling laws against published predictions and limits; fits against known constants; Welch's interval."""

import math
from itertools import product

import numpy as np
import pytest
import torch

from tests.cases import each
from tfmviz.analysis.law_fits import HUBER, fit_additive, fit_power, interval
from tfmviz.analysis.scaling_laws import (
    BESIROGLU,
    CONSTANTS,
    HOFFMANN,
    KAPLAN,
    PF_DAY,
    PUBLISHED_LAWS,
    AdditiveLaw,
    KaplanLaw,
)
from tfmviz.analysis.variants import T_975, Difference, welch
from tfmviz.record.trace import Array

TRUE = AdditiveLaw(1.7, 40.0, 0.35, 900.0, 0.5)


def runs(*, noise: float, seed: int = 0) -> tuple[Array, Array, Array]:
    """Eight sizes by four amounts of text, with noise in the logarithm of the loss."""
    n = np.repeat([5e4, 1e5, 2e5, 3.5e5, 5e5, 7e5, 1.1e6, 2e6], 4)
    d = np.tile([2.6e5, 5.2e5, 1.05e6, 2.1e6], 8)
    return n, d, TRUE.loss(n, d) * np.exp(noise * np.random.default_rng(seed).standard_normal(32))


def test_a_fit_finds_the_constants_that_made_the_losses_and_one_wild_run_hardly_moves_it() -> None:
    n, d, loss = runs(noise=0)
    for name in CONSTANTS:
        assert getattr(fit_additive(n, d, loss).law, name) == pytest.approx(getattr(TRUE, name), rel=1e-5)
    loss[5] *= 1.5
    assert fit_additive(n, d, loss).law.alpha == pytest.approx(TRUE.alpha, rel=5e-3)


@each("seed", [1, 2, 3])
def test_with_noise_the_intervals_hold_the_true_constants(seed: int) -> None:
    fit = fit_additive(*runs(noise=5e-3, seed=seed), draws=100)
    for name in CONSTANTS:
        low, high = interval(getattr(fit.draws, name))
        assert low <= getattr(TRUE, name) <= high
        assert low < getattr(fit.law, name) < high
    low, high = interval(fit.draws.share_for_size)
    assert low <= TRUE.share_for_size <= high
    assert high - low > 0.01


def test_the_order_of_the_runs_changes_nothing_and_without_a_floor_none_is_found() -> None:
    n, d, loss = runs(noise=5e-3)
    shuffled = np.random.default_rng(1).permutation(32)
    first, second = fit_additive(n, d, loss, draws=5), fit_additive(n[shuffled], d[shuffled], loss[shuffled], draws=5)
    for name in CONSTANTS:
        assert getattr(first.law, name) == getattr(second.law, name)
        assert getattr(first.draws, name).tolist() == getattr(second.draws, name).tolist()
    n, d, _ = runs(noise=0)
    loss = 18.0 / n**0.1 + 6.0 / d**0.12
    law = fit_additive(n, d, loss).law
    assert law.E < 1e-3
    np.testing.assert_allclose(law.loss(n, d), loss, rtol=1e-5)


def test_torch_finds_no_lower_huber_loss() -> None:
    n, d, loss = runs(noise=5e-3)
    log_n, log_d, log_loss = (torch.tensor(np.log(values)) for values in (n, d, loss))

    def objective(theta: torch.Tensor) -> torch.Tensor:
        a, alpha, b, beta, e = theta
        terms = torch.stack([a - alpha * log_n, b - beta * log_d, e + 0 * log_n])
        return torch.nn.functional.huber_loss(terms.logsumexp(0), log_loss, delta=HUBER, reduction="sum")

    theta = torch.tensor([4.0, 0.4, 6.0, 0.4, 0.3], dtype=torch.float64, requires_grad=True)
    search = torch.optim.LBFGS([theta], max_iter=300, tolerance_change=1e-14, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        search.zero_grad()
        value = 1e6 * objective(theta)
        value.backward()
        return value

    search.step(closure)
    law = fit_additive(n, d, loss).law
    ours = torch.tensor([np.log(law.A), law.alpha, np.log(law.B), law.beta, np.log(law.E)])
    assert float(objective(ours)) <= float(objective(theta.detach())) * (1 + 1e-3)


def test_a_power_alone_is_found_with_its_interval() -> None:
    x = np.array([5e4, 1e5, 2e5, 5e5, 1e6, 2e6])
    exact, _ = fit_power(x, (8.8e13 / x) ** 0.076)
    assert exact == pytest.approx(0.076)
    noisy, draws = fit_power(x, (8.8e13 / x) ** 0.076 * np.exp([0.004, -0.003, 0.001, -0.002, 0.003, -0.001]), draws=99)
    low, high = interval(draws)
    assert low < noisy < high
    assert low <= 0.076 <= high


@each("name, c", product([HOFFMANN, BESIROGLU], [1e18, 5.76e23]))
def test_no_other_size_is_better_than_the_best(name: str, c: float) -> None:
    law = PUBLISHED_LAWS[name].law
    n, d = law.best(c)
    assert 6 * n * d == pytest.approx(c)
    others = n * np.geomspace(0.01, 100, 401)
    assert law.best_loss(c) <= np.min(law.loss(others, c / 6 / others)) + 1e-12
    assert law.share_for_size == pytest.approx(np.log10(law.best(10 * c)[0] / n))


def test_the_best_sizes_are_those_of_the_papers() -> None:
    """For Gopher's operations 40 billion parameters (Hoffmann et al. 2022, section 3.4; rounded constants give 32)."""
    share = {name: published.law.share_for_size for name, published in PUBLISHED_LAWS.items()}
    assert share[KAPLAN] == 0.73
    assert share[HOFFMANN] == pytest.approx(0.4565, abs=5e-4)  # table 2, approach 3: 0.46
    assert share[BESIROGLU] == pytest.approx(0.5126, abs=5e-4)
    assert PUBLISHED_LAWS[HOFFMANN].law.best(5.76e23)[0] == pytest.approx(40e9, rel=0.02)
    n, d = PUBLISHED_LAWS[BESIROGLU].law.best(5.76e23)  # takes Chinchilla's 70 and 1,400 billion for about right
    assert 10 < d / n < 40
    assert 0.5 < n / 70e9 < 2


def test_kaplans_joint_law_ends_in_those_of_one_variable_and_counts_days_of_a_petaflop() -> None:
    law = KaplanLaw()
    x = np.array([1e6, 1e9])
    assert law.loss(x, np.inf) == pytest.approx((6.4e13 / x) ** 0.076)
    assert law.loss(np.inf, x) == pytest.approx((1.8e13 / x) ** 0.103)
    assert np.all(law.loss(x, 1e9) > law.loss(x, np.inf))
    assert PF_DAY == 8.64e19
    n, d = law.best(PF_DAY)
    assert n == 1.3e9
    assert 6 * n * d == pytest.approx(PF_DAY)
    assert 2 * d == pytest.approx(2e10, rel=0.15)  # table 6 is about the critical batch size, with 2 C_min operations
    assert law.best_loss(PF_DAY) == pytest.approx(3.1e8**0.050)
    early = law.best_loss(PF_DAY) / law.loss(*law.best(PF_DAY))  # such runs stop before they converge (section 6)
    assert 1 < early < 1.2


@each("freedom", range(1, len(T_975) + 1))
def test_between_the_points_of_the_table_lies_95_percent_of_students_distribution(freedom: int) -> None:
    x = np.linspace(0, T_975[freedom - 1], 200_001)
    density = (1 + x**2 / freedom) ** (-(freedom + 1) / 2)
    density *= math.gamma((freedom + 1) / 2) / (math.sqrt(freedom * math.pi) * math.gamma(freedom / 2))
    assert 2 * np.trapezoid(density, x) == pytest.approx(0.95, abs=1e-4)


@each("n, m, spread", [(n, m, spread) for n, m in ((3, 3), (5, 5), (3, 8)) for spread in (1.0, 5.0)])
def test_intervals_hold_the_true_difference_in_at_least_95_of_100_experiments(n: int, m: int, spread: float) -> None:
    generator, held = np.random.default_rng(0), 0
    for _ in range(2000):
        found = welch(generator.normal(0, 1, n) + 7, generator.normal(0, spread, m))
        held += found.low <= 7 <= found.high
    assert 0.94 <= held / 2000 <= 0.995


def test_with_equal_spreads_it_is_students_interval_and_equal_runs_leave_no_doubt() -> None:
    same = np.full(3, 2.0)
    assert welch(same, same) == Difference(mean=0.0, low=0.0, high=0.0)
    assert (welch(same, same).is_noise, welch(same + 1, same).is_noise) == (True, False)
    ours, theirs = np.array([1.0, 2.0, 3.0]), np.array([5.0, 6.0, 7.0])
    found = welch(ours, theirs)
    half = 2.776 * math.sqrt(1 / 3 + 1 / 3)  # four degrees of freedom, variances of 1
    assert (found.mean, found.low, found.high) == pytest.approx((-4, -4 - half, -4 + half))
