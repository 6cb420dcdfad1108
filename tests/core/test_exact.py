"""Exact sums: changed by updates, and given out with noise on every number of them."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.core.exact import Exact


def test_every_sum_that_leaves_has_a_number_of_the_noise() -> None:
    sums = Exact(np.array([1, 2, 3]))
    sums.change(lambda held: held + 10)
    assert sums.noised(lambda held: held[1:], np.array([5, -5])).tolist() == [17, 8]
    for noise in (np.array([5]), np.zeros((2, 1), np.int64), np.array(5)):  # which would be on several sums
        with pytest.raises(ParameterError, match="Draw a number for each sum"):
            sums.noised(lambda held: held[1:], noise)


def test_they_are_neither_copied_nor_pickled_nor_shown() -> None:
    sums = Exact(np.array([8191]))
    for take in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="neither copied nor pickled"):
            take(sums)
    assert "8191" not in f"{sums} {sums!r}"
