"""The private number of records."""

from __future__ import annotations

import math
from typing import Any, Unpack, overload

import numpy as np

from discreet.questions.columns.total import count_of
from discreet.releases.ask import OneSum, Released
from discreet.releases.estimate import Estimate
from discreet.releases.figure import Figure, Sampling
from discreet.releases.groups import By
from discreet.releases.records_of import RecordsOf
from discreet.releases.spread import CONFIDENCE, whole_half_width
from discreet.releases.statistic import Options, statistic
from discreet.releases.table import Table
from discreet.trust.private_data import PrivateData


@overload
def count(data: Any, column: str | None = None, *, by: None = None, **options: Unpack[Options]) -> Estimate: ...
@overload
def count(data: Any, column: str | None = None, *, by: By, **options: Unpack[Options]) -> Table: ...
@statistic()
def count(
    records: RecordsOf, column: str | None = None, *, confidence: float = CONFIDENCE, population: bool = False
) -> OneSum[Estimate]:
    """Release how many records there are, or how many have a value in a column.

    Parameters
    ----------
    column : str, optional
        Public. A numeric column, or one with public categories. All records are counted where none is given, except of
        an array with one column.
    bounds : (lower, upper) or Schema, optional
        Public. For an array or data frame: numbers outside count as the nearer one; or a schema. To count all records
        none are needed.
    population : bool
        Public. Whether the interval is for the expected number in samples like this one, whose records come
        independently. Else it is for these data.

    Returns
    -------
    Estimate, or Table with a row for each group
        A whole number, its interval and its receipt. The ends are whole numbers, too, so the interval holds the exact
        number a little more often than it says.

    Guarantee
    ---------
    The event on the receipt, one `Laplace`, `DiscreteLaplace` or `Gaussian` release, for the data set's own neighbors.

    Examples
    --------
    >>> people = {"age": np.arange(500) % 90, "sex": ["f", "m"] * 250}
    >>> count(people, epsilon=1.0).value.is_integer()
    True
    >>> described = {"age": (0, 90), "sex": ["f", "m"]}
    >>> count(people, bounds=described, where="age >= 18").name
    'count of records'
    >>> count(people, by=["sex", "age"], edges=[0, 18, 90], bounds=described).labels["age"]
    ('[0, 18)', '[18, 90]', '[0, 18)', '[18, 90]')
    """
    everybody = column is None and records.everybody
    of = records.counted() if everybody else records.opened(column)
    if column is None and not everybody and len(of.schema.columns) == 1 and not isinstance(records.data, PrivateData):
        (column,) = of.schema.columns
    name = f"count of {'records' if column is None else column}"

    def read(released: Released) -> Estimate:
        return _estimate(name, released, of.size, confidence, population)

    return OneSum(of, name, count_of(of.schema, column), read)


def _estimate(name: str, released: Released, size: int | None, confidence: float, population: bool) -> Estimate:
    """The number in a release, of records of which there is this public number."""
    value, spread = float(released.values[0]), released.spread
    figure = _sampled(value, size) if population else Figure(value, np.ones(1))
    half = figure.half_width(spread, confidence) if population else whole_half_width(spread, np.ones(1), confidence)
    return Estimate.around(
        name,
        value,
        float(math.ceil(half)),
        standard_error=figure.standard_error(spread),
        confidence=confidence,
        population=population,
        receipt=released.receipt,
    )


def _sampled(value: float, size: int | None) -> Figure:
    """The expected count: of a Poisson variable, or of a binomial one where the number of records is public."""
    inside = max(value, 0.0) if size is None else min(max(value, 0.0), size)
    absent = 1.0 if size is None else 1 - inside / max(size, 1)
    weights = np.array([1.0 if size is None else 1 - 2 * inside / max(size, 1)])
    variance = max(inside, 1.0) * max(absent, 1 / max(inside, 1.0))
    return Figure(value, np.ones(1), Sampling(variance, weights, variance, max(inside, 2.0)))
