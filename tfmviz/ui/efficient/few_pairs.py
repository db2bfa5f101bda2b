"""Methods that leave out pairs: sparse masks, top-k, and the buckets of Reformer."""

from __future__ import annotations

import streamlit as st

from tfmviz.analysis.efficient import reformer, sparse
from tfmviz.analysis.efficient.exact import Cost
from tfmviz.record.trace import Array
from tfmviz.ui import inputs, lesson
from tfmviz.ui.efficient.reversible import reversible
from tfmviz.ui.efficient.subject import Head, beside, head_of
from tfmviz.ui.lesson import Lesson
from tfmviz.words.numbers import counted, per_cent

KINDS = ("window", "dilated", "BigBird", "top-k")

SHOWN = 2
"""Rounds whose buckets stand beside the tokens."""

STEP, N_GLOBAL, N_RANDOM = 2, 1, 2
"""Of the dilated window and of BigBird."""

ABOUT = {
    "window": "Each query keeps its neighbours (Beltagy et al. 2020).",
    "dilated": f"Each query keeps every {STEP}nd neighbour (Beltagy et al. 2020).",
    "BigBird": f"Each query keeps a window, {N_GLOBAL} global token and {N_RANDOM} random keys (Zaheer et al. 2020).",
    "top-k": "Each query keeps its largest scores, though all must be computed (Gupta et al. 2021).",
}


def sparse_masks(here: Lesson) -> None:
    """A mask in place of the model's own, for this head alone."""
    head = head_of(here)
    with lesson.line("sparse"):
        kinds = KINDS if head.q_tokens_are_keys else KINDS[-1:]
        kind = inputs.segmented_control("Keep", kinds, default=kinds[0], key="keep")
        size = inputs.slider("Radius, or k", 1, 16, 3, key="radius")
    kept, pattern, cost = sparsely(head, kind, size)
    pairs, left = int(kept.sum()), sparse.or_all(kept, head.allowed)
    beside(here, head, pattern, pattern @ head.v, title=f"{kind}, {size}", cost=cost, kept=left)
    caught = float((head.pattern * kept).sum(axis=-1).mean())
    st.markdown(
        f"{ABOUT[kind]} {pairs:,} of {int(head.allowed.sum()):,} pairs {'remains' if pairs == 1 else 'remain'}, with "
        f"{per_cent(caught)} of the attention."
    )
    if not head.q_tokens_are_keys:
        st.caption("Windows need one text; cross-attention has two.")


def kept_pairs(head: Head, kind: str, size: int) -> Array:
    """The pairs that a kind of sparse attention keeps: (q_len, k_len), bool."""
    from tfmviz import masks

    n = len(head.k)
    match kind:
        case "window":
            return masks.window(n, size).numpy()
        case "dilated":
            return masks.dilated(n, size, STEP).numpy()
        case "BigBird":
            return masks.bigbird(n, size, N_GLOBAL, N_RANDOM, 0).numpy()
    return sparse.top(head.scores, size)


def sparsely(head: Head, kind: str, size: int) -> tuple[Array, Array, Cost]:
    """The pairs that are kept of those that the model allows, the pattern over them, and its cost."""
    kept = kept_pairs(head, kind, size) & head.allowed
    scores = int(head.allowed.sum()) if kind == "top-k" else None
    return kept, sparse.pattern(head.scores, kept), sparse.cost(int(kept.sum()), head.q.shape[1], scores=scores)


def bucketed(head: Head, of_q: Array, of_k: Array, n_buckets: int) -> tuple[Array, Array, Cost]:
    """The same for pairs that share a bucket in one of the rounds: (round, len) buckets of queries and keys."""
    kept = sparse.or_all(reformer.meet(of_q, of_k), head.allowed)
    vectors = len(head.q) + len(head.k)
    cost = reformer.cost(int(kept.sum()), vectors, head.q.shape[1], n_buckets, rounds=len(of_q))
    return kept, sparse.pattern(head.scores, kept), cost


def hashed(here: Lesson) -> None:
    """Buckets of queries and keys, on the text, and the attention that is left within them."""
    head = head_of(here)
    with lesson.line("hashed"):
        n_buckets = inputs.select_slider("Buckets", [1, 2, 4, 6, 8, 12, 16, 24], 4, key="hash_buckets")
        rounds = inputs.slider("Rounds of hashing", 1, 8, 2, key="rounds")
        seed = inputs.slider("Random seed", 0, 20, 0, key="hash_seed")
    of_q, of_k = (reformer.buckets(x, n_buckets, rounds=rounds, seed=seed) for x in (head.q, head.k))
    kept, pattern, cost = bucketed(head, of_q, of_k, n_buckets)
    one, four = (per_cent(reformer.caught(head.pattern, kept, strongest)) for strongest in (1, 4))
    named = [[f"({', '.join(map(str, of_token))})" for of_token in each[:SHOWN].T] for each in (of_q, of_k)]
    beside(
        *(here, head, pattern, pattern @ head.v),
        title=f"{n_buckets} buckets, {counted(rounds, 'round')}",
        cost=cost,
        kept=kept,
        buckets=named,
    )
    st.markdown(
        f"{per_cent(kept.sum() / head.allowed.sum())} of all pairs catch **{one}** of the strongest keys and {four} "
        f"of the four strongest. Beside the tokens: their buckets{f' in the first {SHOWN} rounds' * (rounds > SHOWN)}."
    )
    st.markdown("Reformer trains one vector as query and key (**shared q/k**); this model's two are often separated.")
    if head.has_bias:
        st.caption("Buckets ignore what this model adds to q · k.")
    reversible(here)
