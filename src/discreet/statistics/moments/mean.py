"""The private mean of a column."""

from __future__ import annotations

from typing import Any, TypedDict, Unpack, overload

from discreet.core.budget import Budget
from discreet.core.parameters import checked
from discreet.questions.tables.cells import Edges
from discreet.releases.ask import column_of
from discreet.releases.estimate import Estimate
from discreet.releases.groups import By, Groups
from discreet.releases.spread import CONFIDENCE
from discreet.releases.table import Table
from discreet.statistics.moments.column_moments import MEAN, SAMPLED_MEAN
from discreet.trust.as_private import Bounds


class Options(TypedDict, total=False):
    """What the mean, and what is asked like it, takes by name."""

    bounds: Bounds | None
    where: str | None
    edges: Edges | None
    population: bool
    confidence: float
    epsilon: float
    delta: float
    key: str | None


@overload
def mean(data: Any, column: str | None = None, *, by: None = None, **options: Unpack[Options]) -> Estimate: ...
@overload
def mean(data: Any, column: str | None = None, *, by: By, **options: Unpack[Options]) -> Table: ...
@checked
def mean(
    data: Any,
    column: str | None = None,
    *,
    bounds: Bounds | None = None,
    where: str | None = None,
    by: By | None = None,
    edges: Edges | None = None,
    population: bool = False,
    confidence: float = CONFIDENCE,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> Estimate | Table:
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
    by : str or sequence of str, optional
        Public. The columns that make groups: with listed values, with a step, or with `edges`. All groups together cost
        what one does, and records without a group are in none.
    edges : sequence, or mapping of str to sequences, optional
        Public. The ends of the cells of a number in `by`, ascending, such as [18, 25, 45, 98]; what is outside is in no
        group.
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
    budget = Budget(epsilon, delta)
    of = column_of(data, column, bounds, budget, where)
    moment = SAMPLED_MEAN if population else MEAN
    groups = Groups.wanted(of.data, by, edges)
    if groups is not None:
        return moment.grouped(of, "mean", groups, budget, key, confidence)
    return moment.released(of, "mean", budget, key, confidence)
