"""Trees of all columns: counts of their leaves, all of one length."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.bound import ORDER, Norm
from discreet.questions.columns.column_trees import LEAVES, ColumnTrees, column_trees_of
from tests.questions.trial import SCHEMA, Trial, summed

COLUMNS = ("x", "kind")
TRIALS = {
    "column_trees": Trial(
        {"columns": COLUMNS, "norm": "l1"},
        "2b291728e1e0",
        forged=[{"columns": ()}, {"columns": ("x", "x")}, {"columns": ("note",)}, {"norm": "linf"}],
    )
}


def people(n: int = 300) -> np.ndarray:
    rng = np.random.default_rng(3)
    return np.column_stack([rng.uniform(-10, 110, n), rng.integers(0, 3, n).astype(float)])


def test_counts_are_those_of_the_leaves_and_of_the_values() -> None:
    norms: tuple[Norm, ...] = ("l1", "l2")
    for norm in norms:
        records = np.vstack([people(), [[np.nan, 1.0], [110.0, np.nan]]])
        found = ColumnTrees.of(SCHEMA, COLUMNS, norm).counts(summed(column_trees_of(SCHEMA, COLUMNS, norm), records))
        x, kind = (own[~np.isnan(own)] for own in records.T)
        leaves = np.minimum((x + 10) * (LEAVES / 120), LEAVES - 1).astype(int)
        np.testing.assert_allclose(found[0], np.bincount(leaves, minlength=LEAVES), atol=1e-6)
        np.testing.assert_allclose(found[1], np.bincount(kind.astype(int)), atol=1e-6)


def test_a_record_without_missing_values_reaches_the_bound() -> None:
    norms: tuple[Norm, ...] = ("l1", "l2")
    for norm in norms:
        question = column_trees_of(SCHEMA, COLUMNS, norm)
        row = question.of(people(1))
        np.testing.assert_array_equal(question.bound.clip(row), row)
        assert np.linalg.norm(row[0], ORDER[norm]) == pytest.approx(question.bound.radius, rel=1e-6)


def test_the_number_of_records_has_the_variance_that_is_said() -> None:
    trees, rng = ColumnTrees.of(SCHEMA, COLUMNS, "l2"), np.random.default_rng(0)
    totals = [[own.sum() for own in trees.counts(rng.normal(size=trees.size))] for _ in range(400)]
    np.testing.assert_allclose(np.var(totals, axis=0), trees.variances, rtol=0.3)  # its own deviation is 0.07
