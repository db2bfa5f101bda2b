"""The tree of written texts as encoded in the address by the view (see `views/writing/tree.ts`)."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from tfmviz.constants import MOST_BRANCHES

LIMIT = 80
"""The most tokens that are written after the beginning."""

_BRANCH = r"~\d{1,2}\.\d{1,3}(\.[0-9a-z]{1,4})*"
CODE = re.compile(rf"\d{{1,2}}\.\d{{1,3}}({_BRANCH}){{1,{MOST_BRANCHES}}}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Branch:
    """A text that leaves its parent after `at` tokens and continues with others."""

    parent: int
    at: int
    tokens: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Tree:
    """All branches, the one that is read, and how many of its tokens are shown."""

    branches: tuple[Branch, ...]
    branch: int
    shown: int

    def path(self, branch: int) -> tuple[int, ...]:
        """All tokens of a branch, from the first word on."""
        one = self.branches[branch]
        return one.tokens if branch == 0 else (*self.path(one.parent)[: one.at], *one.tokens)

    @property
    def written(self) -> tuple[int, ...]:
        return self.path(self.branch)[: self.shown]

    @property
    def tokens(self) -> set[int]:
        return {token for branch in self.branches for token in branch.tokens}


NOTHING = Tree(branches=(Branch(parent=0, at=0, tokens=()),), branch=0, shown=0)


def parse_tree(code: str, *, vocab_size: int, ends: Collection[int], limit: int = LIMIT) -> Tree | None:
    """The tree in a code, empty for ""; None if it is invalid.

    Args:
        vocab_size: larger tokens do not exist.
        ends: the tokens that end texts and are never written.
        limit: the most words of a branch.
    """
    if not code:
        return NOTHING
    if not CODE.fullmatch(code):
        return None
    (branch, shown), *parts = ([*part.split(".")] for part in code.split("~"))
    branches = tuple(
        Branch(parent=int(parent), at=int(at), tokens=tuple(int(token, 36) for token in tokens))
        for parent, at, *tokens in parts
    )
    tree = Tree(branches=branches, branch=int(branch), shown=int(shown))
    return tree if _is_sound(tree, vocab_size, ends, limit) else None


def _is_sound(tree: Tree, vocab_size: int, ends: Collection[int], limit: int) -> bool:
    """Parents come before their branches and are long enough, and all tokens can be written."""
    if any(token >= vocab_size or token in ends for token in tree.tokens) or tree.branches[0].at:
        return False
    for n, branch in enumerate(tree.branches):
        if n and (branch.parent >= n or branch.at > len(tree.path(branch.parent)) or not branch.tokens):
            return False
        if len(tree.path(n)) > limit:
            return False
    return tree.branch < len(tree.branches) and tree.shown <= len(tree.path(tree.branch))
