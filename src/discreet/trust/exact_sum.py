"""The exact sum of bounded contributions: the same to the last bit in any order, batch size or engine."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from discreet.core.grid import Array, Steps
from discreet.core.question import BoundedSum

MOST = 2**22  # numbers in one matrix of contributions


def exact_sum(question: BoundedSum, batches: Iterable[Array], width: int) -> Steps:
    """Add the contributions of all records, in grid steps.

    A slice has so few rows that its sum stays below 2**52 steps, so float64 adds it without error; int64 carries the
    total. Beyond 2**32 records it may wrap around: that is exact too, modulo 2**64, and the noise is added in the
    same arithmetic, so the promise holds; the number would be of no use.

    Parameters
    ----------
    question : BoundedSum
        What is added up.
    batches : iterable of arrays
        The records.
    width : int
        Public. The number of columns of a record.
    """
    size = question.size(width)
    total = np.zeros(size, dtype=np.int64)
    rows = int(max(1, min(MOST // max(size, 1), 2.0**52 * question.grid.step // question.bound.radius)))
    for batch in batches:
        if question.total is not None:
            total += np.asarray(question.total(batch)).astype(np.int64)
            continue
        for start in range(0, len(batch), rows):
            total += question.steps(batch[start : start + rows]).sum(axis=0).astype(np.int64)
    return total
