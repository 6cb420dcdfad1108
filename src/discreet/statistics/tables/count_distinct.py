"""How many different values a column has."""

from __future__ import annotations

import math
from typing import Any, Unpack, overload

import numpy as np
from scipy.special import ndtri

from discreet.questions.tables.distinct_values import CELLS, DistinctValues
from discreet.releases.ask import OneSum, Released
from discreet.releases.declaration import Refusal
from discreet.releases.estimate import Estimate
from discreet.releases.groups import By
from discreet.releases.records_of import RecordsOf
from discreet.releases.spread import CONFIDENCE
from discreet.releases.statistic import Options, statistic
from discreet.releases.table import Table


@overload
def count_distinct(data: Any, column: str, *, by: None = None, **options: Unpack[Options]) -> Estimate: ...
@overload
def count_distinct(data: Any, column: str, *, by: By, **options: Unpack[Options]) -> Table: ...
@statistic(
    no_population=Refusal("the values that no record has are as many as anybody likes", "Ask about these data."),
    curator="the values are put into a sketch by whoever holds them",
)
def count_distinct(records: RecordsOf, column: str, *, confidence: float = CONFIDENCE) -> OneSum[Estimate]:
    """Release how many different values a column has: a text, a number, a date or one of a list.

    They are counted by a sketch of 2**22 cells, one for each group: beyond about ten million values it says no more.

    Parameters
    ----------
    column : str
        Public. The column.
    bounds : (lower, upper) or Schema, optional
        Public. For an array or data frame: numbers outside count as the nearer one; or a schema.
    confidence : float
        Public. Of the interval.

    Guarantee
    ---------
    The event on the receipt, one release of a number for each group. A row is in one of them, so that a unit moves all
    numbers together by at most as many as it has rows.

    Examples
    --------
    >>> from discreet.schema.schema import Schema, Text
    >>> towns = {"town": [f"town {place % 300}" for place in range(1000)]}
    >>> found = count_distinct(towns, "town", bounds=Schema({"town": Text()}), epsilon=1.0)
    >>> bool(abs(found.value - 300) < 30)
    True
    """
    of = records.opened(column)
    question = DistinctValues.of(of.schema, column)

    def read(released: Released) -> Estimate:
        return _estimate(f"distinct values of {column}", released, confidence)

    return OneSum(of, f"distinct values of {column}", question, read)


def values_in(full: float) -> float:
    """How many values fill so many cells, on average.

    Examples
    --------
    >>> round(values_in(1000.0), 1)
    1000.1
    """
    return -CELLS * math.log1p(-min(max(full, 0.0), CELLS - 1.0) / CELLS)


def _error(values: float) -> float:
    """The standard deviation of what cells with several values do to the number."""
    load = values / CELLS
    return math.sqrt(CELLS * max(math.expm1(load) - load, 0.0))


def _estimate(name: str, released: Released, confidence: float) -> Estimate:
    """Noise leaves out half of what the interval may leave out, and the sketch the other half."""
    full, spread = float(released.values[0]), released.spread
    half = spread.half_width([1.0], (1 + confidence) / 2)
    sure = float(-ndtri((1 - confidence) / 4))
    value, low, high = values_in(full), values_in(full - half), values_in(full + half)
    slope = CELLS / (CELLS - min(max(full, 0.0), CELLS - 1.0))
    return Estimate(
        name=name,
        value=value,
        standard_error=float(np.hypot(slope * spread.stddev, _error(value))),
        low=max(0.0, low - sure * _error(low)),
        high=high + sure * _error(high),
        confidence=confidence,
        receipt=released.receipt,
    )
