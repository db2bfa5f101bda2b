"""The memory of cached keys and values."""

from __future__ import annotations

from dataclasses import dataclass

KEYS_AND_VALUES = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """The cache of a model.

    Attributes:
        size: bytes per value.
        n_local: layers that see only the last `window` tokens and cache no more.
    """

    n_layers: int
    n_kv_heads: int
    d_head: int
    size: int
    n_local: int = 0
    window: int = 0

    @property
    def per_token(self) -> int:
        """Bytes: 2 · layers · kv heads · d_head · size."""
        return KEYS_AND_VALUES * self.n_layers * self.n_kv_heads * self.d_head * self.size

    def at(self, length: int) -> int:
        """Bytes for `length` tokens."""
        tokens = (self.n_layers - self.n_local) * length + self.n_local * min(length, self.window)
        return KEYS_AND_VALUES * tokens * self.n_kv_heads * self.d_head * self.size


def linear_state(*, n_layers: int, n_heads: int, d_head: int, size: int) -> int:
    """Bytes of Σ φ(k) vᵀ and Σ φ(k), the state of linear attention at any length."""
    return n_layers * n_heads * (d_head**2 + d_head) * size


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownModel:
    n_layers: int
    n_heads: int
    n_kv_heads: int
    d_head: int
    n_local: int = 0
    window: int = 0
    source: str


KNOWN = {
    "GPT-2 small": KnownModel(n_layers=12, n_heads=12, n_kv_heads=12, d_head=64, source="Radford et al. 2019"),
    "Llama 2 7B": KnownModel(n_layers=32, n_heads=32, n_kv_heads=32, d_head=128, source="Touvron et al. 2023"),
    "Llama 3 8B": KnownModel(
        n_layers=32, n_heads=32, n_kv_heads=8, d_head=128, source="Grattafiori et al. 2024, table 3"
    ),
    "Llama 3 70B": KnownModel(
        n_layers=80, n_heads=64, n_kv_heads=8, d_head=128, source="Grattafiori et al. 2024, table 3"
    ),
    "Mistral 7B": KnownModel(
        n_layers=32,
        n_heads=32,
        n_kv_heads=8,
        d_head=128,
        n_local=32,
        window=4096,
        source="Jiang et al. 2023, table 1; every layer sees the last 4,096 tokens",
    ),
    "Gemma 2 9B": KnownModel(
        n_layers=42,
        n_heads=16,
        n_kv_heads=8,
        d_head=256,
        n_local=21,
        window=4096,
        source="Gemma Team 2024, table 1; every second layer sees the last 4,096 tokens",
    ),
    "Falcon 7B": KnownModel(
        n_layers=32, n_heads=71, n_kv_heads=1, d_head=64, source="Almazrouei et al. 2023; multi-query"
    ),
}
"""Published models, most of them with grouped heads."""
