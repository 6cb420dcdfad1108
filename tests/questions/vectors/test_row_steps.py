"""Rows of whole steps: each from its own record alone, however many are read together."""

from __future__ import annotations

import numpy as np

from discreet.questions.vectors.row_steps import SLICE, RowSteps, StepRows, by_slices
from discreet.schema.schema import Number, Schema
from discreet.trust.sources.columns.decoding import bounded

SAME, OTHER = Schema.numeric(-1.0, 3.0, 5), Schema({f"x{i}": Number(-i - 1.0, i + 2.0) for i in range(5)})
ODD = [np.nan, np.inf, -np.inf, 1.7e308, -1.7e308, 5e-324, -0.0, 3.0]


def test_a_row_depends_on_its_record_alone_and_a_slice_on_none() -> None:
    rng = np.random.default_rng(3)
    records = rng.normal(0, 2, (30_011, 5))
    records[rng.integers(0, len(records), 400), rng.integers(0, 5, 400)] = rng.choice(ODD, 400)
    for schema in (SAME, OTHER):
        rows = RowSteps([schema.number(name) for name in schema.features], np.linspace(0, 1, 5), np.full(5, 2.0**15))
        found, inside = rows.of(records), bounded(records, schema.features, schema)
        present = np.asarray(~np.isnan(inside).any(axis=1))
        expected = np.where(present[:, None], np.rint((inside - np.linspace(0, 1, 5)) * 2.0**15), 0.0)
        np.testing.assert_array_equal(found.present, present)
        np.testing.assert_array_equal(found.steps, expected)
        for some in (records, records[::3], np.asfortranarray(records)):
            slices = [one.steps.copy() for one in rows.slices(some)]
            np.testing.assert_array_equal(np.concatenate(slices), rows.of(some).steps)
        assert [len(one.steps) for one in rows.slices(records[:0])] == []


def test_squares_and_multiples_are_those_of_each_row_however_many_columns() -> None:
    steps = np.rint(np.random.default_rng(5).normal(0, 2.0**15, (70, 9)))
    factors = np.linspace(0, 1, 70)
    for columns in (1, 2, 4, 5, 9):
        rows = StepRows(steps[:, :columns].copy(), np.ones(70, dtype=np.bool_))
        np.testing.assert_array_equal(rows.squares(), np.square(steps[:, :columns]).sum(axis=1))
        rows.multiply(factors)
        np.testing.assert_array_equal(rows.steps, np.rint(steps[:, :columns] * factors[:, None]))


def test_every_row_is_in_one_slice_and_none_is_longer_than_the_cache() -> None:
    seen: list[int] = []

    def total(records: np.ndarray) -> np.ndarray:
        seen.append(records.size)
        return np.asarray(records.sum(axis=0))

    records = np.arange(3.0 * SLICE).reshape(-1, 3)
    np.testing.assert_array_equal(by_slices(total, 3, 3)(records), records.sum(axis=0))
    assert max(seen) <= SLICE
    assert by_slices(total, 3, 3)(records[:0]).tolist() == [0.0] * 3
