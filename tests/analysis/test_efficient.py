"""Each cheaper attention: exact in its limit, the cheap way equal to its pattern, its cost to what it does."""

from collections.abc import Callable
from itertools import product
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tests.cases import each
from tfmviz import masks
from tfmviz.analysis import linear_attention
from tfmviz.analysis.efficient import (
    exact,
    features,
    grouped,
    linformer,
    reformer,
    reversible,
    sparse,
    state_space,
    tiles,
)
from tfmviz.record.trace import Array
from tfmviz.record.weights import feature

N, K_LEN, D = 23, 29, 7
CAUSAL = np.tri(N, dtype=bool)
OPEN = np.ones((N, N), dtype=bool)


def normal(*shape: int, seed: int = 0, scale: float = 1.0) -> Array:
    return scale * np.random.default_rng(seed).standard_normal(shape)


Q, K, V = normal(N, D, seed=1, scale=0.7), normal(N, D, seed=2), normal(N, D, seed=3)
CROSS_K, CROSS_V = normal(K_LEN, D, seed=4), normal(K_LEN, D, seed=5)


def torchs(q: Array, k: Array, v: Array, allowed: Array | None = None) -> Array:
    """Under a mask of booleans, or with numbers that are added to the scores."""
    mask = None if allowed is None else torch.tensor(allowed)
    query, key, value = map(torch.tensor, (q, k, v))
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=1.0).numpy()


class Counted(np.ndarray):
    """An array that counts the multiplications of matrix products it takes part in."""

    count = 0

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        plain = [np.asarray(x) for x in inputs]
        result = getattr(ufunc, method)(*plain, **{name: x for name, x in keywords.items() if name != "out"})
        if ufunc is np.matmul:
            Counted.count += int(result.size * plain[0].shape[-1])
        return np.asarray(result).view(Counted)


def counted(attend: Callable[..., Array], *arrays: Array, **settings: Any) -> int:
    Counted.count = 0
    attend(*(array.view(Counted) for array in arrays), **settings)
    return Counted.count


@each("allowed", [None, CAUSAL])
def test_exact_attention_is_torchs(allowed: Array | None) -> None:
    np.testing.assert_allclose(exact.pattern(Q, K, allowed) @ V, torchs(Q, K, V, allowed))
    assert counted(exact.attend, Q, CROSS_K, CROSS_V) == exact.cost(N, K_LEN, D).multiplications


def test_singular_values_say_what_any_projection_can_keep_and_errors_lie_between_0_and_1() -> None:
    left, right = np.eye(5), np.eye(5)[::-1][:4]
    assert exact.pattern_error(left, left) == 0
    assert exact.pattern_error(left[:2], right[:2]) == 1
    assert exact.output_error(V, V) == 0
    assert exact.output_error(V, 0 * V) == pytest.approx(1)
    pattern = exact.pattern(Q, K)
    shares = linformer.shares(pattern)
    for rank in (1, 4, N):
        lost = np.linalg.norm(pattern - linformer.best(pattern, rank)) ** 2 / np.linalg.norm(pattern) ** 2
        assert lost == pytest.approx(1 - shares[rank - 1], abs=1e-12)
    assert shares[-1] == pytest.approx(1)
    assert linformer.shares(np.outer(np.ones(5), exact.softmax(V[:1])[0]))[0] == pytest.approx(1)


def test_a_sparse_pattern_is_attention_under_the_smaller_mask() -> None:
    scores, causal = np.where(CAUSAL, Q @ K.T, -np.inf), exact.pattern(Q, K, CAUSAL)
    kept = masks.window(N, 3).numpy()
    np.testing.assert_allclose(sparse.pattern(scores, kept) @ V, torchs(Q, K, V, CAUSAL & kept))
    np.testing.assert_allclose(sparse.pattern(scores, OPEN), causal)
    np.testing.assert_allclose(sparse.pattern(scores, sparse.or_all(~CAUSAL, CAUSAL)), causal)  # strictly later


def test_the_k_largest_scores_hold_the_most_attention_that_k_keys_can() -> None:
    scores = np.where(CAUSAL, Q @ K.T, -np.inf)
    full, kept = exact.softmax(scores), sparse.top(scores, 4)
    assert (kept.sum(axis=-1) == np.minimum(4, np.arange(1, N + 1))).all()
    np.testing.assert_allclose((full * kept).sum(axis=-1), np.sort(full)[:, -4:].sum(axis=-1))
    np.testing.assert_allclose(sparse.pattern(scores, sparse.top(scores, N)), full)


