"""A sum is the same to the last bit in any order, any batches, fused or not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.bound import Bound
from discreet.core.errors import DiscreetError, ParameterError
from discreet.core.grid import Array, Grid
from discreet.questions.question import BoundedSum
from discreet.schema.schema import Schema
from discreet.trust import exact_sum as exact_sum_module
from discreet.trust.exact_sum import UnitRows, check_made_up, exact_sum, pooled_sum

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


class Fails:
    """The rows themselves; it fails where a row is among some."""

    def __init__(self, rows: Array, why: type[Exception]) -> None:
        self._rows, self._why = rows, why

    def __call__(self, records: Array) -> Array:
        if (records[:, None, 0] == self._rows[None, :, 0]).any():
            raise self._why(*("what is", f"{records[0, 0]}", "?")[: 3 if self._why is ParameterError else 1])
        return records


class FailsTogether(Fails):
    """The same, fused."""

    def __call__(self, records: Array) -> Array:
        return np.asarray(NORMS.steps(super().__call__(records)).sum(axis=0))


def test_a_record_on_which_a_question_fails_adds_nothing_and_moves_no_other() -> None:
    odd = [17, 500, 501, 999]
    there = np.delete(np.arange(1000), odd)
    for why in (ValueError, MemoryError, ParameterError):
        of = Fails(RECORDS[odd], why)
        question = BoundedSum(of, NORMS.bound, XYZ)
        fused = BoundedSum(of, NORMS.bound, XYZ, total=FailsTogether(RECORDS[odd], why))
        for one in (question, fused):
            for size in (1000, 7):
                batches = [RECORDS[start : start + size] for start in range(0, 1000, size)]
                np.testing.assert_array_equal(exact_sum(one, batches), exact_sum(NORMS, [RECORDS[there]]))
        kept = UnitRows(RECORDS[there], np.diff(UNITS[there], prepend=-1) > 0)
        np.testing.assert_array_equal(pooled_sum(question, [UnitRows(RECORDS, FIRST)]), pooled_sum(NORMS, [kept]))


def test_a_question_that_gives_another_shape_for_some_records_adds_nothing_for_them() -> None:
    strange = BoundedSum(lambda rows: rows[rows[:, 0] > 0] if len(rows) else rows, NORMS.bound, XYZ)
    np.testing.assert_array_equal(exact_sum(strange, [RECORDS]), exact_sum(NORMS, [RECORDS[RECORDS[:, 0] > 0]]))
    tripled = BoundedSum(lambda rows: np.repeat(rows, 3, axis=0), NORMS.bound, XYZ)
    assert exact_sum(tripled, [RECORDS]).tolist() == [0, 0, 0]
    fused = BoundedSum(NORMS.of, NORMS.bound, XYZ, total=lambda rows: np.zeros(7))
    np.testing.assert_array_equal(exact_sum(fused, [RECORDS]), exact_sum(NORMS, [RECORDS]))


def test_a_question_that_fails_on_made_up_records_says_why() -> None:
    schema = Schema.numeric(0.0, 1.0, 3)
    check_made_up(NORMS, schema)
    check_made_up(BoundedSum(lambda rows: rows[:, :0], Bound("l1", 1.0), ()), schema)

    def fails(rows: Array) -> Array:
        if len(rows):
            raise KeyError("no such thing")
        return rows

    for of, words in ((fails, "KeyError in fails, line .* 'no such thing'"), (lambda rows: rows[:0], "another shape")):
        with pytest.raises(DiscreetError, match=words):
            check_made_up(BoundedSum(of, Bound("l2", 1.0), XYZ), schema)


def test_so_few_rows_are_added_together_that_float64_rounds_nothing() -> None:
    question = BoundedSum(lambda records: records, Bound("linf", 1.0), ("x0",), Grid(-52))
    assert exact_sum(question, [np.full((7, 1), 1 - 2.0**-52)]) == 7 * (2**52 - 1)
