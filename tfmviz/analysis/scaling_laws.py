"""Scaling laws: the loss of a language model as a function of its parameters N and training tokens D.

Losses are in nats per token, so only exponents compare across tokenizers and texts. Operations are C = 6 · N · D.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tfmviz.record.trace import Array

PF_DAY = 1e15 * 86_400
"""Operations of one petaflop/s for a day, the unit of Kaplan et al. 2020."""

CONSTANTS = ("E", "A", "alpha", "B", "beta")

Number = float | Array


class Law(Protocol):
    """The loss at N parameters and D tokens, either of which may be infinite."""

    def loss(self, n: Number, d: Number) -> Number: ...

    def best(self, c: Number) -> tuple[Number, Number]:
        """N and D of the lowest loss for C operations."""
        ...

    def best_loss(self, c: Number) -> Number:
        """The lowest loss for C operations."""
        ...

    @property
    def share_for_size(self) -> Number:
        """a of N ∝ C^a, the best size."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class AdditiveLaw:
    """L(N, D) = E + A / N^α + B / D^β (Hoffmann et al. 2022, equation 2).

    Attributes:
        E: the entropy of the text itself.
        A, alpha: of the finite model.
        B, beta: of the finite text. All may be arrays.
    """

    E: Number
    A: Number
    alpha: Number
    B: Number
    beta: Number

    def loss(self, n: Number, d: Number) -> Number:
        return self.E + self.of_size(n) + self.of_text(d)

    def of_size(self, n: Number) -> Number:
        """A / N^α."""
        return self.A * np.power(n, -self.alpha)

    def of_text(self, d: Number) -> Number:
        """B / D^β."""
        return self.B * np.power(d, -self.beta)

    @property
    def share_for_size(self) -> Number:
        """a = β / (α + β)."""
        return self.beta / (self.alpha + self.beta)

    def best(self, c: Number) -> tuple[Number, Number]:
        """N = G · (C / 6)^a and D = C / 6 / N, with G = (α A / β B)^(1 / (α + β)) (the same, equation 4)."""
        G = (self.alpha * self.A / (self.beta * self.B)) ** (1 / (self.alpha + self.beta))
        n = G * np.power(c / 6, self.share_for_size)
        return n, c / 6 / n

    def best_loss(self, c: Number) -> Number:
        return self.loss(*self.best(c))


@dataclass(frozen=True, kw_only=True, slots=True)
class KaplanLaw:
    """The laws of Kaplan et al. 2020, in which N excludes embeddings.

    Attributes:
        alpha_n, n_c, alpha_d, d_c: of [(N_c / N)^(α_N / α_D) + D_c / D]^α_D (equation 1.5; table 2).
        alpha_c, c_c: of (C_c / C_min)^α_C, the lowest loss for C_min operations (equation 1.3).
        p_n, n_e: of N_e · C_min^p_n, the best size, with C_min in PF-days (table 6).
    """

    alpha_n: float = 0.076
    n_c: float = 6.4e13
    alpha_d: float = 0.103
    d_c: float = 1.8e13
    alpha_c: float = 0.050
    c_c: float = 3.1e8 * PF_DAY
    p_n: float = 0.73
    n_e: float = 1.3e9

    def loss(self, n: Number, d: Number) -> Number:
        """At convergence on D different tokens, with more than 6 N D operations."""
        of_size = np.power(self.n_c / n, self.alpha_n / self.alpha_d)
        return np.power(of_size + self.d_c / d, self.alpha_d)

    @property
    def share_for_size(self) -> float:
        return self.p_n

    def best(self, c: Number) -> tuple[Number, Number]:
        """Far below the critical batch size, where operations are C_min."""
        n = self.n_e * np.power(c / PF_DAY, self.p_n)
        return n, c / 6 / n

    def best_loss(self, c: Number) -> Number:
        return np.power(self.c_c / c, self.alpha_c)


@dataclass(frozen=True, kw_only=True, slots=True)
class PublishedLaw:
    """A law, and the runs behind it.

    Attributes:
        seen: sizes of the runs.
        source: paper, with equations and tables.
    """

    law: Law
    counts: str
    seen: str
    source: str


KAPLAN, HOFFMANN, BESIROGLU = "Kaplan et al. 2020", "Hoffmann et al. 2022", "Besiroglu et al. 2024"

SEEN_BY_HOFFMANN = "70 million to 16 billion parameters, 5 to 500 billion tokens"

PUBLISHED_LAWS = {
    KAPLAN: PublishedLaw(
        law=KaplanLaw(),
        counts="without embeddings",
        seen="768 to 1.5 billion parameters, 22 million to 23 billion tokens",
        source="equations 1.3 and 1.5, tables 2 and 6",
    ),
    HOFFMANN: PublishedLaw(
        law=AdditiveLaw(1.69337, 406.401, 0.33917, 410.7228, 0.28491),
        counts="all",
        seen=SEEN_BY_HOFFMANN,
        source="section 3.3 and equation 10; unrounded in the source of the paper, as Besiroglu et al. 2024 quote it",
    ),
    BESIROGLU: PublishedLaw(
        law=AdditiveLaw(1.8172, 482.01, 0.3478, 2085.43, 0.3658),
        counts="all",
        seen="240 of the same runs, read off a figure of that paper",
        source="table 1",
    ),
}
"""Losses of Kaplan et al. are on WebText2 with GPT-2's tokens, those of the others on MassiveText."""
