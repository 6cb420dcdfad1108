"""Random projections: matrices of the right law, rows and columns that are left out, and what is kept."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.answer import Records
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.microdata.projected_records import (
    MatrixLaw,
    ProjectedColumns,
    ProjectedRows,
    random_matrix,
)
from discreet.noise.deterministic import DeterministicBits


@pytest.mark.parametrize("law", ["gaussian", "orthogonal"])
def test_matrices_are_centred_and_keep_inner_products_on_average(law: MatrixLaw) -> None:
    bits = DeterministicBits(1)
    drawn = np.array([random_matrix(bits, 4, 3, law) for _ in range(4000)])
    assert np.abs(drawn.mean(axis=0)).max() < 5 * np.sqrt(1 / 3 / 4000)  # entries have variance 1 / 3
    assert np.allclose((drawn @ drawn.transpose(0, 2, 1)).mean(axis=0), np.eye(4), atol=5 * np.sqrt(2 / 3 / 4000))
    if law == "orthogonal":
        assert np.allclose(drawn[0].T @ drawn[0], 4 / 3 * np.eye(3))


def test_a_record_with_a_missing_value_has_no_sums_and_kept_columns_stay_beside_theirs() -> None:
    values = np.array([[1.0, 2.0, 0.0], [np.nan, 2.0, 1.0], [3.0, 4.0, np.nan], [2.0, 3.0, 3.0]])
    mechanism = ProjectedColumns((2.0, 3.0), (1.0, 1.0), 2, "orthogonal")
    found = mechanism.release(Records(values, 1, Neighbors.ADD_REMOVE), DeterministicBits(1)).values
    kept = {row[2]: row[:2] for row in found.tolist()}
    assert np.isnan(kept[1.0]).all()
    assert np.allclose(np.linalg.norm(kept[0.0]), np.sqrt(2))
    assert kept[3.0] == [0.0, 0.0]


def test_rows_are_mixed_without_incomplete_records_and_lengths_and_means_are_notes() -> None:
    values = np.array([[1.0, 5.0], [3.0, 5.0], [np.nan, 7.0]])
    found = ProjectedRows(2, 500).release(Records(values, 1, Neighbors.ADD_REMOVE), DeterministicBits(1))
    assert found.notes["records"] == 2
    assert found.notes["means"].tolist() == [2.0, 5.0]
    assert np.allclose(found.notes["lengths"], [np.sqrt(2), 0.0])
    assert found.values.shape == (500, 2)
    assert abs(np.square(found.values[:, 0]).sum() - 1) < 5 * np.sqrt(2 / 500)
    assert not found.values[:, 1].any()


def test_mixed_rows_of_huge_numbers_and_of_none_are_finite() -> None:
    for values in (np.zeros((0, 1)), np.array([[1e50], [-1e50]]), np.array([[1e15], [1e15 + 0.125]])):
        found = ProjectedRows(1, 3).release(Records(values, 1, Neighbors.ADD_REMOVE), DeterministicBits(1))
        assert np.isfinite(found.values).all()
        assert np.isfinite(found.notes["lengths"]).all()
