"""A sum is the same to the last bit in any order, any batches, fused or not."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.bound import Bound
from discreet.core.grid import Array
from discreet.core.question import BoundedSum
from discreet.trust.exact_sum import exact_sum

rng = np.random.default_rng(0)
RECORDS = rng.normal(size=(1000, 3)) * rng.lognormal(size=(1000, 1), sigma=4.0)
NORMS = BoundedSum(lambda records: records, Bound("l2", 0.3))


@settings(deadline=None)
@given(st.permutations(range(10)), st.integers(1, 400))
def test_order_and_batches_do_not_change_a_bit(blocks: list[int], size: int) -> None:
    moved = RECORDS.reshape(10, 100, 3)[blocks].reshape(1000, 3)
    batches = [moved[start : start + size] for start in range(0, 1000, size)]
    np.testing.assert_array_equal(exact_sum(NORMS, batches, 3), exact_sum(NORMS, [RECORDS], 3))


def test_the_sum_is_that_of_python_integers() -> None:
    steps = NORMS.steps(RECORDS)
    expected = [sum(int(step) for step in column) for column in steps.T]
    assert exact_sum(NORMS, [RECORDS], 3).tolist() == expected


def test_removing_a_record_moves_the_sum_by_its_own_contribution_and_no_more() -> None:
    whole, less = exact_sum(NORMS, [RECORDS], 3), exact_sum(NORMS, [RECORDS[1:]], 3)
    moved = NORMS.grid.values(whole - less)
    assert np.linalg.norm(moved) <= 0.3 * (1 + 1e-12)
    np.testing.assert_array_equal(moved, NORMS.grid.values(NORMS.steps(RECORDS[:1])[0]))


def test_no_records_sum_to_zero_in_the_right_shape() -> None:
    np.testing.assert_array_equal(exact_sum(NORMS, [], 3), [0, 0, 0])
    np.testing.assert_array_equal(exact_sum(NORMS, [np.empty((0, 3))], 3), [0, 0, 0])


def test_a_fused_sum_is_used_as_it_is() -> None:
    def doubled(records: Array) -> Array:
        return 2 * NORMS.steps(records).sum(axis=0)

    fused = BoundedSum(NORMS.of, NORMS.bound, total=doubled)
    np.testing.assert_array_equal(exact_sum(fused, [RECORDS], 3), 2 * exact_sum(NORMS, [RECORDS], 3))
