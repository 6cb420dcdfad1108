"""The private number of records."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from discreet.core.budget import Budget
from discreet.questions.count import count_of
from discreet.releases.ask import asked, column_of
from discreet.releases.estimate import Estimate
from discreet.releases.figure import Figure, Sampling
from discreet.releases.release import check_confidence
from discreet.releases.spread import CONFIDENCE, whole_half_width
from discreet.trust.as_private import Bounds


def count(
    data: Any,
    column: str | None = None,
    *,
    bounds: Bounds | None = None,
    where: str | None = None,
    confidence: float = CONFIDENCE,
    population: bool = False,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> Estimate:
    """Release how many records have a value in a column.

    Parameters
    ----------
    data, where, confidence, epsilon, delta, key
        Public, except for the data. As for `mean`.
    column : str, optional
        Public. A numeric column, or one with public categories; an array has one only.
    bounds : (lower, upper) or Schema, optional
        Public. For an array or data frame: numbers outside count as the nearer one; or a schema.
    population : bool
        Public. Whether the interval is for the expected number in samples like this one, whose records come
        independently. Else it is for these data.

    Returns
    -------
    Estimate
        A whole number, its interval and its receipt. The ends are whole numbers, too, so the interval holds the exact
        number a little more often than it says.

    Guarantee
    ---------
    The event on the receipt, one `Laplace`, `DiscreteLaplace` or `Gaussian` release, for the data set's own neighbors.

    Examples
    --------
    >>> count(np.zeros(500), bounds=(0, 1), epsilon=1.0).value.is_integer()
    True
    """
    budget = Budget(epsilon, delta)
    of = column_of(data, column, bounds, budget, where)
    name = f"count of {of.column}"
    check_confidence(name, confidence)
    released = asked(of.data, count_of(of.data.schema, of.column), budget, name, key)
    value, spread = float(released.values[0]), released.spread
    figure = _sampled(value, of.data.public_size) if population else Figure(value, np.ones(1))
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
