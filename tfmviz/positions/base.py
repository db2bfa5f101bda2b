"""The interface of all position schemes: three places where a position can enter, each doing nothing by default."""

from __future__ import annotations

from torch import Tensor, nn

from tfmviz.tap import Tap


class Positions(nn.Module):
    """No positions: attention then sees a bag of tokens and cannot tell their order."""

    def embed(self, x: Tensor, tap: Tap) -> Tensor:
        """Adds something to the token embeddings. x: (batch, len, d_model), returned in the same shape."""
        return x

    def rotate(self, q: Tensor, k: Tensor, tap: Tap) -> tuple[Tensor, Tensor]:
        """Turns queries (batch, head, q_len, d_head) and keys (batch, head, k_len, d_head), shapes kept."""
        return q, k

    def bias(self, q_len: int, k_len: int) -> Tensor | None:
        """Something to add to the scaled scores, (head, q_len, k_len), or None."""
        return None