@each("radius", [0, 3, N])
def test_a_window_key_by_key_is_its_mask(radius: int) -> None:
    allowed = masks.window(N, radius).numpy()
    np.testing.assert_allclose(sparse.attend(Q, K, V, radius), torchs(Q, K, V, allowed), atol=1e-12)
    pairs = N * (2 * radius + 1)
    scores = counted(sparse.attend, Q, K, V, radius=radius)  # windows are plain arrays: their values count nothing
    assert 2 * scores == sparse.cost(pairs, D).multiplications


def test_linformer_with_a_row_for_each_token_is_exact() -> None:
    np.testing.assert_allclose(linformer.attend(Q, CROSS_K, CROSS_V, K_LEN), torchs(Q, CROSS_K, CROSS_V))
    for rows in (1, 5, K_LEN):
        pattern = linformer.pattern(Q, CROSS_K, rows)
        np.testing.assert_allclose(pattern.sum(axis=-1), 1)
        np.testing.assert_allclose(linformer.attend(Q, CROSS_K, CROSS_V, rows), pattern @ CROSS_V)
        counts = counted(linformer.attend, Q, CROSS_K, CROSS_V, rows=rows)
        E = 2 * rows * K_LEN * D  # a plain array, whose products with counting ones count too
        assert counts == linformer.cost(N, K_LEN, D, rows).multiplications >= E


@each("n_buckets, k_len", [(2, K_LEN), (6, K_LEN), (16, 3)])
def test_reformer_bucket_by_bucket_is_attention_to_the_pairs_that_meet(n_buckets: int, k_len: int) -> None:
    k, v = CROSS_K[:k_len], CROSS_V[:k_len]
    met = reformer.meet(*(reformer.buckets(x, n_buckets, seed=3) for x in (Q, k)))
    assert 0 < met.sum() < met.size
    assert met.any(axis=-1).all() == (k_len == K_LEN)
    kept = sparse.or_all(met, np.ones_like(met))
    np.testing.assert_allclose(reformer.attend(Q, k, v, n_buckets, seed=3), sparse.pattern(Q @ k.T, kept) @ v)
    counts = counted(reformer.attend, Q, k, v, n_buckets=n_buckets, seed=3)
    assert counts == reformer.cost(int(kept.sum()), N + k_len, D, n_buckets).multiplications


def test_equal_directions_share_a_bucket_and_opposite_ones_never() -> None:
    for seed in range(5):
        at = reformer.buckets(np.concatenate((Q, 3.5 * Q, -Q)), 8, rounds=3, seed=seed)
        same, stretched, opposite = np.split(at, 3, axis=-1)
        assert (same == stretched).all()
        assert (same != opposite).all()
        assert 0 <= at.min() <= at.max() < 8


def test_reformer_with_one_bucket_is_exact_and_more_rounds_never_lose_a_pair() -> None:
    of_q, of_k = (reformer.buckets(x, 6, rounds=4) for x in (Q, K))
    one, all_ = reformer.meet(of_q[:1], of_k[:1]), reformer.meet(of_q, of_k)
    assert (all_ | ~one).all()
    pattern = exact.pattern(Q, K, CAUSAL)
    assert reformer.caught(pattern, OPEN, 3) == 1
    assert reformer.caught(pattern, ~OPEN, 3) == 0
    assert reformer.caught(pattern, CAUSAL & (pattern >= pattern.max(axis=-1, keepdims=True)), 1) == 1
    np.testing.assert_allclose(reformer.attend(Q, CROSS_K, CROSS_V, 1), torchs(Q, CROSS_K, CROSS_V))
    assert reformer.meet(reformer.buckets(Q, 1), reformer.buckets(K, 1)).all()


def test_linear_attention_without_pairs_is_that_over_pairs() -> None:
    phi_q, phi_k = feature(Q), feature(K)
    expected = linear_attention.over_pairs(Q[None], K[None], V[None], angles=None, bias=None)[0]
    np.testing.assert_allclose(features.running(phi_q, phi_k, V), expected)
    np.testing.assert_allclose(features.pattern(phi_q, phi_k, CAUSAL) @ V, expected)
    np.testing.assert_allclose(features.attend(phi_q, phi_k, V), features.pattern(phi_q, phi_k, OPEN) @ V)
    assert counted(features.attend, phi_q, phi_k, V) == features.cost(N, N, D, D, drawn=False).multiplications


def test_random_features_are_unbiased_and_many_give_the_exact_pattern() -> None:
    q, k = Q / 4, K / 4
    full, errors = exact.pattern(q, k, CAUSAL), []
    for m in (16, 512, 16_384):
        found = features.pattern(*features.performer(q, k, features.random_directions(m, D, seed=1)), CAUSAL)
        errors.append(exact.pattern_error(full, found))
    assert errors[0] > errors[1] > errors[2] < 0.02
    directions = features.random_directions(65_536, D, seed=2)
    products = features.positive(q, directions) @ features.positive(k, directions).T
    np.testing.assert_allclose(products, np.exp(Q @ K.T / 16), rtol=0.03)


