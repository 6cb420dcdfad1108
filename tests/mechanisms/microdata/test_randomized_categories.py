"""Values that are replaced: the probabilities of their matrices, exactly where they are 0 or 1."""

from __future__ import annotations

import numpy as np

from discreet.core.answer import Records
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.microdata.randomized_categories import (
    InvariantCategories,
    RandomizedCategories,
    invariant_matrix,
    replaced,
    uniform_matrix,
)
from discreet.noise.deterministic import DeterministicBits

N = 40_000


def test_values_become_others_with_the_probabilities_of_their_row() -> None:
    matrix = np.array([[0.7, 0.3, 0.0], [0.0, 1.0, 0.0], [0.25, 0.25, 0.5]])
    places = np.arange(3.0 * N) % 3
    found = replaced(places, matrix, DeterministicBits(1))
    for value in range(3):
        shares = np.bincount(found[places == value].astype(int), minlength=3) / N
        assert np.allclose(shares, matrix[value], atol=5 * 0.5 / np.sqrt(N))
        assert (shares[matrix[value] == 0] == 0).all()


def test_rows_of_large_matrices_do_not_run_into_each_other() -> None:
    turned = np.roll(np.eye(512), 1, axis=1)
    assert (replaced(np.arange(512.0), turned, DeterministicBits(1)) == np.roll(np.arange(512), -1)).all()


def test_missing_values_stay_missing_and_further_columns_stay() -> None:
    values = np.array([[0.0, 5.0], [np.nan, 6.0], [1.0, 7.0]])
    flip = RandomizedCategories((((0.0, 1.0), (1.0, 0.0)),))
    found = flip.release(Records(values, 1, Neighbors.ADD_REMOVE), DeterministicBits(1)).values
    found = found[np.argsort(found[:, 1])]
    assert np.nan_to_num(found[:, 0], nan=-1).tolist() == [1.0, -1.0, 0.0]


def test_an_invariant_matrix_keeps_counts_and_changes_values_also_where_some_are_absent() -> None:
    for counts in ([60.0, 30.0, 10.0], [5.0, 0.0, 95.0], [0.0, 0.0, 0.0], [7.0]):
        for keep in (0.0, 0.5, 1.0):
            matrix = invariant_matrix(np.array(counts), keep)
            assert np.allclose(np.array(counts) @ matrix, counts)
            assert np.allclose(matrix.sum(axis=1), 1)
            assert matrix.min() >= 0
    assert invariant_matrix(np.array([60.0, 30.0, 10.0]), 0.5).diagonal().max() < 0.7
    assert np.allclose(invariant_matrix(np.array([5.0, 0.0, 95.0]), 1.0), np.eye(3))


def test_the_matrices_that_were_used_are_notes() -> None:
    values = np.column_stack([np.arange(1000) % 4 // 3, np.arange(1000.0)])
    found = InvariantCategories((2,), 0.7).release(Records(values, 1, Neighbors.ADD_REMOVE), DeterministicBits(1))
    assert np.allclose(found.notes["matrices"][0], invariant_matrix(np.array([750.0, 250.0]), 0.7))
    assert abs(found.values[:, 0].sum() - 250) < 5 * np.sqrt(250)
    assert (found.values[np.argsort(found.values[:, 1]), 0] != values[:, 0]).mean() > 0.2


def test_a_uniform_matrix_has_rows_that_add_to_one() -> None:
    for size in (1, 2, 7, 512):
        for keep in (0.0, 0.3, 1.0):
            assert np.allclose(uniform_matrix(size, keep).sum(axis=1), 1)
