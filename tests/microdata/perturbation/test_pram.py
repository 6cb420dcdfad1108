"""PRAM: counts that are unbiased with errors that hold, and what undoes it."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.mechanisms.microdata.randomized_categories import invariant_matrix, replaced
from discreet.microdata.perturbation.pram import invariant_pram, pram, pram_counts
from discreet.noise.deterministic import DeterministicBits
from discreet.schema.schema import Category, Number
from discreet.trust.private_data import PrivateData

WAIVER = "public data"
MATRIX = np.array([[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.0, 0.3, 0.7]])
TRUE = np.array([700, 250, 50])


def private(counts: np.ndarray = TRUE, missing: int = 0) -> PrivateData:
    values = np.append(np.repeat(np.array(["a", "b", "c"], dtype=object), counts), [None] * missing)
    columns = {"kind": Category(("a", "b", "c")), "who": Number(0, len(values), step=1)}
    return PrivateData.of({"kind": values, "who": np.arange(len(values))}, columns, Budget(1.0))


def test_counts_are_unbiased_and_their_covariance_is_that_of_many_tables() -> None:
    bits, places, runs = DeterministicBits(1), np.repeat(np.arange(3.0), TRUE), 3000
    seen = [np.bincount(replaced(places, MATRIX, bits).astype(int), minlength=3) for _ in range(runs)]
    found = [pram_counts(one, MATRIX) for one in seen]
    counts, covariances = np.array([one.counts for one in found]), np.array([one.covariance for one in found])
    theory = pram_counts(TRUE @ MATRIX, MATRIX).covariance
    assert (np.abs(counts.mean(axis=0) - TRUE) < 5 * np.sqrt(np.diag(theory) / runs)).all()
    assert np.allclose(np.cov(counts, rowvar=False), theory, atol=0.12 * theory.max())
    assert np.allclose(covariances.mean(axis=0), theory, atol=0.02 * theory.max())
    held = np.abs(counts - TRUE) < 1.96 * np.array([one.standard_error for one in found])
    assert (held.mean(axis=0) > 0.92).all()
    assert (held.mean(axis=0) < 0.975).all()


def test_counts_of_an_invariant_table_are_right_as_they_are() -> None:
    bits, places, runs = DeterministicBits(2), np.repeat(np.arange(3.0), TRUE), 3000
    matrix = invariant_matrix(TRUE.astype(np.float64), 0.7)
    seen = np.array([np.bincount(replaced(places, matrix, bits).astype(int), minlength=3) for _ in range(runs)])
    table = invariant_pram(private(), "kind", keep=0.7, waiver=WAIVER)
    found = table.counts("kind")
    assert (np.abs(seen.mean(axis=0) - TRUE) < 5 * seen.std(axis=0) / np.sqrt(runs)).all()
    assert np.allclose(found.standard_error, seen.std(axis=0), rtol=0.25)
    assert np.array_equal(found.counts, [(table["kind"] == value).sum() for value in "abc"])
    inverse = pram_counts(found.counts, matrix)
    assert (inverse.standard_error > found.standard_error).all()


def test_a_table_has_counts_of_what_is_there_and_refuses_other_columns() -> None:
    table = pram(private(missing=300), "kind", matrices=MATRIX, unchanged="who", waiver=WAIVER)
    found = table.counts("kind")
    assert found.values == ("a", "b", "c")
    assert found.counts.sum() == pytest.approx(1000)
    assert (np.abs(found.counts - TRUE) < 5 * found.standard_error).all()
    assert sum(value is None for value in table["kind"]) == 300
    with pytest.raises(ParameterError, match="Randomised are kind"):
        table.counts("who")


def test_tables_of_the_same_people_are_unmasked_by_the_majority() -> None:
    data, votes = private(), np.zeros((1000, 3))
    wrong = []
    for _ in range(15):
        records = pram(data, "kind", matrices=MATRIX, unchanged="who", waiver=WAIVER).records
        kinds = records[np.argsort(records[:, 1]), 0].astype(int)
        votes[np.arange(1000), kinds] += 1
        wrong.append((kinds != np.repeat(np.arange(3), TRUE)).mean())
    assert min(wrong) > 0.15
    assert (votes.argmax(axis=1) != np.repeat(np.arange(3), TRUE)).mean() < 0.01


def test_counts_and_matrices_that_are_none_are_refused() -> None:
    for seen in ([], [[1, 2]], [-1, 2], [np.nan, 1], "a", None):
        with pytest.raises(ParameterError, match="not a row of numbers"):
            pram_counts(seen, MATRIX)  # type: ignore[arg-type]
    for matrix in (MATRIX[:2], np.full((3, 3), 1 / 3), 2 * MATRIX, None):
        with pytest.raises(ParameterError, match="Nothing was released"):
            pram_counts(TRUE, matrix)  # type: ignore[arg-type]