def test_the_cost_of_features_counts_their_making_their_use_and_what_is_held() -> None:
    m = 7
    directions = features.random_directions(m, D, seed=1)
    state, sums, rows = m * D, m, 2 * m  # the state, the sum below the line, and one query's and one key's features
    assert features.cost(N, K_LEN, D, m, drawn=False).numbers == state + sums + rows
    plain, drawn = (features.cost(N, K_LEN, D, m, drawn=drawn).multiplications for drawn in (False, True))
    assert drawn - plain == sum(counted(np.matmul, x, directions.T) for x in (Q, CROSS_K))


def test_random_directions_are_orthogonal_and_shifted_features_leave_the_pattern() -> None:
    block = features.random_directions(D, D, seed=4)
    np.testing.assert_allclose((block @ block.T)[~np.eye(D, dtype=bool)], 0, atol=1e-12)
    assert np.mean(np.sum(features.random_directions(7000, D, seed=4) ** 2, axis=-1)) == pytest.approx(D, rel=0.05)
    directions = features.random_directions(32, D, seed=1)
    plain = features.pattern(features.positive(Q, directions), features.positive(K, directions), CAUSAL)
    np.testing.assert_allclose(features.pattern(*features.performer(Q, K, directions), CAUSAL), plain, rtol=1e-4)
    assert np.isfinite(features.pattern(*features.performer(60 * Q, 60 * K, directions), CAUSAL)).all()


@each("size", [1, 5, 64])
@each("allowed", [None, CAUSAL, CAUSAL[::-1].copy()])
def test_tiles_give_exactly_what_one_piece_gives(size: int, allowed: Array | None) -> None:
    q = 30 * Q  # scores in the hundreds: exp alone would overflow
    np.testing.assert_allclose(tiles.attend(q, K, V, size, allowed), torchs(q, K, V, allowed), atol=1e-12)


def test_the_running_sum_of_a_tile_is_the_softmax_of_what_was_seen_so_far() -> None:
    for tile in tiles.tiles(Q, K, V, CAUSAL, 5):
        seen = CAUSAL[tile.rows, : tile.columns.stop]
        scores = np.where(seen, Q[tile.rows] @ K[: tile.columns.stop].T, -np.inf)
        np.testing.assert_allclose(tile.largest, scores.max(axis=-1))
        np.testing.assert_allclose(tile.total, np.exp(scores - scores.max(axis=-1, keepdims=True)).sum(axis=-1))
        np.testing.assert_allclose(tile.out, exact.softmax(scores) @ V[: tile.columns.stop])


def test_what_is_added_to_scores_is_added_tile_by_tile_and_one_tile_is_held() -> None:
    cost = tiles.cost(N, N, D, 5).multiplications
    assert counted(tiles.attend, Q, K, V, size=5) == cost == exact.cost(N, N, D).multiplications
    assert tiles.cost(N, N, D, 64).numbers == N * N + 2 * N
    met = [(tile.rows, tile.columns) for tile in tiles.tiles(Q, K, V, CAUSAL, 5)]
    assert sum((rows.stop - rows.start) * (columns.stop - columns.start) for rows, columns in met) < N * N
    bias = normal(N, N)
    expected = torchs(Q, K, V, np.where(CAUSAL, bias, -np.inf))
    np.testing.assert_allclose(tiles.attend(Q, K, V, 5, CAUSAL, bias=bias), expected, atol=1e-12)


