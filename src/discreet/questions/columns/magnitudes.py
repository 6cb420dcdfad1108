"""One mark for each value, by its sign and size."""

from __future__ import annotations

import math

import numpy as np

from discreet.core.checks import check_positive
from discreet.core.grid import Array
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.tables.contingency import counts_in
from discreet.questions.tables.domain import Domain
from discreet.schema.schema import Number, Schema

SMALLEST = 1000  # octaves between the greatest size and the least that differs from zero, at most


def magnitude_edges(number: Number, least: float) -> Array:
    """The bounds, and between them every power of two times the least size, on both sides of zero."""
    largest = max(abs(number.lower), abs(number.upper))
    check_positive("magnitudes", "least", least, largest * 2.0**-SMALLEST, largest)
    sizes = least * 2.0 ** np.arange(math.floor(math.log2(largest / least)) + 1)
    inner = np.concatenate([-sizes[::-1], sizes])
    return np.concatenate([[number.lower], inner[(inner > number.lower) & (inner < number.upper)], [number.upper]])


@recipe("magnitudes")
def magnitudes_of(schema: Schema, column: str, least: float) -> BoundedSum:
    """One mark for each value, in the cell of its sign and size."""
    return counts_in(Domain((column,), (magnitude_edges(schema.number(column), least),)))
