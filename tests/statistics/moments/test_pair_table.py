"""A table of pairs: printed, framed, and projected to what a covariance matrix can be."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.events import PureLoss
from discreet.core.grid import Array
from discreet.core.neighbors import RECORD, Neighbors
from discreet.core.receipt import Receipt
from discreet.statistics.moments.pair_table import PairTable

RECEIPT = Receipt("covariance", PureLoss(1.0), 1.0, 0.0, Neighbors.ADD_REMOVE, RECORD, True, "", "")


def table(matrix: Array, name: str = "covariance", units: Array | None = None) -> PairTable:
    columns = tuple(f"c{i}" for i in range(len(matrix)))
    errors = np.full(matrix.shape, 0.25) - (0.25 * np.eye(len(matrix)) if name == "correlation" else 0.0)
    return PairTable(
        name=name,
        columns=columns,
        values=matrix,
        standard_error=errors / 2,
        low=matrix - errors,
        high=matrix + errors,
        units=np.ones(len(matrix)) if units is None else units,
        confidence=0.95,
        receipt=RECEIPT,
    )


def noisy(size: int, seed: int = 0) -> Array:
    noise = np.random.default_rng(seed).normal(size=(size, size))
    return np.eye(size) + 0.4 * (noise + noise.T)


@pytest.mark.parametrize("seed", range(5))
def test_a_projected_covariance_is_semidefinite_and_nearer_to_whatever_is(seed: int) -> None:
    """Projection on a convex set moves no farther from any point of it."""
    before = table(noisy(6, seed))
    after = before.projected()
    assert np.linalg.eigvalsh(before.values).min() < -0.1
    assert np.linalg.eigvalsh(after.values).min() > -1e-12
    np.testing.assert_allclose(after.values, after.values.T)
    for other in range(20):
        half = np.random.default_rng(other).normal(size=(6, 6))
        allowed = half @ half.T
        assert np.linalg.norm(after.values - allowed) <= np.linalg.norm(before.values - allowed) + 1e-9


def test_projection_leaves_alone_what_is_semidefinite() -> None:
    half = np.random.default_rng(1).normal(size=(4, 4))
    np.testing.assert_allclose(table(half @ half.T).projected().values, half @ half.T, atol=1e-12)


def test_projection_does_not_depend_on_the_units_of_the_columns() -> None:
    units = np.array([1.0, 1e6, 1e-3])
    small = table(noisy(3, 2)).projected().values
    large = table(noisy(3, 2) * np.outer(units, units), units=units).projected().values
    np.testing.assert_allclose(large, small * np.outer(units, units), rtol=1e-9)


def test_projected_correlations_are_one_with_themselves_and_within_range() -> None:
    matrix = np.clip(noisy(6, 3), -1, 1)
    np.fill_diagonal(matrix, 1.0)
    after = table(matrix, "correlation").projected().values
    np.testing.assert_allclose(np.diag(after), 1.0)
    assert np.abs(after).max() <= 1 + 1e-12
    assert np.linalg.eigvalsh(after).min() > -1e-12


def test_it_prints_a_matrix_with_errors_and_the_promise() -> None:
    lines = str(table(np.array([[1.0, 0.5], [0.5, 1.0]]), "correlation")).splitlines()
    assert lines[0] == "correlation (95% for these data)"
    assert lines[1].split() == ["c0", "c1"]
    assert lines[2].split() == ["c0", "1", "0.50", "±", "0.25"]
    assert len({len(line) for line in lines[1:]}) == 1
    assert len(str(table(noisy(20))).splitlines()) == 2 + 8


def test_it_becomes_a_data_frame_with_a_row_for_each_pair() -> None:
    frame = table(noisy(3)).to_pandas()
    assert list(frame.columns) == ["covariance", "standard_error", "low", "high"]
    assert frame.index.tolist() == [("c0", "c0"), ("c0", "c1"), ("c0", "c2"), ("c1", "c1"), ("c1", "c2"), ("c2", "c2")]
    assert frame["covariance"]["c0", "c2"] == noisy(3)[0, 2]
