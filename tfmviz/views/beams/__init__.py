"""A beam search as a tree: steps from left to right, continuations by rank from top to bottom.

The data are {alt, picks, picked, nodes}: a node as in `Node`, and the index of the chosen one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

Kind = Literal["best", "goes on", "complete", "dropped"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """One continuation.

    Attributes:
        step: its length in tokens, from 1.
        rank: among the continuations of its step, 0 for the best.
        parent: rank of what it continues, in the step before; 0 for the beginning.
        ids: all its tokens.
        kind: "best" lies on the way to the best complete text.
    """

    step: int
    rank: int
    parent: int
    ids: tuple[int, ...]
    word: str
    kind: Kind
    spoken: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Tree:
    """`chosen`: tokens of the chosen continuation."""

    nodes: Sequence[Node]
    chosen: tuple[int, ...] | None = None

    def payload(self, *, alt: str, picks: bool = False) -> dict[str, Any]:
        """`alt`: the tree in words. `picks`: whether the page receives clicks."""
        drawn = [{name: value for name, value in asdict(node).items() if name != "ids"} for node in self.nodes]
        picked = next((n for n, node in enumerate(self.nodes) if node.ids == self.chosen), None)
        return {"alt": alt, "picks": picks, "picked": picked, "nodes": drawn}
