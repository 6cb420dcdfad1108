"""Measured tables: least squares, no negative counts, and errors of the deviation that they are said to have."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.microdata.synthetic.measured_tables import MeasuredTables
from discreet.questions.tables.coded_tables import TableCodes
from discreet.questions.tables.residuals import Measurement

CODES = TableCodes(("a", "b", "c"), ((), (), ()), (2, 3, 2))
AB, BC, ABC = frozenset({0, 1}), frozenset({1, 2}), frozenset({0, 1, 2})
MEMBERS = (Measurement(AB), Measurement(frozenset({1}), frozenset({2})), Measurement(contrasts=BC), Measurement())
TRUTH = np.array([[[300.0, 20], [0, 400], [10, 0]], [[100, 5], [50, 900], [0, 15]]])


def measured(seed: int, size: float | None = None) -> MeasuredTables:
    rng = np.random.default_rng(seed)
    stddevs, numbers = (9.0, 5.0, 20.0, 4.0), []
    for member, stddev in zip(MEMBERS, stddevs, strict=True):
        exact = member.numbers(TRUTH.sum(axis=tuple(set(range(3)) - member.axes)), CODES.sizes)
        numbers.append(exact + rng.normal(0, stddev, exact.shape))
    return MeasuredTables(CODES, MEMBERS, tuple(numbers), stddevs, ((0, 1), (1, 2)), size)


def test_tables_are_those_of_least_squares() -> None:
    """Against a matrix of all measurements, each divided by its deviation."""
    one = measured(1)
    cells = np.eye(12).reshape(12, 2, 3, 2)
    rows = []
    for member, stddev in zip(MEMBERS, one.stddevs, strict=True):
        axes = tuple(set(range(3)) - member.axes)
        rows.append(np.array([member.numbers(cell.sum(axis=axes), CODES.sizes).ravel() for cell in cells]).T / stddev)
    numbers = np.concatenate([own.ravel() / s for own, s in zip(one.numbers, one.stddevs, strict=True)])
    best = np.linalg.lstsq(np.concatenate(rows), numbers, rcond=None)[0].reshape(2, 3, 2)
    np.testing.assert_allclose(one.unbiased((0, 1)), best.sum(axis=2), rtol=1e-8)
    np.testing.assert_allclose(one.unbiased((1, 2)), best.sum(axis=0), rtol=1e-8)
    assert one.total == pytest.approx(best.sum())


def test_tables_have_no_negative_counts_and_agree_with_columns() -> None:
    for seed in range(10):
        one = measured(seed)
        for axes, table in one.tables.items():
            assert table.min() > 0
            for place, axis in enumerate(axes):
                sums = table.sum(axis=tuple(other for other in range(len(axes)) if other != place))
                np.testing.assert_allclose(sums, one.margins[axis], rtol=2e-3, atol=0.5)


def test_a_public_number_of_records_is_kept_and_a_secret_one_is_noisy() -> None:
    assert measured(3, TRUTH.sum()).total == TRUTH.sum()
    assert measured(3).total != TRUTH.sum()
    rng = np.random.default_rng(1)
    copies = [measured(3).again(rng).total for _ in range(200)]
    assert np.std(copies) == pytest.approx(np.sqrt(measured(3).residuals.variances[frozenset()]), rel=0.2)


def test_copies_are_as_far_apart_as_the_noise_puts_them() -> None:
    """The deviation of what is read is that of repeated measurements, also where counts are zero."""
    for axes in ((1,), (0, 1), (1, 2)):
        repeated = np.std([measured(seed).unbiased(axes) for seed in range(250)], axis=0)
        one, rng = measured(1000), np.random.default_rng(2)
        copies = np.std([one.again(rng).unbiased(axes) for _ in range(250)], axis=0)
        np.testing.assert_allclose(copies, repeated, rtol=0.25)
        np.testing.assert_allclose(repeated, np.sqrt(one.residuals.variance(axes)), rtol=0.25)
        mean = np.mean([measured(seed).unbiased(axes) for seed in range(250)], axis=0)
        exact = TRUTH.sum(axis=tuple(set(range(3)) - set(axes)))
        np.testing.assert_allclose(mean, exact, atol=5 * repeated.max() / np.sqrt(250))


def test_of_a_table_of_more_columns_than_are_made_copies_are_drawn_too() -> None:
    one = MeasuredTables(CODES, (Measurement(ABC),), (TRUTH,), (4.0,), ((0, 1), (1, 2)))
    copies = np.array([one.again(np.random.default_rng(seed)).unbiased((0, 1)) for seed in range(200)])
    np.testing.assert_allclose(copies.mean(axis=0), TRUTH.sum(axis=2), atol=2.0)
    np.testing.assert_allclose(copies.std(axis=0), 4.0 * np.sqrt(2), rtol=0.2)


def test_notes_give_the_same_tables_again() -> None:
    one = measured(5, 1800.0)
    again = MeasuredTables.of_notes(CODES, one.to_notes())
    assert again.members == one.members
    for axes, table in one.tables.items():
        np.testing.assert_array_equal(again.tables[axes], table)


def test_more_tables_are_added_in_any_order_of_their_columns() -> None:
    ab = TRUTH.sum(axis=2)
    sums = ab.sum(axis=1), ab.sum(axis=0)
    ones = MeasuredTables.counted(CODES, [(0,), (1,), (2,)], [*sums, TRUTH.sum(axis=(0, 1))], 1.0, None)
    both = ones.and_counted([(1, 0)], [ab.T], 1.0)
    np.testing.assert_allclose(both.unbiased((1, 0)), ab.T)
    np.testing.assert_allclose(both.tables[1, 0], ab.T, atol=0.5)
