"""Functions of a column: centred and orthogonal over the records, wherever these are between the bounds."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.learners.anova.smooth_bases import CELLS, ColumnBasis, bases_of, distribution, mean_squares, quantile_of
from discreet.questions.columns.column_trees import LEAVES


def leaves_of(values: np.ndarray) -> np.ndarray:
    """Counts of values between 0 and 1."""
    return np.histogram(values, LEAVES, (0, 1))[0].astype(np.float64)


def test_functions_have_mean_zero_and_are_orthogonal_over_the_records() -> None:
    rng = np.random.default_rng(0)
    for values in (rng.uniform(size=9000), 0.45 + 0.01 * rng.random(9000), rng.beta(0.3, 4, 9000)):
        found = ColumnBasis.of_number(leaves_of(values), 8, 0.0)
        assert found.shares.sum() == pytest.approx(1.0)
        np.testing.assert_allclose(found.functions @ found.shares, 0.0, atol=1e-9)
        squares = (found.functions * found.shares) @ found.functions.T
        np.testing.assert_allclose(squares, np.diag(found.variances), atol=1e-9)
        assert 0.8 < found.variances.sum() < 1.2


def test_a_value_that_many_have_is_a_cell_of_its_own() -> None:
    values = np.concatenate([np.zeros(9500), np.ones(500)])
    found = ColumnBasis.of_number(leaves_of(values), 8, 0.0)
    assert found.shares.max() == pytest.approx(0.95, abs=0.01)
    assert (found.variances > 0).sum() == 1  # two values: one function


def lost(found: ColumnBasis, values: np.ndarray) -> float:
    """The share of the variance of these values that no sum of the functions explains."""
    functions = found.functions[:, np.searchsorted(found.starts, values * LEAVES, side="right") - 1]
    fitted = np.linalg.lstsq(functions.T, values - values.mean(), rcond=None)[0] @ functions
    return float(np.var(values - fitted) / np.var(values))


def test_a_line_is_a_sum_of_functions_also_where_a_tail_is_heavy() -> None:
    """With waves alone a fifth of the variance was lost."""
    rng = np.random.default_rng(3)
    for values in (rng.uniform(size=20_000), np.exp(rng.normal(size=20_000)).clip(0, 40) / 40):
        assert lost(ColumnBasis.of_number(leaves_of(values), 8, 0.0), values) < 0.05


def test_a_line_is_flat_where_there_may_be_noise_alone() -> None:
    """Of records in a tenth of the bounds, with noise of 40 on their number: else it changes by a quarter there."""
    rng = np.random.default_rng(4)
    values = 0.45 + 0.1 * rng.random(10_000)
    found = ColumnBasis.of_number(leaves_of(values), 8, 40.0)
    inside = found.functions[0][(found.starts > 0.45 * LEAVES) & (found.starts < 0.55 * LEAVES)]
    assert np.ptp(inside) > 0.9 * np.ptp(found.functions[0])


def test_marks_of_a_category_tell_its_values_apart() -> None:
    found = ColumnBasis.of_category(np.array([500.0, 300.0, 200.0, -20.0]), 4)
    assert found.functions.shape == (4, CELLS)
    np.testing.assert_allclose(found.functions @ found.shares, 0.0, atol=1e-9)
    apart = np.linalg.norm(found.functions[:, 0] - found.functions[:, 1])
    assert apart == pytest.approx(np.sqrt(2), rel=0.1)


def test_a_distribution_ascends_whatever_the_noise_and_its_quantiles_are_those_of_the_values() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(0.5, 0.05, 20_000)
    noisy = distribution(leaves_of(values) + rng.normal(0, 1, LEAVES))
    assert (np.diff(noisy) >= 0).all()
    assert noisy[-1] == 1.0
    for q in (0.1, 0.5, 0.9):
        assert quantile_of(noisy, q) / LEAVES == pytest.approx(np.quantile(values, q), abs=0.01)
    even = distribution(np.full(LEAVES, -5.0))
    np.testing.assert_allclose(even, np.arange(1, LEAVES + 1) / LEAVES)


def test_mean_squares_are_those_of_features_of_independent_columns() -> None:
    rng = np.random.default_rng(2)
    found = [ColumnBasis.of_number(leaves_of(rng.uniform(size=9000)), 3, 0.0) for _ in range(3)]
    bases = bases_of(found, (0, 2), 2)
    squares = mean_squares(found, bases)
    assert len(squares) == bases.size == 1 + 9 + 4
    assert squares.sum() == pytest.approx(1.0, abs=0.15)
