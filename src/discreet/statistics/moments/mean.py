"""The private mean of a column."""

from __future__ import annotations

from typing import Any

from discreet.core.budget import Budget
from discreet.releases.ask import column_of
from discreet.releases.estimate import Estimate
from discreet.releases.spread import CONFIDENCE
from discreet.statistics.moments.column_moments import MEAN, SAMPLED_MEAN
from discreet.trust.as_private import Bounds


def mean(
    data: Any,
    column: str | None = None,
    *,
    bounds: Bounds | None = None,
    where: str | None = None,
    population: bool = False,
    confidence: float = CONFIDENCE,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> Estimate:
    """Release the mean of a column.

    Parameters
    ----------
    data : PrivateData, array of shape (n,), or data frame
        The records.
    column : str, optional
        Public. The column; an array has one only.
    bounds : (float, float) or Schema, optional
        Public. For an array or data frame: values outside are moved to the nearer one. Private data have them in their
        schema.
    where : str, optional
        Public. Which records are meant, such as "age >= 18 and sex == 'f'"; see `PrivateData.where`. All by default.
    population : bool
        Public. Whether the interval is for the population that the records are a sample of, drawn independently: then
        it holds sampling error and noise. Else it is for these data, and holds the noise alone. The sums that
        show the sampling error add up to an eighth to the noise. Values of the population are moved inside the bounds,
        too.
    confidence : float
        Public. Of the interval.
    epsilon, delta : float
        Public. What this may cost. With delta 0 the noise is Laplace; else whichever of Laplace and Gaussian is less.
    key : str, optional
        Public. Makes a retry safe; see `PrivateData.permit`.

    Returns
    -------
    Estimate
        The value, its interval and its receipt. Fewer than two values show nothing of a population: then the interval
        reaches as far as the bounds are apart.

    Guarantee
    ---------
    The event on the receipt, one `Laplace` or `Gaussian` release, for the data set's own neighbors: the number of
    values is secret under add/remove and public under replace.

    Examples
    --------
    >>> import numpy as np
    >>> ages = np.random.default_rng(0).normal(40, 12, 10_000)
    >>> exact, sampled = (mean(ages, bounds=(0, 100), population=whose) for whose in (False, True))
    >>> exact.half_width < 0.1 < sampled.half_width < 0.3
    True
    """
    budget = Budget(epsilon, delta)
    of = column_of(data, column, bounds, budget, where)
    moment = SAMPLED_MEAN if population else MEAN
    return moment.released(of, "mean", budget, key, confidence)
