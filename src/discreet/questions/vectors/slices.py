"""Fused sums of a batch, a few rows at a time, so that what they compute stays in the cache."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.core.grid import Array

SLICE = 2**16  # numbers at a time


def by_slices(total: Callable[[Array], Array], columns: int, size: int) -> Callable[[Array], Array]:
    """The same fused sum, over slices of a batch.

    Parameters
    ----------
    total : callable
        Rows in, whole steps out; those of a batch add up to less than 2**53.
    columns : int
        Public. How many numbers a row has.
    size : int
        Public. How many the sum has.

    Examples
    --------
    >>> by_slices(lambda records: records.sum(axis=0), 2, 2)(np.ones((100_000, 2)))
    array([100000., 100000.])
    """
    rows = max(SLICE // columns, size)

    def sliced(records: Array) -> Array:
        found = np.zeros(size)
        for start in range(0, len(records), rows):
            found += total(records[start : start + rows])
        return found

    return sliced
