"""The tree of counts: its sum, its least squares, its noise, what is read off it."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.core.neighbors import Neighbors
from discreet.core.schema import Number, Schema
from discreet.questions.count_tree import BRANCHES, CountTree, tree_of, tree_size

SCHEMA = Schema({"x": Number(-10, 110)})
RECORDS = np.clip(
    np.concatenate([np.random.default_rng(0).normal(40, 30, 500), [np.nan, -10.0, 110.0, 0.0, 5e-324, 109.999999]]),
    -10,
    110,
)[:, None]


def adding(levels: int) -> np.ndarray:
    """The matrix that adds leaves up to all cells."""
    leaves = BRANCHES**levels
    return np.vstack([np.kron(np.eye(BRANCHES**k), np.ones(leaves // BRANCHES**k)) for k in range(1, levels + 1)])


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("levels", [1, 2])
def test_a_fused_sum_is_the_sum_of_its_clipped_rows(levels: int, norm: str) -> None:
    question = tree_of(SCHEMA, "x", levels, norm)  # type: ignore[arg-type]
    assert question.total is not None
    np.testing.assert_array_equal(question.total(RECORDS), question.steps(RECORDS).sum(axis=0))
    np.testing.assert_array_equal(question.bound.clip(question.of(RECORDS)), question.of(RECORDS))
    assert question.size == tree_size(levels) == len(question.total(RECORDS))


@pytest.mark.parametrize("levels", [1, 2])
def test_every_level_counts_every_value_once(levels: int) -> None:
    total = tree_of(SCHEMA, "x", levels, "l1").total
    assert total is not None
    counts = total(RECORDS)
    assert counts[:BRANCHES].sum() == 505
    np.testing.assert_array_equal(counts, adding(levels) @ counts[-(BRANCHES**levels) :])


def test_the_bound_is_what_one_value_marks_in_its_norm() -> None:
    assert tree_of(SCHEMA, "x", 3, "l1").bound.sensitivity("l1", tree_size(3), Neighbors.ADD_REMOVE) == pytest.approx(3)
    assert tree_of(SCHEMA, "x", 3, "l2").bound.sensitivity("l2", tree_size(3), Neighbors.ADD_REMOVE) == pytest.approx(
        np.sqrt(3)
    )


def test_leaves_are_those_of_least_squares() -> None:
    noisy = np.random.default_rng(1).normal(5, 3, tree_size(2))
    slow = np.linalg.lstsq(adding(2), noisy, rcond=None)[0]
    np.testing.assert_allclose(CountTree(noisy, 0.0, 1.0).leaves(), slow, atol=1e-9)


def test_variances_are_those_of_least_squares() -> None:
    inverse = np.linalg.inv(adding(2).T @ adding(2))
    tree = CountTree(np.zeros(tree_size(2)), 0.0, 1.0)
    for weights in np.random.default_rng(2).normal(size=(5, 256)):
        assert tree.variance(weights) == pytest.approx(weights @ inverse @ weights)
    below = (np.arange(256) < 100) - 0.3
    assert tree.deviation(100 / 256, 0.3) == pytest.approx(np.sqrt(below @ inverse @ below))


def test_a_tree_adds_less_noise_than_its_leaves_alone() -> None:
    half = (np.arange(4096) < 2048).astype(float)
    assert 3**2 * CountTree(np.zeros(tree_size(3)), 0.0, 1.0).variance(half) < 0.1 * half.sum()


def test_quantiles_of_exact_counts_are_exact_to_a_cell() -> None:
    values = np.sort(np.random.default_rng(3).gamma(4, 8, 20_000))
    total = tree_of(SCHEMA, "x", 3, "l1").total
    assert total is not None
    tree = CountTree(total(np.clip(values, -10, 110)[:, None]), -10.0, 110.0)
    assert tree.number == pytest.approx(20_000)
    for share in (0.01, 0.3, 0.5, 0.99):
        assert tree.quantile(share) == pytest.approx(np.quantile(values, share), abs=120 / 4096)
        place = tree.place(share * 20_000)
        assert place.low <= np.quantile(values, share) <= place.high


def test_ranks_beyond_all_values_are_at_the_bounds() -> None:
    tree = CountTree(np.concatenate([np.full(16, 160.0), np.full(256, 10.0)]), 0.0, 1.0)
    assert tree.place(-5.0).high == 0.0
    assert tree.place(1e9).low == 1.0


def test_a_tree_of_noise_alone_has_quantiles_too() -> None:
    tree = CountTree(np.random.default_rng(4).normal(0, 100, tree_size(2)), 3.0, 4.0)
    assert all(3 <= tree.quantile(share) <= 4 for share in (0.0, 0.5, 1.0))


@pytest.mark.parametrize(("levels", "norm"), [(0, "l1"), (5, "l1"), (2, "linf")])
def test_a_tree_without_meaning_is_refused(levels: int, norm: str) -> None:
    with pytest.raises(ParameterError):
        tree_of(SCHEMA, "x", levels, norm)  # type: ignore[arg-type]
