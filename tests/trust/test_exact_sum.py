"""A sum is the same to the last bit in any order, any batches, fused or not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.bound import Bound
from discreet.core.errors import DiscreetError
from discreet.core.grid import Array, Grid
from discreet.core.question import BoundedSum
from discreet.trust import exact_sum as exact_sum_module
from discreet.trust.exact_sum import UnitRows, exact_sum, pooled_sum

rng = np.random.default_rng(0)
RECORDS = rng.normal(size=(1000, 3)) * rng.lognormal(size=(1000, 1), sigma=4.0)
XYZ = ("x0", "x1", "x2")
NORMS = BoundedSum(lambda records: records, Bound("l2", 0.3), XYZ)


@given(st.permutations(range(10)), st.integers(1, 400))
def test_order_and_batches_do_not_change_a_bit(blocks: list[int], size: int) -> None:
    moved = RECORDS.reshape(10, 100, 3)[blocks].reshape(1000, 3)
    batches = [moved[start : start + size] for start in range(0, 1000, size)]
    np.testing.assert_array_equal(exact_sum(NORMS, batches), exact_sum(NORMS, [RECORDS]))


def test_the_sum_is_that_of_python_integers() -> None:
    steps = NORMS.steps(RECORDS)
    expected = [sum(int(step) for step in column) for column in steps.T]
    assert exact_sum(NORMS, [RECORDS]).tolist() == expected


def test_removing_a_record_moves_the_sum_by_its_own_contribution_and_no_more() -> None:
    whole, less = exact_sum(NORMS, [RECORDS]), exact_sum(NORMS, [RECORDS[1:]])
    moved = NORMS.grid.values(whole - less)
    assert np.linalg.norm(moved) <= 0.3 * (1 + 1e-12)
    np.testing.assert_array_equal(moved, NORMS.grid.values(NORMS.steps(RECORDS[:1])[0]))


def test_no_records_sum_to_zero_in_the_right_shape() -> None:
    np.testing.assert_array_equal(exact_sum(NORMS, []), [0, 0, 0])
    np.testing.assert_array_equal(exact_sum(NORMS, [np.empty((0, 3))]), [0, 0, 0])


def test_a_fused_sum_is_used_as_it_is() -> None:
    def doubled(records: Array) -> Array:
        return 2 * NORMS.steps(records).sum(axis=0)

    fused = BoundedSum(NORMS.of, NORMS.bound, XYZ, total=doubled)
    np.testing.assert_array_equal(exact_sum(fused, [RECORDS]), 2 * exact_sum(NORMS, [RECORDS]))


UNITS = np.sort(rng.zipf(1.4, 1000) % 90)
FIRST = np.diff(UNITS, prepend=-1) > 0


def by_hand(question: BoundedSum) -> list[int]:
    """Each unit by itself, in Python's integers."""
    total = np.zeros(3, dtype=object)
    for unit in np.unique(UNITS):
        steps = [[int(step) for step in row] for row in question.steps(RECORDS[unit == UNITS])]
        brought = np.array([[float(sum(column)) for column in zip(*steps, strict=True)]])
        inside = question.bound.clip(np.ldexp(brought, question.grid.exponent))
        total += [int(step) for step in question.grid.cut(inside)[0]]
    return total.tolist()


@pytest.mark.parametrize("bound", [Bound("l1", 0.3), Bound("l2", 2.0), Bound("linf", 7.0, nonnegative=True)])
def test_a_pooled_sum_adds_units_that_are_clipped_whole(bound: Bound) -> None:
    question = BoundedSum(lambda records: records, bound, XYZ)
    assert pooled_sum(question, [UnitRows(RECORDS, FIRST)]).tolist() == by_hand(question)


@settings(max_examples=30)
@given(st.integers(1, 400), st.integers(1, 2000))
def test_a_unit_may_span_any_number_of_batches(size: int, numbers: int) -> None:
    batches = [UnitRows(RECORDS[start : start + size], FIRST[start : start + size]) for start in range(0, 1000, size)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact_sum_module, "MOST", numbers)
        cut = pooled_sum(NORMS, batches)
    np.testing.assert_array_equal(cut, pooled_sum(NORMS, [UnitRows(RECORDS, FIRST)]))


def test_the_order_of_a_units_rows_does_not_change_a_bit() -> None:
    order = np.lexsort((rng.random(1000), UNITS))
    moved = pooled_sum(NORMS, [UnitRows(RECORDS[order], FIRST)])
    np.testing.assert_array_equal(moved, pooled_sum(NORMS, [UnitRows(RECORDS, FIRST)]))


def test_units_of_one_row_are_pooled_to_what_they_are() -> None:
    alone = pooled_sum(NORMS, [UnitRows(RECORDS, np.ones(1000, dtype=np.bool_))])
    slack = 1000 * 2  # a row that was shrunk to the bound may be shrunk by a step once more
    np.testing.assert_allclose(alone, exact_sum(NORMS, [RECORDS]), atol=slack)


@pytest.mark.parametrize("batches", [[], [UnitRows(np.empty((0, 3)), np.empty(0, dtype=np.bool_))]])
def test_no_units_pool_to_zero(batches: list[UnitRows]) -> None:
    assert pooled_sum(NORMS, batches).tolist() == [0, 0, 0]


def test_an_error_of_a_question_quotes_no_record() -> None:
    def of(records: Array) -> Array:
        if len(records):
            raise ValueError(f"what is {records[0, 0]}?")
        return records

    for question in (BoundedSum(of, Bound("l2", 1.0), XYZ), BoundedSum(of, Bound("l2", 1.0), XYZ, total=of)):
        with pytest.raises(DiscreetError, match="ValueError in of, line") as failed:
            exact_sum(question, [np.full((1, 3), 42.0)])
        assert "42" not in str(failed.value).partition("line")[0]
        assert failed.value.__cause__ is failed.value.__context__ is None
    with pytest.raises(DiscreetError, match="ValueError"):
        pooled_sum(question, [UnitRows(RECORDS, FIRST)])


def test_so_few_rows_are_added_together_that_float64_rounds_nothing() -> None:
    question = BoundedSum(lambda records: records, Bound("linf", 1.0), ("x0",), Grid(-52))
    assert exact_sum(question, [np.full((7, 1), 1 - 2.0**-52)]) == 7 * (2**52 - 1)
