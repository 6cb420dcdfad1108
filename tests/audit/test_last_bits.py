"""Last bits, compared with the ratio of whole numbers that every float is."""

from __future__ import annotations

import math

import numpy as np

from discreet.audit.last_bits import NONE, last_bits


def test_the_last_bit_is_that_of_the_exact_fraction() -> None:
    values = [*np.random.default_rng(1).normal(size=200), 5e-324, 2.0**1000, 3 * 2.0**-1070, -0.75, 96.0]
    for value, found in zip(values, last_bits(np.array(values)), strict=True):
        over, under = float(value).as_integer_ratio()
        lowest = (over & -over).bit_length() - 1
        assert found == lowest - (under.bit_length() - 1)


def test_zero_and_what_is_not_finite_have_none_and_a_row_has_the_lowest() -> None:
    assert last_bits(np.array([0.0, -0.0, math.nan, math.inf])).tolist() == [NONE] * 4
    assert last_bits(np.array([[1.0, 0.25], [0.0, 8.0], [0.0, math.nan]])).tolist() == [-2, 3, NONE]
