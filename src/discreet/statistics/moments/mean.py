"""The private mean of a column."""

from __future__ import annotations

from typing import Any, Unpack, overload

from discreet.releases.ask import ColumnOf, OneSum
from discreet.releases.estimate import Estimate
from discreet.releases.groups import By
from discreet.releases.spread import CONFIDENCE
from discreet.releases.statistic import Options, statistic
from discreet.releases.table import Table
from discreet.statistics.moments.column_moments import MEAN, SAMPLED_MEAN


@overload
def mean(data: Any, column: str | None = None, *, by: None = None, **options: Unpack[Options]) -> Estimate: ...
@overload
def mean(data: Any, column: str | None = None, *, by: By, **options: Unpack[Options]) -> Table: ...
@statistic()
def mean(of: ColumnOf, *, confidence: float = CONFIDENCE, population: bool = False) -> OneSum[Estimate]:
    """Release the mean of a column.

    Parameters
    ----------
    population : bool
        Public. Whether the interval is for the population that the records are a sample of, drawn independently: then
        it holds sampling error and noise. Else it is for these data, and holds the noise alone. The sums that
        show the sampling error add up to an eighth to the noise. Values of the population are moved inside the bounds,
        too.

    Returns
    -------
    Estimate, or Table with a row for each group
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
    >>> people = {"age": ages, "sex": ["f", "m"] * 5000}
    >>> mean(people, "age", by="sex", bounds={"age": (0, 100), "sex": ["f", "m"]}).values.round()
    array([40., 40.])
    """
    return (SAMPLED_MEAN if population else MEAN).asked(of, "mean", confidence)