def test_heads_of_a_group_share_their_mean() -> None:
    x = normal(6, 5, 4)
    for n_groups in (1, 2, 3, 6):
        means = x.reshape(n_groups, -1, 5, 4).mean(axis=1)
        np.testing.assert_allclose(grouped.shared(x, n_groups), means.repeat(6 // n_groups, axis=0))
    np.testing.assert_array_equal(grouped.shared(x, 6), x)
    with pytest.raises(ValueError, match="6 heads cannot form 4 groups"):
        grouped.shared(x, 4)


def test_a_state_space_is_the_same_as_recurrence_and_as_convolution() -> None:
    a, b, c = state_space.decays(4, 0.3), normal(4, seed=6), normal(4, seed=7)
    kernel = state_space.kernel(N, a, b, c)
    expected = np.array([sum(kernel[i - j] * V[j] for j in range(i + 1)) for i in range(N)])
    np.testing.assert_allclose(state_space.recurrence(V, a, b, c), expected)
    np.testing.assert_allclose(state_space.convolution(V, kernel), expected)
    assert kernel[0] == pytest.approx(c @ b)
    assert kernel[5] == pytest.approx(sum(c * a**5 * b))


def test_what_a_state_remembers_is_what_each_token_alone_would_leave() -> None:
    a = np.array([0.5, 0.9, 0.999])
    np.testing.assert_allclose(a ** state_space.half_lives(a), 0.5)
    x, a = V[:7], np.linspace(0.2, 0.95, D)
    states = [x[0]]
    for token in x[1:]:
        states.append(a * states[-1] + token)
    ages = (np.arange(7)[:, None] - np.arange(7))[..., None]
    alone = np.where(ages >= 0, a ** np.maximum(ages, 0) * x, 0)  # (read after, token, number)
    np.testing.assert_allclose(alone.sum(axis=1), states)  # the recurrence is linear
    lengths = np.linalg.norm(alone, axis=-1)
    shares = state_space.remembered(np.array(states), a)
    np.testing.assert_allclose(shares, lengths / lengths.sum(axis=-1, keepdims=True), atol=1e-12)


def test_a_reversible_stack_gives_its_input_back_whatever_its_functions_are() -> None:
    matrices = normal(6, D, D, seed=6)
    blocks = [(lambda x, W=W: np.tanh(x @ W), lambda x, W=W: np.abs(x @ W.T)) for W in matrices]
    y_1, y_2 = reversible.forward(Q, V, blocks)
    assert np.abs(y_1 - Q).max() > 1
    x_1, x_2 = reversible.backward(y_1, y_2, blocks)
    np.testing.assert_allclose(x_1, Q, atol=1e-9)
    np.testing.assert_allclose(x_2, V, atol=1e-9)


def test_a_reversible_stack_keeps_as_much_at_any_depth_and_adds_like_an_ordinary_one() -> None:
    for depth in (1, 5):
        remembers = Mock(side_effect=lambda x: x)
        halves = reversible.forward(Q, V, [(remembers, remembers)] * depth)
        inputs = [call.args[0].size for call in remembers.call_args_list]
        assert reversible.kept(N, D, depth, reversible=False) == sum(inputs)
        assert reversible.kept(N, D, depth, reversible=True) == sum(half.size for half in halves)
    f, nothing = np.tanh, np.zeros_like
    first, second = reversible.forward(Q, K[:N], [(f, nothing)] * 3)
    np.testing.assert_allclose(first, Q + 3 * f(K[:N]))
    np.testing.assert_array_equal(second, K[:N])


HEADS, LENGTH, PAIRS = 2, 7, 5


QS, KS, VS = normal(3, HEADS, LENGTH, 2 * PAIRS, seed=1)


def test_shares_are_the_real_parts_of_turned_products_over_a_sum_that_is_not_turned() -> None:
    """Su et al. 2021, equation 19, number by number: a pair of coordinates is a complex number, a turn a factor."""
    theta = normal(PAIRS, seed=3)
    angles = np.arange(LENGTH)[:, None] * theta
    found = linear_attention.shares(QS, KS, angles=angles)
    for head, i in product(range(HEADS), range(LENGTH)):
        a, b = (F.elu(torch.tensor(x)).numpy() + 1 for x in (QS[head, i], KS[head, : i + 1]))
        one, others = a[::2] + 1j * a[1::2], b[:, ::2] + 1j * b[:, 1::2]
        turns = np.exp(1j * theta * (i - np.arange(i + 1))[:, None])
        expected = (one * others.conj() * turns).real.sum(axis=-1) / (a * b).sum()
        np.testing.assert_allclose(found[head, i], [*expected, *[0] * (LENGTH - i - 1)], atol=1e-12)
    pairs = linear_attention.over_pairs(QS, KS, VS, angles=angles, bias=None)
    for values in (pairs, linear_attention.running(QS, KS, VS, angles=angles)):
        np.testing.assert_allclose(values, found @ VS, atol=1e-10)


def test_without_turns_rows_sum_to_1_and_a_bias_is_lost_in_the_running_sum() -> None:
    np.testing.assert_allclose(linear_attention.shares(QS, KS, angles=None).sum(axis=-1), 1)
    half_turns = np.arange(LENGTH)[:, None] * np.full(PAIRS, np.pi)
    assert linear_attention.shares(QS, KS, angles=half_turns).min() < 0
    bias = normal(HEADS, LENGTH, LENGTH, seed=4)
    pairs, plain = (linear_attention.over_pairs(QS, KS, VS, angles=None, bias=added) for added in (bias, None))
    running = linear_attention.running(QS, KS, VS, angles=None)
    np.testing.assert_allclose(running, plain, atol=1e-12)
    assert np.abs(running - pairs)[:, 1:].max() > 0.1
